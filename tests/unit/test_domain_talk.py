"""What a tick decides about explorations and discussions (S2-07, S2-08, S2-16, S2-30, F6)."""

from dataclasses import replace

import pytest

from core.domain import facts as bases
from core.domain.entities import Approval, Company, Goal, Mention, Run, Turn
from core.domain.facts import Attempts, Facts
from core.domain.limits import RUN_ATTEMPTS, TURN_WAIT_MS
from core.domain.plan import plan_tick
from core.domain.states import AgentStatus, ApprovalKind, GoalStatus, RunKind, TurnOutcome
from tests.unit.facts import CORA, NOW, RITA, a, acts, agent, facts, planned, run_of, why_held

ADA, BOB = agent(1), agent(2)
PLANNING = a(Goal, status=GoalStatus.PLANNING)
OPEN = a(Turn, id=5, goal_id=1, number=1, agents=(1, 2), outcome=TurnOutcome.OPEN, ended_at=None, created_at=NOW)
STOPPED = a(Company, dispatching=False, stop_reason="lunch")


def talk(turn: Turn | None = None, heard: tuple[int, ...] = (), **values: object) -> Facts:
    usual = {
        "agents": (ADA, BOB, CORA), "goals": (PLANNING,), "rounds": (),
        "turns": {} if turn is None else {1: turn}, "heard": {5: frozenset(heard)},
    }  # fmt: skip
    return facts(**{**usual, **values})  # type: ignore[arg-type]


def names(found: Facts, now: int = NOW) -> list[str]:
    return [action.act for action in planned(found, now)]


# A discussion ---------------------------------------------------------------------------------------------------


def test_a_goal_in_planning_gets_its_first_turn_before_any_plan() -> None:
    opened = planned(talk())
    assert [(act.act, act.arguments) for act in opened] == [("OpenTurn", {"goal": 1, "agents": [1, 2]})]


def test_without_executors_the_coordinator_plans_at_once() -> None:
    assert acts(talk(agents=(CORA, RITA))) == [("QueueRun", RunKind.PLAN)]
    idle = replace(ADA, status=AgentStatus.PAUSED)
    assert acts(talk(agents=(idle, CORA))) == [("QueueRun", RunKind.PLAN)]


def test_one_executor_discusses_alone() -> None:
    assert planned(talk(agents=(ADA, CORA)))[0].arguments["agents"] == [1]


def test_each_seat_is_woken_once_a_turn() -> None:
    assert run_of(talk(OPEN), RunKind.DISCUSS) == [1, 2]
    speaking = a(Run, id=9, agent_id=1, kind=RunKind.DISCUSS, goal_id=1)
    assert run_of(talk(OPEN, runs=(speaking,)), RunKind.DISCUSS) == [2]
    assert run_of(talk(OPEN, heard=(1,)), RunKind.DISCUSS) == [2]
    assert names(talk(OPEN, heard=(1,), runs=(replace(speaking, agent_id=2),))) == []


def test_an_attempt_to_speak_has_a_key_of_its_own() -> None:
    base = bases.discuss_base(OPEN, 1)
    found = talk(OPEN, heard=(2,), attempts={base: Attempts(ended=2, failed=2)})
    assert [act.arguments["key"] for act in planned(found)] == [f"{base}#2"]


def test_a_run_of_another_goal_is_no_word_in_this_one() -> None:
    elsewhere = a(Run, agent_id=1, kind=RunKind.DISCUSS, goal_id=2)
    assert run_of(talk(OPEN, runs=(elsewhere,)), RunKind.DISCUSS) == [1, 2]


def test_a_turn_is_over_when_all_had_their_say() -> None:
    assert [(act.act, act.arguments) for act in planned(talk(OPEN, heard=(1, 2)))] == [("CloseTurn", {"turn": 5})]


def test_a_turn_waits_for_those_who_were_mentioned_in_it_but_not_for_ever() -> None:
    answering = a(Run, agent_id=2, kind=RunKind.MENTION, goal_id=1)
    to_come = a(Mention, agent_id=2, goal_id=1)
    for more in ({"runs": (answering,)}, {"mentions": (to_come,)}):
        found = talk(OPEN, heard=(1, 2), **more)
        assert "CloseTurn" not in names(found)
        assert "answer to a mention" in why_held(found, "goal:1")
        assert "CloseTurn" in names(found, NOW + TURN_WAIT_MS)
    elsewhere = talk(OPEN, heard=(1, 2), runs=(replace(answering, goal_id=2),))
    assert "CloseTurn" in names(elsewhere)


@pytest.mark.parametrize("status", [AgentStatus.PAUSED, AgentStatus.TERMINATED])
def test_who_is_paused_or_gone_between_two_words_is_not_waited_for(status: AgentStatus) -> None:
    gone = replace(BOB, status=status)
    left = a(Run, agent_id=2, kind=RunKind.DISCUSS, goal_id=1)
    assert names(talk(OPEN, heard=(1,), agents=(ADA, gone, CORA), runs=(left,))) == ["CloseTurn"]
    assert names(talk(OPEN, heard=(1,), agents=(ADA, CORA))) == ["CloseTurn"]
    assert names(talk(OPEN, agents=(CORA,))) == ["CloseTurn"]


