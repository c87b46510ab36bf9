"""The operator's hand on runs, through the door: who may, what is refused, and what an ended run leaves."""

import contextlib
import random

import pytest

from core.domain.actors import Agent
from core.domain.entities import Remark, Run
from core.domain.errors import Conflict, Forbidden
from core.domain.states import RemarkStatus, RunKind, TaskStatus
from tests.unit.world import World

CHAT = {"kind": "chat", "url": "http://127.0.0.1:1/v1", "model": "m"}
CLAUDE = {"kind": "command", "program": "claude"}


async def at_work(world: World, runner: dict[str, object]) -> Agent:
    """The run of ada's task, on this runner."""
    task, _ = await world.a_task()
    await world.operator("EditAgent", agent="ada", runner=runner)
    ada = await world.brought_to(task.id, "working")
    assert ada is not None
    return ada


async def test_words_wait_for_a_run_and_are_taken_up_once_and_in_their_order(world: World) -> None:
    ada = await at_work(world, CHAT)
    for text in ("first", "second"):
        await world.operator("SpeakToRun", run=ada.run_id, text=text)
    heard = [(await world.system("HearRemark", run=ada.run_id)).get("text") for _ in range(3)]
    assert heard == ["first", "second", None]


async def test_only_the_operator_speaks_and_pauses(world: World) -> None:
    ada = await at_work(world, CHAT)
    for command, more in (("SpeakToRun", {"text": "x"}), ("PauseRun", {}), ("ResumeRun", {}), ("ResumeSession", {})):
        with pytest.raises(Forbidden):
            await world.do(ada, command, run=ada.run_id, **more)


async def test_too_many_words_are_refused_until_some_are_heard(world: World) -> None:
    ada = await at_work(world, CHAT)
    for number in range(20):
        await world.operator("SpeakToRun", run=ada.run_id, text=f"word {number}")
    with pytest.raises(Conflict, match="wait for R"):
        await world.operator("SpeakToRun", run=ada.run_id, text="one more")


@pytest.mark.parametrize("how", ["finish", "kill", "lose", "retire"])
async def test_a_paused_run_that_ends_is_not_paused_and_its_words_are_unheard(world: World, how: str) -> None:
    ada = await at_work(world, CHAT)
    await world.operator("PauseRun", run=ada.run_id)
    await world.operator("SpeakToRun", run=ada.run_id, text="too late")
    match how:
        case "finish":
            await world.finish(ada, "timed_out")
        case "kill":
            await world.operator("KillRun", run=ada.run_id)
        case "lose":
            await world.system("LoseRun", run=ada.run_id, why="gone")
        case _:
            await world.operator("RetireAgent", agent="ada", reason="enough")
    assert (await world.find(Run, ada.run_id)).paused_at is None
    assert [one.status for one in await world.all(Remark)] == [RemarkStatus.UNHEARD]
    assert await world.events("RemarkUnheard") == ["RemarkUnheard"]


async def test_words_that_were_taken_up_in_the_moment_of_the_end_can_be_told_as_unheard(world: World) -> None:
    ada = await at_work(world, CHAT)
    said = await world.operator("SpeakToRun", run=ada.run_id, text="now")
    await world.system("HearRemark", run=ada.run_id)
    await world.system("MissRemark", remark=said["id"])
    await world.system("MissRemark", remark=said["id"])
    assert await world.events("RemarkUnheard") == ["RemarkUnheard"]


STEPS = ("speak", "speak", "hear", "hear", "miss", "pause", "resume", "end")


@pytest.mark.parametrize("seed", range(12))
async def test_each_word_is_heard_at_most_once_and_else_told_as_unheard(world: World, seed: int) -> None:
    chance = random.Random(seed)
    ada = await at_work(world, CHAT)
    said: list[int] = []
    heard: list[int] = []
    for step in [*chance.choices(STEPS, weights=(4, 4, 3, 3, 1, 1, 1, 0.3), k=25), "end"]:
        with contextlib.suppress(Conflict):
            match step:
                case "speak":
                    said.append((await world.operator("SpeakToRun", run=ada.run_id, text="x"))["id"])
                case "hear":
                    if (taken := (await world.system("HearRemark", run=ada.run_id))["id"]) is not None:
                        heard.append(taken)
                case "miss" if heard:
                    await world.system("MissRemark", remark=heard.pop())
                case "pause" | "resume":
                    await world.operator(f"{step.title()}Run", run=ada.run_id)
                case "end":
                    await world.operator("KillRun", run=ada.run_id)
    by_status = {one.id: one.status for one in await world.all(Remark)}
    assert sorted(by_status) == said
    assert [one for one, status in by_status.items() if status == RemarkStatus.HEARD] == sorted(set(heard)) == heard
    assert RemarkStatus.WAITING not in by_status.values()


