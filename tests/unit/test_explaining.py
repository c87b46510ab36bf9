"""Why a thing is where it is: every state of every kind has a true sentence, and says what happens next."""

import re
from itertools import product
from typing import Any

import pytest

from core.domain.entities import AgentRecord, Approval, Company, Entity, Goal, Round, Run, Task, TaskDep
from core.domain.health import STATES, Health
from core.domain.states import (
    GOAL_FINAL,
    TASK_FINAL,
    AgentStatus,
    ApprovalKind,
    ApprovalStatus,
    BlockKind,
    GoalStatus,
    OnFail,
    ReviewStep,
    RoundDecision,
    RoundStatus,
    RunKind,
    RunStatus,
    TaskStatus,
)
from tests.unit.facts import CORA, NOW, RITA, VERA, a, agent
from tui.explaining_people import _ENDS, WITHOUT_YOU
from tui.explanation import Explanation
from tui.projection import Projection

ADA = agent(1, "ada")
OVER = "nothing"


def a_view(*entities: Entity, dispatching: bool = True) -> Projection:
    view = Projection()
    view.load(1, [a(Company, dispatching=dispatching, stop_reason="" if dispatching else "you stopped it"),
                  ADA, CORA, RITA, VERA, *entities])  # fmt: skip
    view.flush()
    return view


def task(**values: Any) -> Task:
    usual = {"id": 5, "title": "count", "updated_at": NOW - 60_000, "created_by": "cora"}
    return a(Task, **{**usual, **values})


def told(view: Projection, ref: str) -> Explanation:
    said = view.why(ref, NOW)
    for words in (said.why, said.next):
        assert not re.search(r"None|[a-z]_[a-z]|\w+\.\w+Status|  ", words), words
        assert not words.endswith((":", ";", ",", ": .")), words
    assert said.why
    return said


# ------------------------------------------------------------- tasks


@pytest.mark.parametrize("status", TaskStatus)
@pytest.mark.parametrize("reason", ["", "the folder is empty"])
@pytest.mark.parametrize("dispatching", [True, False])
def test_every_state_of_a_task_tells_why_and_what_follows(status: TaskStatus, reason: str, dispatching: bool) -> None:
    kind = BlockKind.NEEDS_INPUT if status == TaskStatus.BLOCKED else None
    held = status in (TaskStatus.CLAIMED, TaskStatus.WORKING, TaskStatus.REVIEW)
    one = task(status=status, reason=reason, block_kind=kind, assignee_id=1 if held else None)
    said = told(a_view(a(Goal), a(Round), one, dispatching=dispatching), "task:5")
    assert said.next
    assert said.next.startswith(OVER) == (status in TASK_FINAL)
    going = held or status == TaskStatus.PENDING
    assert ("s starts it" in said.next) == (going and not dispatching)
    if status in TASK_FINAL or status in (TaskStatus.BLOCKED, TaskStatus.WAITING_HUMAN):
        assert reason in said.why


@pytest.mark.parametrize(
    ("values", "others", "why", "follows"),
    [
        ({"open_deps": 1}, [a(Task, id=4, status=TaskStatus.WAITING_HUMAN), a(TaskDep, task_id=5, depends_on=4)],
         "it waits for T4 (waiting human)", "then it is offered"),
        ({"broadcasts": 1}, [], "on offer, shown 1 of", "an agent claims it"),
        ({"capabilities": ("links",)}, [], "on offer", "(needs links)"),
        ({"status": TaskStatus.DRAFT, "round_id": None}, [], "a draft", "when G1 is at work"),
        ({"status": TaskStatus.DRAFT, "reason": "no end state"}, [], "sent back to cora: no end state", "cora may"),
        ({"status": TaskStatus.CLAIMED, "assignee_id": 1}, [], "ada holds it", "its run is queued at the next tick"),
        ({"status": TaskStatus.WORKING, "assignee_id": 1, "current_run": 7, "attempts": 1},
         [a(Run, id=7, task_id=5, kind=RunKind.EXECUTE, started_at=NOW - 60_000)],
         "ada holds it, attempt 2", "ada works on it (R7) since 1m"),
        ({"status": TaskStatus.WORKING, "assignee_id": 1, "current_run": 7},
         [a(Run, id=7, task_id=5, kind=RunKind.EXECUTE, status=RunStatus.QUEUED)], "ada holds it", "queued, about to"),
        ({"status": TaskStatus.WORKING, "assignee_id": 1, "plan_until": NOW + 90_000}, [],
         "ada's plan stands open for objection, 1:30 left", "silence lets it run"),
        ({"status": TaskStatus.REVIEW, "review_step": ReviewStep.REVIEW}, [], "handed in", "a reviewer is called"),
        ({"status": TaskStatus.REVIEW, "review_step": ReviewStep.SECOND}, [], "high risk", "another reviewer"),
        ({"status": TaskStatus.REVIEW, "review_step": ReviewStep.REPLY, "reason": "it counts"}, [],
         "does not accept the refusal: it counts", "looks once more"),
        ({"status": TaskStatus.REVIEW, "review_step": ReviewStep.RULING, "reason": "it counts"}, [],
         "disputed: it counts", "the coordinator rules"),
        ({"status": TaskStatus.BLOCKED, "block_kind": BlockKind.NEEDS_INPUT, "reason": "no access"}, [],
         "blocked (needs input): no access", "it goes on when it is unblocked"),
    ],
)  # fmt: skip
def test_a_task_says_what_exactly_it_waits_for(
    values: dict[str, Any], others: list[Entity], why: str, follows: str
) -> None:
    said = told(a_view(a(Goal), a(Round), *others, task(**values)), "task:5")
    assert why in said.why
    assert follows in said.next