def test_the_next_turn_follows_with_those_who_are_there_now() -> None:
    over = replace(OPEN, outcome=TurnOutcome.GOES_ON, ended_at=NOW)
    found = talk(over, agents=(BOB, agent(3), CORA))
    assert [(act.act, act.arguments["agents"]) for act in planned(found)] == [("OpenTurn", [2, 3])]
    assert acts(talk(over, agents=(CORA,))) == [("QueueRun", RunKind.PLAN)]


@pytest.mark.parametrize("outcome", [TurnOutcome.NOT_CONVERGED, TurnOutcome.ENDED])
def test_without_convergence_the_coordinator_rules(outcome: TurnOutcome) -> None:
    over = replace(OPEN, outcome=outcome, ended_at=NOW)
    assert acts(talk(over)) == [("QueueRun", RunKind.PLAN)]
    tried = {bases.goal_base(PLANNING, None): Attempts(ended=RUN_ATTEMPTS, failed=RUN_ATTEMPTS)}
    assert acts(talk(over, attempts=tried)) == [("RequestApproval", "question")]


@pytest.mark.parametrize("turn", [None, OPEN, replace(OPEN, outcome=TurnOutcome.GOES_ON, ended_at=NOW)])
@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"company": STOPPED}, "lunch"),
        ({"goals": (replace(PLANNING, paused_at=NOW),)}, "G1 is paused"),
        ({"approvals": (a(Approval, entity="goal:1", kind=ApprovalKind.GOAL_FAILURE),)}, "operator's answer"),
        ({"runs": (a(Run, agent_id=90, kind=RunKind.PLAN, goal_id=1),)}, "the coordinator is at it"),
    ],
)
def test_a_discussion_that_is_held_says_why(turn: Turn | None, values: dict[str, object], why: str) -> None:
    found = talk(turn, **values)  # type: ignore[arg-type]
    assert planned(found) == []
    assert why in why_held(found, "goal:1")


@pytest.mark.parametrize("kind", [ApprovalKind.MAIL, ApprovalKind.EXCHANGE])
def test_a_letter_to_the_operator_does_not_hold_the_discussion_up(kind: ApprovalKind) -> None:
    assert names(talk(approvals=(a(Approval, entity="goal:1", kind=kind),))) == ["OpenTurn"]


def test_the_same_facts_give_the_same_plan() -> None:
    assert plan_tick(talk(OPEN), NOW) == plan_tick(talk(OPEN), NOW)


# An exploration -------------------------------------------------------------------------------------------------

DRAFT = a(Goal, status=GoalStatus.DRAFT, exploring=True)


def explored(word: int | None, **values: object) -> Facts:
    words = {} if word is None else {1: word}
    return facts(**{"agents": (ADA, CORA), "goals": (DRAFT,), "rounds": (), "unanswered": words, **values})  # type: ignore[arg-type]


@pytest.mark.parametrize(("word", "is_called"), [(0, True), (7, True), (None, False)])
def test_the_coordinator_opens_the_talk_and_answers_each_word(word: int | None, is_called: bool) -> None:
    assert run_of(explored(word), RunKind.EXPLORE) == ([CORA.id] if is_called else [])


def test_one_answer_at_a_time() -> None:
    answering = a(Run, agent_id=90, kind=RunKind.EXPLORE, goal_id=1)
    assert acts(explored(7, runs=(answering,))) == []
    assert run_of(explored(7, runs=(replace(answering, goal_id=2),)), RunKind.EXPLORE) == [CORA.id]


def test_an_answer_that_fails_is_tried_again_and_then_the_operator_is_asked() -> None:
    base = bases.explore_base(DRAFT, 7)
    again = explored(7, attempts={base: Attempts(ended=1, failed=1)})
    assert [act.arguments["key"] for act in planned(again)] == [f"{base}#1"]
    failed = explored(7, attempts={base: Attempts(ended=RUN_ATTEMPTS, failed=RUN_ATTEMPTS)})
    assert acts(failed) == [("RequestApproval", "question")]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"company": STOPPED}, "lunch"),
        ({"goals": (replace(DRAFT, paused_at=NOW),)}, "paused"),
        ({"agents": (ADA,)}, "no active coordinator"),
    ],
)
def test_an_exploration_that_is_held_says_why(values: dict[str, object], why: str) -> None:
    found = explored(7, **values)
    assert acts(found) == []
    assert why in why_held(found, "goal:1")


def test_a_draft_that_is_not_talked_over_calls_nobody() -> None:
    assert acts(explored(7, goals=(replace(DRAFT, exploring=False),))) == []
