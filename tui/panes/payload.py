"""What an approval is bound to, spelled out for a person: a field a line, texts literally, nothing escaped.

Pure. A line that stands behind `|` is a line of a text: no text can look like another field.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tui.text import one_line, plain

MOST_DEEP = 8
MOST_NESTED = 100
"""Levels of JSON in a text that are read at all: what is nested deeper is no act, and would be felt."""
STEP = "  "


class _Written(str):
    """A number as it was written: a person sees the digits, not what a float makes of them."""

    __slots__ = ()


def spelled(payload: Mapping[str, Any]) -> list[str]:
    """The lines of a payload, each fit for the screen. JSON in a text is read, unless reading it would hide a part."""
    return list(_fields(payload, ""))


def _fields(fields: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in fields.items():
        yield from _entry(f"{indent}{one_line(str(name))}:", value, indent)


def _entry(label: str, value: Any, indent: str) -> Iterator[str]:
    """One field, or one entry of a list: behind its label where it is short, else below it."""
    if isinstance(value, str) and (read := read_json(value)) is not None:
        yield f"{label} (JSON)"
        yield from _below(read, indent + STEP)
    elif isinstance(value, (Mapping, list, tuple)) and value:
        yield label
        yield from _below(value, indent + STEP)
    elif isinstance(value, str) and "\n" in (text := plain(value)):
        yield label
        yield from (f"{indent}{STEP}| {line}" for line in text.split("\n"))
    else:
        yield f"{label} {_scalar(value)}"


def _below(value: Any, indent: str) -> Iterator[str]:
    if len(indent) > MOST_DEEP * len(STEP):
        yield indent + one_line(json.dumps(value, ensure_ascii=False))
    elif isinstance(value, Mapping):
        yield from _fields(value, indent)
    elif _are_lines(value):
        yield from (f"{indent}line {each['line']}: {plain(each['text'])}" for each in value)
    else:
        for each in value:
            yield from _entry(f"{indent}•", each, indent)


def _are_lines(values: Sequence[Any]) -> bool:
    """Whether these are the lines of a file: a number and what stands there."""
    return all(
        isinstance(each, Mapping)
        and set(each) == {"line", "text"}
        and isinstance(each["line"], int)
        and isinstance(each["text"], str)
        and "\n" not in plain(each["text"])
        for each in values
    )


def _scalar(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case "":
            return '""'
        case str():
            return plain(value)
        case _:
            return one_line(json.dumps(value, ensure_ascii=False))


def read_json(text: str) -> Any:
    """The object or list that a text is; None if it is none, says a name twice, or is nested without end."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_float=_Written, parse_constant=_Written)
    except (ValueError, RecursionError):
        return None
    return None if not value or _is_deep(value) else value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MOST_NESTED):
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, (dict, list)))
        level = [value for values in inner for value in values]
    return bool(level)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a name stands there twice")
    return fields
