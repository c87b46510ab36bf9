"""What a tick decides about rounds, goals and the CEO's heartbeat (C-05, S1-01, S1-05, S1-06, S2-10, S3-19)."""

from dataclasses import replace

import pytest

from core.domain import facts as bases
from core.domain.entities import Approval, Company, Goal, Round, Run, Task
from core.domain.facts import Attempts, Facts
from core.domain.goals import mission_is_defined
from core.domain.limits import HEARTBEAT_MS, STALL_MS
from core.domain.states import (
    AgentStatus,
    ApprovalKind,
    BlockKind,
    GoalStatus,
    Origin,
    RoundDecision,
    RoundStatus,
    RunKind,
    TaskStatus,
)
from tests.unit.facts import CORA, NOW, VERA, a, acts, agent, facts, planned, run_of, why_held

OLD = NOW - STALL_MS
BLOCKED = a(Task, id=5, status=TaskStatus.BLOCKED, block_kind=BlockKind.NEEDS_INPUT)


def with_round(**values: object) -> Facts:
    found = values.pop("found", {})
    return facts(agents=(CORA,), rounds=(a(Round, **values),), **found)  # type: ignore[arg-type]


# Rounds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("progress", "is_stalled"), [(OLD, True), (OLD + 1, False)])
def test_a_round_stalls_after_ten_minutes_without_progress(progress: int, is_stalled: bool) -> None:
    found = with_round(progress_at=progress, found={"busy": (BLOCKED,)})
    assert acts(found) == ([("StallRound", 1)] if is_stalled else [])


@pytest.mark.parametrize("status", [TaskStatus.CLAIMED, TaskStatus.WORKING, TaskStatus.REVIEW])
def test_a_round_in_which_something_runs_does_not_stall(status: TaskStatus) -> None:
    moving = a(Task, id=6, status=status, assignee_id=CORA.id, current_run=9)
    assert ("StallRound", 1) not in acts(with_round(progress_at=OLD, found={"busy": (BLOCKED, moving)}))


def test_a_round_with_a_ready_task_does_not_stall_even_if_it_is_not_among_the_first() -> None:
    found = with_round(progress_at=OLD, found={"busy": (BLOCKED,), "runnable": frozenset({1})})
    assert ("StallRound", 1) not in acts(found)


def test_a_finished_round_is_reviewed_by_one_run() -> None:
    found = with_round(status=RoundStatus.REVIEWING)
    assert run_of(found, RunKind.ROUND_REVIEW) == [CORA.id]
    running = replace(found, runs=(a(Run, agent_id=CORA.id, kind=RunKind.ROUND_REVIEW, round_id=1),))
    assert acts(running) == []


def test_a_round_beyond_the_cap_or_with_three_failed_reviews_is_the_operators() -> None:
    beyond = with_round(status=RoundStatus.REVIEWING, number=9)
    assert acts(beyond) == [("EscalateRound", 1)]
    base = bases.round_review_base(a(Round))
    failed = with_round(status=RoundStatus.REVIEWING, found={"attempts": {base: Attempts(ended=3, failed=3)}})
    assert acts(failed) == [("EscalateRound", 1)]
    limited = with_round(status=RoundStatus.REVIEWING, found={"attempts": {base: Attempts(ended=5, failed=2)}})
    assert planned(limited)[0].arguments["key"] == f"{base}#5"


def test_a_stalled_round_is_the_coordinators_three_times_and_then_the_operators() -> None:
    round_ = a(Round, status=RoundStatus.STALLED)
    base = bases.stall_base(round_)
    for attempts, expected in (
        (Attempts(), [("QueueRun", RunKind.STALL)]),
        (Attempts(ended=3, failed=3), [("RequestApproval", "question")]),
        (Attempts(ended=3, failed=3, asked=True), []),
        (Attempts(ended=3, failed=3, granted=1), [("QueueRun", RunKind.STALL)]),
    ):
        assert acts(facts(agents=(CORA,), rounds=(round_,), attempts={base: attempts})) == expected


