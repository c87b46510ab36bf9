"""One thing that waits for a person, and what each key does about it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """What one key does: the command's name, its arguments without a note, and what follows, for people."""

    key: str
    verb: str
    command: str
    arguments: dict[str, object]
    effect: str
    note_field: str = ""  # the argument that takes the person's reason, if it needs one
    undoable: bool = True


@dataclass(frozen=True, slots=True)
class InboxItem:
    """One thing that waits. `entity` is e.g. `goal:3`; `since` is ms UTC; `urgent` ones come first."""

    id: str
    entity: str
    kind: str
    title: str
    why: str
    since: int
    choices: tuple[Choice, ...] = ()
    urgent: bool = False
    until: int | None = None  # ms UTC: when it goes on, or ends, by itself
    lapses: int | None = None  # ms UTC: when what it holds back starts by itself, e.g. at the end of a budget's period
