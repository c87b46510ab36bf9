"""What a tick decides about work: offers, the router, reviews (DESIGN §5, C-09, C-11, S3-18)."""

from dataclasses import replace

import pytest

from core.domain import facts as bases
from core.domain.entities import Company, Goal, Mention, Offer, Round, Run, Task
from core.domain.facts import Attempts
from core.domain.limits import ACTIONS_PER_STEP, OFFERS_PER_BROADCAST, TICK_MS
from core.domain.plan import RULES, Step, plan_tick
from core.domain.states import (
    AgentStatus,
    MentionStatus,
    OfferAnswer,
    Risk,
    Role,
    RoundStatus,
    RunKind,
    RunStatus,
    TaskStatus,
)
from tests.unit.facts import CHAD, CORA, NOW, RITA, VERA, a, acts, agent, facts, planned, run_of, why_held

ADA, BOB = agent(1, "ada"), agent(2, "bob")
OFFERED = {"broadcasts": 3, "broadcast_at": NOW - TICK_MS}


def offer(task: int, to: int, **values: object) -> Offer:
    return a(Offer, **{"task_id": task, "agent_id": to, "offer": 1, "answer": OfferAnswer.NO_REPLY, **values})


def test_the_steps_run_in_their_order() -> None:
    steps = [step for step, _ in RULES]
    assert steps == sorted(steps)
    assert set(steps) == set(Step)
    found = facts(
        agents=(ADA, RITA, CORA, VERA),
        ready=(a(Task, id=5),),
        busy=(a(Task, id=6, status=TaskStatus.REVIEW),),
        mentions=(a(Mention, id=3, agent_id=1, status=MentionStatus.PENDING),),
        runs=(a(Run, id=9, agent_id=2),),
        lost={9: "gone"},
        heartbeat_at=None,
    )
    order = [action.step for action in planned(found)]
    assert order == sorted(order)
    assert set(order) >= {Step.RECOVER, Step.MENTIONS, Step.REVIEWS, Step.BROADCAST, Step.HEARTBEAT}


def test_the_same_facts_give_the_same_plan() -> None:
    found = facts(agents=(ADA, BOB, RITA), ready=tuple(a(Task, id=n) for n in range(1, 9)))
    assert plan_tick(found, NOW) == plan_tick(found, NOW)


def test_a_step_is_bounded() -> None:
    busy = tuple(a(Task, id=n, status=TaskStatus.REVIEW) for n in range(1, ACTIONS_PER_STEP + 50))
    assert len(plan_tick(facts(agents=(RITA,), busy=busy), NOW).of(Step.REVIEWS)) == ACTIONS_PER_STEP


# Offers --------------------------------------------------------------------------------------------------------


def test_every_free_executor_is_shown_what_is_new() -> None:
    found = facts(agents=(ADA, BOB, CORA, RITA, VERA), ready=(a(Task, id=5), a(Task, id=6)))
    assert run_of(found, RunKind.BROADCAST) == [1, 2]
    assert [act.arguments["offers"] for act in planned(found) if act.act == "QueueRun"] == [[5, 6], [5, 6]]


@pytest.mark.parametrize(
    ("answer", "run", "is_shown"),
    [
        (OfferAnswer.NO_REPLY, None, False),
        (OfferAnswer.OBSERVATION, 8, False),
        (OfferAnswer.CLAIM, 8, False),
        (OfferAnswer.OPEN, 9, False),
        (OfferAnswer.OPEN, None, True),
        (OfferAnswer.OPEN, 8, True),
    ],
)
def test_an_offer_is_shown_once_unless_it_came_back(answer: OfferAnswer, run: int | None, is_shown: bool) -> None:
    offers = (offer(5, 1, answer=answer, run_id=run),)
    runs = (a(Run, id=9, agent_id=2, kind=RunKind.BROADCAST),)
    found = facts(agents=(ADA,), ready=(a(Task, id=5),), offers=offers, runs=runs)
    assert run_of(found, RunKind.BROADCAST) == ([1] if is_shown else [])


def test_a_changed_task_is_shown_again() -> None:
    found = facts(agents=(ADA,), ready=(a(Task, id=5, offer=2),), offers=(offer(5, 1),))
    assert run_of(found, RunKind.BROADCAST) == [1]


def test_who_is_busy_paused_cooling_down_or_holds_a_task_is_left_alone() -> None:
    busy, holder = agent(1), agent(2)
    paused, cooling = agent(3, status=AgentStatus.PAUSED), agent(4, cooldown_until=NOW + 1)
    rested = agent(5, cooldown_until=NOW)
    found = facts(
        agents=(busy, holder, paused, cooling, rested),
        ready=(a(Task, id=5),),
        runs=(a(Run, agent_id=1, status=RunStatus.QUEUED),),
        busy=(a(Task, id=6, status=TaskStatus.CLAIMED, assignee_id=2, current_run=3),),
    )
    assert run_of(found, RunKind.BROADCAST) == [5]


