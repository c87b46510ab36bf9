"""The room's memory: the board's rows, kept up to date by its events, and what the panes derive from them.

Taking in an event costs microseconds; what is derived is worked out when it is asked for, once a flush.
Nothing here knows of Textual, and nothing here waits.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.blackboard.fold import Tables
from core.domain.agenda import BEATS
from core.domain.budget_items import held_after_no
from core.domain.ceo_mode import CeoModeAnswer, CeoModeContext, resolve_ceo_mode
from core.domain.company_items import notices
from core.domain.coverage import Coverage, cover
from core.domain.entities import (
    AgentRecord,
    Approval,
    Budget,
    Company,
    Decision,
    Entity,
    Event,
    Goal,
    Output,
    Review,
    Round,
    Run,
    Task,
    TaskDep,
    Turn,
)
from core.domain.inbox import InboxItem, inbox
from core.domain.mentions import named_in
from core.domain.states import (
    RUN_LIVE,
    AgentStatus,
    ApprovalStatus,
    OnFail,
    Role,
    RoundStatus,
    RunStatus,
    TaskStatus,
)
from tui.came_back import CameBack
from tui.explaining import explain
from tui.explanation import Explanation
from tui.keymap import USUAL
from tui.meanwhile import Meanwhile

HEARTBEATS = frozenset(BEATS)
# What nothing in the inbox is made of; of tasks only those that wait for a person, or for another task, count there.
_NOT_IN_INBOX = frozenset({"comments", "outputs", "reviews", "turns", "decisions", "experiences", "knowledge"})
WORDS: dict[str, str] = {
    "company": "company", "agents": "agent", "goals": "goal", "rounds": "round", "tasks": "task",
    "task_deps": "dep", "runs": "run", "approvals": "approval", "outputs": "output", "reviews": "review",
    "turns": "turn", "decisions": "decision", "budgets": "budget",
    "experiences": "experience",
}  # fmt: skip
_KINDS: dict[str, type[Entity]] = {"goal": Goal, "task": Task, "round": Round, "agent": AgentRecord, "company": Company}
_HELD = frozenset({TaskStatus.CLAIMED, TaskStatus.WORKING})
_ATTENTION = frozenset({TaskStatus.WAITING_HUMAN, TaskStatus.BLOCKED, TaskStatus.REVIEW})


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a round is: its tasks by status."""

    round: Round
    goal: Goal
    counts: Mapping[TaskStatus, int]

    @property
    def done(self) -> int:
        return self.round.total_tasks - self.round.open_tasks


@dataclass(frozen=True, slots=True)
class Totals:
    """What the company has used so far, and what it runs now."""

    live: int
    queued: int
    tokens: int
    cost_micros: int
    without_cost: int = 0  # runs that used tokens at no known cost


