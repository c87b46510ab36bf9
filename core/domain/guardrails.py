"""The red lines as data, and which of them an act or a task touches (D-03, S4-08). Pure; the file is read elsewhere."""

import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from core.domain.command_lines import as_line, commands_within
from core.domain.errors import Invalid
from core.domain.patterns import WINDOW

GUARDRAILS_FILE = "guardrails.yaml"
PUBLICATION = "outside-publication"  # the tag of whatever is marked for publication
ACT_TEXT_MAX = 20_000  # characters of all texts of an act; a longer act is refused, not waved through
ACT_DEPTH_MAX = 20
_OVERLAP = 400  # a match that is no longer than this is found wherever it lies
_PROGRAM = ("method", "verb", "command", "cmd", "program", "executable", "tool", "action")
_ARGUMENTS = (
    "argv", "args", "arguments", "flags", "options", "path", "paths", "target", "targets", "file", "files",
    "url", "uri", "endpoint", "env", "environment", "stage",
)  # fmt: skip
_BLANKS = re.compile(r"\s+")
_CONTINUED = re.compile(r"\\\r?\n")
_LINE_ENDS = re.compile(r"\s*[\r\n]\s*")
_QUOTES = re.compile(r"[\"'`\\]")
_SPACE_BY_NAME = re.compile(r"\$\{?ifs\}?|\$ifs\b", re.IGNORECASE)


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
    """The lines in force. With a `problem` (file, line, column, what is wrong) nothing new may be dispatched."""

    lines: tuple[RedLine, ...] = ()
    problem: str = ""

    def of_tags(self, tags: Iterable[str]) -> RedLine | None:
        """The line that one of a task's tags names; one that blocks before one that asks."""
        wanted = {plain_tag(tag) for tag in tags}
        if not wanted:
            return None
        return _strictest(
            line
            for line in self.lines
            if plain_tag(line.name) in wanted or wanted & {plain_tag(tag) for tag in line.tags}
        )

    def of_act(self, what: Mapping[str, Any]) -> RedLine | None:
        """The line whose pattern is found in any text of an act, however deep it lies; blocking ones first.

        Raises Invalid when the act is too long or too deep to be checked: what cannot be checked is not allowed.
        """
        if not self.lines:
            return None
        forms = [form for text in _bounded(what) for form in forms_of(text)]
        return _strictest(line for line in self.lines if any(found(p, form) for p in line.patterns for form in forms))

    def named(self, name: str) -> RedLine | None:
        """The line of this name."""
        return next((line for line in self.lines if line.name == name), None)


@dataclass(slots=True)
class GuardrailBook:
    """Where the door looks the lines up; whoever reads the file puts the new ones in.

    `renew` reads the file again if it changed; the door awaits it before commands that depend on its newest state.
    """

    current: Guardrails = field(default_factory=Guardrails)
    renew: Callable[[], Awaitable[None]] | None = None


def plain_tag(tag: str) -> str:
    """A tag as it is compared: case and the kind of dash are no difference."""
    return unicodedata.normalize("NFKC", tag).strip().casefold().replace("_", "-")


def normalised(text: str) -> str:
    """Text as patterns see it: compatible forms and case folded, invisible characters out, one blank for any space."""
    return _BLANKS.sub(" ", _visible(unicodedata.normalize("NFKC", _CONTINUED.sub("", text)).casefold()))


def _visible(text: str) -> str:
    return "".join(char for char in text if not _is_invisible(char))


def forms_of(text: str) -> tuple[str, ...]:
    """The text; without the quotes that a shell would take away (r"m" is rm); each line as a command of its own; and
    the commands that it runs by others, as in `nice bash -lc '…'`.

    Raises Invalid when shells lie too deep in each other.
    """
    plain = normalised(text).strip()
    bare = _bare(plain)
    lines = _bare(normalised(_LINE_ENDS.sub("; ", _CONTINUED.sub("", text.strip()))))
    run = commands_within(_SPACE_BY_NAME.sub(" ", _visible(unicodedata.normalize("NFKC", _CONTINUED.sub("", text)))))
    return tuple(dict.fromkeys((plain, bare, lines, *([_bare(normalised("; ".join(run)))] if run else []))))


def _bare(text: str) -> str:
    return _BLANKS.sub(" ", _QUOTES.sub("", _SPACE_BY_NAME.sub(" ", text))).strip()


def found(pattern: re.Pattern[str], text: str) -> bool:
    """Whether the pattern is in the text, sought window by window so that no text makes it slow."""
    if len(text) <= WINDOW:
        return pattern.search(text) is not None
    starts = range(0, max(len(text) - _OVERLAP, 1), WINDOW - _OVERLAP)
    return any(pattern.search(text, start, min(start + WINDOW, len(text))) is not None for start in starts)


def _is_invisible(char: str) -> bool:
    if char.isascii():
        return not char.isprintable() and not char.isspace()
    # Format characters (zero width, direction, soft hyphen), variation selectors, and marks left over by NFKC.
    return unicodedata.category(char) in ("Cf", "Cc") or "\ufe00" <= char <= "\ufe0f" or "\u0300" <= char <= "\u036f"


def _strictest(lines: Iterable[RedLine]) -> RedLine | None:
    touched = list(lines)
    blocking = [line for line in touched if line.action == GuardAction.BLOCK_AND_NOTIFY]
    return next(iter(blocking or touched), None)


def _bounded(what: Mapping[str, Any]) -> list[str]:
    texts, total = [], 0
    for text in _texts(what, 0):
        total += len(text)
        if total > 3 * ACT_TEXT_MAX or len(text) > ACT_TEXT_MAX:  # what is joined counts again
            raise Invalid(
                f"The act has more than {ACT_TEXT_MAX} characters and cannot be checked against the red lines.",
                "Put long text into a file and name its path.",
            )
        texts.append(text)
    return texts


def _texts(value: Any, depth: int) -> Iterator[str]:
    """Every text of an act; a list also joined, and a program with its arguments: `rm`, `-rf` are one command."""
    if depth > ACT_DEPTH_MAX:
        raise Invalid(f"The act is nested more than {ACT_DEPTH_MAX} deep.", "Say it more plainly.")
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield str(name)
            yield from _texts(part, depth + 1)
        yield from _command_line(value)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _texts(part, depth + 1)
        if len(value) > 1:
            yield as_line(_words(value))
    elif value is not None:
        yield str(value)


def _command_line(value: Mapping[str, Any]) -> Iterator[str]:
    named = {str(name).casefold(): part for name, part in value.items()}
    program = [word for name in _PROGRAM if name in named for word in _words(named[name])]
    arguments = [word for name in _ARGUMENTS if name in named for word in _words(named[name])]
    if program and arguments:
        yield " ".join([*program, as_line(arguments)])


def _words(value: Any) -> list[str]:
    if isinstance(value, (list, tuple)):
        return [str(part) for part in value if isinstance(part, (str, int, float))]
    return [value] if isinstance(value, str) else []