def test_one_broadcast_shows_a_bounded_number_of_tasks() -> None:
    found = facts(agents=(ADA,), ready=tuple(a(Task, id=n) for n in range(1, 100)))
    shown = next(act.arguments["offers"] for act in planned(found) if act.act == "QueueRun")
    assert len(shown) == OFFERS_PER_BROADCAST


@pytest.mark.parametrize(("ago", "is_counted"), [(None, True), (TICK_MS, True), (TICK_MS - 1, False)])
def test_a_tick_on_offer_is_counted_once(ago: int | None, is_counted: bool) -> None:
    task = a(Task, id=5, broadcast_at=None if ago is None else NOW - ago)
    counted = [act.arguments["tasks"] for act in planned(facts(ready=(task,))) if act.act == "CountBroadcast"]
    assert counted == ([[5]] if is_counted else [])


def test_a_paused_goal_is_not_offered_and_keeps_nobody_from_other_work() -> None:
    paused = a(Goal, id=2, paused_at=NOW)
    found = facts(
        agents=(ADA,),
        goals=(a(Goal), paused),
        ready=(a(Task, id=5), a(Task, id=6, goal_id=2)),
        runs=(a(Run, agent_id=1, status=RunStatus.QUEUED, goal_id=2),),
    )
    assert [act.arguments["offers"] for act in planned(found) if act.act == "QueueRun"] == [[5]]
    assert "paused" in why_held(found, "task:6")


# The router ------------------------------------------------------------------------------------------------------


def test_the_router_waits_for_three_broadcasts_of_a_tick_each() -> None:
    for task in (
        a(Task, id=5, broadcasts=2, broadcast_at=NOW - TICK_MS),
        a(Task, id=5, broadcasts=3, broadcast_at=NOW),
    ):
        found = facts(agents=(ADA,), ready=(task,), offers=(offer(5, 1),))
        assert ("AssignTask", 5) not in acts(found)
        assert "on offer" in why_held(found, "task:5")
    found = facts(agents=(ADA,), ready=(a(Task, id=5, **OFFERED),), offers=(offer(5, 1),))
    assert ("AssignTask", 5) in acts(found)


def assigned(*agents: object, **task: object) -> list[str]:
    ready = (a(Task, id=5, **{**OFFERED, "capabilities": ("count",), **task}),)
    found = facts(agents=agents, ready=ready)  # type: ignore[arg-type]
    return [act.arguments["agent"] for act in planned(found) if act.act == "AssignTask"]


def test_the_router_takes_who_can_do_it_and_the_last_assignee_last() -> None:
    assert assigned(agent(1, "ada", capabilities=("search",)), BOB) == ["bob"]
    assert assigned(ADA, BOB) == ["ada"]
    assert assigned(ADA, BOB, last_assignee_id=1) == ["bob"]
    assert assigned(ADA, last_assignee_id=1) == ["ada"]
    assert assigned(replace(ADA, status=AgentStatus.PAUSED), BOB) == ["bob"]
    assert assigned(replace(ADA, cooldown_until=NOW + 1), BOB) == ["bob"]
    assert assigned(replace(ADA, role=Role.REVIEWER), BOB) == ["bob"]


def test_the_router_spreads_work_over_who_fits() -> None:
    ready = tuple(a(Task, id=n, **OFFERED) for n in (5, 6, 7, 8))
    found = facts(agents=(ADA, BOB), ready=ready, runs=(a(Run, agent_id=1),))
    given = [act.arguments["agent"] for act in planned(found) if act.act == "AssignTask"]
    assert sorted(given) == ["ada", "ada", "bob", "bob"]
    assert given[0] == "bob"


def test_what_fits_nobody_goes_to_the_coordinator_once() -> None:
    task = a(Task, id=5, capabilities=("fly",), **OFFERED)
    found = facts(agents=(ADA, CORA), ready=(task,), offers=(offer(5, 1),))
    assert run_of(found, RunKind.STALL) == [CORA.id]
    asked = replace(found, runs=(a(Run, agent_id=CORA.id, kind=RunKind.STALL, task_id=5),))
    assert run_of(asked, RunKind.STALL) == []


def test_a_task_that_names_an_agent_goes_to_it_at_once_or_to_all_if_it_cannot_work() -> None:
    task = a(Task, id=5, assignee_id=1)
    assert ("AssignTask", 5) in acts(facts(agents=(ADA, BOB), ready=(task,)))
    gone = facts(agents=(replace(ADA, status=AgentStatus.PAUSED), BOB), ready=(task,))
    assert run_of(gone, RunKind.BROADCAST) == [2]
    assert [act.arguments["tasks"] for act in planned(gone) if act.act == "CountBroadcast"] == [[5]]


