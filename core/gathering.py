"""Gathers a tick's facts with a few indexed queries; what is finished costs nothing."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from core.blackboard.transaction import Transaction
from core.commands.autonomy import spent_today
from core.domain import facts as bases
from core.domain.actors import HUMAN, SYSTEM
from core.domain.agenda import BEATS
from core.domain.autonomy import is_idle
from core.domain.entities import (
    AgentRecord,
    Approval,
    Company,
    Goal,
    Mention,
    Offer,
    Round,
    Run,
    Task,
    Turn,
)
from core.domain.facts import Attempts, Facts
from core.domain.limits import RUN_ATTEMPTS
from core.domain.states import PERMANENT, Autonomy, GoalStatus, ReviewStep, RoundStatus, RunStatus, TaskStatus
from core.domain.tick.heartbeat import is_due
from core.gathering_ceo import (
    living,
    mission_told,
    nothing_to_propose,
    proposing,
    spoken_about,
    taskless,
    unsplit,
    was_called,
)

# What cannot go on now must not stand before what can (F16). The plus keeps the planner on the partial index.
READY = (
    "status = 'pending' AND open_deps = 0"
    " AND +goal_id IN (SELECT id FROM goals WHERE status = 'active' AND paused_at IS NULL)"
    " ORDER BY priority, id LIMIT 500"
)
WAKEABLE = (
    "status = 'pending' AND agent_id IN (SELECT id FROM agents WHERE status = 'active')"
    " AND coalesce((SELECT paused_at FROM goals WHERE goals.id = goal_id), 0) = 0 ORDER BY id LIMIT 200"
)
_NO_FAILURE = frozenset({RunStatus.RATE_LIMITED, RunStatus.KILLED})
_HEARTBEATS = f"({', '.join(repr(kind) for kind in BEATS)})"


def gather(tx: Transaction, tick: int, lost: Callable[[Iterable[Run]], Mapping[int, str]]) -> Facts:
    """The facts at `tx.now`. `lost` tells which of the live runs have no living process or owner any more."""
    ready = tx.select(Task, READY)
    busy = tx.select(Task, "status IN ('claimed', 'working', 'review', 'blocked', 'waiting_human') ORDER BY status, id")
    runs = tx.select(Run, "status IN ('queued', 'starting', 'running') ORDER BY id")
    goals = tx.select(Goal, "status NOT IN ('done', 'failed', 'cancelled', 'archived') ORDER BY id")
    rounds = tx.select(Round, "status <> 'closed' ORDER BY id")
    turns = {goal.id: turn for goal in goals if goal.status == GoalStatus.PLANNING and (turn := _last_turn(tx, goal))}
    unanswered = {goal.id: word for goal in goals if goal.exploring and (word := _unanswered(tx, goal)) is not None}
    in_review = [task for task in busy if task.status == TaskStatus.REVIEW]
    last_rounds = {goal.id: last for goal in goals if (last := _last_round(tx, goal)) is not None}
    approvals = tx.select(Approval, "status = 'pending' ORDER BY id")
    company = tx.get(Company, 1)
    only_people = frozenset(r.id for r in rounds if r.status == RoundStatus.STALLED and _waits_for_people(tx, r))
    heartbeat = tx.one(
        "SELECT id, at FROM events WHERE entity = 'ticker' AND kind IN "
        f"{_HEARTBEATS} ORDER BY entity_id DESC, id DESC LIMIT 1"
    ) or {"id": 0, "at": None}
    called = was_called(tx, heartbeat["id"])
    due = is_due(heartbeat["at"], called, tx.now)
    idle = is_idle(company, goals)
    return Facts(
        company=company,
        agents=tuple(tx.select(AgentRecord, "status <> 'terminated' ORDER BY id")),
        goals=tuple(goals),
        rounds=tuple(rounds),
        last_rounds=last_rounds,
        ready=tuple(ready),
        runnable=_runnable(tx, rounds, ready),
        busy=tuple(busy),
        runs=tuple(runs),
        approvals=tuple(approvals),
        mentions=tuple(tx.select(Mention, WAKEABLE)),
        offers=tuple(
            offer
            for task in ready
            for offer in tx.select(Offer, "task_id = :t AND offer = :o", t=task.id, o=task.offer)
        ),
        authors={task.id: _authors(tx, task) for task in in_review},
        judges={task.id: _judges(tx, task) for task in in_review},
        turns=turns,
        heard={turn.id: _heard(tx, turn) for turn in turns.values() if turn.ended_at is None},
        only_people=only_people,
        unanswered=unanswered,
        attempts=_attempts(tx, goals, last_rounds, rounds, ready, busy, turns, unanswered),
        lost=lost(runs),
        heartbeat_at=heartbeat["at"],
        heartbeat_called=called,
        living=living(tx, goals, rounds, approvals, only_people) if due and not idle else None,
        mission_told=due and idle and mission_told(tx),
        nothing_to_propose=due and idle and nothing_to_propose(tx, company),
        proposing=proposing(tx) if idle else bases.Attempts(),
        stage_b_spent=spent_today(tx) if company.autonomy == Autonomy.B else 0,
        spoken_about=spoken_about(tx, goals) if company.autonomy == Autonomy.B else frozenset(),
        taskless=taskless(tx, goals) if company.autonomy == Autonomy.B else frozenset(),
        unsplit=unsplit(tx, goals),
        proposal_cut_off=idle and _proposal_cut_off(tx),
        tick=tick,
    )


def _runnable(tx: Transaction, rounds: Iterable[Round], ready: Iterable[Task]) -> frozenset[int]:
    """Rounds with a task that can be claimed, also one that is not among the first."""
    known = {task.round_id for task in ready}
    query = "SELECT 1 FROM tasks WHERE round_id = :r AND status = 'pending' AND open_deps = 0 LIMIT 1"
    return frozenset(r.id for r in rounds if r.id in known or tx.value(query, r=r.id) is not None)


def _waits_for_people(tx: Transaction, round_: Round) -> bool:
    """Whether every open task of a round waits for a person, or for a task that does (C-05)."""
    others = tx.value(
        "WITH RECURSIVE waits(id) AS (SELECT id FROM tasks WHERE round_id = :round AND (status = 'waiting_human'"
        " OR (status = 'draft' AND created_by = :human) OR (status NOT IN ('done', 'failed', 'cancelled')"
        " AND EXISTS (SELECT 1 FROM approvals WHERE entity = 'task:' || tasks.id AND approvals.status = 'pending'"
        " AND approvals.kind <> 'exchange')))"
        " UNION SELECT task_id FROM task_deps JOIN waits ON depends_on = waits.id WHERE met = 0)"
        " SELECT 1 FROM tasks WHERE round_id = :round AND status NOT IN ('done', 'failed', 'cancelled')"
        " AND id NOT IN (SELECT id FROM waits) LIMIT 1",
        round=round_.id, human=HUMAN,
    )  # fmt: skip
    return round_.open_tasks > 0 and others is None


def _proposal_cut_off(tx: Transaction) -> bool:
    """Whether the last proposal was lost or ended by the program; not when that happens again and again (F23)."""
    last = tx.all(
        "SELECT status, (SELECT actor FROM events WHERE entity = 'runs' AND entity_id = runs.id AND kind = 'RunKilled')"
        " AS ended_by FROM runs WHERE idempotency_key >= 'propose:' AND idempotency_key < 'propose;'"
        " ORDER BY idempotency_key DESC LIMIT :most",
        most=RUN_ATTEMPTS,
    )
    cut_off = [row["status"] == "lost" or (row["status"], row["ended_by"]) == ("killed", SYSTEM) for row in last]
    return cut_off[:1] == [True] and not (len(cut_off) == RUN_ATTEMPTS and all(cut_off))


def _last_round(tx: Transaction, goal: Goal) -> Round | None:
    found = tx.select(Round, "goal_id = :goal ORDER BY number DESC LIMIT 1", goal=goal.id)
    return found[0] if found else None


def _authors(tx: Transaction, task: Task) -> frozenset[int]:
    rows = tx.all(
        "SELECT agent_id FROM runs WHERE task_id = :task AND kind = 'execute'"
        " UNION SELECT agents.id FROM outputs JOIN agents ON agents.slug = outputs.created_by WHERE task_id = :task",
        task=task.id,
    )
    return frozenset(row["agent_id"] for row in rows)


def _judges(tx: Transaction, task: Task) -> frozenset[int]:
    """Who gave a verdict on this attempt of a task: a second look is somebody else's, a reply to a rebuttal theirs."""
    rows = tx.all(
        "SELECT DISTINCT agents.id FROM reviews JOIN agents ON agents.slug = reviews.reviewer"
        " WHERE subject = 'task' AND subject_id = :task AND attempt = :attempt",
        task=task.id, attempt=task.review_attempts + (task.review_step != ReviewStep.REPLY),
    )  # fmt: skip
    return frozenset(row["id"] for row in rows)


