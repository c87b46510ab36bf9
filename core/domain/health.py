"""How an agent is and why: at work, waiting and for whom, stuck, paused, idle or retired. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.domain.entities import AgentRecord, Run, Task
from core.domain.limits import LEASE_MS, RUN_ATTEMPTS
from core.domain.states import PERMANENT, AgentStatus, RunStatus, TaskStatus


class Health(StrEnum):
    """The groups of a roster, what needs a person first."""

    STUCK = "stuck"
    WAITING = "waiting"
    WORKING = "working"
    PAUSED = "paused"
    IDLE = "idle"
    RETIRED = "retired"


STATES = (
    "asks", "needs you", "budget", "plan", "queued", "claimed", "cooling", "stopped", "blocked", "silent", "fails",
    "in circles", "cannot run", "no runner",
)  # fmt: skip
"""What a `Condition` may say more exactly than by its group."""


@dataclass(frozen=True, slots=True)
class Condition:
    """`state` is the group in one word more exactly, e.g. asks, budget, blocked; `why` a clause without its full stop.

    `item` is the id of what waits in the inbox and would end it; empty where no person can.
    """

    health: Health
    state: str
    why: str
    item: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFacts:
    """What is known of one agent.

    `live` are its runs that have not ended and `ended` the last that have, newest first; `tasks` are those it holds, be
    they at work, blocked, in review or with a person. `items` names by subject (`run:7`, `task:4`, `agent:2`, `goal:1`,
    `company:1`) what waits in the inbox, as id and tag: ("approval:3", "Q3"); `budgets` the same of budgets that are
    used up. `held` says of queued runs why they do not start. `lacks` is why its runner cannot run here, `left` why it
    was paused or has retired, `stopped` why the company is: empty where it is not so.
    """

    agent: AgentRecord
    live: Sequence[Run] = ()
    ended: Sequence[Run] = ()
    tasks: Sequence[Task] = ()
    items: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    budgets: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    held: Mapping[int, str] = field(default_factory=dict)
    lacks: str = ""
    left: str = ""
    stopped: str = ""


SILENT_MS = LEASE_MS  # past the end of a lease; its owner renews it three times as often
_BADLY = frozenset({RunStatus.FAILED, RunStatus.TIMED_OUT, RunStatus.PROTOCOL_VIOLATION, RunStatus.LOST})
_HELD = frozenset({TaskStatus.CLAIMED, TaskStatus.WORKING})
_WENT_ROUND = "stuck"  # the exit kind of a run that went in circles


def condition(facts: AgentFacts, now: int) -> Condition:
    """How the agent is at `now` (ms UTC): the first rule that holds says it (F1, F16, F24)."""
    for rule in (_gone, _at_work, _left_alone, _tasks, _queued, _after_runs):
        for found in rule(facts, now):
            return found
    return Condition(Health.IDLE, "idle", _since(facts, now))


def _gone(facts: AgentFacts, now: int) -> Iterator[Condition]:
    if facts.agent.status == AgentStatus.TERMINATED:
        yield Condition(Health.RETIRED, "retired", facts.left or "it has retired")


def _at_work(facts: AgentFacts, now: int) -> Iterator[Condition]:
    """What its runs do: one that asks stands before all others, and one at work before those that are held."""
    for run in facts.live:
        if (asked := facts.items.get(f"run:{run.id}")) is not None:
            yield Condition(Health.WAITING, "asks", f"{run.name_tag} waits for your word on {asked[1]}", asked[0])
    runs = [run for run in facts.live if run.status != RunStatus.QUEUED]
    silent = [run for run in runs if run.lease_until is not None and now - run.lease_until >= SILENT_MS]
    paused = [run for run in runs if run.paused_at is not None]
    if silent and len(silent) == len(runs):
        last = (silent[0].lease_until or now) - LEASE_MS
        yield Condition(Health.STUCK, "silent", f"no sign of life of {silent[0].name_tag} for {_lasted(now - last)}")
    if paused and len(paused) == len(runs):
        since = _lasted(now - (paused[0].paused_at or now))
        yield Condition(Health.PAUSED, "paused", f"you paused {paused[0].name_tag} {since} ago")
    if runs:
        yield Condition(Health.WORKING, "working", "")


def _left_alone(facts: AgentFacts, now: int) -> Iterator[Condition]:
    if facts.agent.status == AgentStatus.PAUSED:
        yield Condition(Health.PAUSED, "paused", facts.left or "you paused it")
    if facts.lacks:
        yield Condition(Health.STUCK, "no runner", facts.lacks)


def _tasks(facts: AgentFacts, now: int) -> Iterator[Condition]:
    """What it holds waits for a person; a block counts once nothing else of it is to come."""
    for task in facts.tasks:
        item, tag = facts.items.get(f"task:{task.id}", ("", ""))
        if task.status == TaskStatus.WAITING_HUMAN:
            why = f"{task.name_tag} waits for you{f' ({tag})' if tag else ''}: {task.reason or task.title}"
            yield Condition(Health.WAITING, "needs you", why, item)
        if task.plan_until is not None and task.plan_until > now:
            left = _lasted(task.plan_until - now)
            why = f"its plan for {task.name_tag} stands open for objection, {left} left"
            yield Condition(Health.WAITING, "plan", why, item)
    for task in () if facts.live else facts.tasks:
        if task.status == TaskStatus.BLOCKED:
            item = facts.items.get(f"task:{task.id}", ("", ""))[0]
            kind = str(task.block_kind or "").replace("_", " ")
            yield Condition(Health.STUCK, "blocked", f"{task.name_tag} is blocked ({kind}): {task.reason}", item)


def _queued(facts: AgentFacts, now: int) -> Iterator[Condition]:
    for run in facts.live:
        subjects = (f"agent:{run.agent_id}", f"goal:{run.goal_id}", "company:1")
        used_up = next((facts.budgets[each] for each in subjects if each in facts.budgets), None)
        if used_up is not None:
            why = f"{run.name_tag} is held back by a budget: {used_up[1]}"
            yield Condition(Health.WAITING, "budget", why, used_up[0])
    if (facts.agent.cooldown_until or 0) > now:
        left = _lasted((facts.agent.cooldown_until or 0) - now)
        yield Condition(Health.WAITING, "cooling", f"what it runs on asked to wait: {left} left")
    if facts.live and facts.stopped:
        yield Condition(
            Health.WAITING, "stopped", f"{facts.live[0].name_tag} is queued; the company is stopped: {facts.stopped}"
        )
    for run in facts.live:
        why = facts.held.get(run.id, "about to start")
        yield Condition(Health.WAITING, "queued", f"{run.name_tag} is queued: {why}")


def _after_runs(facts: AgentFacts, now: int) -> Iterator[Condition]:
    """Nothing of it is live: how its last runs ended, and what it holds all the same."""
    last = facts.ended[0] if facts.ended else None
    if last is not None and last.status in _BADLY:
        detail = f": {last.detail}" if last.detail else ""
        if last.exit_kind == _WENT_ROUND:
            yield Condition(Health.STUCK, "in circles", f"{last.name_tag} went in circles and was ended{detail}")
        if last.exit_kind in PERMANENT:
            yield Condition(Health.STUCK, "cannot run", f"{last.name_tag} failed, and so will the next{detail}")
        worst = facts.ended[:RUN_ATTEMPTS]
        if len(worst) == RUN_ATTEMPTS and all(run.status in _BADLY for run in worst):
            yield Condition(Health.STUCK, "fails", f"its last {RUN_ATTEMPTS} runs ended badly; {last.name_tag}{detail}")
    for task in facts.tasks:
        if task.status in _HELD:
            what = "the company is stopped" if facts.stopped else "its run is queued at the next tick"
            yield Condition(Health.WAITING, "claimed", f"it holds {task.name_tag}; {what}")


def _since(facts: AgentFacts, now: int) -> str:
    """What an idle agent did last."""
    for task in facts.tasks:
        if task.status == TaskStatus.REVIEW:
            return f"{task.name_tag} waits for its verdict"
    if not facts.ended:
        return "nothing has run for it yet"
    last = facts.ended[0]
    how = str(last.status).replace("_", " ")
    return f"{last.name_tag} {how} {_lasted(now - (last.ended_at or now))} ago"


def _lasted(ms: int) -> str:
    seconds = max(0, ms) // 1000
    for size, letter in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{letter}"
    return f"{seconds}s"
