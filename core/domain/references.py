"""Ids that a text names: T12 a task, O3 an output. What is not there must not be spoken of as if it were (F9)."""

import re
from collections.abc import Iterable

_NAMED = re.compile(r"(?<![A-Za-z0-9_-])([TO])([1-9][0-9]{0,14})(?![A-Za-z0-9_-])")


def named_ids(texts: Iterable[str]) -> list[tuple[str, int]]:
    """The letters and numbers of the tasks and outputs that these texts name, in order, each once."""
    return list(dict.fromkeys((letter, int(number)) for text in texts for letter, number in _NAMED.findall(text)))
