"""A model plays: the protocol as a scripted server on loopback speaks it, and all scenarios over it."""

import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.agents.chat.settings import ChatSettings, from_environment
from core.agents.models.keys import Secret
from core.agents.models.waiting import Retrying
from core.agents.runner import Runner
from core.domain.ceo_mode import CeoMode
from core.domain.errors import Invalid
from core.domain.states import Role, RunKind
from core.evals.baseline import read_baseline, write_baseline
from core.evals.contestants import Chat, read_replies
from core.evals.evaluation import evaluate
from core.evals.names import filled
from core.evals.playing import Answers, Played, play
from core.evals.scenario import Scenario
from core.prompting.templates import ceo_text, shipped_library
from core.reading.offered import tools
from tests.evals.model_server import KEY, Model, a_model_server, calling, saying
from tests.evals.world import FIRST, GOOD, HIRE, STATES, all_shipped, shipped, written
from tests.models.script import Act, Raw, Refuse

JSON = "application/json"
AT_ONCE = Retrying(tries=0)  # what fails, fails the first time


@pytest.fixture
async def model() -> AsyncIterator[Model]:
    """A model that says nothing until it is told what."""
    async with a_model_server() as served:
        yield served


def settings(model: Model, **more: Any) -> ChatSettings:
    return ChatSettings(model.url, "scripted", Secret(KEY), **more)


async def played(folder: Path, model: Model, scenario: Scenario | None = None, **more: Any) -> Played:
    """A scenario that expects a hire, unless another is named."""
    place = folder / "board"
    place.mkdir()
    return await play(scenario or written(folder, FIRST), Chat(settings(model, **more), AT_ONCE), 1, place)


class Prompted(Chat):
    """The server is told what a good model answers in the scenario that begins."""

    def __init__(self, model: Model) -> None:
        super().__init__(settings(model))
        self._model_server = model
        self._replies = read_replies(GOOD)._replies

    def runner(self, scenario: Scenario, repetition: int, answers: Answers) -> Runner:
        calls = [calling((each.call, filled(each.with_, answers))) for each in self._replies[scenario.name]]
        self._model_server.replies(*calls, saying("That is all." if calls else "NO_REPLY"))
        return super().runner(scenario, repetition, answers)


async def test_a_good_model_passes_in_every_kind_of_run(tmp_path: Path, model: Model) -> None:
    # One scenario each: that its tools hold what good replies call is looked at for all, without a server.
    kinds = {(each.group, each.begin.run): each for each in all_shipped().values() if not each.begin.never}
    report = await evaluate(list(kinds.values()), Prompted(model), tmp_path, boards=STATES)
    assert len(kinds) >= 12
    assert {result.name: result.why for result in report.results if not result.ok} == {}
    told = report.as_json()
    assert (told["runner"], told["model"]) == ("chat", "scripted")
    assert (told["tokens_in"], told["tokens_out"]) == (100 * len(model.requests), 10 * len(model.requests))


async def test_what_a_model_is_told(tmp_path: Path, model: Model) -> None:
    await played(tmp_path, model, shipped("awaiting-hire-question"))
    asked = model.requests[0]
    assert asked["model"] == "scripted"
    system, user = (message["content"] for message in asked["messages"])
    assert ceo_text(shipped_library(), CeoMode.AWAITING_HIRE, "en")[0].text in system
    assert "The operator called you." in user
    assert "Know every folder of the archive" in user
    assert "@vera what could Cora do" in user
    assert "hire:cora" in user
    assert "**Goal G1**" in user


def test_tools_are_what_a_run_is_offered() -> None:
    told = {kind: tools(Role.CEO, kind) for kind in (RunKind.PROPOSE, RunKind.MENTION)}
    for functions in told.values():
        named = {tool["function"]["name"] for tool in functions}
        assert {"ProposeHire", "CreateGoal", "AddComment", "ReadStaff"} <= named
        assert not {"DispatchGoal", "HireAgent", "DecideApproval", "FinishRun", "ReviewRound"} & named
    tool = next(tool for tool in told[RunKind.PROPOSE] if tool["function"]["name"] == "ProposeHire")
    assert set(HIRE) <= set(tool["function"]["parameters"]["properties"])


async def answers_to(folder: Path, model: Model, *calls: tuple[str, Any]) -> tuple[Played, list[Any]]:
    """What the model is answered to its calls, before it makes the good one."""
    model.replies(calling(*calls), calling(("ProposeHire", HIRE)), saying("Done."))
    found = await played(folder, model)
    answered = [json.loads(each["content"]) for each in model.requests[1]["messages"] if each["role"] == "tool"]
    return found, answered


@pytest.mark.parametrize("arguments", ["{", "[]", "3", '{"slug": "x"} {', "[" * 100_000])
async def test_arguments_that_are_no_object_are_answered_as_an_error(
    tmp_path: Path, model: Model, arguments: str
) -> None:
    found, answered = await answers_to(tmp_path, model, ("ProposeHire", arguments))
    assert answered[0]["error"]["code"] == "invalid"
    assert "cannot be used" in answered[0]["error"]["message"]
    assert set(HIRE) <= set(answered[0]["error"]["schema"]["properties"])
    assert [call.command for call in found.calls] == ["ProposeHire"]
    assert found.passed


