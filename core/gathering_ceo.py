"""Gathers what a tick looks at for the CEO: its agenda, what it proposes from, and drafts that wait for their tasks."""

import json
from collections.abc import Iterable, Sequence
from itertools import takewhile

from core.blackboard.transaction import Transaction
from core.domain.actors import HUMAN, SYSTEM
from core.domain.agenda import AGENDA_MAX, CALLED, HEARTBEAT, MISSION_MISSING, Living
from core.domain.discussion import placeholder_key
from core.domain.entities import Approval, Company, Goal, Round, Task, TaskDep
from core.domain.facts import PROPOSE, Attempts
from core.domain.limits import RUN_ATTEMPTS
from core.domain.states import GoalStatus, Origin, RoundStatus

_LIVING_TASKS = 2000
_ENDED_RUNS = "status NOT IN ('queued', 'starting', 'running')"
_NOT_ENDED = "status NOT IN ('done', 'failed', 'cancelled')"
_FAILURE = frozenset({"failed", "timed_out", "protocol_violation", "lost"})


def was_called(tx: Transaction, heartbeat: int) -> bool:
    """Whether the operator called the CEO after the event `heartbeat`."""
    return bool(
        tx.value(
            "SELECT 1 FROM events WHERE entity = :entity AND kind = :kind AND id > :id LIMIT 1",
            entity=HEARTBEAT, kind=CALLED, id=heartbeat,
        )
    )  # fmt: skip


def living(
    tx: Transaction, goals: Sequence[Goal], rounds: Sequence[Round], approvals: Iterable[Approval],
    only_people: frozenset[int],
) -> Living:  # fmt: skip
    """What the agenda of a heartbeat is found in."""
    alive = "goal_id IN (SELECT id FROM goals WHERE status IN ('planning', 'active', 'reporting'))"
    urgent = f"SELECT id FROM tasks WHERE priority < 2 AND {_NOT_ENDED} AND {alive}"
    return Living(
        goals=tuple(goal for goal in goals if goal.status != GoalStatus.DRAFT),
        tasks=tuple(
            tx.select(Task, f"status NOT IN ('done', 'cancelled') AND {alive} ORDER BY id LIMIT {_LIVING_TASKS}")
        ),
        edges=tuple(tx.select(TaskDep, f"met = 0 AND task_id IN ({urgent}) ORDER BY id LIMIT {_LIVING_TASKS}")),
        rounds=tuple(rounds),
        single=frozenset(
            round_.goal_id
            for round_ in rounds
            if (round_.number, round_.total_tasks) == (1, 1)
            and round_.status in (RoundStatus.OPEN, RoundStatus.STALLED)
            and _was_planned(tx, round_.goal_id)
        ),
        asked=frozenset(approval.entity for approval in approvals),
        only_people=only_people,
        told=_told(tx),
    )


def _was_planned(tx: Transaction, goal_id: int) -> bool:
    planned = "SELECT 1 FROM events WHERE entity = 'goals' AND entity_id = :goal AND kind = 'GoalActivated' LIMIT 1"
    return tx.value(planned, goal=goal_id) is not None


def _told(tx: Transaction) -> frozenset[str]:
    """What the last heartbeats' runs were about, as many as a whole agenda may need.

    A failed one is begun again, but not for ever (F23).
    """
    last = tx.all(
        f"SELECT status, brief FROM runs WHERE idempotency_key >= 'heartbeat:' AND idempotency_key < 'heartbeat;'"
        f" AND {_ENDED_RUNS} ORDER BY idempotency_key DESC LIMIT {_LIVING_TASKS // AGENDA_MAX}"
    )
    seen = [row for row in last if row["status"] == "succeeded"]
    if len(last) >= RUN_ATTEMPTS and not any(row["status"] == "succeeded" for row in last[:RUN_ATTEMPTS]):
        seen.append(last[0])
    return frozenset(item["key"] for row in seen for item in json.loads(row["brief"]).get("agenda", []))


def mission_told(tx: Transaction) -> bool:
    """Whether it was told that there is no mission, since somebody last changed it (F18)."""
    told = tx.value("SELECT max(id) FROM events WHERE entity = 'ticker' AND kind = :kind", kind=MISSION_MISSING)
    changed = tx.value(
        "SELECT max(id) FROM events WHERE entity = 'company' AND entity_id = 1 AND changed ->> '$.mission' IS NOT NULL"
    )
    return told is not None and told > (changed or 0)


