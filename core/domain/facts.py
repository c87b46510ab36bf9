"""What a tick looks at: the living part of the board, gathered with a few indexed queries."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.domain.agenda import Living
from core.domain.entities import AgentRecord, Approval, Company, Goal, Mention, Offer, Round, Run, Task, Turn
from core.domain.states import ReviewStep


@dataclass(frozen=True, slots=True)
class Attempts:
    """How often something was tried: ended runs of any kind, those that count as failures, and what was granted.

    `granted` is how often the operator allowed another set of attempts; `refused` whether the last answer was no.
    """

    ended: int = 0
    failed: int = 0
    granted: int = 0
    asked: bool = False
    refused: bool = False


PROPOSE = "propose"
"""The name under which attempts to propose the next goal are counted."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Only what lives: finished goals, rounds, tasks and runs are not in it and cost nothing."""

    company: Company
    agents: tuple[AgentRecord, ...] = ()
    goals: tuple[Goal, ...] = ()
    rounds: tuple[Round, ...] = ()
    last_rounds: Mapping[int, Round] = field(default_factory=dict)
    ready: tuple[Task, ...] = ()  # the first of them; `runnable` are all the rounds that have one
    runnable: frozenset[int] = frozenset()
    busy: tuple[Task, ...] = ()
    runs: tuple[Run, ...] = ()
    approvals: tuple[Approval, ...] = ()
    mentions: tuple[Mention, ...] = ()
    offers: tuple[Offer, ...] = ()
    authors: Mapping[int, frozenset[int]] = field(default_factory=dict)
    judges: Mapping[int, frozenset[int]] = field(default_factory=dict)  # who gave a verdict on this attempt of a task
    turns: Mapping[int, Turn] = field(default_factory=dict)  # the last turn of each goal that is planned
    heard: Mapping[int, frozenset[int]] = field(default_factory=dict)  # by turn: agents that have had their say
    only_people: frozenset[int] = frozenset()  # stalled rounds in which every open task waits for a person
    unanswered: Mapping[int, int] = field(default_factory=dict)  # by explored goal: the operator's last word (comment)
    attempts: Mapping[str, Attempts] = field(default_factory=dict)
    lost: Mapping[int, str] = field(default_factory=dict)
    heartbeat_at: int | None = None
    proposal_cut_off: bool = False  # the CEO's last proposal ended with the program, not by its own word
    heartbeat_called: bool = False  # by the operator, since the last one
    living: Living | None = None  # what the agenda is found in, while a heartbeat is due
    mission_told: bool = False  # that there is none, since it last changed
    nothing_to_propose: bool = False  # the CEO made no draft, and no goal and nothing of the company changed since
    proposing: Attempts = Attempts()  # runs that failed to propose since one succeeded, or the operator said go on
    stage_b_spent: int = 0  # today, micros
    spoken_about: frozenset[int] = frozenset()  # CEO's drafts about which a person said something; at stage B
    taskless: frozenset[int] = frozenset()  # CEO's drafts without a draft task; at stage B
    unsplit: Mapping[int, int] = field(default_factory=dict)  # by person's draft that gets tasks: ended attempts
    tick: int = 0


def review_base(task: Task) -> str:
    """The name under which attempts to review a task in its present state are counted."""
    step = "" if task.review_step == ReviewStep.REVIEW else f":{task.review_step}"
    return f"review:{task.id}:{task.review_attempts}{step}"


def explore_base(goal: Goal, comment: int) -> str:
    """The name under which attempts to answer the operator's word in an exploration are counted (0: no word yet)."""
    return f"explore:{goal.id}:{comment}"


def discuss_base(turn: Turn, agent_id: int) -> str:
    """The name under which an agent's attempts to speak in a turn are counted."""
    return f"discuss:{turn.id}:{agent_id}"


def ruling_base(task: Task) -> str:
    """The name under which attempts to rule on a disputed review are counted."""
    return f"rule:{task.id}:{task.review_attempts}:{task.fence}"


def round_review_base(round_: Round) -> str:
    """The name under which attempts to review a round are counted."""
    return f"round_review:{round_.id}"


def stall_base(round_: Round) -> str:
    """The name under which calls of the coordinator to a stalled round are counted."""
    return f"stall:{round_.id}:{round_.progress_at}"


def stalls_base(round_: Round) -> str:
    """The name under which all calls to a stalled round are counted, whatever came of them."""
    return f"stall:{round_.id}"


def no_executor_base(round_id: int) -> str:
    """The name under which calls are counted to a round whose tasks fit nobody, as there is no executor at all."""
    return f"no_executor:{round_id}"


def no_fit_base(task: Task) -> str:
    """The name under which calls of the coordinator to a task that fits nobody are counted."""
    return f"no_fit:{task.id}:{task.offer}"


def goal_base(goal: Goal, last: Round | None) -> str:
    """The name under which attempts to plan or report a goal, in the state it is in, are counted."""
    return f"goal:{goal.id}:{last.id if last else 0}:{'note' if goal.reason else goal.status}"
