"""What a simulation came to, in numbers: counted from the board alone, by the same rules for everybody."""

from dataclasses import asdict, dataclass
from typing import Any

from core.blackboard.transaction import Transaction

# What gives a task another run of work: all else is the same work twice.
_REASONS = frozenset(
    {
        "TaskSentBack", "TaskRejected", "TaskReleased", "TaskResumed", "TaskUnblocked", "TaskClaimed", "TaskAssigned",
        "PlanPosted", "PlanStands", "PlanObjected", "TaskDisputed", "TaskRebutted",
    }
)  # fmt: skip
_ENDED_WELL = "succeeded"


@dataclass(frozen=True, slots=True)
class Invariant:
    """A law, and the first place and tick where it was broken; `where` is empty while it holds."""

    law: str
    ok: bool
    where: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """`ticks` is when the last goal ended, or None. `model_calls` are runs that began, `duplicates` tasks done twice.

    `interventions` are decisions that the operator took; `refused` are calls of agents that the board refused.
    """

    seed: int
    ticks: int | None
    minutes: float
    goals: dict[str, int]
    tasks: dict[str, int]
    runs: dict[str, int]
    model_calls: int
    duplicates: int
    interventions: int
    refused: int
    waits: int
    invariants: tuple[Invariant, ...]

    @property
    def ok(self) -> bool:
        """Whether every law held."""
        return all(invariant.ok for invariant in self.invariants)

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {**asdict(self), "invariants": [asdict(invariant) for invariant in self.invariants]}


def counted(tx: Transaction) -> dict[str, Any]:
    """The part of a report that lies on the board."""
    return {
        "goals": _by(tx, "SELECT status AS name, count(*) AS n FROM goals GROUP BY status ORDER BY status"),
        "tasks": _by(tx, "SELECT status AS name, count(*) AS n FROM tasks GROUP BY status ORDER BY status"),
        "runs": _by(tx, "SELECT kind AS name, count(*) AS n FROM runs GROUP BY kind ORDER BY kind"),
        "model_calls": int(tx.value("SELECT count(*) FROM runs WHERE started_at IS NOT NULL")),
        "duplicates": len(duplicates(tx)),
    }


def _by(tx: Transaction, query: str) -> dict[str, int]:
    return {row["name"]: row["n"] for row in tx.all(query)}


def duplicates(tx: Transaction) -> list[int]:
    """The runs (ids) that did work which an earlier run had brought to its end, and nobody had asked for again."""
    began: dict[int, dict[str, Any]] = {}
    found = []
    for run in tx.all(
        "SELECT id, task_id, status, started_at FROM runs WHERE kind = 'execute' AND started_at IS NOT NULL ORDER BY id"
    ):
        before = began.get(run["task_id"])
        if before is not None and before["status"] == _ENDED_WELL and not _asked_again(tx, before["id"], run):
            found.append(int(run["id"]))
        began[run["task_id"]] = run
    return found


def _asked_again(tx: Transaction, before: int, run: dict[str, Any]) -> bool:
    """Whether something happened between two runs of a task that asks for the second."""
    first = tx.value("SELECT id FROM events WHERE entity = 'runs' AND entity_id = :run AND kind = 'RunStarted'",
                     run=before)  # fmt: skip
    last = tx.value("SELECT id FROM events WHERE entity = 'runs' AND entity_id = :run AND kind = 'RunStarted'",
                    run=run["id"])  # fmt: skip
    kinds = tx.all(
        "SELECT kind FROM events WHERE entity = 'tasks' AND entity_id = :task AND id > :first AND id < :last",
        task=run["task_id"], first=first, last=last,
    )  # fmt: skip
    return any(row["kind"] in _REASONS for row in kinds)