def nothing_to_propose(tx: Transaction, company: Company) -> bool:
    """Whether the last proposal came to its end without a draft, and neither goals nor the company changed since."""
    last = tx.one(
        "SELECT status, started_at FROM runs WHERE idempotency_key >= 'propose:' AND idempotency_key < 'propose;'"
        f" AND {_ENDED_RUNS} ORDER BY idempotency_key DESC LIMIT 1"
    )
    if last is None or last["status"] != "succeeded" or company.updated_at >= last["started_at"]:
        return False
    return tx.value("SELECT 1 FROM goals WHERE updated_at >= :since LIMIT 1", since=last["started_at"]) is None


def proposing(tx: Transaction) -> Attempts:
    """The failed attempts to propose since the last that came to its end, or since the operator let it go on (F23)."""
    answers = tx.all(
        "SELECT status, coalesce(decided_at, 0) AS at FROM approvals WHERE entity = 'company:1' AND kind = 'question'"
        " AND requested_by = :system AND payload ->> '$.base' = :base ORDER BY id DESC LIMIT 1",
        system=SYSTEM, base=PROPOSE,
    )  # fmt: skip
    last = answers[0] if answers else {"status": "", "at": 0}
    let_go = last["at"] if last["status"] in ("approved", "consumed", "revision_requested") else 0
    statuses = [
        row["status"]
        for row in tx.all(
            "SELECT status FROM runs WHERE idempotency_key >= 'propose:' AND idempotency_key < 'propose;'"
            f" AND {_ENDED_RUNS} AND queued_at >= :since ORDER BY idempotency_key DESC LIMIT 10",
            since=let_go,
        )
    ]
    failed = sum(status in _FAILURE for status in takewhile(lambda status: status != "succeeded", statuses))
    refused = last["status"] == "rejected"
    return Attempts(ended=len(statuses), failed=failed, asked=refused or last["status"] == "pending", refused=refused)


def spoken_about(tx: Transaction, goals: Iterable[Goal]) -> frozenset[int]:
    """The CEO's drafts about which a person said something: they are the person's to dispatch."""
    said = "SELECT 1 FROM comments WHERE goal_id = :goal AND author = :human LIMIT 1"
    drafts = [goal.id for goal in goals if goal.status == GoalStatus.DRAFT and goal.origin == Origin.CEO]
    return frozenset(draft for draft in drafts if tx.value(said, goal=draft, human=HUMAN) is not None)


def taskless(tx: Transaction, goals: Iterable[Goal]) -> frozenset[int]:
    """The CEO's drafts that have no draft task."""
    drafts = "SELECT 1 FROM tasks WHERE goal_id = :goal AND status = 'draft' LIMIT 1"
    of_ceo = [goal.id for goal in goals if goal.status == GoalStatus.DRAFT and goal.origin == Origin.CEO]
    return frozenset(goal for goal in of_ceo if tx.value(drafts, goal=goal) is None)


def unsplit(tx: Transaction, goals: Iterable[Goal]) -> dict[int, int]:
    """A person's drafts that have only their placeholder and nobody has split yet, with how often that was tried."""
    found = {}
    for goal in goals:
        if goal.status != GoalStatus.DRAFT or goal.origin != Origin.OPERATOR or not goal.split or goal.exploring:
            continue
        others = "SELECT 1 FROM tasks WHERE goal_id = :goal AND coalesce(idempotency_key, '') <> :key LIMIT 1"
        talked = "SELECT 1 FROM comments WHERE goal_id = :goal AND task_id IS NULL AND kind = 'dialogue' LIMIT 1"
        key = placeholder_key(goal.id)
        if tx.value(others, goal=goal.id, key=key) is not None or tx.value(talked, goal=goal.id) is not None:
            continue
        tried = [
            row["status"]
            for row in tx.all(
                f"SELECT status FROM runs WHERE idempotency_key >= :low AND idempotency_key < :high AND {_ENDED_RUNS}",
                low=f"split:{goal.id}#", high=f"split:{goal.id}$",
            )
        ]  # fmt: skip
        if "succeeded" not in tried and sum(status in _FAILURE for status in tried) < RUN_ATTEMPTS:
            found[goal.id] = len(tried)
    return found