def test_a_task_that_waits_for_what_never_comes_says_so() -> None:
    lost = a(Task, id=4, status=TaskStatus.FAILED)
    edge = a(TaskDep, task_id=5, depends_on=4, on_fail=OnFail.HOLD)
    said = told(a_view(a(Goal), a(Round), lost, edge, task(open_deps=1)), "task:5")
    assert said == Explanation("it waits for T4, which is failed", "it waits for you")


def test_a_paused_goal_holds_its_tasks_but_not_a_run_that_is_at_work() -> None:
    goal = a(Goal, paused_at=NOW - 5_000)
    assert told(a_view(goal, a(Round), task()), "task:5").next.startswith("G1 is paused: no run starts")
    run = a(Run, id=7, task_id=5, goal_id=1, kind=RunKind.EXECUTE, started_at=NOW)
    working = task(status=TaskStatus.WORKING, assignee_id=1, current_run=7)
    assert "works on it (R7)" in told(a_view(goal, a(Round), run, working), "task:5").next


# ------------------------------------------------------------- goals, rounds, the company


@pytest.mark.parametrize("status", GoalStatus)
@pytest.mark.parametrize("reason", ["", "out of money"])
@pytest.mark.parametrize("paused", [None, NOW - 60_000])
@pytest.mark.parametrize("rounds", [(), (a(Round),), (a(Round, status=RoundStatus.CLOSED, decision="report"),)])
def test_every_state_of_a_goal_tells_why_and_what_follows(
    status: GoalStatus, reason: str, paused: int | None, rounds: tuple[Round, ...]
) -> None:
    goal = a(Goal, status=status, reason=reason, paused_at=paused, title="Audit", created_by="vera")
    said = told(a_view(goal, *rounds), "goal:1")
    assert said.next
    over = status in GOAL_FINAL or status == GoalStatus.ARCHIVED
    if paused is None:
        assert said.next.startswith(OVER) == over
    else:
        assert "paused 1m ago" in said.why or over or status in (GoalStatus.DRAFT, GoalStatus.REPORTING)


@pytest.mark.parametrize(("read", "exploring"), product([True, False], [True, False]))
def test_a_draft_says_what_it_lacks(read: bool, exploring: bool) -> None:
    goal = a(Goal, status=GoalStatus.DRAFT, content_hash="h", reviewed_hash="h" if read else None, exploring=exploring,
             reviewed_by="human" if read else None, reviewed_at=NOW if read else None, created_by="vera")  # fmt: skip
    said = told(a_view(goal), "goal:1")
    expected = "finding out what it asks for" if exploring else "reviewed" if read else "vera drafted it"
    assert expected in said.why


@pytest.mark.parametrize("status", RoundStatus)
@pytest.mark.parametrize("decision", [None, *RoundDecision])
def test_every_state_of_a_round_tells_why_and_what_follows(status: RoundStatus, decision: RoundDecision | None) -> None:
    said = told(a_view(a(Goal), a(Round, status=status, decision=decision, total_tasks=3)), "round:1")
    assert said.next
    assert said.next.startswith(OVER) == (status == RoundStatus.CLOSED)


@pytest.mark.parametrize("dispatching", [True, False])
def test_the_company_says_whether_it_runs(dispatching: bool) -> None:
    said = told(a_view(a(Goal, status=GoalStatus.DONE), dispatching=dispatching), "company:1")
    assert said.why == ("started: runs are dispatched" if dispatching else "you stopped it")
    assert said.next


# ------------------------------------------------------------- agents


def run(number: int, **values: Any) -> Run:
    usual = {"id": number, "agent_id": 1, "kind": RunKind.EXECUTE, "started_at": NOW - 60_000, "ended_at": NOW - 1_000}
    return a(Run, **{**usual, **values})


