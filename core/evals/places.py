"""TOML files that people write: what is in them, and the line of each thing that is wrong."""

import re
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

_HEAD = re.compile(r"\s*(\[{1,2})\s*([A-Za-z0-9_.\"' -]+?)\s*\]{1,2}\s*(#.*)?$")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+(?:\s*\.\s*[A-Za-z0-9_*\"-]+)*)\s*=")


@dataclass(frozen=True, slots=True)
class Written:
    """A file as it was written: its values, and on which line each table and key stands."""

    path: Path
    value: Mapping[str, Any]
    lines: Mapping[Place, int]

    def wrong(self, problem: str, *place: object) -> Invalid:
        """The error for something at a place, e.g. `("steps", 2, "with")`; names the file and the nearest line."""
        return Invalid(f"{self._where(place)}: {problem}", HELP)

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
            raise Invalid("; ".join(told), HELP) from None

    def _told(self, problem: Mapping[str, Any], place: Place) -> str:
        inner = tuple(str(part) for part in problem["loc"])
        message = str(problem["msg"]).removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = "there is no such setting"
        return f"{self._where((*place, *inner))}, {'.'.join(inner) or 'here'}: {message}"


def read_toml(path: Path) -> Written:
    """A file's values and lines. Raises Invalid, which names the file and the line that is no TOML."""
    try:
        text = path.read_text(encoding="utf-8")
        value = tomllib.loads(text)
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.", "Name a file that you may read.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Invalid(f"{path} is not valid TOML: {error}.", HELP) from None
    return Written(path, value, lines_of(text))


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
            table = _parts(match[2])
            if match[1] == "[[":
                counted[table] += 1
                table = (*table, str(counted[table] - 1))
            found.setdefault(table, number)
        elif match := _KEY.match(line):
            parts = _parts(match[1])
            for size in range(1, len(parts) + 1):
                found.setdefault((*table, *parts[:size]), number)
    return found


def _parts(key: str) -> Place:
    return tuple(part.strip().strip("\"'") for part in key.split("."))
