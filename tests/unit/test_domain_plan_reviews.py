"""What a tick decides about verdicts, second looks, replies, rulings and plans (S2-20, S3-13, C-07, F16)."""

from dataclasses import replace
from typing import Any

import pytest

from core.domain import facts as bases
from core.domain.entities import AgentRecord, Approval, Company, Goal, Run, Task
from core.domain.facts import Attempts
from core.domain.limits import RUN_ATTEMPTS
from core.domain.states import AgentStatus, ApprovalKind, ReviewStep, Risk, Role, RunKind, TaskStatus
from tests.unit.facts import CHAD, CORA, NOW, RITA, a, acts, agent, facts, planned, run_of, why_held

ADA = agent(1, "ada")
RUTH = agent(94, "ruth", role=Role.REVIEWER)
CARL = agent(95, "carl", role=Role.COORDINATOR)
SECOND, REPLY, RULING = ReviewStep.SECOND, ReviewStep.REPLY, ReviewStep.RULING


def in_review(step: ReviewStep, **values: Any) -> Task:
    return a(Task, **{"id": 5, "status": TaskStatus.REVIEW, "risk": Risk.HIGH, "review_step": step, **values})


def judge(step: ReviewStep, *agents: AgentRecord, **values: Any) -> list[int]:
    return run_of(facts(agents=agents, busy=(in_review(step),), **values), RunKind.REVIEW)


def asked(*agents: AgentRecord, step: ReviewStep, **values: Any) -> list[str]:
    found = facts(agents=agents, busy=(in_review(step),), **values)
    return [action.arguments["title"] for action in planned(found) if action.act == "RequestApproval"]


# The second look ------------------------------------------------------------------------------------------------


def test_the_second_look_is_by_neither_an_author_nor_the_first_reviewer() -> None:
    judged = {"judges": {5: frozenset({CHAD.id})}}
    assert judge(SECOND, RITA, CHAD, **judged) == [RITA.id]
    assert judge(SECOND, RITA, CHAD, RUTH, authors={5: frozenset({RITA.id})}, **judged) == [RUTH.id]
    assert judge(SECOND, replace(RITA, status=AgentStatus.PAUSED), CHAD, RUTH, **judged) == [RUTH.id]


def test_it_has_attempts_of_its_own() -> None:
    found = facts(agents=(RITA, CHAD), busy=(in_review(SECOND, review_attempts=2),), judges={5: frozenset({CHAD.id})})
    assert [act.arguments["key"] for act in planned(found)] == ["review:5:2:second#0"]


def test_with_nobody_for_the_second_look_the_operator_is_asked_once() -> None:
    judged: dict[str, Any] = {"step": SECOND, "judges": {5: frozenset({CHAD.id})}}
    assert asked(CHAD, **judged) == [
        "T5 is of high risk and has nobody for a second look: hire or resume one, then approve"
    ]
    question = a(Approval, kind=ApprovalKind.QUESTION, entity="task:5")
    assert asked(CHAD, approvals=(question,), **judged) == []
    held = why_held(facts(agents=(CHAD,), busy=(in_review(SECOND),), judges=judged["judges"]), "task:5")
    assert held == "nobody else is there for its second look"


def test_where_no_reviewer_is_active_at_all_the_lacking_role_is_shown_instead() -> None:
    paused = replace(CHAD, status=AgentStatus.PAUSED)
    assert asked(paused, step=SECOND, judges={5: frozenset({CHAD.id})}) == []


def test_the_first_reviewers_run_ends_before_the_second_begins() -> None:
    run = a(Run, agent_id=CHAD.id, kind=RunKind.REVIEW, task_id=5)
    assert judge(SECOND, RITA, CHAD, runs=(run,), judges={5: frozenset({CHAD.id})}) == []


# The reply --------------------------------------------------------------------------------------------------------


def test_to_a_rebuttal_answers_who_gave_the_verdict_and_else_another() -> None:
    judged = {"judges": {5: frozenset({RITA.id})}}
    assert judge(REPLY, RITA, CHAD, RUTH, **judged) == [RITA.id]
    assert judge(REPLY, replace(RITA, status=AgentStatus.PAUSED), CHAD, RUTH, **judged) == [CHAD.id]
    assert judge(REPLY, RITA, RUTH, authors={5: frozenset({RITA.id})}, **judged) == [RUTH.id]


