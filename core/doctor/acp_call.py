"""One prompt to a program that speaks the Agent Client Protocol: a session, "answer with OK", and nothing allowed."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from acp import RequestError
from acp.connection import Connection
from acp.meta import CLIENT_METHODS

from core.agents.acp.catalogue import Startable
from core.agents.acp.ending import Ended, stopped
from core.agents.acp.line import Line
from core.agents.acp.session import Session
from core.agents.acp.settings import AcpSettings
from core.agents.acp.updates import Updates
from core.agents.programs.pieces import Piece, Said, Used
from core.agents.programs.scripts import mapping, without_controls, word
from core.agents.programs.started import Program, Skipped

_SAID_MAX = 2000


class Talk:
    """What it said and used, and the `problem` in plain words; empty if there was none. None stands for unknown."""

    def __init__(self, settings: AcpSettings, program: Startable, cwd: Path) -> None:
        self._settings = settings
        self._program = program
        self._cwd = cwd
        self._updates = Updates(lambda mode: self._hear_mode(mode), str)
        self._session: Session | None = None
        self._has_asked = False
        self._errors = ""
        self.words = self.problem = ""
        self.tokens_in: int | None = None
        self.tokens_out: int | None = None
        self.cost_micros: int | None = None

    async def through(self, argv: tuple[str, ...], environment: Mapping[str, str], prompt: str, seconds: float) -> None:
        """The process from its start to its end. Nothing of it is left, also when this is cancelled."""
        program = await Program.start(argv, cwd=self._cwd, environment=environment, grace_s=self._settings.grace_s)
        draining = asyncio.create_task(self._drain(program))
        connection = Connection(self._asked, Line(program, self._take, _nothing, _no_words, _no_words, str))
        self._session = session = Session(connection, None, self._cwd, self._hear_mode)
        try:
            async with asyncio.timeout(seconds):
                await self._talk(session, prompt)
        except TimeoutError:
            self.problem = f"it took longer than {seconds:g} s and was ended"
        except Ended as ended:
            self.problem = ended.outcome.detail
        finally:
            end = await program.end()
            await connection.close()
            with suppress(asyncio.CancelledError):
                await asyncio.wait([draining])
            program.close()
        if self.problem and (self._errors or end.code):
            self.problem += f" ({self._errors or end.words})"

    async def _talk(self, session: Session, prompt: str) -> None:
        await session.greet()
        if self._settings.auth:
            await session.log_in(self._settings.auth)
        await session.begin()
        await session.supervise(self._program.supervision(self._settings))
        if self._settings.model and not self._program.takes_model:
            await session.use_model(self._settings.model)
        facts = await session.prompt(prompt)
        for piece in self._updates.ended(facts):
            self._note(piece)
        if (end := stopped(word(facts.get("stopReason")))) is not None:
            raise end
        if not self.words.strip():
            asked = "it asked for a permission, which a call does not give, and" if self._has_asked else "it"
            self.problem = f"{asked} answered without a word"

    async def _take(self, update: Mapping[str, Any], large: bool) -> None:
        for piece in await asyncio.to_thread(self._updates.take, update) if large else self._updates.take(update):
            self._note(piece)

    def _note(self, piece: Piece) -> None:
        if isinstance(piece, Said):
            self.words = f"{self.words}{piece.text}"[:_SAID_MAX]
        elif isinstance(piece, Used):
            if piece.cost_micros is not None:
                self.cost_micros = (self.cost_micros or 0) + piece.cost_micros
            if piece.tokens_in or piece.tokens_out:
                self.tokens_in = (self.tokens_in or 0) + piece.tokens_in
                self.tokens_out = (self.tokens_out or 0) + piece.tokens_out

    async def _asked(self, method: str, params: Any, is_notification: bool) -> dict[str, Any] | None:
        """Whatever it wants to do is refused: this is no run, and nobody is asked."""
        if is_notification:
            return None
        if method != CLIENT_METHODS["session_request_permission"]:
            raise RequestError.method_not_found(method)
        self._has_asked = True
        options = mapping(params).get("options")
        for option in map(mapping, options if isinstance(options, list) else ()):
            if option.get("kind") == "reject_once":
                return {"outcome": {"outcome": "selected", "optionId": word(option.get("optionId"))}}
        return {"outcome": {"outcome": "cancelled"}}

    def _hear_mode(self, mode: str) -> None:
        if self._session is not None:
            self._session.heard = mode

    async def _drain(self, program: Program) -> None:
        """Its standard error: the last line is kept."""
        async for line in program.errors():
            if not isinstance(line, Skipped) and line.strip():
                self._errors = without_controls(line.decode(errors="replace")).strip()


def _nothing() -> None:
    return


def _no_words(_text: str) -> None:
    return
