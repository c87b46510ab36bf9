"""`$name` in a scenario: the id that a step's answer gave, or with a path another part of that answer."""

import re
from collections.abc import Mapping
from typing import Any

_NAME = re.compile(r"\$([a-z][a-z0-9_]*)((?:\.[A-Za-z0-9_]+)*)")
_WHOLE = re.compile(_NAME.pattern + r"\Z")


def names_in(value: Any) -> set[str]:
    """The names of steps that a value speaks of; within a text `$$` is a plain dollar."""
    if isinstance(value, str):
        return {match[1] for match in _NAME.finditer(value.replace("$$", ""))}
    if isinstance(value, Mapping):
        return set().union(*(names_in(part) for part in value.values()))
    if isinstance(value, (list, tuple)):
        return set().union(*(names_in(part) for part in value))
    return set()


def filled(value: Any, answers: Mapping[str, Mapping[str, Any]]) -> Any:
    """The value with every `$name` put in: alone it keeps its type, within a text it is written out.

    Raises KeyError with the path that no answer has.
    """
    if isinstance(value, str):
        whole = _WHOLE.match(value)
        if whole:
            return _part(whole, answers)
        return _NAME.sub(lambda match: str(_part(match, answers)), value.replace("$$", "\0")).replace("\0", "$")
    if isinstance(value, Mapping):
        return {key: filled(part, answers) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [filled(part, answers) for part in value]
    return value


def _part(match: "re.Match[str]", answers: Mapping[str, Mapping[str, Any]]) -> Any:
    found: Any = answers.get(match[1], {})
    path = match[2].split(".")[1:] or ["id"]
    for part in path:
        try:
            found = found[int(part)] if isinstance(found, list) else found[part]
        except (KeyError, IndexError, ValueError, TypeError):
            raise KeyError(match[0]) from None
    return found
