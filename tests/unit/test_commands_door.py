"""The one door: who is let in, keys that act once, and what is refused before anything is written (S1-02, S1-23)."""

import asyncio
import math

import pytest

from core.blackboard.fold import rebuild_and_compare
from core.blackboard.owner import take_lease
from core.commands.door import TICKER_LEASE
from core.commands.registry import REGISTRY, build, parse
from core.domain.actors import Agent, System
from core.domain.entities import Company, Goal
from core.domain.errors import Conflict, Fenced, Forbidden, Invalid
from core.domain.lifecycles import Who
from tests.unit.world import OPERATOR, World

GOAL = {"title": "Audit the folder"}


async def test_a_key_acts_once_and_gives_the_same_answer_again(world: World) -> None:
    answers = await asyncio.gather(*(world.do(OPERATOR, "CreateGoal", once="k1", **GOAL) for _ in range(5)))
    assert all(answer == answers[0] for answer in answers)
    assert len(await world.all(Goal)) == 1


async def test_a_key_is_not_for_another_command_or_another_actor(world: World) -> None:
    await world.do(OPERATOR, "CreateGoal", once="k1", **GOAL)
    with pytest.raises(Conflict, match="used for another command"):
        await world.do(OPERATOR, "CreateGoal", once="k1", title="Another")
    with pytest.raises(Conflict, match="used for another command"):
        await world.do(OPERATOR, "StopCompany", once="k1")
    vera = await world.run("vera")
    await world.do(OPERATOR, "AddComment", once="k2", goal=1, body="hello")
    with pytest.raises(Conflict, match="used for another command"):
        await world.do(vera, "AddComment", once="k2", goal=1, body="hello")


async def test_a_refused_command_does_not_use_its_key_up(world: World) -> None:
    with pytest.raises(Conflict):
        await world.do(OPERATOR, "ResumeAgent", once="k1", agent="ada")
    await world.operator("PauseAgent", agent="ada")
    assert (await world.do(OPERATOR, "ResumeAgent", once="k1", agent="ada"))["status"] == "active"


async def test_all_commands_of_one_call_happen_or_none(world: World) -> None:
    commands = [parse("CreateGoal", GOAL), parse("ResumeAgent", {"agent": "ada"})]
    with pytest.raises(Conflict):
        await world.door.execute_all(OPERATOR, commands)
    assert await world.all(Goal) == []


@pytest.mark.parametrize("name", sorted(REGISTRY))
async def test_a_command_is_refused_to_whoever_it_is_not_for(world: World, name: str) -> None:
    model = REGISTRY[name].model
    command = model.model_construct()
    actors = {Who.OPERATOR: OPERATOR, Who.SYSTEM: System(), Who.ASSIGNEE: await world.run("ada")}
    for who, actor in actors.items():
        if who not in model.who:
            with pytest.raises(Forbidden, match="It is for"):
                await world.door.execute(actor, command)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_command_explains_itself_and_refuses_unknown_fields(name: str) -> None:
    assert len(REGISTRY[name].about) > 10
    with pytest.raises(Invalid, match="no_such_field"):
        parse(name, {"no_such_field": 1})


def test_an_unknown_command_is_refused_with_those_that_exist() -> None:
    with pytest.raises(Invalid, match="CreateGoal"):
        parse("DropEverything", {})


@pytest.mark.parametrize("value", ["half\udfff", 2**63, -(2**64), math.nan, math.inf])
def test_what_the_board_cannot_hold_is_refused_however_deep_it_lies(value: object) -> None:
    command = {"task": 1, "kind": "question", "title": "Go on?"}
    for payload in ({"a": value}, {"a": [{"b": [value]}]}):
        with pytest.raises(Invalid):
            parse("AskOperator", {**command, "payload": payload})
    with pytest.raises(Invalid):
        build(REGISTRY["AskOperator"].model, **{**command, "payload": {}, "title": value})


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30])
async def test_a_number_beyond_64_bits_is_invalid(world: World, number: int) -> None:
    with pytest.raises(Invalid, match="64 bits"):
        await world.operator("DispatchGoal", goal=number)


async def test_an_agent_is_let_in_only_by_its_living_run(world: World) -> None:
    ada = await world.run("ada")
    await world.a_goal()
    await world.do(ada, "AddComment", goal=1, body="hello")
    await world.finish(ada)
    for actor in (ada, Agent(ada.agent_id, "ada", 999, 1)):
        with pytest.raises(Fenced):
            await world.do(actor, "AddComment", goal=1, body="hello")


async def test_a_queued_run_cannot_act_yet(world: World) -> None:
    await world.a_goal()
    agent = await world.agent("ada")
    queued = await world.system("QueueRun", kind="mention", agent_id=agent.id, key="x")
    with pytest.raises(Fenced, match="is queued"):
        await world.do(Agent(agent.id, "ada", queued["id"], 1), "AddComment", goal=1, body="hello")


async def test_writes_under_a_lease_that_went_to_another_are_refused(world: World) -> None:
    mine = await world.read(lambda tx: take_lease(tx, TICKER_LEASE, world.door.owner, 1000))
    ticker = System("ticker", mine)
    await world.do(ticker, "NoteTick", kind="Tested", facts={})
    await world.read(lambda tx: take_lease(tx, TICKER_LEASE, "another", 1000))
    with pytest.raises(Fenced, match="another"):
        await world.do(ticker, "NoteTick", kind="Tested", facts={})
    again = await world.read(lambda tx: take_lease(tx, TICKER_LEASE, world.door.owner, 1000))
    assert again > mine
    with pytest.raises(Fenced):
        await world.do(ticker, "NoteTick", kind="Tested", facts={})


async def test_who_acted_through_which_run_is_in_every_event(world: World) -> None:
    await world.a_goal()
    ada = await world.run("ada")
    await world.do(ada, "AddComment", goal=1, body="hello")
    rows = await world.read(lambda tx: tx.all("SELECT actor, run_id FROM events WHERE kind = 'CommentAdded'"))
    assert rows == [{"actor": "ada", "run_id": ada.run_id}]


async def test_the_tables_are_what_the_events_tell(world: World) -> None:
    for status in ("done", "failed", "cancelled", "waiting_human"):
        _, actor = await world.a_task(status)
        await world.operator("StopCompany")
        await world.operator("StartCompany")
    assert await world.read(lambda tx: rebuild_and_compare(tx.connection)) == []
    assert (await world.all(Company))[0].dispatching
    assert actor is not None
