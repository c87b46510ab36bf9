"""What an evaluation came to: each scenario with its repetitions, as text that programs read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.domain.goals import canonical_hash
from core.evals.playing import Played


@dataclass(frozen=True, slots=True)
class Result:
    """One scenario. `group` is the CEO's mode in which it begins, or the role of another agent."""

    name: str
    group: str
    scenario_hash: str
    runs: tuple[Played, ...]

    @property
    def passed(self) -> int:
        """How many repetitions passed."""
        return sum(run.passed for run in self.runs)

    @property
    def ok(self) -> bool:
        """pass^k: every repetition passed."""
        return self.passed == len(self.runs)

    @property
    def why(self) -> str:
        """Why the first repetition that did not pass did not."""
        return next(("; ".join(run.why) for run in self.runs if not run.passed), "")


@dataclass(frozen=True, slots=True)
class Report:
    """All of an evaluation."""

    runner: str
    model: str
    repeat: int
    results: tuple[Result, ...]

    @property
    def ok(self) -> bool:
        """Whether every scenario passed in every repetition."""
        return all(result.ok for result in self.results)

    @property
    def prompt_hash(self) -> str:
        """Of all texts that were read, by scenario."""
        return canonical_hash(
            [[result.name, *sorted({run.prompt_hash for run in result.runs})] for result in self.results]
        )

    def as_json(self) -> dict[str, Any]:
        """As a baseline holds it, and as programs read it."""
        return {
            "runner": self.runner, "model": self.model, "prompt_hash": self.prompt_hash, "repeat": self.repeat,
            "passed": self.ok, "tokens_in": sum(run.tokens_in for result in self.results for run in result.runs),
            "tokens_out": sum(run.tokens_out for result in self.results for run in result.runs),
            "scenarios": [
                {
                    "name": result.name, "group": result.group, "hash": result.scenario_hash, "passed": result.ok,
                    "runs": [_run(run) for run in result.runs],
                }
                for result in self.results
            ],
        }  # fmt: skip


def _run(run: Played) -> dict[str, Any]:
    return {
        "passed": run.passed, "why": list(run.why), "mode": run.mode, "ended": run.ended,
        "prompt_hash": run.prompt_hash, "calls": [call.as_json() for call in run.calls],
    }  # fmt: skip


def groups_of(results: Sequence[Result]) -> list[str]:
    """The groups that occur, in the order of their first scenario."""
    return list(dict.fromkeys(result.group for result in results))
