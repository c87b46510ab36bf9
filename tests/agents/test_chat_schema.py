"""Agents that answer by a schema instead of calls of tools: the same board and refusals; what it cannot is said."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.domain.entities import Comment, Output
from core.domain.states import RunStatus, TaskStatus
from tests.agents.chat_support import HANDOFF, Office, an_office
from tests.models.script import Act, Asked, Refuse, Turn
from tests.models.server import ModelServer

pytestmark = pytest.mark.usefixtures("key")


def said(text: str, action: str, task: int = 1) -> Turn:
    return Turn(json.dumps({"text": text, "task_id": task, "action": action}))


def scripted(office: Office, **acts: tuple[Act, ...]) -> None:
    """By what actions are on offer a script knows in which run it speaks."""
    left = {kind: list(turns) for kind, turns in acts.items()}

    def act(asked: Asked) -> Act:
        told = json.dumps(asked.body)
        kind = "execute" if "hand_in" in told else "broadcast" if "claim" in told else "other"
        turns = left.get(kind) or [said("", "silence", 0)]
        return turns.pop(0) if len(turns) > 1 else turns[0]

    office.script.server.script = act


def schema_of(asked: Asked) -> dict[str, Any]:
    found: dict[str, Any] = asked.body["response_format"]["json_schema"]["schema"]
    return found


async def test_a_task_is_claimed_delivered_and_handed_in(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, answers="schema") as office:
            scripted(
                office,
                broadcast=(said("I write.", "claim"),),
                execute=(said("Mondays, 9 to 16.", "deliver"), said("too short", "hand_in"), said(HANDOFF, "hand_in")),
            )
            run = await office.ended("execute")
            assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "done")
            assert (await office.task()).status == TaskStatus.REVIEW
            assert [each.content for each in await office.all(Output)] == ["Mondays, 9 to 16."]
            assert HANDOFF in [each.body for each in await office.all(Comment)]
            first = server.requests[0]
            assert list(schema_of(first)["properties"]) == ["text", "task_id", "action"]
            assert schema_of(first)["properties"]["action"]["enum"] == ["claim", "observe", "silence"]
            assert "tools" not in first.body
            assert not any("tool_calls" in json.dumps(asked.body["messages"]) for asked in server.requests)
            refused = json.loads(server.requests[3].body["messages"][-1]["content"])
            assert refused["error"]["code"] in ("conflict", "invalid"), "a short handoff is refused, and it is told so"


async def test_an_observation_and_silence(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, answers="schema") as office:
            scripted(office, broadcast=(said("The door is of glass.", "observe"),))
            run = await office.ended("broadcast")
            assert run.status == RunStatus.SUCCEEDED
            assert ("observation", "The door is of glass.") in [(c.kind, c.body) for c in await office.all(Comment)]
        async with an_office(tmp_path / "other", server, answers="schema", locale="zh") as office:
            scripted(office, broadcast=(said("不是我的领域", "silence", 0),))
            run = await office.ended("broadcast")
            assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "no_reply")
            assert "由你来做" in json.dumps(server.requests[-1].body, ensure_ascii=False)


async def test_what_is_malformed_is_answered_with_the_error_and_the_schema(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, answers="schema") as office:
            scripted(office, broadcast=(Turn('{"text": "I'), said("x", "dance"), said("I write.", "claim")))
            run = await office.ended("broadcast")
            assert run.status == RunStatus.SUCCEEDED
            told = [asked.body["messages"][-1]["content"] for asked in server.requests[1:3]]
            assert "no JSON object" in told[0]
            assert "There is no action 'dance'; there are: claim" in told[1]
            assert "additionalProperties" in told[1]
        async with an_office(tmp_path / "other", server, answers="schema") as office:
            scripted(office, broadcast=(Turn("I would like to help."),))
            run = await office.ended("broadcast")
            assert (run.status, run.exit_kind) == (RunStatus.PROTOCOL_VIOLATION, "no_board_call")


async def test_a_server_without_schemas_is_told_it_in_words_and_the_transcript_says_so(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, answers="schema") as office:
            refusal = Refuse(400, "response_format of type json_schema is not supported")
            scripted(office, broadcast=(refusal, said("I write.", "claim")))
            run = await office.ended("broadcast")
            assert run.status == RunStatus.SUCCEEDED
            assert "response_format" not in server.requests[1].body
            assert "one JSON object of this schema" in json.dumps(server.requests[1].body)
            assert "the server takes no schema for answers" in await office.transcript(run)


async def test_work_that_such_answers_cannot_say_fails_with_the_reason(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, answers="schema") as office:
            scripted(
                office,
                broadcast=(said("I write.", "claim"),),
                execute=(said("Mondays, 9 to 16.", "deliver"), said(HANDOFF, "hand_in")),
            )
            run = await office.ended("review", steps=10)
            assert (run.status, run.exit_kind) == (RunStatus.FAILED, "answers")
            assert "a run of the kind review needs calls of tools" in run.detail
