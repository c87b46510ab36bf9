"""Chat agents at work through the dispatcher, on a real HTTP server that plays the model."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from core.domain.entities import Comment, Run
from core.domain.errors import Invalid
from core.domain.states import RunStatus, TaskStatus
from tests.agents.chat_support import CLAIM, HANDOFF, KEY, OUTPUT, STARTED, VARIABLE, VERDICT, WORK, an_office, call
from tests.models.script import Call, Refuse, Tokens, Turn
from tests.models.server import ModelServer
from tests.models.world import Wire

pytestmark = pytest.mark.usefixtures("key")


async def test_a_task_is_claimed_done_and_reviewed(tmp_path: Path, wire: Wire) -> None:
    with ModelServer(key=KEY) as server:
        async with an_office(tmp_path / "company", server, wire) as office:
            reviewed = (call("ReadOutput", output=1), call("ReviewTask", **VERDICT), Turn("Approved."))
            office.script.set(broadcast=CLAIM, execute=WORK, review=reviewed)
            await office.ended("review")
            runs = [run for run in await office.all(Run) if run.tokens_in]
            assert [(str(run.kind), str(run.status), run.exit_kind, run.model) for run in runs] == [
                ("broadcast", "succeeded", "done", "scripted"),
                ("execute", "succeeded", "done", "scripted"),
                ("review", "succeeded", "done", "scripted"),
            ]
            assert [(run.tokens_in, run.tokens_out) for run in runs] == [(200, 20), (400, 40), (300, 30)]
            assert (await office.task()).status == TaskStatus.DONE
            comments = [comment.body for comment in await office.all(Comment)]
            assert HANDOFF in comments
            prompts = json.loads(office.company.prompt_path(runs[1].id).read_text())
            told = json.dumps(office.script.asked("SubmitTask")[0].body)
            assert json.dumps(prompts["layers"][0]["text"])[1:-1] in told
            assert server.connections <= 1 + len([run for run in await office.all(Run) if run.tokens_in])


async def test_what_stays_from_turn_to_turn_is_sent_again_as_it_was_and_marked_for_the_cache(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, "anthropic") as office:
            office.script.set(broadcast=CLAIM, execute=WORK)
            await office.ended("execute")
            turns = [asked.body for asked in office.script.asked("SubmitTask")]
    assert len(turns) == len(WORK)
    for body in turns:
        assert [block["cache_control"] for block in body["system"]] == [{"type": "ephemeral"}]
        assert (body["system"], body["tools"]) == (turns[0]["system"], turns[0]["tools"])
    ends = [body["messages"][-1]["content"][-1].pop("cache_control", None) for body in turns]
    assert ends == [None, *[{"type": "ephemeral"}] * (len(WORK) - 1)]
    for before, after in pairwise(turns):
        assert after["messages"][: len(before["messages"])] == before["messages"]


async def test_parallel_calls_are_carried_out_in_their_order(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server) as office:
            handoff = {"task": 1, "kind": "handoff", "body": HANDOFF}
            all_at_once = (
                Call("StartTask", {"task": 1}), Call("AddOutput", OUTPUT), Call("AddComment", handoff),
                Call("SubmitTask", {"task": 1}),
            )  # fmt: skip
            office.script.set(broadcast=CLAIM, execute=(Turn(calls=all_at_once), Turn("Done.")))
            run = await office.ended("execute")
            assert run.status == RunStatus.SUCCEEDED
            assert (await office.task()).status == TaskStatus.REVIEW
            results = [json.loads(each) for each in office.script.asked("SubmitTask")[1].results]
            assert [result.get("status") for result in results][-1] == "review"
            assert len(results) == 4


async def test_what_is_no_json_is_answered_with_the_schema(tmp_path: Path, wire: Wire) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, wire) as office:
            office.script.set(broadcast=(Turn(calls=(Call("ClaimTask", '{"task": '),)), *CLAIM))
            run = await office.ended("broadcast")
            assert run.status == RunStatus.SUCCEEDED
            error = json.loads(office.script.asked("ClaimTask")[1].results[0])["error"]
            assert error["code"] == "invalid"
            assert "task" in error["schema"]["properties"]
            assert (await office.task()).status == TaskStatus.CLAIMED
            assert '"kind": "refused", "command": "ClaimTask"' in await office.transcript(run)


async def test_silence_is_a_success(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server) as office:
            office.script.set(broadcast=(Turn("Not my domain.\n\n`NO_REPLY`"),))
            run = await office.ended("broadcast")
            assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "no_reply")
            assert len(server.requests) == 1


async def test_words_without_the_call_are_nudged_twice_and_then_violate_the_protocol(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server) as office:
            office.script.set(
                broadcast=CLAIM,
                execute=(
                    STARTED,
                    Turn("It is done, trust me. NO_REPLY"),
                ),
            )
            run = await office.ended("execute")
            assert (run.status, run.exit_kind) == (RunStatus.PROTOCOL_VIOLATION, "no_board_call")
            assert "trust me" in run.detail
            asked = office.script.asked("SubmitTask")
            assert len(asked) == 4
            assert "SubmitTask, FailTask" not in asked[1].said
            assert all("SubmitTask" in each.said and "NO_REPLY" not in each.said for each in asked[2:])
            task = await office.task()
            assert (task.status, task.attempts) == (TaskStatus.PENDING, 1)
            assert "reminded (2 of 2)" in await office.transcript(run)


async def test_one_nudge_is_enough_for_who_then_does_it(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, locale="zh") as office:
            office.script.set(broadcast=(Turn("我来做。"), *CLAIM))
            run = await office.ended("broadcast")
            assert run.status == RunStatus.SUCCEEDED
            assert "看板" in office.script.asked("ClaimTask")[1].said


STUCK = {
    "the same action": (call("ReadTask", task=1),),
    "the same error": (
        call("SubmitTask", task=1), Turn(calls=(Call("SubmitTask", {"task": 1}),) * 3), call("SubmitTask", task=1)
    ),
    "two actions by turns": (call("ReadTask", task=1), call("ReadGoal", goal=1)) * 3,
}  # fmt: skip


@pytest.mark.parametrize("how", STUCK)
async def test_a_run_that_goes_in_circles_is_stuck_and_its_task_waits_for_others(tmp_path: Path, how: str) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server) as office:
            office.script.set(broadcast=CLAIM, execute=(STARTED, *STUCK[how]))
            run = await office.ended("execute")
            assert (run.status, run.exit_kind) == (RunStatus.FAILED, "stuck")
            assert how in run.detail
            # SubmitTask three times in one answer is one error: the model had not read the first answer yet.
            turns = {"the same action": 5, "the same error": 4, "two actions by turns": 7}
            assert len(office.script.asked("SubmitTask")) == turns[how]
            task = await office.task()
            assert task.status == TaskStatus.BLOCKED
            assert how in task.reason
            # Nothing else moves: after ten minutes its coordinator is called.
            office.clock.advance(600_000)
            await office.ended("stall")


async def test_turns_tokens_and_money_are_limited(tmp_path: Path) -> None:
    many = tuple(call("ReadOutput", output=number) for number in range(1, 9))
    for limit, kind in (({"turns": 3}, "turns"), ({"tokens": 330}, "tokens"), ({"cost_micros": 5}, "cost")):
        with ModelServer() as server:
            async with an_office(tmp_path / kind, server, **limit) as office:
                office.script.set(broadcast=many)
                run = await office.ended("broadcast")
                assert (run.status, run.exit_kind) == (RunStatus.FAILED, kind), run.detail
                # A limit on money cannot be kept while nobody knows the price.
                assert len(server.requests) == (1 if kind == "cost" else 3)


async def test_a_context_that_is_too_small_is_tried_once_more_with_less(tmp_path: Path, wire: Wire) -> None:
    long = Refuse(400, "This model's maximum context length is 4096 tokens", "context_length_exceeded")
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, wire) as office:
            await office.do("AddComment", goal=1, body="The door is of oak. " * 200)
            read = call("ListComments", goal=1)
            office.script.set(broadcast=(read, long, *CLAIM))
            run = await office.ended("broadcast")
            assert run.status == RunStatus.SUCCEEDED
            sent = [len(json.dumps(asked.body)) for asked in office.script.asked("ClaimTask")]
            assert sent[2] < sent[1] - 1000
            bounds = [asked.body["max_tokens"] for asked in office.script.asked("ClaimTask")]
            assert bounds[:3] == [4096, 4096, 1024]
            assert "sent again, shorter" in await office.transcript(run)
        async with an_office(tmp_path / "other", server, wire) as office:
            office.script.set(broadcast=(long,))
            run = await office.ended("broadcast")
            assert (run.status, run.exit_kind) == (RunStatus.FAILED, "context")


ENDS = {"filter": "filter", "refusal": "refusal", "length": "length"}


@pytest.mark.parametrize("finish", ENDS)
async def test_answers_of_which_nothing_can_be_made_end_the_run_with_a_reason(
    tmp_path: Path, wire: Wire, finish: str
) -> None:  # fmt: skip
    if (finish, wire) == ("filter", "anthropic"):
        pytest.skip("these servers have no word for it")
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, wire) as office:
            office.script.set(broadcast=(Turn("I would rather", finish=finish),))
            run = await office.ended("broadcast")
            assert (run.status, run.exit_kind) == (RunStatus.FAILED, ENDS[finish])
            assert len(server.requests) == (3 if finish == "length" else 1)


async def test_what_is_said_is_told_in_lines_and_thoughts_only_as_they_begin(tmp_path: Path) -> None:
    said, thought = "word " * 400, "deep " * 400
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server) as office:
            office.script.set(broadcast=(Turn(said, thought=thought, size=4, usage=Tokens(out=800)), Turn("NO_REPLY")))
            run = await office.ended("broadcast")
            lines = [json.loads(line) for line in (await office.transcript(run)).splitlines()]
            texts = [line["text"] for line in lines if line["kind"] == "text"]
            assert " ".join(texts).split() == [*said.split(), "NO_REPLY"]
            assert len(texts) < 20
            thoughts = [line["text"] for line in lines if line["kind"] == "thought"]
            assert len(thoughts) == 1
            assert len(thoughts[0]) < 210


async def test_settings_that_are_wrong_say_what_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, colour="red") as office:
            run = await office.ended("broadcast")
            assert run.status == RunStatus.FAILED
            assert "colour" in run.detail
            with pytest.raises(Invalid) as told:
                await office.do("EditAgent", slug="ada", runner={"kind": "chat", "key": KEY})
            assert KEY not in str(told.value)
        monkeypatch.delenv(VARIABLE)
        async with an_office(tmp_path / "other", server) as office:
            run = await office.ended("broadcast")
            assert f"The environment variable {VARIABLE} holds no key." in run.detail
        assert server.requests == []
