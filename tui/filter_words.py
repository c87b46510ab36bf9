"""A filter in words for any list: words, `key:value`, a minus in front turns a part around. Pure.

The board and the history have words of their own beside these, in `filtering.py` and in the core's `event_filter.py`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from core.domain.errors import Invalid

Keys = Mapping[str, Collection[str]]
"""The keys that a list knows, each with every value that it may have; none where that is open."""

Values = Mapping[str, Sequence[str]]
"""What one row is, by key: {"agent": ("ada",), "goal": ("G1",)}."""

_TAG = re.compile(r"[a-z]\d+")


@dataclass(frozen=True, slots=True)
class Part:
    """One condition: `key` is empty for a word."""

    key: str
    value: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """All parts must hold."""

    parts: tuple[Part, ...] = field(default=())

    def __bool__(self) -> bool:
        """Whether it leaves anything out."""
        return bool(self.parts)

    def fits(self, text: str, values: Values) -> bool:
        """Whether a row is meant: `text` is what it shows, `values` what it is."""
        shown = text.casefold()
        return all(_holds(part, shown, values) != part.negated for part in self.parts)


def examples(keys: Keys) -> str:
    """What can be typed, in a sentence."""
    typed = [f"{key}:{'…' if not known else next(iter(known)).replace(' ', '_')}" for key, known in keys.items()]
    return f"Write words{''.join(f', {each}' for each in typed)}; a minus in front turns it around."


def parse_words(text: str, keys: Keys) -> Words:
    """A filter from what a person typed. Raises Invalid for a key, or a value of a key, that there is not."""
    parts = []
    for word in text.casefold().split():
        negated = len(word) > 1 and word[0] in "-!"
        word = word[1:] if negated else word
        key, colon, value = word.partition(":")
        if not colon:
            parts.append(Part("", word, negated))
            continue
        if key not in keys:
            raise Invalid(f"There is no filter {key!r} here.", examples(keys))
        value = value.replace("_", " ")
        known = keys[key]
        # while it is being typed, the beginning of a value means every value that begins so
        if known and not any(each.startswith(value) for each in known):
            raise Invalid(f"There is no {key} {value!r}.", f"Known: {', '.join(known)}.")
        if value:
            parts.append(Part(key, value, negated))
    return Words(tuple(parts))


def _holds(part: Part, shown: str, values: Values) -> bool:
    if not part.key:
        return part.value in shown
    return any(_means(part.value, each.casefold().replace("_", " ")) for each in values.get(part.key, ()))


def _means(typed: str, value: str) -> bool:
    """G1 is G1 alone, and not G12; a name is meant by its beginning."""
    return typed in (value, value[1:]) if _TAG.fullmatch(value) else value.startswith(typed)