FAILED = {"status": RunStatus.FAILED, "exit_kind": "crash", "detail": "exit 1"}
WISH = {"red_line": None, "act": "execute", "for_run": "", "folder": "/srv", "kind": "command"}
AGENTS: dict[str, list[Entity]] = {
    "working": [run(1, ended_at=None)],
    "idle": [run(1, status=RunStatus.SUCCEEDED)],
    "paused": [agent(1, "ada", status=AgentStatus.PAUSED)],
    "retired": [agent(1, "ada", status=AgentStatus.TERMINATED)],
    "queued": [run(1, status=RunStatus.QUEUED, started_at=None)],
    "cooling": [agent(1, "ada", cooldown_until=NOW + 60_000)],
    "claimed": [task(status=TaskStatus.CLAIMED, assignee_id=1)],
    "needs you": [task(status=TaskStatus.WAITING_HUMAN, assignee_id=1, reason="which folder?")],
    "plan": [task(status=TaskStatus.WORKING, assignee_id=1, plan_until=NOW + 60_000)],
    "blocked": [task(status=TaskStatus.BLOCKED, assignee_id=1, block_kind=BlockKind.TRANSIENT, reason="no net")],
    "silent": [run(1, lease_until=NOW - 3_600_000, ended_at=None)],
    "in circles": [run(1, status=RunStatus.FAILED, exit_kind="stuck")],
    "cannot run": [run(1, status=RunStatus.FAILED, exit_kind="no_runner")],
    "fails": [run(n, **FAILED) for n in (1, 2, 3)],
    "asks": [run(1, ended_at=None), a(Approval, kind=ApprovalKind.PERMISSION, entity="run:1", title="rm -r old",
             status=ApprovalStatus.PENDING, requested_by="ada", payload=WISH)],
    "budget": [run(1, status=RunStatus.QUEUED, started_at=None, goal_id=1), a(Approval, kind=ApprovalKind.BUDGET,
               entity="agent:1", title="raise it", status=ApprovalStatus.PENDING, requested_by="ada")],
}  # fmt: skip


@pytest.mark.parametrize("state", AGENTS)
def test_every_state_of_an_agent_tells_why_and_what_ends_it(state: str) -> None:
    said = told(a_view(a(Goal), a(Round), *AGENTS[state]), "agent:1")
    if state != "budget":  # whose question tells it instead
        assert said.why.startswith(f"executor: {state}")
    assert said.next


def test_agents_of_a_stopped_company_and_without_a_runner_say_so() -> None:
    queued = run(1, status=RunStatus.QUEUED, started_at=None)
    said = told(a_view(a(Goal), queued, dispatching=False), "agent:1")
    assert said.why.startswith("executor: stopped: R1 is queued")
    assert "s starts the company" in said.next
    view = a_view(agent(1, "ada", runner={"kind": "codex"}))
    view.runner_kinds = {"rehearsal"}
    assert told(view, "agent:1").why.startswith("executor: no runner")


def test_no_state_of_an_agent_is_without_words() -> None:
    told_apart = {"working", "paused", "stopped"}
    assert set(_ENDS) | told_apart == {*STATES, *(str(h) for h in Health)} - {"stuck", "waiting"}
    assert set(AGENTS) | {"stopped", "no runner"} == set(_ENDS) | told_apart


# ------------------------------------------------------------- questions


@pytest.mark.parametrize("kind", ApprovalKind)
@pytest.mark.parametrize("status", ApprovalStatus)
def test_every_state_of_every_kind_of_question_tells_why_and_what_follows(
    kind: ApprovalKind, status: ApprovalStatus
) -> None:
    decided = status != ApprovalStatus.PENDING
    asked = a(
        Approval, id=3, kind=kind, entity="task:5", title="May I?", status=status, requested_by="ada",
        payload={"red_line": None, "act": "edit"}, decided_by="human" if decided else None,
        decided_at=NOW - 120_000 if decided else None, note="not now" if decided else "",
    )  # fmt: skip
    said = told(a_view(a(Goal), a(Round), task(status=TaskStatus.WAITING_HUMAN), asked), "approval:3")
    assert said.next
    if decided:
        assert "not now" in said.why
        assert ("2m ago" in said.why) == (status != ApprovalStatus.CANCELLED)
    else:
        assert said.next.startswith(WITHOUT_YOU[kind])


def test_a_yes_to_what_is_over_is_used_by_nobody() -> None:
    asked = a(Approval, id=3, kind=ApprovalKind.RED_LINE, entity="task:5", status=ApprovalStatus.APPROVED)
    view = a_view(a(Goal), a(Round), task(status=TaskStatus.CANCELLED), asked)
    assert told(view, "approval:3").next == "nothing: what it was asked for is over"


def test_what_is_not_there_any_more_says_so() -> None:
    for ref in ("task:99", "approval:99", "agent:99", "nonsense", "approval:x"):
        assert told(a_view(), ref).why == "it is not on this board any more"


def test_a_question_that_ends_by_itself_says_when() -> None:
    asked = a(Approval, id=3, kind=ApprovalKind.QUESTION, entity="task:5", status=ApprovalStatus.PENDING,
              expires_at=NOW + 61_000)  # fmt: skip
    said = told(a_view(a(Goal), a(Round), task(), asked), "approval:3")
    assert said.next.endswith("in 1:01 it ends by itself, and silence is no yes")
    assert isinstance(a_view().find("agent:1"), AgentRecord)
