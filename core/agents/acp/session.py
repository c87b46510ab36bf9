"""A session with a program: the handshake, the mode in which the operator is asked, prompts and their ends."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, RequestError
from acp.connection import Connection
from acp.meta import AGENT_METHODS
from acp.schema import (
    AgentCapabilities,
    AuthenticateRequest,
    CancelNotification,
    ClientCapabilities,
    EnvVariable,
    FileSystemCapabilities,
    HttpHeader,
    HttpMcpServer,
    Implementation,
    InitializeRequest,
    InitializeResponse,
    LoadSessionRequest,
    McpServerStdio,
    NewSessionRequest,
    PromptRequest,
    ResumeSessionRequest,
    SetSessionConfigOptionSelectRequest,
    SetSessionModeRequest,
    TextContentBlock,
)
from pydantic import BaseModel, ValidationError

from core.agents.access import Access
from core.agents.acp.catalogue import Supervision
from core.agents.acp.ending import Ended, failed, refused
from core.agents.acp.modes import MODEL, Choice, modes_of, option_of
from core.agents.programs.scripts import mapping, word

SERVER = "opsroom"  # by this name a program knows the board's tools
_ID_MAX = 200


class Session:
    """One program's session. Each request raises Ended when it is answered by an error, and when the line breaks.

    Without an `access` it has no tools of the board.
    `heard` is the mode that its updates told last; `on_mode` hears what an answer to another request tells of it.
    """

    def __init__(
        self,
        connection: Connection,
        access: Access | None,
        cwd: Path,
        on_mode: Callable[[str], None] = lambda mode: None,
    ) -> None:
        self._connection = connection
        self._on_mode = on_mode
        self._access = access
        self._cwd = str(cwd)
        self._can = AgentCapabilities()
        self._ways: tuple[str, ...] = ()
        self._facts: Mapping[str, Any] = {}
        self.id = ""
        self.heard = ""

    async def greet(self) -> str:
        """Agree on the protocol. Its name and version.

        Neither files nor terminals are offered: it works in its folder by itself, and what it asks is told as a
        whole, where a write by us would hide behind its request.
        """
        offers = ClientCapabilities(
            fs=FileSystemCapabilities(read_text_file=False, write_text_file=False), terminal=False
        )
        us = Implementation(name="opsroom", title="Opsroom", version="1")
        asked = InitializeRequest(protocol_version=PROTOCOL_VERSION, client_capabilities=offers, client_info=us)
        facts = await self._ask("initialize", asked)
        try:
            told = InitializeResponse.model_validate(facts)
        except ValidationError:
            raise failed("protocol", "its answer to initialize is none of the Agent Client Protocol") from None
        if told.protocol_version != PROTOCOL_VERSION:
            spoken = f"it speaks version {told.protocol_version} of the protocol; {PROTOCOL_VERSION} is spoken here"
            raise failed("protocol", spoken)
        self._can = told.agent_capabilities or self._can
        self._ways = tuple(way.id for way in told.auth_methods or ())
        return f"{told.agent_info.name} {told.agent_info.version}" if told.agent_info else ""

    async def log_in(self, way: str) -> None:
        """By a way that it offers."""
        if way not in self._ways:
            offered = ", ".join(self._ways) or "none"
            raise failed("auth", f"it offers no way to log in called {way!r}; it offers: {offered}")
        await self._ask("authenticate", AuthenticateRequest(method_id=way))

    @property
    def resumes(self) -> bool:
        """Whether it can go on with a former session."""
        return self._loads or self._can.load_session is True

    @property
    def _loads(self) -> bool:
        return self._can.session_capabilities is not None and self._can.session_capabilities.resume is not None

    async def go_on(self, former: str) -> None:
        """Go on with a session; what it replays of it is told by updates before this returns."""
        servers = self._servers()
        if self._loads:
            again: BaseModel = ResumeSessionRequest(cwd=self._cwd, session_id=former, mcp_servers=servers)
            self._facts = await self._ask("session_resume", again)
        else:
            again = LoadSessionRequest(cwd=self._cwd, session_id=former, mcp_servers=servers)
            self._facts = await self._ask("session_load", again)
        self.id = former

    async def begin(self) -> None:
        """Begin a new session with the board's tools."""
        self._facts = await self._ask("session_new", NewSessionRequest(cwd=self._cwd, mcp_servers=self._servers()))
        self.id = word(self._facts.get("sessionId"))
        if not self.id or len(self.id) > _ID_MAX or not self.id.isprintable():
            raise failed("protocol", "it began a session without an id that can be used")

    def _servers(self) -> list[HttpMcpServer | McpServerStdio]:
        return [] if self._access is None else [self._board(self._access)]

    def _board(self, access: Access) -> HttpMcpServer | McpServerStdio:
        """The board's tools by HTTP, or by a process of ours where it knows no HTTP. The token goes by the line."""
        can = self._can.mcp_capabilities
        if can is not None and can.http:
            header = HttpHeader(name="Authorization", value=f"Bearer {access.token}")
            return HttpMcpServer(type="http", name=SERVER, url=access.mcp_url, headers=[header])
        told = {**access.environment, "PYTHONPATH": str(Path(__file__).parents[3])}
        variables = [EnvVariable(name=name, value=value) for name, value in told.items()]
        return McpServerStdio(name=SERVER, command=sys.executable, args=["-m", "tui.cli", "mcp"], env=variables)

    async def supervise(self, how: Supervision) -> str:
        """Set the mode in which the operator is asked, and make sure. The mode at work; empty if it has none."""
        modes = modes_of(self._facts)
        if not how.mode:
            return modes.current if modes is not None else ""
        if modes is None or how.mode not in modes.known:
            has = ", ".join(modes.known) if modes is not None and modes.known else "none"
            why = f"it has no session mode {how.mode!r} (it has: {has})"
            raise failed("unsupervised", f"{why}; the run was not begun, since nobody would be asked")
        current = modes.current
        if how.mode != current or self.heard not in ("", how.mode):
            self.heard = ""
            current = (await self._set_mode(how.mode, modes)).current
        # What it tells of itself goes before its answer, which may come before or after that.
        current = self.heard or current
        if current != how.mode:
            why = f"its session mode is {current!r} although {how.mode!r} was set"
            raise failed("unsupervised", f"{why}; the run was not begun, since nobody would be asked")
        return current

    async def _set_mode(self, mode: str, modes: Choice) -> Choice:
        try:
            if modes.option:
                return modes_of(await self._choose(modes.option, mode)) or modes
            await self._ask("session_set_mode", SetSessionModeRequest(session_id=self.id, mode_id=mode))
        except Ended as end:
            raise failed("unsupervised", f"its session mode could not be set: {end.outcome.detail}") from None
        # This answer says that it is done and no more; another mode would be told by an update.
        return Choice(mode, modes.known)

    async def use_model(self, model: str) -> bool:
        """Have it use this model; False where its session lets none be chosen."""
        models = option_of(self._facts, MODEL)
        if models is None:
            return False
        if models.current != model:
            answer = await self._choose(models.option, model)
            models = option_of(answer, MODEL)
            if (modes := modes_of(answer)) is not None:
                self._on_mode(modes.current)
        if models is None or models.current != model:
            raise failed(
                "model", f"it uses the model {models.current if models else ''!r} although {model!r} was asked for"
            )
        return True

    async def _choose(self, option: str, value: str) -> Mapping[str, Any]:
        asked = SetSessionConfigOptionSelectRequest(session_id=self.id, config_id=option, value=value)
        return await self._ask("session_set_config_option", asked)

    async def prompt(self, text: str) -> Mapping[str, Any]:
        """A turn: its `stopReason`, and `usage` if it tells any."""
        block = TextContentBlock(type="text", text=text)
        return await self._ask("session_prompt", PromptRequest(session_id=self.id, prompt=[block]))

    async def cancel(self) -> None:
        """Ask it to end its turn. Never raises."""
        if not self.id:
            return
        asked = CancelNotification(session_id=self.id).model_dump(by_alias=True, exclude_none=True)
        try:
            await self._connection.send_notification(AGENT_METHODS["session_cancel"], asked)
        except ConnectionError:
            return

    async def _ask(self, name: str, request: BaseModel) -> Mapping[str, Any]:
        method = AGENT_METHODS[name]
        try:
            answer = await self._connection.send_request(method, request.model_dump(by_alias=True, exclude_none=True))
        except RequestError as error:
            told = str(error)
            data = mapping(error.data)
            more, kind = word(data.get("details")), word(data.get("errorKind") or data.get("codexErrorInfo"))
            raise refused(method, error.code, f"{told}: {more}" if more else told, self._ways, kind) from None
        except ConnectionError:
            raise failed("line", f"its line ended while {method} was asked") from None
        return mapping(answer)
