"""What the loop promises, in small numbers here and in large ones by `make soak` (issue list of S2-39, S3-30)."""

import asyncio
import functools
from collections import Counter
from pathlib import Path

import pytest

from core.dispatcher import Caps
from core.domain.entities import Approval, Comment, Goal, Mention, Round, Run, Task, Turn
from core.domain.limits import DISCUSSION_TURNS, EXCHANGE_MESSAGES, REVIEW_ATTEMPTS
from core.domain.states import (
    ApprovalKind,
    GoalStatus,
    MentionStatus,
    Role,
    RoundStatus,
    RunKind,
    RunStatus,
    TaskStatus,
)
from core.simulation.agents import CAPABILITIES, GOOD, Habits
from core.simulation.simulator import STAFF, Simulation, Staff, a_simulation
from tests.unit.world import World, a_company

HOUR_MS = 3_600_000
WIDE = Caps(runs_at_once=1000, starts_per_minute=100_000)
BOSSES = STAFF[:4]
large = functools.partial(pytest.param, marks=pytest.mark.soak)


def staff_of(executors: int) -> Staff:
    """The four who lead and judge, and so many who can do everything."""
    return (*BOSSES, *((f"a{number}", Role.EXECUTOR, CAPABILITIES) for number in range(1, executors + 1)))


async def a_goal(simulation: Simulation, tasks: int = 1, *, discussion: bool = False, **more: object) -> int:
    """A dispatched goal with this many tasks of its one must-have."""
    shape = {"end_state": "A figure that somebody else finds again.", "must_haves": ("M1",), **more}
    made = await simulation.operator(
        "CreateGoal", title="Audit", must_haves=("count",), round_cap=3,
        tasks=[{"title": f"Part {number}", **shape} for number in range(1, tasks + 1)],
    )  # fmt: skip
    await simulation.operator("DispatchGoal", goal=made["id"], discussion=discussion)
    return int(made["id"])


async def steps(simulation: Simulation, number: int, *, kindly: bool | None = None) -> None:
    """So many ticks; with an operator who decides, or without one."""
    for _ in range(number):
        await simulation.step()
        await simulation.check_nothing_is_forgotten()
        if kindly is not None:
            await simulation.decide_all(kindly=kindly)


