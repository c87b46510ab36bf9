"""The operator's hand on a chat agent's run: words into it are heard once or told as unheard; it pauses and goes on."""

import asyncio
import contextlib
import random
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.domain.entities import Remark, Run
from core.domain.errors import Conflict
from core.domain.states import RunKind, RunStatus, TaskStatus
from tests.agents.chat_support import CLAIM, STARTED, WORK, Office, an_office, call
from tests.models.script import Act, Asked, Refuse, Turn
from tests.models.server import ModelServer
from tests.models.world import Wire
from tests.stepped import PATIENCE_S

pytestmark = pytest.mark.usefixtures("key")
WORDS = "Leave the Mondays out.\n[b]not markup[/]"


class Held:
    """A run at work whose model waits with an answer until it is let."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.asked: list[Asked] = []
        self._reached = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._gate = threading.Event()
        office.script.hear = self._hear

    def _hear(self, kind: str, asked: Asked) -> None:
        if kind != "execute":
            return
        self.asked.append(asked)
        self._loop.call_soon_threadsafe(self._reached.set)
        assert self._gate.wait(PATIENCE_S)

    async def begun(self) -> Run:
        """The run, once its model is asked for the first time."""
        while not self._reached.is_set():
            await self.office.begin()
            await asyncio.sleep(0.01)
        return await self.office.run(RunKind.EXECUTE)

    def let(self) -> None:
        """The model answers, now and from now on."""
        self._gate.set()


@asynccontextmanager
async def held(
    folder: Path, *acts: Act, wire: Wire = "openai", **settings: int
) -> AsyncIterator[tuple[Held, Run]]:  # fmt: skip
    """A run at work on the task, whose model does these things and is about to answer the first time."""
    with ModelServer() as server:
        async with an_office(folder / "company", server, wire, **settings) as office, asyncio.timeout(PATIENCE_S):
            office.script.set(broadcast=CLAIM if not settings else (CLAIM[0],), execute=acts)
            await office.ended("broadcast")
            run = Held(office)
            try:
                yield run, await run.begun()
            finally:
                run.let()


async def test_words_into_a_run_reach_its_model_once_before_its_next_turn(tmp_path: Path, wire: Wire) -> None:
    async with held(tmp_path, *WORK, wire=wire) as (model, run):
        said = await model.office.do("SpeakToRun", run=run.id, text=WORDS)
        assert said["status"] == "waiting"
        model.let()
        await model.office.idle()
        remark = (await model.office.all(Remark))[0]
        assert (remark.status, remark.author, remark.body) == ("heard", "human", WORDS)
        tellings = [str(asked.body).count("Leave the Mondays out.") for asked in model.asked]
        assert tellings == [0, *[1] * (len(tellings) - 1)]
        assert len(tellings) == len(WORK)
        assert "The operator says to you" in model.asked[1].said
        told = await model.office.transcript(run)
        assert told.count('"kind": "remark"') == 1
        assert told.count('"kind": "heard"') == 1


async def test_an_answer_to_the_operator_in_words_is_no_debt(tmp_path: Path) -> None:
    async with held(tmp_path, STARTED, Turn("Mondays are out."), *WORK[1:]) as (model, run):
        await model.office.do("SpeakToRun", run=run.id, text=WORDS)
        model.let()
        await model.office.idle()
        assert (await model.office.run(RunKind.EXECUTE)).status == RunStatus.SUCCEEDED
        assert "(1 of 2)" not in await model.office.transcript(run)


async def test_words_to_a_model_that_has_just_ended_make_it_go_on(tmp_path: Path) -> None:
    async with held(tmp_path, Turn("NO_REPLY"), *WORK) as (model, run):
        await model.office.do("SpeakToRun", run=run.id, text=WORDS)
        model.let()
        await model.office.idle()
        assert (await model.office.run(RunKind.EXECUTE)).status == RunStatus.SUCCEEDED
        assert len(model.asked) == 1 + len(WORK)


@pytest.mark.parametrize("paused", [False, True])
async def test_words_that_nobody_heard_before_the_run_was_killed_are_told_so(tmp_path: Path, paused: bool) -> None:
    async with held(tmp_path, *WORK) as (model, run):
        if paused:
            await model.office.do("PauseRun", run=run.id)
        for number in range(2):
            await model.office.do("SpeakToRun", run=run.id, text=f"Word {number}")
        await model.office.do("KillRun", run=run.id)
        await model.office.idle()
        assert [remark.status for remark in await model.office.all(Remark)] == ["unheard", "unheard"]
        assert (await model.office.transcript(run)).count('"kind": "unheard"') == 2
        ended = await model.office.run(RunKind.EXECUTE)
        assert (ended.status, ended.paused_at) == (RunStatus.KILLED, None)
        for command, more in (("SpeakToRun", {"text": "Late"}), ("PauseRun", {}), ("ResumeRun", {})):
            with pytest.raises(Conflict):
                await model.office.do(command, run=run.id, **more)


async def test_a_paused_run_asks_its_model_nothing_until_it_is_resumed(tmp_path: Path) -> None:
    async with held(tmp_path, *WORK) as (model, run):
        await model.office.do("PauseRun", run=run.id)
        with pytest.raises(Conflict, match="paused already"):
            await model.office.do("PauseRun", run=run.id)
        model.let()
        while (await model.office.task()).status != TaskStatus.WORKING:
            await model.office.begin()
            await asyncio.sleep(0.01)
        for _ in range(3):
            await model.office.begin()
            await asyncio.sleep(0.02)
        assert len(model.asked) == 1
        now = await model.office.run(RunKind.EXECUTE)
        assert (now.status, now.paused_at is not None) == (RunStatus.RUNNING, True)
        await model.office.do("ResumeRun", run=run.id)
        await model.office.idle()
        ended = await model.office.run(RunKind.EXECUTE)
        assert (ended.status, ended.paused_at) == (RunStatus.SUCCEEDED, None)
        told = await model.office.transcript(run)
        assert told.index('"kind": "paused"') < told.index('"kind": "resumed"') < told.index("SubmitTask")


async def test_who_cannot_hear_is_named_with_what_to_do_instead(tmp_path: Path) -> None:
    async with held(tmp_path, call("StartTask", task=1)) as (model, run):
        await model.office.do("EditAgent", agent="ada", runner={"kind": "command", "command": ["./a"]})
        for command, more in (("SpeakToRun", {"text": "Hello"}), ("PauseRun", {})):
            with pytest.raises(Conflict, match="can neither hear nor pause") as refused:
                await model.office.do(command, run=run.id, **more)
            assert "Comment on T1" in refused.value.hint
        await model.office.do("KillRun", run=run.id)


@pytest.mark.parametrize("seed", range(4))
async def test_whenever_words_are_said_each_reaches_the_model_once_or_is_told_as_unheard(
    tmp_path: Path, seed: int
) -> None:
    chance, loop = random.Random(seed), asyncio.get_running_loop()
    ends_at = chance.randrange(1, 6)
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server) as office, asyncio.timeout(PATIENCE_S):
            office.script.set(broadcast=CLAIM, execute=(STARTED, Turn("I think."), *WORK[1:]))
            asked: list[str] = []

            async def meddle(run: int, turn: int) -> None:
                for number in range(chance.randrange(3)):
                    with contextlib.suppress(Conflict):
                        await office.do("SpeakToRun", run=run, text=f"word {turn}.{number};")
                if turn == ends_at:
                    await office.do("KillRun", run=run)

            def hear(kind: str, request: Asked) -> None:
                if kind == "execute":
                    asked.append(str(request.body))
                    run = office.run(RunKind.EXECUTE)
                    number = asyncio.run_coroutine_threadsafe(run, loop).result(PATIENCE_S).id
                    asyncio.run_coroutine_threadsafe(meddle(number, len(asked)), loop).result(PATIENCE_S)

            await office.ended("broadcast")
            office.script.hear = hear
            run = await office.ended(RunKind.EXECUTE)
            told = await office.transcript(run)
            remarks = await office.all(Remark)
            for remark in remarks:
                assert all(body.count(remark.body) <= 1 for body in asked)
                reached = any(remark.body in body for body in asked)
                assert remark.status in ("heard", "unheard")
                # Taken up before a request that a kill then forestalled: heard by the run, which ended by that kill.
                assert reached or remark.status == "unheard" or run.status == RunStatus.KILLED
                assert not (reached and remark.status == "unheard")
                assert told.count(f'"kind": "{remark.status}", "remark": {remark.id}') == 1


@pytest.mark.parametrize("how", ["turns", "refused"])
async def test_words_that_no_request_took_to_the_model_are_told_as_unheard(tmp_path: Path, how: str) -> None:
    turns = {"turns": 1} if how == "turns" else {}
    acts = (Turn("I think."),) if how == "turns" else (STARTED, Refuse(400, "no such thing"))
    async with held(tmp_path, *acts, **turns) as (model, run):
        await model.office.do("SpeakToRun", run=run.id, text=WORDS)
        model.let()
        await model.office.idle()
        assert (await model.office.run(RunKind.EXECUTE)).status == RunStatus.FAILED
        assert [remark.status for remark in await model.office.all(Remark)] == ["unheard"]


async def test_a_paused_run_takes_up_no_words_before_it_is_resumed(tmp_path: Path) -> None:
    async with held(tmp_path, Turn("I think."), *WORK) as (model, run):
        await model.office.do("PauseRun", run=run.id)
        await model.office.do("SpeakToRun", run=run.id, text=WORDS)
        model.let()
        while "I think." not in await model.office.transcript(run):  # noqa: ASYNC110 - the model server
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert [remark.status for remark in await model.office.all(Remark)] == ["waiting"]
        await model.office.do("ResumeRun", run=run.id)
        await model.office.idle()
        assert [remark.status for remark in await model.office.all(Remark)] == ["heard"]
        assert "Leave the Mondays out." in str(model.asked[1].body)
