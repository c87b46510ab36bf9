"""The history's filter, in words: `actor:zhaoyun kind:TaskSubmitted goal:G3 since:2h text`.

A minus turns a part around. Pure: what `since:2h` means depends on the `now` that is given.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.domain.actors import HUMAN
from core.domain.errors import Invalid

ABOUT = {"goal": "G", "task": "T", "round": "N", "run": "R", "agent": "A", "question": "Q"}
"""What an event can be about, by the letter of its tags."""
KEYS = ("actor", "kind", *ABOUT, "is", "since", "until")
EXAMPLES = (
    "Write words, T12, actor:slug, kind:TaskSubmitted, goal:G3, is:decision, since:2h, until:2026-01-31, since:#500;"
    " a minus in front turns a part around."
)
_BY_LETTER = {letter: key for key, letter in ABOUT.items()}
_TAG = re.compile(r"([gtnraq])([0-9]{1,15})", re.IGNORECASE)
_SPAN = re.compile(r"([0-9]{1,6})([smhdw])")
_SPANS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_NUMBER = re.compile(r"#([0-9]{1,15})")
_SLUG = re.compile(r"[\w-]{1,64}")
_ME = frozenset({"me", "you", "operator", HUMAN})


@dataclass(frozen=True, slots=True)
class Part:
    """One condition: `key` is empty for a word. `number` is that of the thing, 0 for an agent named by its slug."""

    key: str
    value: str
    negated: bool = False
    number: int = 0


@dataclass(frozen=True, slots=True)
class EventFilter:
    """All parts must hold, between two times (ms UTC) and two numbers of events; None leaves a side open.

    `since` and `first` belong to it, and so do `until` and `last`.
    """

    parts: tuple[Part, ...] = ()
    since: int | None = None
    until: int | None = None
    first: int | None = None
    last: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether every event is meant."""
        return self == EventFilter()

    def only_decisions(self) -> "EventFilter":
        """The same, of decisions alone."""
        wanted = Part("is", "decision")
        if wanted in self.parts:
            return self
        return EventFilter((*self.parts, wanted), self.since, self.until, self.first, self.last)


def parse_events(text: str, now: int) -> EventFilter:
    """A filter from what a person typed; `now` is in ms UTC, dates and times of day are local.

    Raises Invalid for a key that there is not, a time or a tag that means nothing.
    """
    parts: list[Part] = []
    sides: dict[str, int] = {}
    for word in text.split():
        negated = len(word) > 1 and word[0] in "-!"
        word = word[1:] if negated else word
        key, colon, value = word.partition(":")
        key = key.casefold()
        if not colon or not key.isalpha():
            parts.append(_word(word, negated))
        elif key not in KEYS:
            raise Invalid(f"There is no filter {key[:40]!r}.", EXAMPLES)
        elif not value:
            continue  # it is being typed
        elif key in ("since", "until"):
            if negated:
                raise Invalid(f"{key}: cannot be turned around.", "since: and until: are each other's opposite.")
            _take_side(sides, key, value, now)
        else:
            parts.append(_part(key, value, negated))
    return EventFilter(tuple(parts), sides.get("since"), sides.get("until"), sides.get("first"), sides.get("last"))


def about(ref: str) -> str:
    """The filter for everything about a thing, e.g. `task:T12` for `task:12`; empty when it has none."""
    kind, _, number = ref.partition(":")
    kind = "question" if kind == "approval" else kind
    return f"{kind}:{ABOUT[kind]}{number}" if kind in ABOUT and number.isdecimal() else ""


def _word(word: str, negated: bool) -> Part:
    tag = _TAG.fullmatch(word)
    if tag is not None:
        key = _BY_LETTER[tag[1].upper()]
        return Part(key, word.upper(), negated, int(tag[2]))
    return Part("", word.casefold(), negated)


def _part(key: str, value: str, negated: bool) -> Part:
    folded = value.casefold()
    if key == "actor":
        return Part(key, HUMAN if folded in _ME else folded, negated)
    if key == "kind":
        return Part(key, folded, negated)
    if key == "is":
        if not "decision".startswith(folded):
            raise Invalid(f"There is no filter is:{value[:40]}.", "is:decision shows what somebody decided.")
        return Part(key, "decision", negated)
    digits = folded[1:] if folded[0] == ABOUT[key].casefold() and folded[1:].isdecimal() else folded
    if digits.isdecimal() and digits.isascii() and len(digits) <= 15:
        return Part(key, f"{ABOUT[key]}{int(digits)}", negated, int(digits))
    if key == "agent" and _SLUG.fullmatch(folded):
        return Part(key, folded, negated)
    raise Invalid(f"{value[:40]!r} names no {key}.", f"Write {key}:{ABOUT[key]}12.")


def _take_side(sides: dict[str, int], key: str, value: str, now: int) -> None:
    number = _NUMBER.fullmatch(value)
    if number is not None:
        sides["first" if key == "since" else "last"] = int(number[1])
        return
    sides[key] = _time(key, value, now)


def _time(key: str, value: str, now: int) -> int:
    """The time (ms UTC) that somebody typed: 2h, 12:30, 2026-01-31, 2026-01-31T12:30."""
    today = datetime.fromtimestamp(now / 1000)
    try:
        if (span := _SPAN.fullmatch(value.casefold())) is not None:
            return now - int(timedelta(**{_SPANS[span[2]]: int(span[1])}).total_seconds() * 1000)
        if re.fullmatch(r"[0-9]{1,2}:[0-9]{2}", value):
            hour, minute = value.split(":")
            found = today.replace(hour=int(hour), minute=int(minute), second=0, microsecond=0)
        else:
            found = datetime.fromisoformat(value)
            if len(value) == len("2026-01-31") and key == "until":
                found += timedelta(days=1, milliseconds=-1)  # the day itself belongs to it
        return int(found.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise Invalid(f"{key}:{value[:40]} is no time.", "Write 2h, 30m, 3d, 12:30, 2026-01-31 or #500.") from None
