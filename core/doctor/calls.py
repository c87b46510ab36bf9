"""One real call to what an agent runs on: "answer with OK". Bounded in time and tokens; the board is not touched."""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.agents.access import Access
from core.agents.chat.settings import from_runner
from core.agents.models.client import ModelClient
from core.agents.models.conversation import Answer, FinishReason, ModelRequest, User
from core.agents.models.endpoint import Limits
from core.agents.models.errors import Failure, ModelError
from core.agents.models.keys import scrub
from core.agents.models.prices import Price, cost_micros
from core.agents.models.waiting import Retrying
from core.agents.programs.catalogue import Start, program_of
from core.agents.programs.environment import environment_of
from core.agents.programs.pieces import Finished, Parser, Piece, Said, Scope, Used
from core.agents.programs.scripts import without_controls
from core.agents.programs.settings import CommandSettings, place_of, settings_of
from core.agents.programs.started import End, Program, Skipped
from core.doctor.needs import why_not_tried
from core.domain.budgets import money
from core.domain.errors import OpsroomError

PROMPT = "This only tries the line. Use no tool and change nothing. Answer with OK."
CALL_S = 120.0
_TOKENS = 512  # a model that thinks first needs some
_SHOWN = 200
_NOBODY = "http://127.0.0.1:9"  # the board's tools are not needed for one answer: nobody listens there


@dataclass(frozen=True, slots=True)
class Called:
    """How one call went. `cost_micros` None is unknown; so are tokens that nobody told. `words` are its own, or why.

    Without `tried` none was made.
    """

    agent: str
    ok: bool
    words: str
    seconds: float = 0.0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_micros: int | None = None
    costs_nothing: bool = False
    tried: bool = True

    @property
    def cost_words(self) -> str:
        """For people: what is unknown is said to be so, never shown as nothing."""
        if self.costs_nothing:
            return "it costs nothing"
        tokens = "tokens unknown" if self.tokens_in is None else f"{self.tokens_in} tokens in, {self.tokens_out} out"
        cost = "cost unknown" if self.cost_micros is None else money(self.cost_micros)
        return f"{tokens}, {cost}, {self.seconds:.1f} s"


async def call(
    agent: str, runner: Mapping[str, Any], folder: Path, prices: Mapping[str, Price], *,
    ours: Mapping[str, str] = os.environ, seconds: float = CALL_S, clock: Callable[[], float] = time.monotonic,
) -> Called:  # fmt: skip
    """Try it. `folder` is the company's; `prices` the operator's table. Never raises but when it is cancelled."""
    began = clock()
    if why := why_not_tried(runner):
        return Called(agent, False, why, costs_nothing=True, tried=False)
    try:
        match runner.get("kind"):
            case "chat":
                return await _chat(agent, runner, prices, ours, seconds, clock)
            case "command":
                return await _program(agent, runner, folder, ours, seconds, clock)
            case "acp":
                return await _acp(agent, runner, folder, ours, seconds, clock)
            case "rehearsal":
                return Called(agent, True, "a rehearsal: it asks no model", costs_nothing=True)
            case kind:
                return Called(agent, False, f"what is of the kind {str(kind)[:40]!r} cannot be tried by one call",
                              costs_nothing=True)  # fmt: skip
    except OpsroomError as error:
        return Called(agent, False, f"{error.message} {error.hint}".strip(), clock() - began, costs_nothing=True)


# Chat -----------------------------------------------------------------------------------------------------------------


async def _chat(
    agent: str, runner: Mapping[str, Any], prices: Mapping[str, Price], ours: Mapping[str, str], seconds: float,
    clock: Callable[[], float],
) -> Called:  # fmt: skip
    settings = await from_runner(runner, ours)
    # One try: what is wrong is to be told, not waited for.
    client = ModelClient(
        settings.endpoint, limits=Limits(first_s=seconds, silence_s=seconds, whole_s=seconds),
        retrying=Retrying(tries=0, patience_s=0, loading_s=0),
    )  # fmt: skip
    began = clock()
    usage, problem, said = None, "", ""
    try:
        answer = await client.complete(ModelRequest((User(PROMPT),), max_tokens=min(_TOKENS, settings.answer_tokens)))
        usage, said, problem = answer.usage, answer.text.strip(), _trouble(answer)
    except ModelError as error:
        usage, problem = error.usage, _plain(error)
    finally:
        await client.close()
    took = clock() - began
    cost = await asyncio.to_thread(
        cost_micros, usage, settings.model, settings.url, time.time_ns() // 1_000_000, prices
    )  # fmt: skip
    secrets = (settings.key,) if settings.key else ()
    words = scrub(problem or said, secrets)[:_SHOWN]
    tokens_in, tokens_out = (None, None) if usage is None else (usage.tokens_in, usage.tokens_out)
    return Called(agent, not problem, words, took, tokens_in, tokens_out, cost)


def _trouble(answer: Answer) -> str:
    if answer.text.strip():
        return ""
    if answer.finish.reason is FinishReason.LENGTH:
        return f"it thought, and came to no answer within {_TOKENS} tokens; its runs may have more"
    return f"its answer is empty ({answer.finish.told or answer.finish.reason})"


def _plain(error: ModelError) -> str:
    if error.kind is Failure.LOADING:
        return "the server loads its model; try again in a while"
    return f"{error.message} {error.hint}".strip()


# Programs -------------------------------------------------------------------------------------------------------------


