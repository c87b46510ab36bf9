"""What was done before, in a file; and how far two evaluations agree about what agents do (S0-18)."""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.commands.registry import REGISTRY
from core.domain.errors import Invalid
from core.evals.expecting import Call
from core.evals.report import Report, Result

BAR = Fraction(99, 100)
"""The agreement below which a change has altered behaviour (S0-18)."""
VERSION = 1
_MARKED = ("goal", "task", "round", "approval", "entity")


class _Read(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class KnownCall(_Read):
    """A call of a baseline."""

    command: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    refused: str = ""


class KnownRun(_Read):
    """One repetition of a baseline."""

    passed: bool
    mode: str
    ended: str
    prompt_hash: str = ""
    calls: tuple[KnownCall, ...]


class KnownScenario(_Read):
    """A scenario of a baseline."""

    name: str
    group: str
    hash: str
    runs: tuple[KnownRun, ...] = Field(min_length=1)


class Baseline(_Read):
    """An evaluation as it was recorded."""

    version: int
    runner: str
    model: str
    prompt_hash: str
    repeat: int
    scenarios: tuple[KnownScenario, ...]


def require_place(path: Path) -> None:
    """Raises Invalid when a baseline could not be written there; asked before anything is played."""
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise Invalid(f"{path} cannot be written.", "Name a file in a folder that is there and yours.")
    if path.exists():
        raise Invalid(f"{path} is there already; it was left as it is.", "Name another file, or take that away first.")


def write_baseline(path: Path, report: Report) -> None:
    """Write an evaluation as a baseline, whole or not at all. Raises Invalid when it cannot be written."""
    text = json.dumps({"version": VERSION, **report.as_json()}, ensure_ascii=False, indent=1) + "\n"
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        # Half a character that a model said becomes its escape, which JSON knows.
        fresh.write_text(text, encoding="utf-8", errors="backslashreplace")
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise Invalid(
            f"{path} cannot be written: {error.strerror}.", "Name a file in a folder that is yours."
        ) from None


def read_baseline(path: Path) -> Baseline:
    """A recorded evaluation. Raises Invalid, which names the file and what is wrong in it."""
    again = "Record one with `opsroom eval --record FILE`."
    try:
        baseline = Baseline.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.", again) from None
    except json.JSONDecodeError as error:
        raise Invalid(f"{path}, line {error.lineno}: no valid JSON: {error.msg}.", again) from None
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is no UTF-8: {error.reason}.", again) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise Invalid(f"{path} is no baseline: {where}: {first['msg']}.", again) from None
    if baseline.version != VERSION:
        raise Invalid(f"{path} is a baseline of version {baseline.version}; this program reads {VERSION}.", again)
    return baseline


# Agreement -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """A scenario in which the behaviour is not as it was; texts for people."""

    name: str
    group: str
    agreement: Fraction
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two evaluations agree, by group; `new` are scenarios that the baseline does not have."""

    baseline: Baseline
    groups: Mapping[str, Fraction]
    differences: tuple[Difference, ...]
    new: tuple[str, ...]
    other_prompts: tuple[str, ...] = ()  # the scenarios whose texts are not those of the baseline

    @property
    def ok(self) -> bool:
        """Whether no group is below the bar."""
        return all(share >= BAR for share in self.groups.values())

    def as_json(self) -> dict[str, Any]:
        """For programs; shares in percent."""
        return {
            "baseline": {name: getattr(self.baseline, name) for name in ("runner", "model", "prompt_hash", "repeat")},
            "bar": float(BAR * 100),
            "ok": self.ok,
            "groups": [
                {"group": name, "percent": percent(share), "ok": share >= BAR} for name, share in self.groups.items()
            ],
            "differences": [
                {
                    "scenario": each.name, "group": each.group, "percent": percent(each.agreement),
                    "before": each.before, "now": each.now,
                }
                for each in self.differences
            ],
            "new": list(self.new),
        }  # fmt: skip


def percent(share: Fraction) -> float:
    """A share in percent, cut to two digits, never rounded up: 98.996 is not 99."""
    return int(share * 10_000) / 100


def asked_of(baseline: Baseline, name: str | None, mode: str | None) -> list[str]:
    """The baseline's scenarios that an evaluation of this scenario, or of this mode, or of all has to show again."""
    return [each.name for each in baseline.scenarios if name in (None, each.name) and mode in (None, each.group)]


def agreement(baseline: Baseline, results: Sequence[Result], asked: Sequence[str]) -> Agreement:
    """How far `results` agree with a baseline; `asked` are the names of its scenarios that have to be among them.

    A scenario agrees as far as the shares of its repetitions that behave alike overlap; a group as far as its scenarios
    do on average. One that is gone or was written anew does not agree at all; one that is new is only named.
    Raises Invalid when there is nothing to compare.
    """
    known = {each.name: each for each in baseline.scenarios}
    now = {each.name: each for each in results}
    shares: dict[str, list[Fraction]] = {}
    differences = []
    for name in dict.fromkeys([*asked, *(name for name in now if name in known)]):
        before, after = known[name], now.get(name)
        found = _compare(before, after)
        shares.setdefault(after.group if after else before.group, []).append(found.agreement)
        if found.agreement < 1:
            differences.append(found)
    if not shares:
        raise Invalid("The baseline has none of these scenarios.", "Record one with `opsroom eval --record FILE`.")
    groups = {group: sum(each, Fraction()) / len(each) for group, each in shares.items()}
    new = tuple(name for name in now if name not in known)
    other = tuple(name for name in now if name in known and _prompts(known[name]) != _prompts(now[name]))
    return Agreement(baseline, groups, tuple(differences), new, other)


def _prompts(scenario: KnownScenario | Result) -> set[str]:
    return {run.prompt_hash for run in scenario.runs}


def _compare(before: KnownScenario, after: Result | None) -> Difference:
    if after is None:
        return Difference(before.name, before.group, Fraction(), _words(_shares(before)), "the scenario is gone")
    if after.scenario_hash != before.hash:
        told = "the scenario was written anew; record a new baseline"
        return Difference(before.name, after.group, Fraction(), _words(_shares(before)), told)
    old, new = _shares(before), _shares(after)
    overlap = sum((min(share, new.get(behaviour, Fraction())) for behaviour, share in old.items()), Fraction())
    return Difference(before.name, after.group, overlap, _words(old), _words(new))


def _shares(scenario: KnownScenario | Result) -> dict[str, Fraction]:
    """Each behaviour of a scenario, in words, with the share of the repetitions that show it."""
    counted = Counter(_behaviour(run.calls, run.passed, run.mode, run.ended) for run in scenario.runs)
    return {words: Fraction(count, len(scenario.runs)) for words, count in counted.items()}


def _behaviour(calls: Sequence[Call | KnownCall], passed: bool, mode: str, ended: str) -> str:
    """What counts as the same behaviour: mode, end, success, and the commands in order with what is no free text."""
    done = ", ".join(_call_words(call) for call in calls) or "no call"
    return f"{'passed' if passed else 'not passed'}, {ended}{f' in {mode}' if mode else ''}: {done}"


def _call_words(call: Call | KnownCall) -> str:
    marks = [
        f"{name}={value}" for name, value in sorted(call.arguments.items()) if _is_choice(call.command, name, value)
    ]
    arguments = f"({', '.join(marks)})" if marks else ""
    return f"{call.command}{arguments}{' refused' if call.refused else ''}"


def _is_choice(command: str, name: str, value: Any) -> bool:
    """Whether an argument is one of few: a yes or no, a word of a fixed list, or the thing that the call is about."""
    registered = REGISTRY.get(command)
    if name in _MARKED or isinstance(value, bool):
        return value is not None
    annotation = (
        registered.model.model_fields[name].annotation if registered and name in registered.model.model_fields else None
    )
    kinds = (annotation, *get_args(annotation))
    return isinstance(value, str) and (
        any(isinstance(kind, type) and issubclass(kind, Enum) for kind in kinds) or value in kinds
    )


def _words(shares: Mapping[str, Fraction]) -> str:
    if len(shares) == 1:
        return next(iter(shares))
    return "; ".join(f"{percent(share):g} %: {words}" for words, share in shares.items())
