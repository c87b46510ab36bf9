"""Rows to entities and back, fast: the same mapping as `core.domain.entities`, with its common cases taken shortcuts.

A claim reads and changes rows of thirty columns; the plain way costs more than SQLite itself. A test holds both equal.
"""

import json
import types
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from core.domain.entities import Entity
from core.domain.records import decode_changes, encode, fields_of

E = TypeVar("E", bound=Entity)
F = TypeVar("F", bound=Callable[..., Any])
Convert = Callable[[Any], Any]


def per_class(function: F) -> F:
    """`functools.cache` for functions of an entity's class, whose type mypy takes for unhashable."""
    return cast(F, cache(function))


# json.dumps with these settings would build an encoder for each call.
as_json: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def stored(value: Any) -> Any:
    """A field's value as SQLite stores it; the same as `encode`."""
    kind = type(value)
    if kind is str or kind is int or value is None:
        return value
    if kind is tuple or kind is dict or kind is list:
        return as_json(value)
    return encode(value)


@per_class
def columns(cls: type[Entity]) -> str:
    """The columns of an entity for a SELECT, in the order that `maker` wants."""
    return ", ".join(fields_of(cls))


@per_class
def maker(cls: type[E]) -> Callable[[Sequence[Any]], E]:
    """A function from a row, with its columns in the order of the fields, to the entity."""
    names = fields_of(cls)
    converts = [(names.index(name), convert) for name, convert in _converts(cls).items()]
    build = _builder(cls)

    def make(row: Sequence[Any]) -> E:
        values = list(row)
        for index, convert in converts:
            values[index] = convert(values[index])
        return build(values)

    return make


@per_class
def from_values(cls: type[E]) -> Callable[[Mapping[str, Any]], E]:
    """A function from all fields by name, stored or not, to the entity."""
    pick = _picker(fields_of(cls))
    make = maker(cls)
    return lambda values: make(pick(values))


def changed_entity(entity: E, changes: Mapping[str, Any]) -> E:
    """The entity with some fields changed; `changes` may be as stored or as in the entity."""
    cls = type(entity)
    getter, build, places, converts = _changer(cls)
    values = list(getter(entity))
    for name, value in changes.items():
        convert = converts.get(name)
        values[places[name]] = value if convert is None else convert(value)
    return build(values)


@per_class
def _changer(
    cls: type[E],
) -> tuple[Callable[[E], tuple[Any, ...]], Callable[[Sequence[Any]], E], dict[str, int], dict[str, Convert]]:
    names = fields_of(cls)
    places = {name: place for place, name in enumerate(names)}
    return attrgetter(*names), _builder(cls), places, _converts(cls)


def _picker(names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], list[Any]]:
    return lambda values: [values[name] for name in names]


def _builder(cls: type[E]) -> Callable[[Sequence[Any]], E]:
    # A frozen dataclass sets its slots one by one through object.__setattr__; this does the same at half the cost.
    setters = tuple(getattr(cls, name).__set__ for name in fields_of(cls))
    new = cast(Callable[[type[E]], E], object.__new__)

    def build(values: Sequence[Any]) -> E:
        entity = new(cls)
        for setter, value in zip(setters, values, strict=True):
            setter(entity, value)
        return entity

    return build


@per_class
def _converts(cls: type[Entity]) -> dict[str, Convert]:
    """The fields whose stored form differs from the entity's, with the way back."""
    hints = get_type_hints(cls)
    found = {name: _convert(cls, name, hints[name]) for name in fields_of(cls)}
    return {name: convert for name, convert in found.items() if convert is not None}


def _convert(cls: type[Entity], name: str, hint: Any) -> Convert | None:
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(part for part in get_args(hint) if part is not type(None))
    if hint in (str, int, float):
        return None
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _word(hint)
    return _structure(cls, name)


def _word(words: type[StrEnum]) -> Convert:
    known: dict[Any, StrEnum] = {word.value: word for word in words}

    def convert(value: Any) -> Any:
        found = known.get(value)
        return words(value) if found is None and value is not None else found

    return convert


def _structure(cls: type[Entity], name: str) -> Convert:
    def convert(value: Any) -> Any:
        if value == "[]":
            return ()
        return None if value is None else decode_changes(cls, {name: value})[name]

    return convert