def _last_turn(tx: Transaction, goal: Goal) -> Turn | None:
    found = tx.select(Turn, "goal_id = :goal ORDER BY number DESC LIMIT 1", goal=goal.id)
    return found[0] if found else None


def _heard(tx: Transaction, turn: Turn) -> frozenset[int]:
    """Agents whose run of this turn came to its end, failed as often as anything may, or would fail again for sure."""
    tried: Counter[int] = Counter()
    for row in tx.all(
        "SELECT agent_id, status, exit_kind FROM runs WHERE idempotency_key >= :low AND idempotency_key < :high"
        " AND status NOT IN ('queued', 'starting', 'running')",
        low=f"discuss:{turn.id}:", high=f"discuss:{turn.id};",
    ):  # fmt: skip
        if row["status"] not in _NO_FAILURE:
            is_over = row["status"] == RunStatus.SUCCEEDED or row["exit_kind"] in PERMANENT
            tried[row["agent_id"]] += RUN_ATTEMPTS if is_over else 1
    return frozenset(agent for agent, times in tried.items() if times >= RUN_ATTEMPTS)


def _unanswered(tx: Transaction, goal: Goal) -> int | None:
    """The operator's last word in an exploration, if the coordinator owes an answer; 0 before the first word."""
    last = tx.one(
        "SELECT id, author FROM comments WHERE goal_id = :goal AND task_id IS NULL AND kind = 'dialogue'"
        " ORDER BY id DESC LIMIT 1",
        goal=goal.id,
    )
    if last is None:
        return 0
    return int(last["id"]) if last["author"] == HUMAN else None