def test_claimed_work_gets_its_run_and_that_of_a_paused_agent_goes_back() -> None:
    claimed = a(Task, id=5, status=TaskStatus.CLAIMED, assignee_id=1, fence=3)
    found = facts(agents=(ADA,), busy=(claimed,))
    assert [(act.act, act.arguments["key"]) for act in planned(found)] == [("QueueRun", "execute:5:3")]
    assert acts(facts(agents=(replace(ADA, status=AgentStatus.PAUSED),), busy=(claimed,))) == [("ReleaseTask", 5)]
    assert acts(facts(busy=(claimed,))) == [("ReleaseTask", 5)]


# Reviews -------------------------------------------------------------------------------------------------------


def reviewer(**values: object) -> list[int]:
    risk = values.pop("risk", Risk.STANDARD)
    agents = values.pop("agents", (ADA, RITA, CHAD))
    busy = (a(Task, id=5, status=TaskStatus.REVIEW, risk=risk),)
    return run_of(facts(agents=agents, busy=busy, **values), RunKind.REVIEW)  # type: ignore[arg-type]


def test_a_review_is_for_the_reviewer_and_of_high_risk_for_the_challenger() -> None:
    assert reviewer() == [RITA.id]
    assert reviewer(risk=Risk.HIGH) == [CHAD.id]
    assert reviewer(agents=(RITA,), risk=Risk.HIGH) == [RITA.id]


def test_no_author_reviews() -> None:
    assert reviewer(authors={5: frozenset({RITA.id})}) == [CHAD.id]
    both = frozenset({RITA.id, CHAD.id})
    assert reviewer(authors={5: both}) == []
    busy = (a(Task, id=5, status=TaskStatus.REVIEW),)
    assert "nobody who never ran it" in why_held(facts(agents=(RITA,), busy=busy, authors={5: both}), "task:5")


def test_one_review_at_a_time() -> None:
    assert reviewer(runs=(a(Run, agent_id=RITA.id, kind=RunKind.REVIEW, task_id=5),)) == []


def test_three_failed_reviews_go_to_the_operator_whose_yes_grants_three_more() -> None:
    task = a(Task, id=5, status=TaskStatus.REVIEW)
    base = bases.review_base(task)

    def with_attempts(attempts: Attempts) -> list[tuple[str, object]]:
        return acts(facts(agents=(RITA,), busy=(task,), attempts={base: attempts}))

    assert with_attempts(Attempts(ended=2, failed=2)) == [("QueueRun", RunKind.REVIEW)]
    assert with_attempts(Attempts(ended=3, failed=3)) == [("RequestApproval", "question")]
    assert with_attempts(Attempts(ended=3, failed=3, asked=True)) == []
    assert with_attempts(Attempts(ended=3, failed=3, granted=1)) == [("QueueRun", RunKind.REVIEW)]
    assert with_attempts(Attempts(ended=6, failed=6, granted=1)) == [("RequestApproval", "question")]


# Mentions, losses and a stopped company ------------------------------------------------------------------------------


def test_who_is_named_is_woken_if_active() -> None:
    named = a(Mention, id=3, agent_id=1, task_id=5, status=MentionStatus.PENDING)
    assert run_of(facts(agents=(ADA,), mentions=(named,)), RunKind.MENTION) == [1]
    paused = facts(agents=(replace(ADA, status=AgentStatus.PAUSED),), mentions=(named,))
    assert acts(paused) == []
    assert "not active" in why_held(paused, "mention:3")


def test_a_lost_run_is_told() -> None:
    found = facts(runs=(a(Run, id=9),), lost={9: "its process is gone"})
    assert [(act.act, act.arguments["run"]) for act in planned(found)] == [("LoseRun", 9)]


def test_a_stopped_company_plans_no_run_and_says_why() -> None:
    stopped = a(Company, dispatching=False, stop_reason="the money is gone")
    found = facts(
        company=stopped,
        agents=(ADA, CORA, RITA, VERA),
        goals=(a(Goal), a(Goal, id=2)),
        rounds=(a(Round, status=RoundStatus.REVIEWING),),
        ready=(a(Task, id=5),),
        busy=(a(Task, id=6, status=TaskStatus.REVIEW), a(Task, id=7, status=TaskStatus.CLAIMED, assignee_id=1)),
        mentions=(a(Mention, id=3, agent_id=1, status=MentionStatus.PENDING),),
        heartbeat_at=None,
    )
    assert acts(found) == []
    for entity in ("task:5", "task:6", "task:7", "round:1", "goal:2"):
        assert "the money is gone" in why_held(found, entity)
