"""The one mapping between entities and rows: a field is a column, structures are JSON text, words are text."""

import dataclasses
import json
import types
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from core.domain.entities import Entity

E = TypeVar("E", bound=Entity)
Converter = Callable[[Any], Any]
_FIELDS: dict[type[Entity], tuple[str, ...]] = {}
_CONVERTERS: dict[type[Entity], dict[str, Converter]] = {}


def _converter(hint: Any) -> Converter | None:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        inner = _converter(next(arg for arg in get_args(hint) if arg is not type(None)))
        return None if inner is None else lambda value: None if value is None else inner(value)
    if origin is tuple:
        return lambda value: tuple(json.loads(value)) if isinstance(value, str) else tuple(value)
    if origin is dict:
        return lambda value: json.loads(value) if isinstance(value, str) else value
    if hint is bool:
        return bool
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint
    return None


def fields_of(cls: type[Entity]) -> tuple[str, ...]:
    """The column names of an entity, in order."""
    names = _FIELDS.get(cls)
    if names is None:
        names = _FIELDS[cls] = tuple(field.name for field in dataclasses.fields(cls))
    return names


def _converters(cls: type[Entity]) -> dict[str, Converter]:
    found = _CONVERTERS.get(cls)
    if found is None:
        hints = get_type_hints(cls)
        pairs = ((name, _converter(hints[name])) for name in fields_of(cls))
        found = _CONVERTERS[cls] = {name: converter for name, converter in pairs if converter is not None}
    return found


def decode(cls: type[E], row: Mapping[str, Any]) -> E:
    """An entity from a row of its table, or from the `changed` fields of its first event."""
    converters = _converters(cls)
    return cls(**{k: converters[k](v) if k in converters else v for k, v in row.items()})


def decode_changes(cls: type[Entity], changed: Mapping[str, Any]) -> dict[str, Any]:
    """The `changed` fields of an event as values of the entity's fields."""
    converters = _converters(cls)
    return {k: converters[k](v) if k in converters else v for k, v in changed.items()}


def encode(value: Any) -> Any:
    """A field's value as SQLite stores it: structures as JSON text, booleans as 0 or 1, words as text."""
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (tuple, list, dict)):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return value