async def _program(
    agent: str, runner: Mapping[str, Any], folder: Path, ours: Mapping[str, str], seconds: float,
    clock: Callable[[], float],
) -> Called:  # fmt: skip
    settings = settings_of(runner)
    startable = await asyncio.to_thread(program_of, settings)
    # A token of no run: whatever the program does, it reaches no board.
    start = startable.start(settings, Access(_NOBODY, "no-run", 0), "")
    scratch = await asyncio.to_thread(tempfile.mkdtemp, prefix="opsroom-call-")
    began = clock()
    try:
        # It works in a folder of its own, which is gone afterwards, not where its runs do.
        there = settings.model_copy(update={"cwd": scratch})
        place = await place_of(there, start.argv, folder, agent, ours)
        heard = _Heard(startable.parser(settings))
        told = _told(start, folder / "homes" / agent)
        environment = environment_of(ours, (*place.named, *start.names), told)
        end = await _through((place.argv[0], *start.argv[1:]), Path(scratch), environment, there, heard, seconds)
    finally:
        await asyncio.to_thread(shutil.rmtree, scratch, True)
    problem = heard.problem(end, seconds)
    words = scrub(problem or heard.words or "without a word, and well", place.secrets)[:_SHOWN]
    return Called(agent, not problem, words, clock() - began, heard.tokens_in, heard.tokens_out, heard.cost_micros)


async def _acp(
    agent: str, runner: Mapping[str, Any], folder: Path, ours: Mapping[str, str], seconds: float,
    clock: Callable[[], float],
) -> Called:  # fmt: skip
    from core.agents.acp.catalogue import program_of as acp_program_of
    from core.agents.acp.settings import settings_of as acp_settings_of
    from core.doctor.acp_call import Talk

    settings = acp_settings_of(runner)
    program = await asyncio.to_thread(acp_program_of, settings)
    start = program.start(settings, Access(_NOBODY, "no-run", 0))
    scratch = await asyncio.to_thread(tempfile.mkdtemp, prefix="opsroom-call-")
    began = clock()
    try:
        place = await place_of(settings.model_copy(update={"cwd": scratch}), start.argv, folder, agent, ours)
        talk = Talk(settings, program, Path(scratch))
        environment = environment_of(ours, (*place.named, *start.names), _told(start, folder / "homes" / agent))
        await talk.through(place.argv, environment, PROMPT, seconds)
    finally:
        await asyncio.to_thread(shutil.rmtree, scratch, True)
    words = scrub(talk.problem or talk.words.strip(), place.secrets)[:_SHOWN]
    return Called(agent, not talk.problem, words, clock() - began, talk.tokens_in, talk.tokens_out, talk.cost_micros)


def _told(start: Start, home: Path) -> dict[str, str]:
    """Its variables without the way to the board; its login lies in a home of its own, if it has one."""
    told = {name: value for name, value in start.environment.items() if name not in ("OPSROOM_URL", "OPSROOM_RUN")}
    return {**told, **dict.fromkeys(start.homes, str(home.absolute()))}


async def _through(
    argv: tuple[str, ...], cwd: Path, environment: Mapping[str, str], settings: CommandSettings, heard: "_Heard",
    seconds: float,
) -> End | None:  # fmt: skip
    """Its end; None where it took too long and was ended. Nothing of it is left, also when this is cancelled."""
    program = await Program.start(argv, cwd=cwd, environment=environment, grace_s=settings.grace_s)
    reading = asyncio.create_task(heard.listen(program))
    draining = asyncio.create_task(heard.drain(program))
    try:
        program.feed(f"{PROMPT}\n".encode())
        await asyncio.wait([reading], timeout=seconds)
        was_done = reading.done()
    finally:
        end = await program.end()
        with suppress(asyncio.CancelledError):
            await asyncio.wait([reading, draining])
        program.close()
    return end if was_done else None


class _Heard:
    """What the program said, used and ended with."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self.words = ""
        self.errors = ""
        self.finished: Finished | None = None
        self.tokens_in: int | None = None
        self.tokens_out: int | None = None
        self.cost_micros: int | None = None
        self._cost_is_known = True

    async def listen(self, program: Program) -> None:
        """Read it to its end."""
        async for line in program.lines():
            if not isinstance(line, Skipped):
                for piece in self._parser.take(line.decode(errors="replace")):
                    self._take(piece)
        await program.wait()

    async def drain(self, program: Program) -> None:
        """Its standard error: the last line is kept."""
        async for line in program.errors():
            if not isinstance(line, Skipped) and line.strip():
                self.errors = without_controls(line.decode(errors="replace")).strip()

    def _take(self, piece: Piece) -> None:
        match piece:
            case Said():
                self.words = piece.text.strip() or self.words
            case Finished():
                self.finished = piece
            case Used():
                adds = piece.scope is Scope.STEP
                self.tokens_in = piece.tokens_in + ((self.tokens_in or 0) if adds else 0)
                self.tokens_out = piece.tokens_out + ((self.tokens_out or 0) if adds else 0)
                self._cost_is_known &= piece.cost_micros is not None
                before = (self.cost_micros or 0) if adds else 0
                self.cost_micros = before + (piece.cost_micros or 0) if self._cost_is_known else None
            case _:
                pass

    def problem(self, end: End | None, seconds: float) -> str:
        """What went wrong, in plain words; empty if nothing did."""
        last = f": {self.errors}" if self.errors else ""
        if end is None:
            return f"it took longer than {seconds:g} s and was ended{last}"
        if self.finished is not None and not self.finished.ok:
            return self.finished.why or self.finished.kind or "it says that it failed"
        if end.error or end.code != 0:
            return f"{end.words}{last or (f': {self.words}' if self.words else '')}"
        if self._parser.needs_result and self.finished is None:
            return f"it ended without a result{last}"
        return ""