def test_with_nobody_to_reply_the_operator_is_asked() -> None:
    authors = {5: frozenset({RITA.id})}
    assert len(asked(RITA, step=REPLY, judges={5: frozenset({RITA.id})}, authors=authors)) == 1


# The ruling -------------------------------------------------------------------------------------------------------


def ruling(*agents: AgentRecord, **values: Any) -> list[int]:
    return run_of(facts(agents=agents, busy=(in_review(RULING),), **values), RunKind.RULE)


def test_a_dispute_goes_to_a_coordinator_who_never_ran_it() -> None:
    assert ruling(CORA, RITA) == [CORA.id]
    assert ruling(CORA, CARL, authors={5: frozenset({CORA.id})}) == [CARL.id]
    assert judge(RULING, CORA, RITA, CHAD) == []
    assert ruling(CORA, runs=(a(Run, agent_id=CORA.id, kind=RunKind.RULE, task_id=5),)) == []
    assert ruling(CORA, goals=(a(Goal, paused_at=NOW),)) == []


def test_when_every_coordinator_worked_on_it_the_operator_is_asked() -> None:
    authors = {5: frozenset({CORA.id})}
    assert ruling(CORA, authors=authors) == []
    assert asked(CORA, step=RULING, authors=authors) == [
        "Every coordinator has worked on T5 itself: hire or resume another to rule, then approve"
    ]
    assert "nobody who never ran it" in why_held(facts(agents=(), busy=(in_review(RULING),)), "task:5")
    assert asked(step=RULING) == []


def test_a_ruling_that_fails_is_tried_three_times_and_then_asked_about() -> None:
    task = in_review(RULING)

    def after(attempts: Attempts) -> list[tuple[str, Any]]:
        return acts(facts(agents=(CORA,), busy=(task,), attempts={bases.ruling_base(task): attempts}))

    assert after(Attempts(ended=2, failed=RUN_ATTEMPTS - 1)) == [("QueueRun", RunKind.RULE)]
    assert after(Attempts(ended=3, failed=RUN_ATTEMPTS)) == [("RequestApproval", "question")]
    assert after(Attempts(ended=3, failed=RUN_ATTEMPTS, asked=True)) == []
    assert after(Attempts(ended=3, failed=RUN_ATTEMPTS, granted=1)) == [("QueueRun", RunKind.RULE)]


@pytest.mark.parametrize("step", list(ReviewStep))
def test_a_stopped_company_judges_nothing(step: ReviewStep) -> None:
    stopped = a(Company, dispatching=False, stop_reason="enough")
    found = facts(company=stopped, agents=(RITA, CHAD, CORA), busy=(in_review(step),))
    assert acts(found) == []
    assert "enough" in why_held(found, "task:5")


# Plans ------------------------------------------------------------------------------------------------------------


def with_plan(until: int | None) -> Task:
    return a(Task, id=5, status=TaskStatus.WORKING, assignee_id=1, fence=3, plan_until=until, plan_comment=8)


def test_an_open_plan_holds_its_task() -> None:
    found = facts(agents=(ADA,), busy=(with_plan(NOW + 1),))
    assert acts(found) == []
    assert "open for objection" in why_held(found, "task:5")


def test_after_the_window_the_plan_stands_and_the_work_begins() -> None:
    assert acts(facts(agents=(ADA,), busy=(with_plan(NOW),))) == [("ClosePlan", 5), ("QueueRun", RunKind.EXECUTE)]
    assert acts(facts(agents=(ADA,), busy=(with_plan(None),))) == [("QueueRun", RunKind.EXECUTE)]


def test_a_plan_whose_author_is_paused_goes_back() -> None:
    paused = replace(ADA, status=AgentStatus.PAUSED)
    assert ("ReleaseTask", 5) in acts(facts(agents=(paused,), busy=(with_plan(NOW + 1),)))
