"""A policy file: how the agents of a simulation are, what is allowed, and how its operator decides."""

import re
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.domain.errors import Invalid
from core.domain.limits import ROUND_CAP, RUNS_AT_ONCE, STARTS_PER_MINUTE
from core.simulation.habits import USUAL, Habits

_TABLE = re.compile(r"\s*\[\s*([A-Za-z0-9_-]+)\s*\]")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")


class Bounds(BaseModel):
    """Upper bounds; all finite. A run that takes longer than `run_minutes` is ended."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    runs_at_once: int = Field(RUNS_AT_ONCE, ge=1, le=1000)
    starts_per_minute: int = Field(STARTS_PER_MINUTE, ge=1, le=100_000)
    round_cap: int = Field(ROUND_CAP, ge=1, le=100)
    run_minutes: float = Field(30, gt=0, le=1440)


class Person(BaseModel):
    """The operator: `kindly` says yes to everything, `random` decides by lot, `absent` never comes.

    A present one looks at the inbox each `every` ticks. With `explore` goals begin with a talk instead of a dispatch.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    manner: Literal["kindly", "random", "absent"] = "kindly"
    every: int = Field(2, ge=1, le=10_000)
    explore: bool = False


class Policy(BaseModel):
    """All of a policy file. What it leaves out is as usual; of habits that it names any, the others do not happen."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    habits: Habits = USUAL
    caps: Bounds = Bounds()
    operator: Person = Person()


def read_policy(path: Path) -> Policy:
    """The policy in a file. Raises Invalid, which names the file, and the line of each wrong value."""
    try:
        text = path.read_text(encoding="utf-8")
        value = tomllib.loads(text)
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.", "Name a policy file that you may read.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Invalid(f"{path} is not valid TOML: {error}.", "Mend that line; docs/cli.md shows an example.") from None
    if isinstance(value.get("habits"), dict):
        value["habits"] = {**dict.fromkeys(Habits.model_fields, 0.0), **value["habits"]}
    try:
        return Policy.model_validate(value)
    except ValidationError as error:
        lines = _lines(text)
        told = [_told(dict(problem), lines) for problem in error.errors()]
        raise Invalid(f"{path} is no policy: {'; '.join(told)}.", "docs/cli.md lists what a policy may say.") from None


def _told(problem: dict[str, Any], lines: dict[tuple[str, ...], int]) -> str:
    place = tuple(str(part) for part in problem["loc"])
    line = next((lines[place[:size]] for size in range(len(place), 0, -1) if place[:size] in lines), None)
    where = f"line {line}, " if line is not None else ""
    message = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        message = "there is no such setting"
    return f"{where}{'.'.join(place)}: {message}"


def _lines(text: str) -> dict[tuple[str, ...], int]:
    """Where each table and key of a policy stands; its keys need no more of TOML than this."""
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if match := _TABLE.match(line):
            table = (match[1],)
            found.setdefault(table, number)
        elif match := _KEY.match(line):
            found.setdefault((*table, match[1]), number)
    return found