class Projection:
    """Loaded from a snapshot once, then fed with every event that follows it."""

    def __init__(self) -> None:
        self.tables = Tables()
        self.loaded = False
        self.last_event = 0
        self.outputs_folder = ""
        self.keymap = USUAL  # by which keys are named in what it tells
        self.runner_kinds: Collection[str] | None = None  # what this program can run here, if that is known
        self.structure = 0
        self.heartbeat: Event | None = None
        self.left: dict[int, str] = {}  # why an agent was paused or has retired, by its id
        self.came_back = CameBack()
        self.meanwhile = Meanwhile()
        self.held: dict[str, str] = {}
        self.held_runs: Mapping[int, str] = {}
        self.tasks_of_goal: dict[int, list[int]] = {}
        self.rounds_of_goal: dict[int, list[int]] = {}
        self.deps_of: dict[int, list[int]] = {}
        self.outputs_of_goal: dict[int, list[int]] = {}
        self.decisions_of_goal: dict[int, list[int]] = {}
        self._counts: dict[int, Counter[TaskStatus]] = {}
        self._dirty: set[str] = set()
        self._live: dict[int, Run] = {}
        self._attention: set[int] = set()
        self._pending: set[int] = set()
        self._holds: set[int] = set()
        self._at_work: set[int] = set()
        self._warnings: list[str] = []
        self.spent_by_b: int | None = None  # micros today, by goals of stage B; read by a worker
        self._tokens = 0
        self._cost = 0
        self._without_cost = 0
        self._cache: dict[str, Any] = {}
        self._inbox: list[InboxItem] | None = None  # kept over flushes: most of what happens does not concern it
        self._covered: dict[int, Coverage] = {}  # kept over flushes: only what is done or delivered changes it

    # ------------------------------------------------------------- taking in

    def load(
        self,
        last_event: int,
        entities: Iterable[Entity],
        heartbeat: Event | None = None,
        *,
        tokens: int = 0,
        cost: int = 0,
        without_cost: int = 0,
        left: Mapping[int, str] | None = None,
    ) -> None:
        """Begin with a snapshot. `tokens`, `cost` and `without_cost` are those of the runs that it left out.

        `left` tells by agent why it was paused or has retired.
        """
        for entity in entities:
            self.tables.rows[entity.table][entity.id] = entity
            self._index(None, entity)
        self.last_event, self.heartbeat = last_event, heartbeat
        self._tokens += tokens
        self._cost += cost
        self._without_cost += without_cost
        self.left.update(left or {})
        self.loaded = True
        self._inbox = None
        self._dirty.add("company:1")

    def apply(self, events: Sequence[Event]) -> None:
        """Take in what happened; what it touches is dirty until the next flush."""
        for event in events:
            table = event.entity
            self.came_back.hear(event)
            self.meanwhile.hear(event)
            if event.kind in ("AgentPaused", "AgentRetired"):
                self.left[event.entity_id] = str(event.changed.get("reason", ""))
            if event.kind == "BudgetWarned":
                self._warnings.append(str(event.changed.get("words", "")))
            if event.kind == "RemarkUnheard":
                self._warnings.append(f"not heard: R{event.changed.get('run_id')} ended before what you said into it")
            word = WORDS.get(table)
            if word is not None:
                if table == "outputs":
                    event = _light(event)
                old = self.tables.rows[table].get(event.entity_id)
                waited = self._concerns_inbox(event)
                new = self.tables.apply(event)
                if new is not None:
                    self._index(old, new)
                if waited or self._concerns_inbox(event):
                    self._inbox = None
                self._dirty.add(f"{word}:{event.entity_id}")
            elif table == "knowledge":
                # Whole files of text are read when they are looked at, not kept.
                self._dirty.add(f"knowledge:{event.entity_id}")
            elif table == "comments":
                self._touch(event.changed)
            elif event.kind in HEARTBEATS:
                self.heartbeat = event
                self._dirty.add("company:1")
        if events:
            self.last_event = events[-1].id

    @property
    def is_dirty(self) -> bool:
        """Whether something happened since the last flush."""
        return bool(self._dirty)

    def flush(self) -> frozenset[str]:
        """What was touched since the last time, as `kind:id`; forgets what was derived before."""
        dirty, self._dirty = frozenset(self._dirty), set()
        if dirty:
            self._cache.clear()
        return dirty

    def take_warnings(self) -> list[str]:
        """What a person is told once, e.g. of a budget that is nearly used up."""
        told, self._warnings = self._warnings, []
        return told

    def note_waits(self, held: Mapping[str, str], held_runs: Mapping[int, str]) -> None:
        """What the last tick held back and why, and which queued runs the caps hold back."""
        self.held, self.held_runs = dict(held), dict(held_runs)

    def _concerns_inbox(self, event: Event) -> bool:
        if event.entity != "tasks":
            return event.entity not in _NOT_IN_INBOX
        number = event.entity_id
        return number in self._attention or any(
            (dep := self.tables.get(TaskDep, hold)) is not None and number in (dep.task_id, dep.depends_on)
            for hold in self._holds
        )

    def _touch(self, changed: Mapping[str, Any]) -> None:
        for name, word in (("task_id", "task"), ("goal_id", "goal")):
            if changed.get(name) is not None:
                self._dirty.add(f"{word}:{changed[name]}")
        if str(changed.get("kind", "")).startswith("mail"):
            self._dirty.add("company:1")
            people = {changed.get("author"), *named_in(str(changed.get("body", "")))}
            self._dirty |= {f"agent:{agent.id}" for agent in self.tables.all(AgentRecord) if agent.slug in people}

    def _index(self, old: Entity | None, new: Entity) -> None:
        match new:
            case Task():
                self._index_task(old, new)
            case Run():
                self._index_run(old, new)
            case Goal():
                self._covered.pop(new.id, None)
                if not isinstance(old, Goal) or old.status != new.status:
                    self.structure += 1
            case Round():
                if old is None:
                    self.rounds_of_goal.setdefault(new.goal_id, []).append(new.id)
                if not isinstance(old, Round) or old.status != new.status:
                    self.structure += 1
                self._dirty.add(f"goal:{new.goal_id}")
            case Approval():
                (self._pending.add if new.status == ApprovalStatus.PENDING else self._pending.discard)(new.id)
                self._dirty.add(new.entity)
            case TaskDep():
                if old is None:
                    self.deps_of.setdefault(new.task_id, []).append(new.id)
                waits = not new.met and new.on_fail == OnFail.HOLD
                (self._holds.add if waits else self._holds.discard)(new.id)
                self._dirty.add(f"task:{new.task_id}")
            case Output():
                if old is None:
                    self.outputs_of_goal.setdefault(new.goal_id, []).append(new.id)
                self._covered.pop(new.goal_id, None)
                self._dirty.add(f"goal:{new.goal_id}")
                about = f"task:{new.task_id}" if new.task_id is not None else f"goal:{new.goal_id}"
                self._dirty.add(about)
            case Decision():
                if old is None:
                    self.decisions_of_goal.setdefault(new.goal_id, []).append(new.id)
                self._covered.pop(new.goal_id, None)
                self._dirty.add(f"goal:{new.goal_id}")
            case Turn():
                self._dirty.add(f"goal:{new.goal_id}")
            case Review():
                self._dirty.add(f"{new.subject}:{new.subject_id}")
            case _:
                pass

    def _index_task(self, old: Entity | None, new: Task) -> None:
        waits = new.status in _ATTENTION or new.plan_until is not None
        (self._attention.add if waits else self._attention.discard)(new.id)
        (self._at_work.add if new.status in _HELD else self._at_work.discard)(new.id)
        if old is None:
            self.tasks_of_goal.setdefault(new.goal_id, []).append(new.id)
            self.structure += 1
        elif isinstance(old, Task) and (old.round_id, old.parent_id) != (new.round_id, new.parent_id):
            self.structure += 1
        if isinstance(old, Task) and old.round_id is not None:
            self._counts[old.round_id][old.status] -= 1
        if new.round_id is not None:
            self._counts.setdefault(new.round_id, Counter())[new.status] += 1
            self._dirty.add(f"round:{new.round_id}")
        if not isinstance(old, Task) or old.status != new.status:
            self._dirty.add(f"goal:{new.goal_id}")
            if new.status == TaskStatus.DONE:
                self._covered.pop(new.goal_id, None)

    def _index_run(self, old: Entity | None, new: Run) -> None:
        if new.status in RUN_LIVE:
            self._live[new.id] = new
        else:
            self._live.pop(new.id, None)
        before = old if isinstance(old, Run) else None
        self._tokens += new.tokens_in + new.tokens_out - (before.tokens_in + before.tokens_out if before else 0)
        self._cost += new.cost_micros - (before.cost_micros if before else 0)
        self._without_cost += _is_without_cost(new) - (_is_without_cost(before) if before else 0)
        if new.task_id is not None:
            self._dirty.add(f"task:{new.task_id}")
        elif new.goal_id is not None:
            self._dirty.add(f"goal:{new.goal_id}")
        self._dirty.add(f"agent:{new.agent_id}")

    # ------------------------------------------------------------- asking

    def find(self, ref: str) -> Entity | None:
        """The row that `goal:3` or `task:12` names, if it is known here."""
        kind, _, number = ref.partition(":")
        cls = _KINDS.get(kind)
        return None if cls is None or not number.isdecimal() else self.tables.get(cls, int(number))

    @property
    def company(self) -> Company | None:
        return self.tables.get(Company, 1)

    @property
    def live_runs(self) -> Sequence[Run]:
        """Runs that are queued or at work, oldest first."""
        return sorted(self._live.values(), key=lambda run: run.id)

    def pending(self) -> list[Approval]:
        """Questions that wait for the operator."""
        return [approval for number in sorted(self._pending) if (approval := self.tables.get(Approval, number))]

    def permission_of(self, run: Run) -> Approval | None:
        """What a run's program asks the operator for now, and waits."""
        return next((approval for approval in self.pending() if approval.entity == f"run:{run.id}"), None)

    def inbox(self) -> list[InboxItem]:
        """Everything that waits for a person."""
        found = self._inbox
        if found is None:
            deps = [dep for number in self._holds if (dep := self.tables.get(TaskDep, number))]
            wanted = self._attention | {number for dep in deps for number in (dep.task_id, dep.depends_on)}
            tables = self.tables
            goals, agents = tables.all(Goal), tables.all(AgentRecord)
            found = self._inbox = inbox(
                self.company, goals, tables.all(Round),
                [task for number in sorted(wanted) if (task := tables.get(Task, number))],
                deps, self.pending(), agents,
                [*held_after_no(tables.all(Budget), tables.all(Approval), self._live.values()),
                 *notices(self.company, goals, agents, self.runner_kinds)],
            )  # fmt: skip
            found[:] = [self._marked(item) for item in found]
        return found

    def _marked(self, item: InboxItem) -> InboxItem:
        """A draft that came back says so."""
        version = self.version_of(item)
        return replace(item, why=f"it came back, version {version}; {item.why}") if version else item

    def version_of(self, item: InboxItem) -> int:
        """Which version of a draft waits that was sent back; 0 for all else."""
        return self.came_back.version(int(item.entity.partition(":")[2])) if item.kind == "draft" else 0

    def items_of(self, ref: str) -> list[InboxItem]:
        """What waits for a person about one thing."""
        return [item for item in self.inbox() if item.entity == ref]

    def totals(self) -> Totals:
        """Runs, tokens and money."""
        queued = sum(run.status == RunStatus.QUEUED for run in self._live.values())
        return Totals(len(self._live) - queued, queued, self._tokens, self._cost, self._without_cost)

    def tasks(self, goal_id: int) -> list[Task]:
        """The tasks of a goal, in the order in which they came."""
        rows = self.tables[Task]
        return [rows[number] for number in self.tasks_of_goal.get(goal_id, ())]

    def held_tasks(self) -> list[Task]:
        """Tasks that an agent holds now."""
        return [task for number in sorted(self._at_work) if (task := self.tables.get(Task, number))]

    def attention_tasks(self) -> list[Task]:
        """Tasks that are blocked, in review or with a person, or whose plan stands open for objection."""
        return [task for number in sorted(self._attention) if (task := self.tables.get(Task, number))]

    def rounds(self, goal_id: int) -> list[Round]:
        """The rounds of a goal, the first one first."""
        rows = self.tables[Round]
        return [rows[number] for number in self.rounds_of_goal.get(goal_id, ())]

    def progress(self, goal_id: int | None) -> Progress | None:
        """The last round of a goal; without one, that of the goal that moved last among those with an open round."""
        goal = self.tables.get(Goal, goal_id)
        rounds = self.rounds(goal.id) if goal else []
        if not rounds:
            open_rounds = [each for each in self.tables.all(Round) if each.status != RoundStatus.CLOSED]
            rounds = sorted(open_rounds or self.tables.all(Round), key=lambda each: each.progress_at)
        if not rounds or (goal := self.tables.get(Goal, rounds[-1].goal_id)) is None:
            return None
        last = rounds[-1]
        return Progress(last, goal, self._counts.get(last.id, Counter()))

    def ceo(self) -> tuple[AgentRecord, CeoModeAnswer] | None:
        """The CEO and the mode it is in, with the reasons; None while there is no CEO."""
        agents = [agent for agent in self.tables.all(AgentRecord) if agent.status != AgentStatus.TERMINATED]
        ceo = next((agent for agent in agents if agent.role == Role.CEO), None)
        if ceo is None or self.company is None:
            return None
        return ceo, resolve_ceo_mode(CeoModeContext(ceo, self.company, agents, self.pending()))

    def agent_state(self, agent: AgentRecord, now: int) -> str:
        """What an agent does, by its runs: asks (for a permission), working, waiting, cooling, paused, idle or gone."""
        if agent.status == AgentStatus.TERMINATED:
            return "gone"
        runs = [run for run in self._live.values() if run.agent_id == agent.id]
        if any(self.permission_of(run) is not None for run in runs):
            return "asks"
        at_work = [run for run in runs if run.status != RunStatus.QUEUED]
        if at_work and all(run.paused_at is not None for run in at_work):
            return "paused"
        if at_work:
            return "working"
        if agent.status == AgentStatus.PAUSED:
            return "paused"
        if (agent.cooldown_until or 0) > now:
            return "cooling"
        return "waiting" if runs else "idle"

    def team(self, now: int) -> Counter[str]:
        """How many agents are in which state."""
        states = (self.agent_state(agent, now) for agent in self.tables.all(AgentRecord))
        return Counter(state for state in states if state != "gone")

    def report(self, goal_id: int) -> Output | None:
        """What was delivered last for a goal as a whole."""
        rows = self.tables[Output]
        found = [rows[number] for number in self.outputs_of_goal.get(goal_id, ()) if rows[number].task_id is None]
        return max(found, key=lambda each: each.id, default=None)

    def coverage(self, goal: Goal) -> Coverage:
        """Which must-haves and decisions of a goal are delivered, waived or open."""
        if goal.id not in self._covered:
            outputs, decisions = self.tables[Output], self.tables[Decision]
            self._covered[goal.id] = cover(
                goal, self.tasks(goal.id),
                [outputs[number] for number in self.outputs_of_goal.get(goal.id, ())],
                [decisions[number] for number in self.decisions_of_goal.get(goal.id, ())],
            )  # fmt: skip
        return self._covered[goal.id]

    def slug(self, agent_id: int | None) -> str:
        """The short name of an agent, or nothing."""
        agent = self.tables.get(AgentRecord, agent_id)
        return agent.slug if agent else ""

    def waits_for(self, task: Task) -> list[Task]:
        """The tasks whose end this one waits for."""
        deps = [self.tables.get(TaskDep, number) for number in self.deps_of.get(task.id, ())]
        causes = [self.tables.get(Task, dep.depends_on) for dep in deps if dep and not dep.met]
        return [cause for cause in causes if cause is not None]

    def why(self, ref: str, now: int) -> Explanation:
        """Why a thing is where it is, and what it waits for."""
        return explain(self, ref, now)


def _is_without_cost(run: Run) -> bool:
    """Whether it used tokens at no known cost."""
    return not run.cost_micros and run.tokens_in + run.tokens_out > 0


def _light(event: Event) -> Event:
    # the text of an output is read when somebody looks at it
    if event.changed.get("content"):
        return replace(event, changed={**event.changed, "content": ""})
    return event