async def ended(world: World, session: str = "s-1") -> Agent:
    """A run of claude's on a task that ended without a result, and left a session."""
    ada = await at_work(world, CLAUDE)
    await world.system("RecordSession", run=ada.run_id, session=session)
    await world.system("FinishRun", run=ada.run_id, status="failed", tokens_in=50, tokens_out=5)
    return ada


async def test_a_session_goes_on_in_a_new_run_of_the_same_agent_on_the_same_task(world: World) -> None:
    ada = await ended(world)
    task = (await world.all(Run, "id = :id", id=ada.run_id))[0].task_id
    assert task is not None
    assert (await world.task(task)).status == TaskStatus.PENDING
    answer = await world.operator("ResumeSession", run=ada.run_id, remark="Use the other feed.")
    run = await world.find(Run, answer["id"])
    assert (run.kind, run.task_id, run.agent_id) == (RunKind.EXECUTE, task, ada.agent_id)
    assert run.brief == {
        "continues": f"R{ada.run_id}", "session": "s-1", "remark": "Use the other feed.", "session_used": [50, 5, 0]
    }  # fmt: skip
    assert (await world.task(task)).current_run == run.id
    again = await world.operator("ResumeSession", run=ada.run_id, remark="And quickly.")
    assert (again["id"], again["queued"]) == (run.id, False)
    await world.started(run.id)
    with pytest.raises(Conflict, match="works on T"):
        await world.operator("ResumeSession", run=ada.run_id)


@pytest.mark.parametrize(
    ("runner", "session", "why"),
    [
        (CLAUDE, "", "left no session"),
        (CHAT, "s-1", "whose sessions end with their run"),
        ({"kind": "command", "command": ["./a"]}, "s-1", "a script of your own"),
        ({"kind": "command", "program": "codex"}, "s-1", "run of command, claude; Ada works by command, codex now"),
        ({"kind": "acp", "program": "claude"}, "s-1", "which does not know its session; nothing was queued"),
    ],
)
async def test_a_session_that_cannot_go_on_is_refused_with_its_reason(
    world: World, runner: dict[str, object], session: str, why: str
) -> None:
    ada = await ended(world, session)
    await world.operator("EditAgent", agent="ada", runner=runner)
    with pytest.raises(Conflict, match=why) as refused:
        await world.operator("ResumeSession", run=ada.run_id)
    assert "Comment on T" in refused.value.hint
    assert await world.all(Run, "status = 'queued'") == []


async def test_a_session_goes_on_once_its_agent_has_its_program_back_whatever_else_was_changed(world: World) -> None:
    ada = await ended(world)
    await world.operator("EditAgent", agent="ada", runner={"kind": "command", "program": "codex"})
    with pytest.raises(Conflict, match="does not know its session"):
        await world.operator("ResumeSession", run=ada.run_id)
    await world.operator("EditAgent", agent="ada", runner={**CLAUDE, "model": "opus"})
    assert (await world.operator("ResumeSession", run=ada.run_id))["continues"] == ada.run_id


async def test_a_session_waits_for_what_its_task_waits_for(world: World) -> None:
    ada = await at_work(world, CLAUDE)
    await world.system("RecordSession", run=ada.run_id, session="s-1")
    with pytest.raises(Conflict, match="has not ended"):
        await world.operator("ResumeSession", run=ada.run_id)
    task = (await world.find(Run, ada.run_id)).task_id
    await world.do(ada, "BlockTask", task=task, block_kind="needs_input", reason="no feed")
    await world.finish(ada)
    with pytest.raises(Conflict, match="is blocked") as refused:
        await world.operator("ResumeSession", run=ada.run_id)
    assert refused.value.hint == "Unblock it first."
    await world.operator("CancelTask", task=task, reason="enough")
    with pytest.raises(Conflict, match="is cancelled"):
        await world.operator("ResumeSession", run=ada.run_id)
