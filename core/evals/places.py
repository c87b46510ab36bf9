"""TOML files that people write: what is in them, and the line of each thing that is wrong."""

import os
import re
import stat
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from core.domain.errors import Invalid

M = TypeVar("M", bound=BaseModel)
Place = tuple[str, ...]
HELP = "docs/evals.md says how such a file is written."

TOML_MAX = 1_000_000  # bytes

_HEAD = re.compile(r"\s*(\[{1,2})\s*([A-Za-z0-9_.\"' -]+?)\s*\]{1,2}\s*(#.*)?$")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+(?:\s*\.\s*[A-Za-z0-9_*\"-]+)*)\s*=")


@dataclass(frozen=True, slots=True)
class Written:
    """A file as it was written: its values, and on which line each table and key stands."""

    path: Path
    value: Mapping[str, Any]
    lines: Mapping[Place, int]

    def part(self, name: str, number: int) -> "Written":
        """The file as element `number` of its list of tables `name` has it.

        What the element says is put over what the file says; its own lists of tables go on where the file's end.
        """
        own, here = self.value[name][number], (name, str(number))
        value = {key: each for key, each in self.value.items() if key != name}
        begins = {key: len(value[key]) for key, each in own.items() if _is_tables(each) and _is_tables(value.get(key))}
        lines = dict(self.lines)
        for place, line in self.lines.items():
            if place[:2] == here and len(place) > 2:
                key, *rest = place[2:]
                if key in begins and rest:
                    rest[0] = str(int(rest[0]) + begins[key])
                lines[(key, *rest)] = line
        joined = {key: [*value[key], *own[key]] for key in begins}
        return Written(self.path, value | own | joined, lines)

    def without(self, name: str) -> "Written":
        """The file less one of its values."""
        return Written(self.path, {key: each for key, each in self.value.items() if key != name}, self.lines)

    def wrong(self, problem: str, *place: object) -> Invalid:
        """The error for something at a place, e.g. `("steps", 2, "with")`; names the file and the nearest line."""
        return Invalid(f"{self._where(place)}: {problem}{'' if problem.endswith('.') else '.'}", HELP)

    def _where(self, place: Sequence[object]) -> str:
        parts = tuple(str(part) for part in place)
        line = next((self.lines[parts[:size]] for size in range(len(parts), 0, -1) if parts[:size] in self.lines), None)
        return f"{self.path}, line {line}" if line is not None else str(self.path)

    def build(self, model: type[M], value: Any = None, place: Place = ()) -> M:
        """The file, or a part of it, as a model. Raises Invalid, which names every wrong value with its line."""
        try:
            return model.model_validate(self.value if value is None else value)
        except ValidationError as error:
            told = [self._told(dict(problem), place) for problem in error.errors()]
            raise Invalid(f"{'; '.join(told)}.", HELP) from None

    def _told(self, problem: Mapping[str, Any], place: Place) -> str:
        inner = tuple(str(part) for part in problem["loc"])
        message = str(problem["msg"]).removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = "there is no such setting"
        return f"{self._where((*place, *inner))}, {'.'.join(inner) or 'here'}: {message}"


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def read_toml(path: Path) -> Written:
    """A file's values and lines. Raises Invalid, which names the file and the line that is no TOML."""
    try:
        text = _text_of(path)
        value = tomllib.loads(text)
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.", "Name a file that you may read.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Invalid(f"{path} is not valid TOML: {error}.", HELP) from None
    return Written(path, value, lines_of(text))


def _text_of(path: Path) -> str:
    """The text of a regular file. A pipe or a device is not read: it may never end. Raises Invalid, OSError."""
    # Opened before it is looked at, so that nothing comes in its place; without waiting for who writes to a pipe.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, encoding="utf-8") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise Invalid(f"{path} is no regular file.", HELP)
        if found.st_size > TOML_MAX:
            raise Invalid(f"{path} is longer than {TOML_MAX} bytes.", HELP)
        return file.read()


def lines_of(text: str) -> dict[Place, int]:
    """Where tables and keys stand; elements of lists of tables are counted from 0, as in the values."""
    found: dict[Place, int] = {}
    counted: Counter[Place] = Counter()
    table: Place = ()
    in_text = False
    for number, line in enumerate(text.splitlines(), 1):
        begins_in_text = in_text
        in_text ^= (line.count('"""') + line.count("'''")) % 2 == 1
        if begins_in_text:
            continue
        if match := _HEAD.match(line):
            table = _within(_parts(match[2]), counted)
            if match[1] == "[[":
                counted[table] += 1
                table = (*table, str(counted[table] - 1))
            found.setdefault(table, number)
        elif match := _KEY.match(line):
            parts = _parts(match[1])
            for size in range(1, len(parts) + 1):
                found.setdefault((*table, *parts[:size]), number)
    return found


def _within(parts: Place, counted: Mapping[Place, int]) -> Place:
    """The place of a table: what lies in a list of tables lies in its last element so far."""
    place: Place = ()
    for part in parts[:-1]:
        place = (*place, part)
        if place in counted:
            place = (*place, str(counted[place] - 1))
    return (*place, *parts[-1:])


def _parts(key: str) -> Place:
    return tuple(part.strip().strip("\"'") for part in key.split("."))