async def test_half_a_character_ends_neither_the_talk_nor_the_baseline(tmp_path: Path, model: Model) -> None:
    half = calling(("AddComment", {"goal": 1, "body": "x\ud800"}), text="\ud800")
    model.replies(half, calling(("ProposeHire", HIRE)), saying("Done."))
    report = await evaluate([written(tmp_path, FIRST)], Chat(settings(model)), tmp_path)
    assert report.ok
    path = tmp_path / "before.json"
    write_baseline(path, report)
    assert [call.command for call in read_baseline(path).scenarios[0].runs[0].calls] == ["AddComment", "ProposeHire"]


async def test_what_the_board_refuses_is_answered_with_its_hint(tmp_path: Path, model: Model) -> None:
    draft = {"title": "Maps", "split": True}
    found, answered = await answers_to(
        tmp_path, model, ("CreateGoal", draft), ("Dance", {}), ("DispatchGoal", {"goal": 1})
    )
    assert [each["error"]["code"] for each in answered] == ["invalid", "invalid", "forbidden"]
    assert answered[0]["error"]["hint"] == "Send split: false (S1-11)."
    assert [(call.command, bool(call.refused)) for call in found.calls] == [
        ("CreateGoal", True), ("Dance", True), ("DispatchGoal", True), ("ProposeHire", False),
    ]  # fmt: skip
    assert found.passed


async def test_the_answer_to_a_call_is_that_of_the_board(tmp_path: Path, model: Model) -> None:
    _, answered = await answers_to(tmp_path, model, ("ProposeHire", {**HIRE, "slug": "rita", "name": "Rita"}))
    assert answered[0]["id"] == 1
    assert answered[0]["lacking"] == []


async def test_turns_and_calls_are_bounded(tmp_path: Path, model: Model) -> None:
    model.replies(*(calling((name, {})) for name in ("Dance", "Sing", "Jump")))
    found = await played(tmp_path, model, turns=3)
    assert 'the run failed: it was not done after 3 turns ("turns" of its runner)' in found.why
    assert len(model.requests) == 3
    assert (found.tokens_in, found.tokens_out) == (300, 30)


async def test_the_end_of_a_single_turn_is_told_of_one(tmp_path: Path, model: Model) -> None:
    model.replies(calling(("Dance", {})))
    found = await played(tmp_path, model, turns=1)
    assert 'the run failed: it was not done after 1 turn ("turns" of its runner)' in found.why


async def test_too_many_calls_in_a_turn_end_the_run(tmp_path: Path, model: Model) -> None:
    model.replies(calling(("ProposeHire", HIRE), ("Dance", {})))
    found = await played(tmp_path, model, calls_a_turn=1)
    assert found.calls == ()
    assert "the run protocol_violation: 2 calls in one turn; 1 is the bound" in found.why


@pytest.mark.parametrize(
    ("response", "status", "detail"),
    [
        (Refuse(500, body=b"gone"), "failed", "answered 500: gone"),
        (Refuse(429, headers={"Retry-After": "7"}, body=b'{"error": "slow"}'), "rate_limited", "answered 429: slow"),
        (Raw(b"hello", "text/plain"), "failed", "is no stream of events"),
        (Raw(b"[]", JSON), "failed", "is no"),
        (Raw(b'{"choices": []}', JSON), "failed", "holds no choice"),
        (Raw(b'{"choices": [{"message": "hi"}]}', JSON), "failed", "holds no choice"),
        (Raw(b'{"choices": [{"message": {"tool_calls": {"a": 1}}}]}', JSON), "failed", "holds no choice"),
        (Raw(b'{"choices": [{"message": {"tool_calls": [3]}}]}', JSON), "failed", "holds no choice"),
    ],
)
async def test_a_server_that_does_not_keep_the_protocol_ends_the_run(
    tmp_path: Path, model: Model, response: Act, status: str, detail: str
) -> None:
    model.replies(response)
    found = await played(tmp_path, model)
    assert found.ended == status
    assert any(why.startswith(f"the run {status}: ") and detail in why for why in found.why)


async def test_a_server_that_is_not_there_ends_the_run(tmp_path: Path) -> None:
    place = tmp_path / "board"
    place.mkdir()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        nobody = Chat(ChatSettings(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", "scripted"), AT_ONCE)
        found = await play(written(tmp_path, FIRST), nobody, 1, place)
    assert any(why.startswith("the run failed: The model server does not answer (ConnectError).") for why in found.why)


def test_settings_come_from_the_environment_and_the_key_is_never_shown() -> None:
    environment = {"OPSROOM_CHAT_URL": "http://h/v1/ ", "OPSROOM_CHAT_MODEL": "m", "OPSROOM_CHAT_KEY": " k3y "}
    found = from_environment(environment)
    assert (found.url, found.model, found.key) == ("http://h/v1", "m", Secret("k3y"))
    assert "k3y" not in repr(found)
    assert from_environment({**environment, "OPSROOM_CHAT_KEY": ""}).key is None
    for name in ("OPSROOM_CHAT_URL", "OPSROOM_CHAT_MODEL"):
        with pytest.raises(Invalid, match=name):
            from_environment({**environment, name: ""})
    for key in ("kéy", "k\ney"):
        with pytest.raises(Invalid, match="OPSROOM_CHAT_KEY") as told:
            from_environment({**environment, "OPSROOM_CHAT_KEY": key})
        assert key not in str(told.value)