def test_while_the_operator_is_asked_nobody_else_is() -> None:
    question = a(Approval, entity="round:1", kind=ApprovalKind.QUESTION)
    found = with_round(status=RoundStatus.STALLED, found={"approvals": (question,)})
    assert acts(found) == []
    assert "operator's answer" in why_held(found, "round:1")


@pytest.mark.parametrize("status", [RoundStatus.ESCALATED, RoundStatus.CLOSED])
def test_what_is_the_operators_is_left_to_them(status: RoundStatus) -> None:
    assert acts(with_round(status=status)) == []


@pytest.mark.parametrize(
    ("agents", "goal", "words"),
    [
        ((), {}, "no active coordinator"),
        ((replace(CORA, status=AgentStatus.PAUSED),), {}, "no active coordinator"),
        ((CORA,), {"paused_at": NOW}, "G1 is paused"),
    ],
)
def test_a_round_whose_review_cannot_begin_says_why(
    agents: tuple[object, ...], goal: dict[str, int], words: str
) -> None:
    rounds = (a(Round, status=RoundStatus.REVIEWING),)
    found = facts(agents=agents, goals=(a(Goal, **goal),), rounds=rounds)  # type: ignore[arg-type]
    assert acts(found) == []
    assert words in why_held(found, "round:1")


# Goals ---------------------------------------------------------------------------------------------------------


def goal_run(status: GoalStatus, last: Round | None, **goal: object) -> list[object]:
    last_rounds = {1: last} if last else {}
    found = facts(agents=(CORA,), goals=(a(Goal, status=status, **goal),), rounds=(), last_rounds=last_rounds)
    return [act.arguments["kind"] for act in planned(found)]


def closed(decision: RoundDecision) -> Round:
    return a(Round, status=RoundStatus.CLOSED, decision=decision)


def test_a_goal_without_a_round_gets_a_plan_or_its_report() -> None:
    assert goal_run(GoalStatus.PLANNING, None) == [RunKind.PLAN]
    assert goal_run(GoalStatus.ACTIVE, closed(RoundDecision.REPORT)) == [RunKind.REPORT]
    assert goal_run(GoalStatus.ACTIVE, closed(RoundDecision.STOP)) == [RunKind.PLAN]
    assert goal_run(GoalStatus.ACTIVE, closed(RoundDecision.REPORT), reason="more, please") == [RunKind.PLAN]
    assert goal_run(GoalStatus.DRAFT, None) == []
    assert goal_run(GoalStatus.REPORTING, closed(RoundDecision.REPORT)) == []


def test_a_goal_about_which_the_operator_is_asked_waits() -> None:
    asked = a(Approval, entity="goal:1", kind=ApprovalKind.GOAL_FAILURE)
    found = facts(agents=(CORA,), goals=(a(Goal, status=GoalStatus.PLANNING),), rounds=(), approvals=(asked,))
    assert acts(found) == []
    assert "operator's answer" in why_held(found, "goal:1")


def test_a_plan_in_the_making_is_not_asked_for_again() -> None:
    running = a(Run, agent_id=CORA.id, kind=RunKind.PLAN, goal_id=1)
    found = facts(agents=(CORA,), goals=(a(Goal, status=GoalStatus.PLANNING),), rounds=(), runs=(running,))
    assert acts(found) == []


# Questions whose time is over --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("expires", "is_over"), [(None, False), (NOW + 1, False), (NOW, True)])
def test_silence_expires_a_question_only_where_that_was_said(expires: int | None, is_over: bool) -> None:
    found = facts(approvals=(a(Approval, entity="goal:1", expires_at=expires),))
    assert [act.act for act in planned(found)] == (["ExpireApproval"] if is_over else [])


# The heartbeat ----------------------------------------------------------------------------------------------------


