"""Looking things up as an agent does: at its desk, and as a model that calls queries like any other tool."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.agents.chat.settings import ChatSettings
from core.agents.models.keys import Secret
from core.agents.runner import Desk
from core.domain.actors import Agent
from core.domain.errors import Fenced, Invalid
from core.domain.states import RunKind
from core.evals.contestants import Chat
from core.evals.playing import play
from tests.evals.model_server import KEY, Model, a_model_server, calling, saying
from tests.evals.world import FIRST, HIRE, written
from tests.unit.world import World


@pytest.fixture
async def model() -> AsyncIterator[Model]:
    async with a_model_server() as served:
        yield served


async def test_a_model_reads_and_is_told_what_is_wrong_with_its_query(tmp_path: Path, model: Model) -> None:
    asked = (("ReadStaff", {"role": "ceo"}), ("ListGoals", {"colour": "red"}), ("ReadGoal", {"goal": 99}))
    model.replies(calling(*asked), calling(("ProposeHire", HIRE)), saying("Done."))
    place = tmp_path / "board"
    place.mkdir()
    found = await play(written(tmp_path, FIRST), Chat(ChatSettings(model.url, "scripted", Secret(KEY))), 1, place)
    staff, unknown, missing = (
        json.loads(each["content"]) for each in model.requests[1]["messages"] if each["role"] == "tool"
    )
    assert [one["role"] for one in staff["staff"]] == ["ceo"]
    assert unknown["error"]["code"] == "invalid"
    assert "status" in unknown["error"]["hint"]
    assert missing["error"]["code"] == "not_found"
    # Who looks does nothing: only what changes the board counts as a call.
    assert [call.command for call in found.calls] == ["ProposeHire"]
    assert found.passed


def desk_of(world: World, actor: Agent, told: list[tuple[str, dict[str, Any]]]) -> Desk:
    async def no_process(_pid: int, _started: int) -> None:
        raise AssertionError("no process is started here")

    return Desk(actor, world.door, world.board.readers, lambda kind, facts: told.append((kind, facts)), no_process)


async def test_the_transcript_tells_what_was_read_and_not_its_text(world: World) -> None:
    goal = await world.a_goal(description="a very long story")
    told: list[tuple[str, dict[str, Any]]] = []
    desk = desk_of(world, await world.run("cora", RunKind.MENTION, goal_id=goal.id), told)
    assert (await desk.read("ReadGoal", goal=goal.id))["description"] == "a very long story"
    with pytest.raises(Invalid):
        await desk.read("ReadGoal", goal=goal.id, words="all")
    assert told == [("read", {"query": "ReadGoal", "arguments": {"goal": goal.id}})]


async def test_a_desk_reads_nothing_after_the_run(world: World) -> None:
    actor = await world.run("cora", RunKind.MENTION)
    desk = desk_of(world, actor, [])
    await desk.read("ListGoals")
    await world.finish(actor)
    with pytest.raises(Fenced):
        await desk.read("ListGoals")