def _attempts(
    tx: Transaction,
    goals: Iterable[Goal],
    last_rounds: Mapping[int, Round],
    rounds: Iterable[Round],
    ready: Iterable[Task],
    busy: Iterable[Task],
    turns: Mapping[int, Turn],
    unanswered: Mapping[int, int],
) -> dict[str, Attempts]:
    subjects: list[tuple[str, str]] = []
    for round_ in rounds:
        if round_.status == RoundStatus.REVIEWING:
            subjects.append((bases.round_review_base(round_), f"round:{round_.id}"))
        elif round_.status == RoundStatus.STALLED:
            subjects.append((bases.stall_base(round_), f"round:{round_.id}"))
            subjects.append((bases.stalls_base(round_), f"round:{round_.id}"))
    with_round = {round_.goal_id for round_ in rounds}
    for goal in goals:
        if goal.status in (GoalStatus.PLANNING, GoalStatus.ACTIVE) and goal.id not in with_round:
            subjects.append((bases.goal_base(goal, last_rounds.get(goal.id)), f"goal:{goal.id}"))
    subjects += [(bases.review_base(task), f"task:{task.id}") for task in busy if task.status == TaskStatus.REVIEW]
    subjects += [(bases.ruling_base(task), f"task:{task.id}") for task in busy if task.review_step == ReviewStep.RULING]
    subjects += [
        (bases.discuss_base(turn, agent), f"goal:{turn.goal_id}")
        for turn in turns.values()
        if turn.ended_at is None
        for agent in turn.agents
    ]
    subjects += [
        (bases.explore_base(goal, unanswered[goal.id]), f"goal:{goal.id}") for goal in goals if goal.id in unanswered
    ]
    subjects += [(bases.no_fit_base(task), f"task:{task.id}") for task in ready if task.broadcasts >= 3]
    subjects += [(bases.no_executor_base(round_.id), f"round:{round_.id}") for round_ in rounds]
    return {base: _attempts_of(tx, base, entity) for base, entity in subjects}


def _attempts_of(tx: Transaction, base: str, entity: str) -> Attempts:
    # '$' follows '#': the range holds exactly the keys of this base, by the unique index. All stalls of a round have
    # keys of their own bases, with ':'.
    own, after = (":", ";") if base.count(":") == 1 and base.startswith("stall:") else ("#", "$")
    statuses = [
        row["status"]
        for row in tx.all(
            "SELECT status FROM runs WHERE idempotency_key >= :low AND idempotency_key < :high"
            " AND status NOT IN ('queued', 'starting', 'running')",
            low=f"{base}{own}",
            high=f"{base}{after}",
        )
    ]
    # Only answers to the program's own question about these very attempts: another's grants and refuses nothing.
    answers = [
        row["status"]
        for row in tx.all(
            "SELECT status, payload FROM approvals WHERE entity = :entity AND kind = 'question'"
            " AND requested_by = :system ORDER BY id",
            entity=entity,
            system=SYSTEM,
        )
        if json.loads(row["payload"]).get("base") == base
    ]
    return Attempts(
        ended=len(statuses),
        failed=sum(status not in _NO_FAILURE for status in statuses),
        granted=sum(status in ("approved", "consumed", "revision_requested") for status in answers),
        asked=bool(answers) and answers[-1] in ("pending", "rejected"),
        refused=bool(answers) and answers[-1] == "rejected",
    )