# One winner a claim --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [16, large(40), large(1000)])
async def test_each_of_many_tasks_has_one_winner_among_as_many_agents(size: int, tmp_path: Path) -> None:
    async with a_simulation(tmp_path, staff=staff_of(size), caps=WIDE) as simulation:
        simulation.agents.troubled = frozenset()
        for _ in range(-(-size // 500)):
            await a_goal(simulation, min(size, 500), risk="low")
        for _ in range(size):
            await simulation.step()
            tasks = await simulation.board.readers.entities(Task, "true")
            held = Counter(
                task.assignee_id for task in tasks if task.status in (TaskStatus.CLAIMED, TaskStatus.WORKING)
            )
            assert max(held.values(), default=0) <= 1
            if {task.status for task in tasks} == {TaskStatus.DONE}:
                break
        won = await simulation.read(
            lambda tx: tx.all("SELECT count(*) AS n FROM events WHERE kind IN ('TaskClaimed', 'TaskAssigned')"
                              " GROUP BY entity_id")
        )  # fmt: skip
        assert [row["n"] for row in won] == [1] * size
        runs = await simulation.board.readers.entities(Run, "kind = 'execute'")
        assert len(runs) == len({run.task_id for run in runs}) == size


@pytest.mark.parametrize("racers", [40, large(1000)])
async def test_of_many_who_claim_at_the_same_moment_one_wins(racers: int, tmp_path: Path) -> None:
    async with a_company(tmp_path) as world:
        task, _ = await world.a_task()
        agents = [(await world.hire(f"racer-{number}")).slug for number in range(racers)]
        actors = [await world.run(slug, RunKind.BROADCAST) for slug in agents]
        claims = [world.do(actor, "ClaimTask", task=task.id) for actor in actors]
        answers = await asyncio.gather(*claims, return_exceptions=True)
        assert sum(isinstance(answer, dict) for answer in answers) == 1
        winner = next(actor for actor, answer in zip(actors, answers, strict=True) if isinstance(answer, dict))
        assert (await world.task(task.id)).assignee_id == winner.agent_id


# Rounds end or are seen to stand still -------------------------------------------------------------------------------


@pytest.mark.parametrize("trouble", ["block", "ask", "hang"])
async def test_a_round_that_stands_still_is_seen_within_two_ticks(trouble: str, tmp_path: Path) -> None:
    async with a_simulation(tmp_path, habits=GOOD.but(**{trouble: 1}), run_minutes=1e6) as simulation:
        simulation.agents.troubled = frozenset({RunKind.EXECUTE})
        await a_goal(simulation, 2)
        # Ten minutes are twenty ticks; each of them finds everything moving or named.
        await steps(simulation, 22)
        rounds = await simulation.board.readers.entities(Round, "true")
        inbox = {item.entity for item in await simulation.inbox()}
        if trouble == "hang":
            assert [round_.status for round_ in rounds] == [RoundStatus.OPEN]
            assert len(simulation.agents.hanging) == 2
        else:
            assert {round_.status for round_ in rounds} & {RoundStatus.STALLED, RoundStatus.OPEN}
            assert inbox & {"round:1", *(f"task:{number}" for number in range(1, 20))}


async def test_ending_a_round_that_stands_still_brings_its_review(tmp_path: Path) -> None:
    async with a_simulation(tmp_path, habits=GOOD.but(ask=1)) as simulation:
        simulation.agents.troubled = frozenset({RunKind.EXECUTE})
        await a_goal(simulation, 2)
        await steps(simulation, 24)
        assert "round:1" in {item.entity for item in await simulation.inbox()}
        await simulation.operator("EndRound", round=1, reason="nobody answers any more")
        await steps(simulation, 1)
        first = (await simulation.board.readers.entities(Round, "id = 1"))[0]
        assert (first.status, first.decision is not None) == (RoundStatus.CLOSED, True)


# Reviews, rounds and talk within their caps --------------------------------------------------------------------------


async def test_liars_get_nothing_done_that_nobody_else_approved(tmp_path: Path) -> None:
    async with a_simulation(tmp_path, habits=GOOD.but(lie=1, repeat=1, wrong=0.4)) as simulation:
        await a_goal(simulation, 3)
        await steps(simulation, 12, kindly=True)
        done = await simulation.board.readers.entities(Task, "status = 'done'")
        assert done
        assert simulation.agents.refused.total() > 10
        for task in done:
            outputs = await simulation.read(
                lambda tx, t=task.id: tx.all("SELECT content FROM outputs WHERE task_id = :t ORDER BY id", t=t)
            )
            assert outputs[-1]["content"] == "43 files"


@pytest.mark.parametrize("risk", ["standard", large("high")])
async def test_a_reviewer_who_refuses_everything_brings_it_before_the_operator(risk: str, tmp_path: Path) -> None:
    async with a_simulation(tmp_path, habits=GOOD.but(refuse=1, rebut=0.5)) as simulation:
        await a_goal(simulation, 2, risk=risk)
        await steps(simulation, 40)
        tasks = await simulation.board.readers.entities(Task, "id <= 2")
        assert {(task.status, task.review_attempts) for task in tasks} == {(TaskStatus.WAITING_HUMAN, REVIEW_ATTEMPTS)}
        questions = await simulation.board.readers.entities(Approval, "status = 'pending' AND kind = 'question'")
        assert {question.entity for question in questions} >= {"task:1", "task:2"}
        begun = len(simulation.agents.begun)
        await steps(simulation, 20)
        assert len(simulation.agents.begun) == begun


async def test_rounds_stay_within_their_cap_and_each_one_more_is_the_operators_word(tmp_path: Path) -> None:
    async with a_simulation(tmp_path, habits=GOOD.but(fail=1)) as simulation:
        simulation.agents.troubled = frozenset({RunKind.EXECUTE})
        goal = await a_goal(simulation, 1)
        for _ in range(60):
            await simulation.step()
            await simulation.check_nothing_is_forgotten()
            await refuse_to_stop(simulation)
        rounds = await simulation.board.readers.entities(Round, "goal_id = :g", g=goal)
        refusals = await simulation.board.readers.entities(Approval, "decided_at IS NOT NULL")
        assert 3 <= max(round_.number for round_ in rounds) <= 3 + len(refusals)


async def refuse_to_stop(simulation: Simulation) -> None:
    """The operator wants the goal all the same."""
    for item in await simulation.inbox():
        for choice in item.choices:
            if choice.verb == "reject" and choice.command == "DecideApproval":
                await simulation.decide(item, choice)


@pytest.mark.parametrize("habit", [large("object"), "mention"])
async def test_a_discussion_ends_however_much_there_is_to_say(habit: str, tmp_path: Path) -> None:
    async with a_simulation(tmp_path, habits=GOOD.but(**{habit: 1}), caps=WIDE) as simulation:
        goal = await a_goal(simulation, 1, discussion=True)
        for _ in range(100):
            await simulation.step()
            await simulation.check_nothing_is_forgotten()
            if (await simulation.board.readers.entities(Goal, "id = :g", g=goal))[0].status != GoalStatus.PLANNING:
                break
        turns = await simulation.board.readers.entities(Turn, "goal_id = :g", g=goal)
        assert 1 < len(turns) <= DISCUSSION_TURNS
        assert (await simulation.board.readers.entities(Goal, "id = :g", g=goal))[0].status != GoalStatus.PLANNING


@pytest.mark.parametrize(("habit", "agents"), [("thank", 2), large("circle", 3)])
async def test_agents_who_only_talk_to_each_other_are_stopped(habit: str, agents: int, tmp_path: Path) -> None:
    async with a_simulation(tmp_path, habits=GOOD.but(**{habit: 1}), caps=WIDE, staff=staff_of(agents)) as simulation:
        task = await a_held_task(simulation)
        await speak_as(simulation, "a1", task, "@a2 is that so?")
        await steps(simulation, 30)
        messages = await simulation.board.readers.entities(Comment, "task_id = :t ORDER BY id", t=task)
        most = EXCHANGE_MESSAGES if agents == 2 else 3 * agents
        assert most <= len(messages) <= most + 1
        assert len(await simulation.board.readers.entities(Mention, "status = 'held'")) == 1
        asked = await simulation.board.readers.entities(Approval, "status = 'pending' ORDER BY id")
        assert [(each.kind, each.entity) for each in asked] == [(ApprovalKind.EXCHANGE, f"task:{task}")]
        begun = len(simulation.agents.begun)
        await steps(simulation, 20)
        assert len(simulation.agents.begun) == begun
        # A yes lets them go on for as long again, and no longer.
        await simulation.decide_all(kindly=True)
        await steps(simulation, 30)
        messages = await simulation.board.readers.entities(Comment, "task_id = :t ORDER BY id", t=task)
        assert 2 * most <= len(messages) <= 2 * most + 2


async def a_held_task(simulation: Simulation) -> int:
    """A task that nobody can do and no coordinator looks after: nothing on it changes while others talk about it."""
    await simulation.operator("PauseAgent", agent="cora")
    await a_goal(simulation, 1, capabilities=("nobody-can",))
    return 1


async def speak_as(simulation: Simulation, slug: str, task: int, body: str) -> None:
    """An agent says something by a run of its own."""
    world = World(simulation.board, simulation.door, simulation.clock, simulation.folder)
    actor = await world.run(slug, RunKind.MENTION, task_id=task)
    await world.do(actor, "AddComment", task=task, kind="question", body=body)
    await world.finish(actor)


@pytest.mark.parametrize("mentions", [100])
async def test_a_hundred_mentions_make_one_run(mentions: int, tmp_path: Path) -> None:
    async with a_simulation(tmp_path) as simulation:
        task = await a_held_task(simulation)
        for number in range(mentions):
            await simulation.operator("AddComment", task=task, kind="question", body=f"@ada, question {number}?")
        await steps(simulation, 5)
        runs = await simulation.board.readers.entities(Run, "kind = 'mention'")
        assert [run.status for run in runs] == [RunStatus.SUCCEEDED]
        found = await simulation.board.readers.entities(Mention, "true")
        assert {mention.status for mention in found} == {MentionStatus.WOKEN}


# Quiet ---------------------------------------------------------------------------------------------------------------


async def nothing(simulation: Simulation) -> None:
    """An empty board."""


async def a_plan_that_waits(simulation: Simulation) -> None:
    """A goal whose coordinator could not plan it: the operator is asked."""
    simulation.agents.habits, simulation.agents.troubled = GOOD.but(crash=1), frozenset(RunKind)
    await a_goal(simulation, 1, discussion=True)
    await steps(simulation, 10)
    assert [item.entity for item in await simulation.inbox()] == ["goal:1"]


async def a_talk_that_waits(simulation: Simulation) -> None:
    """A goal that is talked over: the coordinator has asked, and the operator owes the answer."""
    await simulation.operator("CreateGoal", title="Audit", must_haves=("count",), explore=True)
    await steps(simulation, 5)
    words = await simulation.board.readers.entities(Comment, "kind = 'dialogue'")
    assert [word.author for word in words] == ["cora"]


async def a_report_that_waits(simulation: Simulation) -> None:
    """A goal that is done but for the operator's yes."""
    await a_goal(simulation, 1)
    await steps(simulation, 10)
    assert [item.kind for item in await simulation.inbox()] == ["report"]


WAITING = (nothing, a_plan_that_waits, a_talk_that_waits, a_report_that_waits)


@pytest.mark.parametrize("ticks", [60, large(1000)])
@pytest.mark.parametrize("waits", WAITING)
async def test_whoever_waits_for_the_operator_costs_no_model_call(waits: object, ticks: int, tmp_path: Path) -> None:
    async with a_simulation(tmp_path) as simulation:
        await waits(simulation)  # type: ignore[operator]
        simulation.agents.habits = GOOD
        runs, before = len(await simulation.board.readers.entities(Run, "true")), await simulation.events()
        for _ in range(ticks):
            simulation.clock.advance(30_000)
            await simulation.ticker.tick()
            await simulation.dispatcher.start_queued()
        assert len(await simulation.board.readers.entities(Run, "true")) == runs
        beats = -(-ticks * 30_000 // 900_000) + 1
        assert await simulation.events() - before <= beats


# Clocks --------------------------------------------------------------------------------------------------------------


async def in_a_turn(simulation: Simulation) -> RunKind:
    """Everybody speaks in a discussion and does not come to an end."""
    await a_goal(simulation, 2, discussion=True)
    return RunKind.DISCUSS


async def at_work(simulation: Simulation) -> RunKind:
    """Two tasks are worked at."""
    await a_goal(simulation, 2)
    return RunKind.EXECUTE


async def in_review(simulation: Simulation) -> RunKind:
    """Two tasks are looked at by their reviewers."""
    await a_goal(simulation, 2)
    return RunKind.REVIEW


@pytest.mark.parametrize("by", [-HOUR_MS, 8 * HOUR_MS])
@pytest.mark.parametrize("begin", [large(in_a_turn), at_work, large(in_review)])
async def test_a_jump_of_the_clock_kills_nothing_alive(begin: object, by: int, tmp_path: Path) -> None:
    async with a_simulation(tmp_path, habits=GOOD.but(hang=1), run_minutes=1e6) as simulation:
        kind = await begin(simulation)  # type: ignore[operator]
        simulation.agents.troubled = frozenset({kind})
        await steps(simulation, 3)
        alive = set(simulation.agents.hanging)
        assert alive
        simulation.clock.advance(by)
        await steps(simulation, 5)
        assert alive <= {run.id for run in await simulation.live_runs()}
        assert simulation.agents.hanging == alive
        ended = await simulation.board.readers.entities(Run, "status IN ('lost', 'killed', 'timed_out', 'failed')")
        assert ended == []


@pytest.mark.parametrize("by", [-HOUR_MS, 8 * HOUR_MS])
async def test_a_jump_of_the_clock_while_a_plan_stands_open_loses_nothing(by: int, tmp_path: Path) -> None:
    async with a_simulation(tmp_path, habits=GOOD.but(plan=1)) as simulation:
        await a_goal(simulation, 1, risk="standard")
        await steps(simulation, 2)
        task = (await simulation.board.readers.entities(Task, "id = 1"))[0]
        assert task.plan_until is not None
        simulation.clock.advance(by)
        # The board's time never runs back: the window is over after as long as it would have been.
        await steps(simulation, 14, kindly=None)
        task = (await simulation.board.readers.entities(Task, "id = 1"))[0]
        assert (task.status, task.plans, task.plan_until) == (TaskStatus.DONE, 1, None)
        runs = await simulation.board.readers.entities(Run, "kind = 'execute' AND task_id = 1 ORDER BY id")
        assert [run.status for run in runs] == [RunStatus.SUCCEEDED] * 2


def test_habits_that_together_are_more_than_all_work_are_refused() -> None:
    with pytest.raises(ValueError, match=r"are 1\.2 together"):
        Habits(**{**GOOD.model_dump(), "wrong": 0.6, "hang": 0.6})