def beat(*, now: int = NOW, **values: object) -> list[tuple[str, object]]:
    idle = facts(**{"agents": (VERA,), "goals": (), "rounds": (), "heartbeat_at": None, **values})  # type: ignore[arg-type]
    return acts(idle, now)


IDLE = [("NoteTick", "HeartbeatIdle"), ("QueueRun", RunKind.PROPOSE)]


def test_an_idle_ceo_proposes() -> None:
    assert beat() == IDLE


@pytest.mark.parametrize(("ago", "is_due"), [(HEARTBEAT_MS, True), (HEARTBEAT_MS - 1, False), (0, False)])
def test_a_heartbeat_is_due_every_fifteen_minutes(ago: int, is_due: bool) -> None:
    assert beat(heartbeat_at=NOW - ago) == (IDLE if is_due else [])


@pytest.mark.parametrize("status", [GoalStatus.DRAFT, GoalStatus.PLANNING, GoalStatus.ACTIVE, GoalStatus.REPORTING])
def test_a_living_goal_of_any_status_makes_the_heartbeat_normal(status: GoalStatus) -> None:
    assert beat(goals=(a(Goal, status=status),)) == [("NoteTick", "HeartbeatNormal")]


def test_an_open_draft_of_the_ceo_keeps_it_from_another() -> None:
    draft = a(Goal, id=4, status=GoalStatus.DRAFT, origin=Origin.CEO)
    found = facts(agents=(VERA,), goals=(draft,), rounds=(), heartbeat_at=None)
    assert [act.why for act in planned(found)] == ["normal; draft G4 waits for the operator"]


MISSIONS = ["", "   ", "待定义", "　待定义　", "tbd", "TBD", "ＴＢＤ", " ｔｂｄ ", "to be defined", "To Be Defined\n"]


@pytest.mark.parametrize("mission", MISSIONS)
def test_without_a_mission_nothing_is_proposed_and_the_person_is_told(mission: str) -> None:
    assert not mission_is_defined(mission)
    for locale, words in (
        ("zh", "公司使命未设置，无法自主立项，需要人类补充"),
        ("en", "no mission is set: the CEO proposes no goal"),
    ):
        company = a(Company, mission=mission, locale=locale)
        found = facts(company=company, agents=(VERA,), goals=(), rounds=(), heartbeat_at=None)
        assert acts(found) == [("NoteTick", "MissionMissing")]
        assert planned(found)[0].why.startswith(words)


@pytest.mark.parametrize("mission", ["待定义的问题", "tbd soon", "x", "定义"])
def test_other_words_are_a_mission(mission: str) -> None:
    assert mission_is_defined(mission)


def test_a_busy_paused_or_missing_ceo_is_not_woken() -> None:
    assert beat(runs=(a(Run, agent_id=VERA.id),)) == []
    assert beat(agents=(replace(VERA, status=AgentStatus.PAUSED),)) == []
    assert beat(agents=(agent(1),)) == []


# What waits for people only -----------------------------------------------------------------------------------


def test_a_stalled_round_in_which_all_waits_for_a_person_calls_no_coordinator() -> None:
    found = with_round(status=RoundStatus.STALLED, found={"only_people": frozenset({1})})
    assert acts(found) == []
    assert why_held(found, "round:1") == "every open task in it waits for the operator"
    assert acts(with_round(status=RoundStatus.STALLED)) == [("QueueRun", RunKind.STALL)]


@pytest.mark.parametrize("kind", list(ApprovalKind))
def test_a_question_about_a_goal_holds_its_plan_unless_it_is_talk_or_money(kind: ApprovalKind) -> None:
    asked = a(Approval, entity="goal:1", kind=kind)
    found = facts(agents=(CORA,), rounds=(), approvals=(asked,))
    # A budget holds the run itself when it would start.
    is_aside = kind in (ApprovalKind.MAIL, ApprovalKind.EXCHANGE, ApprovalKind.BUDGET)
    assert acts(found) == ([("QueueRun", RunKind.PLAN)] if is_aside else [])
