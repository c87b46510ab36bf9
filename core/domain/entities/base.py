"""What every row has, and the small records inside of rows; and what happened, as an event."""

from dataclasses import dataclass
from typing import Any, ClassVar, NotRequired, TypedDict


class MustHave(TypedDict):
    """One thing that the goal must deliver; `waived_by` names the person who dropped it, or is empty.

    `verify` says how one can see that it is there (boards of the first schema have none).
    """

    id: str
    text: str
    waived_by: str
    verify: NotRequired[str]


class Criterion(TypedDict):
    """What a task is judged by, frozen at its first review (F8): an id that findings name, and its text."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A row. `letter` is what a person types before the number (G12, T345, A7, R88).

    `added` holds the fields that a later schema brought, with the value that older rows and events have.
    """

    table: ClassVar[str] = ""
    letter: ClassVar[str] = ""
    added: ClassVar[dict[str, Any]] = {}

    id: int

    @property
    def name_tag(self) -> str:
        return f"{self.letter}{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What happened. `changed` holds the fields of the row after the act (all of them for a new row)."""

    id: int
    at: int
    actor: str
    run_id: int | None
    entity: str
    entity_id: int
    kind: str
    changed: dict[str, Any]
    cause: int | None
