"""The red lines as data, and which of them an act or a task touches (D-03, S4-08). Pure; the file is read elsewhere."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class GuardAction(StrEnum):
    """What happens at a red line (S2-05)."""

    BLOCK_AND_NOTIFY = "block_and_notify"
    PAUSE_AND_ESCALATE = "pause_and_escalate"


@dataclass(frozen=True, slots=True)
class RedLine:
    """One red line: its name, tags that a task may carry, patterns for the text of acts, and what happens."""

    name: str
    about: str
    action: GuardAction
    tags: frozenset[str] = frozenset()
    patterns: tuple[re.Pattern[str], ...] = ()


@dataclass(frozen=True, slots=True)
class Guardrails:
    """The lines in force. With a `problem` (file, line, column, what is wrong) nothing may be dispatched or done."""

    lines: tuple[RedLine, ...] = ()
    problem: str = ""

    def of_tags(self, tags: Iterable[str]) -> RedLine | None:
        """The first line that one of a task's tags names."""
        wanted = frozenset(tags)
        return next((line for line in self.lines if line.name in wanted or line.tags & wanted), None)

    def of_act(self, what: Mapping[str, Any]) -> RedLine | None:
        """The first line whose pattern is found in any text of an act, however deep it lies."""
        texts = list(_texts(what))
        return next((line for line in self.lines if any(p.search(text) for p in line.patterns for text in texts)), None)

    def named(self, name: str) -> RedLine | None:
        """The line of this name."""
        return next((line for line in self.lines if line.name == name), None)


@dataclass(slots=True)
class GuardrailBook:
    """Where the door looks the lines up; whoever reads the file puts the new ones in."""

    current: Guardrails = field(default_factory=Guardrails)


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield str(name)
            yield from _texts(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _texts(part)
    elif value is not None:
        yield str(value)
