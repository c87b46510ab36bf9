"""Budgets hold before a run starts: what is reserved, asked, granted, warned of, and what a pause or a loss frees."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.blackboard.queries import BUDGET_ENDED, BUDGET_HELD_BACK, COSTED, DEAREST, LAST_COSTS, SCOPED
from core.commands.budgets import standing_now
from core.commands.registry import Answer, parse
from core.domain.entities import Approval, Budget, Run
from core.domain.errors import Conflict, Forbidden, Invalid, NotFound
from core.domain.inbox import InboxItem
from core.domain.limits import FIRST_RUN_MICROS
from core.domain.states import ApprovalStatus, BudgetScope, RunStatus
from core.waiting import owed
from tests.unit.world import OPERATOR, OWNER, World, a_company

DAY_MS = 86_400_000


async def queued(world: World, slug: str = "ada", kind: str = "mention", **about: Any) -> int:
    """A queued run of an agent."""
    agent = await world.agent(slug)
    key = f"budget:{next(world.numbers)}"
    return int((await world.system("QueueRun", kind=kind, agent_id=agent.id, key=key, **about))["id"])


async def start(world: World, run: int) -> Answer:
    """Try to start it, without other caps."""
    return await world.system("StartRun", run=run, owner=OWNER, runs_at_once=1000, starts_per_minute=100_000)


async def ran(world: World, cost: int, slug: str = "ada", **about: Any) -> int:
    """A run that ended and cost so much; it must be able to start."""
    run = await queued(world, slug, **about)
    answer = await start(world, run)
    assert answer["started"], answer
    await world.system("ConfirmRun", run=run)
    await world.system("FinishRun", run=run, status="succeeded", cost_micros=cost)
    return run


async def works_at_once(world: World, slug: str = "ada", most: int = 100) -> None:
    """Let an agent have many runs at once (written past the door: hiring says how many)."""
    agent = await world.agent(slug)
    await world.read(lambda tx: tx.update(agent, "AgentEdited", max_runs=most))


async def limit(world: World, micros: int = 100, scope: str = "company", **more: Any) -> Budget:
    """A budget, and its row."""
    answer = await world.operator("SetBudget", scope=scope, limit_micros=micros, **more)
    return await world.find(Budget, answer["id"])


async def raised_once(world: World, micros: int, **which: Any) -> Answer:
    """More for the present period only."""
    command = parse("RaiseBudget", {"scope": "company", **which, "micros": micros, "once": True})
    return await world.door.execute(OPERATOR, command)


async def spent(world: World, scope: str = "company") -> int:
    """What a budget of this scope counts as spent now."""
    budget = (await world.all(Budget, "scope = :scope", scope=scope))[0]
    return int(await world.read(lambda tx: standing_now(tx, budget).spent))


async def question(world: World, entity: str = "company:1") -> Approval:
    """The one question about a budget that waits."""
    (found,) = await world.pending(entity)
    assert found.kind == "budget"
    return found


async def items(world: World) -> list[InboxItem]:
    return [item for item in await owed(world.board.readers) if item.kind == "budget"]


async def choose(world: World, item: InboxItem, key: str) -> Answer:
    """Press a key on an inbox item."""
    choice = next(choice for choice in item.choices if choice.key == key)
    note = {choice.note_field: "too much"} if choice.note_field else {}
    return await world.door.execute(OPERATOR, parse(choice.command, {**choice.arguments, **note}))


# The stop comes before the money is gone (F24) ----------------------------------------------------------------------


async def test_125_of_100_is_never_spent(world: World) -> None:
    await limit(world, 100)
    for _ in range(4):
        await ran(world, 25)
    fifth = await queued(world)
    answer = await start(world, fifth)
    assert (answer["started"], answer["scope"], answer["used_up"]) == (False, "company", True)
    assert "0.0001 USD of 0.0001 USD" in answer["why"]
    assert (await world.find(Run, fifth)).status == RunStatus.QUEUED
    assert await spent(world) == 100


async def test_what_does_not_fit_into_the_rest_is_held_and_what_does_starts(world: World) -> None:
    await ran(world, 60)
    await ran(world, 10, "bob")
    await limit(world, 100)
    large, small = await queued(world), await queued(world, "bob")
    answer = await start(world, large)
    assert (answer["started"], answer["used_up"]) == (False, False)
    assert f"R{large} (mention) needs about 0.00006 USD" in answer["why"]
    assert (await start(world, small))["started"]


async def test_queued_runs_are_reserved_for_together(world: World) -> None:
    await works_at_once(world)
    await ran(world, 30)
    world.clock.advance(DAY_MS)
    await limit(world, 100)
    runs = [await queued(world) for _ in range(6)]
    started = [(await start(world, run))["started"] for run in runs]
    assert started == [True, True, True, False, False, False]
    assert await spent(world) == 90
    assert {(await world.find(Run, run)).reserved_micros for run in runs[:3]} == {30}


async def test_a_run_reserves_the_average_of_its_agent_and_kind_or_the_dearest_of_its_kind(world: World) -> None:
    first = await queued(world)
    await start(world, first)
    assert (await world.find(Run, first)).reserved_micros == 0, "nothing is known of it, and no budget holds"
    await world.system("FinishRun", run=first, status="succeeded", cost_micros=10)
    await ran(world, 15)
    again, other, bobs = await queued(world), await queued(world, kind="broadcast"), await queued(world, "bob")
    await works_at_once(world)
    for run in (again, other, bobs):
        await start(world, run)
    assert [(await world.find(Run, run)).reserved_micros for run in (again, other, bobs)] == [13, 1, 15]


async def hired(world: World, count: int, **runner: Any) -> list[int]:
    """Queued runs of so many new agents on a runner that costs money, or as its settings say."""
    runs = []
    for number in range(count):
        slug = f"new-{next(world.numbers)}-{number}"
        await world.hire(slug, runner={"kind": "chat", **runner})
        runs.append(await queued(world, slug))
    return runs


async def test_first_runs_at_once_hold_back_no_more_than_the_budget(world: World) -> None:
    await limit(world, 500_000)
    runs = await hired(world, 4)
    answers = [await start(world, run) for run in runs]
    assert [answer["started"] for answer in answers] == [True, True, True, False]
    held_back = [(await world.find(Run, run)).reserved_micros for run in runs]
    assert held_back == [FIRST_RUN_MICROS, FIRST_RUN_MICROS, 100_000, 0]
    assert await world.events("BudgetWarned") == [], "nobody is warned of a guess"
    await world.system("FinishRun", run=runs[0], status="succeeded", cost_micros=30_000)
    assert (await start(world, runs[3]))["started"]
    assert (await world.find(Run, runs[3])).reserved_micros == 30_000, "the dearest of its kind is known now"
    assert await items(world) == []


async def test_a_budget_below_the_guess_lets_one_first_run_tell(world: World) -> None:
    await limit(world, 50)
    one, two = await hired(world, 2)
    assert (await start(world, one))["started"]
    assert (await start(world, two))["started"] is False
    await world.system("FinishRun", run=one, status="succeeded", cost_micros=20)
    assert (await start(world, two))["started"]
    assert await spent(world) == 40


@pytest.mark.parametrize(("runner", "held_back"), [
    ({"kind": "rehearsal"}, 0), ({"run_cost_micros": 0}, 0), ({"run_cost_micros": 7}, 7), ({}, 100),
])  # fmt: skip
async def test_what_calls_no_model_or_a_free_one_is_not_hindered(
    runner: dict[str, Any], held_back: int, world: World
) -> None:
    await limit(world, 100)
    runs = await hired(world, 3, **runner)
    answers = [(await start(world, run))["started"] for run in runs]
    assert (await world.find(Run, runs[0])).reserved_micros == held_back
    assert answers == [True, held_back < 100, held_back < 100]


async def test_a_runner_whose_first_run_cost_nothing_is_free(world: World) -> None:
    await limit(world, 100)
    one, two, three = await hired(world, 3)
    await start(world, one)
    await world.system("FinishRun", run=one, status="succeeded")
    for run in (two, three):
        assert (await start(world, run))["started"]
    assert await spent(world) == 0
    (dear,) = await hired(world, 1, model="dear")
    await start(world, dear)
    assert await spent(world) == 100, "another model tells nothing of this one"


async def test_a_failed_run_does_not_tell_that_they_are_free(world: World) -> None:
    await limit(world, 100)
    one, two = await hired(world, 2)
    await start(world, one)
    await world.system("FinishRun", run=one, status="failed")
    await start(world, two)
    assert await spent(world) == 100


@pytest.mark.parametrize("cost", [-1, True, "1", 10**16, 1.5])
async def test_what_a_first_run_is_taken_to_cost_is_an_amount(cost: object, world: World) -> None:
    with pytest.raises(Invalid, match="run_cost_micros"):
        await world.hire("dora", runner={"kind": "chat", "run_cost_micros": cost})


async def test_only_the_last_twenty_costs_count(world: World) -> None:
    await ran(world, 1_000_000)
    for _ in range(20):
        await ran(world, 10)
    run = await queued(world)
    await start(world, run)
    assert (await world.find(Run, run)).reserved_micros == 10


async def test_the_cost_takes_the_place_of_the_reservation(world: World) -> None:
    await ran(world, 40)
    await limit(world, 100, "agent", slug="ada")
    run = await queued(world)
    await start(world, run)
    assert await spent(world, "agent") == 80
    await world.system("FinishRun", run=run, status="succeeded", cost_micros=5)
    assert await spent(world, "agent") == 45
    assert (await world.find(Run, run)).reserved_micros == 0


@pytest.mark.parametrize("how", ["KillRun", "LoseRun", "PauseAgent", "StopCompany"])
async def test_a_run_that_is_cut_off_frees_its_reservation_and_keeps_what_it_cost_as_told(
    how: str, world: World
) -> None:
    await ran(world, 40)
    await limit(world, 200)
    run = await queued(world)
    await start(world, run)
    await world.system("RecordCost", run=run, cost_micros=7)
    assert await spent(world) == 80
    match how:
        case "LoseRun":
            await world.system("LoseRun", run=run, why="gone")
        case "KillRun":
            await world.operator("KillRun", run=run)
        case "PauseAgent":
            await world.operator("PauseAgent", agent="ada")
        case _:
            await world.operator("StopCompany")
    ended = await world.find(Run, run)
    assert (ended.reserved_micros, ended.cost_micros) == (0, 7)
    assert await spent(world) == 47


async def test_what_is_told_of_a_run_at_work_counts_at_once_and_never_shrinks(world: World) -> None:
    await ran(world, 10)
    await limit(world, 100)
    run = await queued(world)
    await start(world, run)
    for told, total in ((4, 20), (30, 40), (20, 40)):
        await world.system("RecordCost", run=run, cost_micros=told)
        assert await spent(world) == total
    await world.system("FinishRun", run=run, status="failed")
    assert await spent(world) == 40
    await world.system("RecordCost", run=run, cost_micros=99)
    assert await spent(world) == 40, "it has told all that it had to tell"


@pytest.mark.parametrize("how", ["KillRun", "LoseRun", "timed_out"])
async def test_tokens_and_cost_of_a_run_that_is_cut_off_are_kept(how: str, world: World) -> None:
    await limit(world, 1000)
    run = await queued(world)
    await start(world, run)
    await world.system("RecordCost", run=run, cost_micros=30, tokens_in=500, tokens_out=60)
    await world.system("RecordCost", run=run, cost_micros=20, tokens_in=700)
    match how:
        case "LoseRun":
            await world.system("LoseRun", run=run, why="gone")
        case "KillRun":
            await world.operator("KillRun", run=run)
        case _:
            await world.system("FinishRun", run=run, status="timed_out")
    ended = await world.find(Run, run)
    assert (ended.cost_micros, ended.tokens_in, ended.tokens_out) == (30, 700, 60)
    await world.system("RecordCost", run=run, cost_micros=45, tokens_out=90)
    late = await world.find(Run, run)
    assert (late.cost_micros, late.tokens_in, late.tokens_out, late.reserved_micros) == (45, 700, 90, 0)
    assert await spent(world) == 45
    assert late.status == ended.status


async def test_the_last_word_of_a_killed_run_on_what_it_cost_is_heard(world: World) -> None:
    await limit(world, 100)
    run = await queued(world)
    await start(world, run)
    await world.operator("KillRun", run=run)
    answer = await world.system("FinishRun", run=run, status="succeeded", cost_micros=60)
    assert answer["finished"] is False
    assert await spent(world) == 60


async def test_absurd_costs_can_still_be_added_up(world: World) -> None:
    for _ in range(3):
        await ran(world, 2**63 - 1)
    await limit(world, 10**15)
    assert (await start(world, await queued(world)))["started"] is False
    assert await spent(world) == 3 * 10**15


# The question -------------------------------------------------------------------------------------------------------


async def test_the_operator_is_asked_once_with_the_figures(world: World) -> None:
    budget = await limit(world, 100)
    await ran(world, 100)
    runs = [await queued(world), await queued(world, "bob")]
    for _ in range(3):
        for run in runs:
            await start(world, run)
    asked = await question(world)
    payload = asked.payload
    assert {name: payload[name] for name in ("budget", "scope", "limit", "spent", "period", "raise", "run")} == {
        "budget": budget.id, "scope": "company", "limit": 100, "spent": 100, "period": "day", "raise": 100,
        "run": runs[0],
    }  # fmt: skip
    assert (await world.events()).count("ApprovalRequested") == 1
    (item,) = await items(world)
    assert [choice.verb for choice in item.choices] == ["raise once", "leave held", "raise for good", "stop all"]


@pytest.mark.parametrize(("scope", "more", "entity"), [
    ("company", {}, "company:1"), ("agent", {"slug": "ada"}, "agent:5"), ("goal", {"scope_id": 1}, "goal:1"),
])  # fmt: skip
async def test_a_yes_really_lets_the_held_run_start(
    scope: str, more: dict[str, Any], entity: str, world: World
) -> None:
    goal = await world.an_active_goal()
    await limit(world, 100, scope, **more)
    await ran(world, 100, goal_id=goal.id)
    held = await queued(world, goal_id=goal.id)
    answer = await start(world, held)
    assert (answer["started"], answer["scope"]) == (False, scope)
    decided = await choose(world, (await items(world))[0], "a")
    assert decided["status"] == "consumed" or decided["follow_up"] == "0.0001 USD more today"
    assert await items(world) == []
    assert (await start(world, held))["started"]
    assert (await world.agent("ada")).status == "active"
    assert await world.pending(entity) == []


async def test_a_yes_is_for_as_much_as_the_run_needs(world: World) -> None:
    await ran(world, 450)
    world.clock.advance(DAY_MS)
    await limit(world, 100)
    held = await queued(world)
    await start(world, held)
    asked = await question(world)
    assert (asked.payload["needs"], asked.payload["raise"]) == (450, 400)
    await world.operator("DecideApproval", approval=asked.id, decision="approved")
    assert (await start(world, held))["started"]


async def test_a_no_keeps_it_held_and_says_so_and_does_not_ask_again(world: World) -> None:
    await limit(world, 100)
    await ran(world, 100)
    held = await queued(world)
    await start(world, held)
    await choose(world, (await items(world))[0], "b")
    for _ in range(3):
        answer = await start(world, held)
        assert answer["started"] is False
        assert answer["why"].endswith("you said no to more")
    assert (await world.events()).count("ApprovalRequested") == 1
    (item,) = await items(world)
    assert item.why == f"you allowed no more (too much); held: R{held}"
    assert [choice.verb for choice in item.choices] == ["raise once", "raise for good", "stop all"]
    await choose(world, item, "a")
    assert (await start(world, held))["started"]
    assert await items(world) == []


async def test_after_a_no_the_next_period_begins_as_any_other(world: World) -> None:
    await limit(world, 100)
    await ran(world, 100)
    held = await queued(world)
    await start(world, held)
    await choose(world, (await items(world))[0], "b")
    world.clock.advance(DAY_MS)
    assert (await start(world, held))["started"]
    await world.system("FinishRun", run=held, status="succeeded", cost_micros=100)
    again = await queued(world)
    await start(world, again)
    assert (await question(world)).payload["spent"] == 100


async def test_a_question_ends_with_its_period(world: World) -> None:
    await limit(world, 100)
    await ran(world, 100)
    await start(world, await queued(world))
    asked = await question(world)
    assert asked.expires_at is not None
    assert 0 < asked.expires_at - world.clock() <= DAY_MS
    assert asked.expires_at % DAY_MS == 0


async def test_a_yes_that_comes_too_late_raises_nothing(world: World) -> None:
    await limit(world, 100)
    await ran(world, 100)
    await start(world, await queued(world))
    asked = await question(world)
    world.clock.advance(DAY_MS)
    answer = await world.operator("DecideApproval", approval=asked.id, decision="approved")
    assert answer["follow_up"] == "a new period has begun"
    assert (await world.all(Budget))[0].extra_micros == 0


@pytest.mark.parametrize(("scope", "more"), [("agent", {"slug": "ada"}), ("goal", {"scope_id": 1}), ("company", {})])
async def test_a_pause_settles_the_question(scope: str, more: dict[str, Any], world: World) -> None:
    goal = await world.an_active_goal()
    await limit(world, 100, scope, **more)
    await ran(world, 100, goal_id=goal.id)
    held = await queued(world, goal_id=goal.id)
    await start(world, held)
    await choose(world, (await items(world))[0], "d")
    assert await items(world) == []
    assert {each.status for each in await world.all(Approval)} == {ApprovalStatus.CANCELLED}


async def test_a_question_is_withdrawn_when_its_run_can_start_after_all(world: World) -> None:
    await works_at_once(world)
    await ran(world, 60)
    world.clock.advance(DAY_MS)
    await limit(world, 100)
    first, second = await queued(world), await queued(world)
    await start(world, first)
    assert (await start(world, second))["started"] is False
    await world.operator("KillRun", run=first)
    assert (await start(world, second))["started"]
    assert await items(world) == []


async def test_several_budgets_are_each_asked_about_and_the_widest_is_named(world: World) -> None:
    await limit(world, 100)
    await limit(world, 50, "agent", slug="ada")
    await ran(world, 100)
    answer = await start(world, await queued(world))
    assert answer["scope"] == "company"
    assert "budget of the company" in answer["why"]
    assert "budget of Ada" in answer["why"]
    assert {item.entity for item in await items(world)} == {"company:1", "agent:5"}


async def test_nobody_but_the_system_asks_about_a_budget(world: World) -> None:
    vera = await world.run("vera")
    with pytest.raises(Invalid, match="the system asks"):
        await world.do(vera, "RequestApproval", kind="budget", entity="company:1", title="More, please")


# Setting and raising ------------------------------------------------------------------------------------------------


async def test_raising_once_counts_only_in_its_period(world: World) -> None:
    await limit(world, 100)
    answer = await raised_once(world, 50)
    assert (answer["limit_micros"], answer["allowed_micros"]) == (100, 150)
    answer = await raised_once(world, 10)
    assert answer["allowed_micros"] == 160
    world.clock.advance(DAY_MS)
    await ran(world, 100)
    assert (await start(world, await queued(world)))["started"] is False
    answer = await raised_once(world, 5)
    assert answer["allowed_micros"] == 105, "what was granted the day before is over"


async def test_raising_for_good_counts_from_now_on(world: World) -> None:
    await limit(world, 100)
    await ran(world, 100)
    held = await queued(world)
    await start(world, held)
    await choose(world, (await items(world))[0], "r")
    assert (await world.all(Budget))[0].limit_micros == 200
    assert await items(world) == []
    assert (await start(world, held))["started"]


async def test_a_raise_that_is_not_enough_asks_anew(world: World) -> None:
    await limit(world, 100)
    await ran(world, 300)
    held = await queued(world)
    await start(world, held)
    await world.operator("RaiseBudget", scope="company", micros=50)
    assert await items(world) == []
    await start(world, held)
    assert (await question(world)).payload["limit"] == 150


async def test_a_goal_has_a_budget_in_all_that_never_begins_anew(world: World) -> None:
    goal, other = await world.an_active_goal(), await world.an_active_goal()
    await limit(world, 100, "goal", scope_id=goal.id, period="total")
    for _ in range(4):
        await ran(world, 25, goal_id=goal.id)
        world.clock.advance(40 * DAY_MS)
    held = await queued(world, goal_id=goal.id)
    assert (await start(world, held))["scope"] == "goal"
    assert (await start(world, await queued(world, "bob", goal_id=other.id)))["started"]
    assert (await question(world, f"goal:{goal.id}")).expires_at is None
    await choose(world, (await items(world))[0], "a")
    assert (await start(world, held))["started"]


async def test_the_budget_of_a_paused_agent_wakes_nobody(world: World) -> None:
    await limit(world, 100, "agent", slug="ada")
    await ran(world, 100)
    await world.operator("PauseAgent", agent="ada")
    await raised_once(world, 100, scope="agent", slug="ada")
    assert (await world.agent("ada")).status == "paused"
    assert await items(world) == []
    await world.operator("ResumeAgent", agent="ada")
    assert (await start(world, await queued(world)))["started"]


async def test_a_hire_with_a_budget_has_one(world: World) -> None:
    agent = await world.hire("dora", budget_micros=250)
    (budget,) = await world.all(Budget)
    assert (budget.scope, budget.scope_id, budget.limit_micros, budget.period) == ("agent", agent.id, 250, "day")


async def test_setting_a_budget(world: World) -> None:
    budget = await limit(world, 100)
    await raised_once(world, 50)
    again = await world.operator("SetBudget", scope="company", limit_micros=100)
    assert again == {"id": budget.id, "limit_micros": 100, "changed": False}
    assert (await world.find(Budget, budget.id)).extra_micros == 50
    await world.operator("SetBudget", scope="company", limit_micros=70, period="week")
    now = await world.find(Budget, budget.id)
    assert (now.limit_micros, now.period, now.extra_micros) == (70, "week", 0)
    await ran(world, 70)
    held = await queued(world)
    assert (await start(world, held))["started"] is False
    await world.operator("SetBudget", scope="company", limit_micros=0)
    assert (await start(world, held))["started"], "0 is no limit"
    assert await items(world) == []


@pytest.mark.parametrize(("arguments", "error"), [
    ({"scope": "agent"}, Invalid), ({"scope": "goal"}, Invalid), ({"scope": "agent", "slug": "nobody"}, Invalid),
    ({"scope": "goal", "scope_id": 99}, NotFound), ({"scope": "goal", "slug": "ada"}, Invalid),
    ({"scope": "agent", "scope_id": 5, "slug": "ada"}, Invalid), ({"scope": "universe"}, Invalid),
    ({"scope": "company", "limit_micros": -1}, Invalid), ({"scope": "company", "limit_micros": 10**15 + 1}, Invalid),
    ({"scope": "goal", "scope_id": 1}, Conflict),
])  # fmt: skip
async def test_a_budget_of_nothing_is_refused(arguments: dict[str, Any], error: type[Exception], world: World) -> None:
    goal = await world.a_goal()
    await world.operator("CancelGoal", goal=goal.id, reason="no")
    with pytest.raises(error):
        await world.operator("SetBudget", **{"limit_micros": 5, **arguments})
    assert await world.all(Budget) == []


async def test_what_has_no_budget_cannot_be_raised(world: World) -> None:
    with pytest.raises(Conflict, match="no budget of Ada"):
        await world.operator("RaiseBudget", scope="agent", slug="ada", micros=5)
    await limit(world, 10**15)
    with pytest.raises(Invalid, match="more than a budget can hold"):
        await world.operator("RaiseBudget", scope="company", micros=1)


async def test_agents_touch_no_budget(world: World) -> None:
    vera = await world.run("vera")
    for command, arguments in (
        ("SetBudget", {"scope": "company", "limit_micros": 0}),
        ("RaiseBudget", {"scope": "company", "micros": 1}),
        ("RecordCost", {"run": vera.run_id, "cost_micros": 0}),
    ):
        with pytest.raises(Forbidden):
            await world.do(vera, command, **arguments)


# The warning --------------------------------------------------------------------------------------------------------


async def test_four_fifths_are_told_once_a_period(world: World) -> None:
    await limit(world, 100)
    await ran(world, 79)
    assert await world.events("BudgetWarned") == []
    await ran(world, 1, "bob", kind="broadcast")
    assert await world.events("BudgetWarned") == ["BudgetWarned"]
    await ran(world, 10, "bob", kind="broadcast")
    assert len(await world.events("BudgetWarned")) == 1
    world.clock.advance(DAY_MS)
    await ran(world, 85)
    assert len(await world.events("BudgetWarned")) == 2
    told = await world.read(lambda tx: tx.value("SELECT changed FROM events WHERE kind = 'BudgetWarned' LIMIT 1"))
    assert '"percent":' in told
    assert "of the budget of the company" in told


async def test_without_a_budget_nothing_is_told_asked_or_held(world: World) -> None:
    for _ in range(3):
        await ran(world, 10**9)
    assert await world.events("BudgetWarned", "BudgetSet", "BudgetRaised", "ApprovalRequested") == []


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (BUDGET_ENDED.format(SCOPED[BudgetScope.COMPANY]), "COVERING INDEX runs_ended"),
        (BUDGET_ENDED.format(SCOPED[BudgetScope.AGENT]), "COVERING INDEX runs_"),
        (BUDGET_ENDED.format(SCOPED[BudgetScope.GOAL]), "COVERING INDEX runs_"),
        (BUDGET_HELD_BACK.format(SCOPED[BudgetScope.GOAL]), "INDEX runs_live"),
        (LAST_COSTS, "COVERING INDEX runs_costed (agent_id=? AND kind=?"),
        (COSTED, "COVERING INDEX runs_costed (agent_id=?"),
    ],
)
async def test_what_a_start_looks_up_reads_no_whole_table(query: str, index: str, world: World) -> None:
    names = {"since": 0, "id": 1, "agent": 1, "kind": "mention"}
    used = {name: value for name, value in names.items() if f":{name}" in query}
    (row, *_) = await world.read(lambda tx: tx.all(f"EXPLAIN QUERY PLAN {query}", **used))
    assert index in row["detail"]


async def test_the_dearest_of_a_kind_is_looked_for_among_the_latest_runs_only(world: World) -> None:
    plan = await world.read(lambda tx: tx.all(f"EXPLAIN QUERY PLAN {DEAREST}", kind="mention", runner="x", model=None))
    details = [row["detail"] for row in plan]
    assert not [each for each in details if "TEMP B-TREE" in each], details
    assert "LIMIT 500" in DEAREST


# Whatever happens ---------------------------------------------------------------------------------------------------

DEEDS = st.lists(
    st.tuples(
        st.sampled_from(["queue", "start", "start", "start", "finish", "finish", "kill", "lose", "tell", "raise",
                         "set", "decide", "day"]),
        st.integers(0, 9),
        st.integers(0, 120),
    ),
    max_size=60,
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(DEEDS)
async def test_what_is_spent_and_held_back_is_within_the_limit_at_each_start(
    tmp_path_factory: pytest.TempPathFactory, deeds: list[tuple[str, int, int]]
) -> None:
    async with a_company(tmp_path_factory.mktemp("budget"), staff={"ada": "executor", "bob": "executor"}) as world:  # type: ignore[dict-item]
        for slug in ("ada", "bob"):
            await works_at_once(world, slug)
        await limit(world, 200)
        await limit(world, 120, "agent", slug="ada", period="week")
        for deed, which, micros in deeds:
            await _do(world, deed, which, micros)


async def _do(world: World, deed: str, which: int, micros: int) -> None:
    runs = await world.all(Run, "status IN ('queued', 'starting', 'running') ORDER BY id")
    run = runs[which % len(runs)] if runs else None
    match deed:
        case "queue":
            await queued(world, "ada" if which % 2 else "bob")
        case "start" if run is not None and run.status == RunStatus.QUEUED:
            if (await start(world, run.id))["started"]:
                await _within(world, run.id)
        case "finish" if run is not None and run.status != RunStatus.QUEUED:
            await world.system("FinishRun", run=run.id, status="failed", cost_micros=micros)
        case "kill" if run is not None:
            await world.operator("KillRun", run=run.id)
        case "lose" if run is not None:
            await world.system("LoseRun", run=run.id, why="gone")
        case "tell" if run is not None:
            await world.system("RecordCost", run=run.id, cost_micros=micros)
        case "raise":
            if which % 2:
                await raised_once(world, micros + 1)
            else:
                await world.operator("RaiseBudget", scope="company", micros=micros + 1)
        case "set":
            await world.operator("SetBudget", scope="agent", slug="ada", limit_micros=micros + 1, period="week")
        case "decide":
            for asked in await world.all(Approval, "status = 'pending'"):
                await world.operator(
                    "DecideApproval", approval=asked.id, decision="approved" if micros % 2 else "rejected", note="so"
                )
        case "day":
            world.clock.advance(DAY_MS // 2)


async def _within(world: World, run_id: int) -> None:
    """Every budget of a run that just started holds what is spent and held back, itself included."""
    run = await world.find(Run, run_id)
    for budget in await world.all(Budget):
        if budget.scope == "agent" and budget.scope_id != run.agent_id:
            continue
        standing = await world.read(lambda tx, budget=budget: standing_now(tx, budget))
        assert standing.spent <= standing.allowed, standing
        held_back = await world.read(lambda tx: tx.value("SELECT sum(reserved_micros) FROM runs"))
        live = await world.all(Run, "status IN ('starting', 'running')")
        assert held_back == sum(each.reserved_micros for each in live), "only what is at work holds anything back"
