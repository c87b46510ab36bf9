"""Opens a company: the facade that the room, the command line and the server use.

A company is a folder with a board. Whoever owns the board runs its ticker and its runs; others follow.
"""

import asyncio
import contextlib
import functools
import os
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from core.agents.access import GiveAccess
from core.agents.models.cooldown import Cooldowns
from core.agents.runner import Runner
from core.agents.transcript import Transcripts, prompt_path
from core.blackboard.board import Board
from core.commands.company import CreateCompany
from core.commands.door import Door, LocalDoor
from core.commands.registry import Answer, Command, build
from core.commands.remote_door import RemoteDoor
from core.config import CONFIG, Config, board_path, read_config, write_config
from core.dispatcher import Caps, Dispatcher
from core.domain.actors import Actor, Operator
from core.domain.entities import Run
from core.domain.errors import BoardCorrupt, BoardError, Invalid
from core.domain.states import RunKind
from core.guardrails import GuardrailWatch, read_guardrails, write_shipped
from core.kept_files import KeptFiles
from core.knowledge import KnowledgeIndex
from core.prompting.builder import kind_now, preview_prompt, run_prompt
from core.prompting.kept import read_kept
from core.prompting.prompt import Prompt
from core.prompting.templates import Library
from core.reports import ReportFiles
from core.staff_files import StaffFiles
from core.ticker import Ticked, Ticker

SOCKET_PATH_MAX = 100  # sun_path holds 108 bytes on Linux, 104 elsewhere
Clock = Callable[[], int]


def wall_clock() -> int:
    """Milliseconds UTC."""
    return time.time_ns() // 1_000_000


@functools.cache
def socket_path(folder: Path) -> Path:
    """The owner's socket, in the company's own folder (0700), through its descriptor if the path is too long."""
    path = folder / "board.sock"
    if len(os.fsencode(path)) <= SOCKET_PATH_MAX or not Path("/proc/self/fd").is_dir():
        return path
    # The descriptor stays open for the life of the process: the socket's address leads through it.
    return Path(f"/proc/self/fd/{os.open(folder, os.O_RDONLY | os.O_DIRECTORY)}") / path.name


async def create_company(folder: Path, config: Config, *, clock: Clock = wall_clock) -> None:
    """Make a company's folder and board. Raises Invalid if the folder holds one already."""
    command = build(CreateCompany, name=config.name, mission=config.mission, locale=config.locale)
    await asyncio.to_thread(_make_folder, folder, config)
    board = await Board.open(board_path(folder), clock=clock, create=True, role="owner")
    try:
        assert board.writer is not None
        door = LocalDoor(board.writer, "init")
        await door.execute(Operator(), command)
    finally:
        await board.close()


def _make_folder(folder: Path, config: Config) -> None:
    if board_path(folder).exists() or (folder / CONFIG).exists():
        raise Invalid(f"{folder} holds a company already; it was left as it is.", f"Open it: opsroom {folder}")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in ("outputs", "runs", "agents", "knowledge", "prompts"):
            (folder / name).mkdir(mode=0o700, exist_ok=True)
        write_config(folder, config)
        write_shipped(folder)
    except OSError as error:
        raise Invalid(f"{folder} cannot be made: {error.strerror}.", "Choose a folder that you may write.") from None


class OpenCompany:
    """An open company. `door` is where commands go, whether or not this process owns the board.

    `warnings` name what is not as it should be and hinders nothing, e.g. a prompt that a language lacks (S0-11).
    """

    def __init__(self, folder: Path, config: Config, board: Board, runners: Mapping[str, Runner], clock: Clock) -> None:
        self.folder = folder
        self.config = config
        self.board = board
        self.clock = clock
        self.token = f"{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self.last_tick: Ticked | None = None
        self.ticker: Ticker | None = None
        self.dispatcher: Dispatcher | None = None
        self._runners = runners
        # Until when providers of models rest: one book for chat agents and the gateway (F14).
        self.cooldowns: Cooldowns = getattr(runners.get("chat"), "cooldowns", None) or Cooldowns(clock)
        self._local: LocalDoor | None = None
        self._remote = RemoteDoor(socket_path(folder))
        self._jobs: list[asyncio.Task[None]] = []
        self._unfollow: list[Callable[[], None]] = []
        self.warnings: tuple[str, ...] = ()
        self.library = Library(overrides=folder / "prompts")
        self._guardrails = GuardrailWatch(folder)
        self._transcripts: Transcripts | None = None
        self._files: tuple[KeptFiles, ...] = ()
        self.knowledge: KnowledgeIndex | None = None
        # Set by whoever serves the company to other programs.
        self.give_access: GiveAccess | None = None

    @classmethod
    async def open(
        cls,
        folder: Path,
        runners: Mapping[str, Runner] | None = None,
        *,
        role: Literal["owner", "reader", "auto"] = "auto",
        clock: Clock = wall_clock,
    ) -> "OpenCompany":
        """Open the company in a folder. Raises Invalid or a BoardError that says what to do."""
        folder = await asyncio.to_thread(folder.resolve)
        config = await asyncio.to_thread(read_config, folder)
        board = await Board.open(board_path(folder), clock=clock, role=role)
        company = cls(folder, config, board, runners or {}, clock)
        try:
            # Whether they render is looked at when something is to be told: a reader tells nobody anything.
            company.warnings = await asyncio.to_thread(company.library.require, whole=False)
            await company._check_founded()
            await company._guardrails.renew()
            company._take_up()
            if company.dispatcher is not None:
                # Before anything is written: what an owner who died left running must not outlive its run (F17).
                await company.dispatcher.sweep()
        except BaseException:
            await company.close()
            raise
        return company

    async def _check_founded(self) -> None:
        if await self.board.readers.value("SELECT 1 FROM company") is None:
            raise BoardCorrupt(
                f"{self.board.path} holds no company: it was emptied or never finished.",
                "Put a backup in its place, or make a new company in another folder.",
            )

    @property
    def door(self) -> Door:
        """The one door for changes, here or in the owner's process."""
        return self._local or self._remote

    @property
    def local_door(self) -> LocalDoor | None:
        """The door, if this process owns the board."""
        return self._local

    @property
    def is_owner(self) -> bool:
        """Whether this process runs the ticker and the runs."""
        return self._local is not None

    def transcript(self, run_id: int) -> Path:
        """Where a run's transcript lies."""
        return self.folder / "runs" / f"{run_id}.jsonl"

    async def execute(self, command: Command, *, actor: Actor | None = None, key: str | None = None) -> Answer:
        """Send a command, as the operator if nobody else is named."""
        return await self.door.execute(actor or Operator(), command, key=key)

    def prompt_path(self, run_id: int) -> Path:
        """Where what a run was told lies (`Prompt.to_json`), once it was."""
        return prompt_path(self.folder / "runs", run_id)

    async def preview_prompt(self, agent: str, task: int | None = None, kind: RunKind | None = None) -> Prompt:
        """What this agent (short name) would be told now about a task (id); see `core.prompting.builder`."""
        lines = (await asyncio.to_thread(read_guardrails, self.folder)).lines
        return await preview_prompt(
            self.board.readers, self.library, self.folder, agent, task,
            kind=kind, budget=self.config.prompts.budget, red_lines=lines,
        )  # fmt: skip

    async def kind_now(self, agent: str, task: int | None = None) -> RunKind:
        """The kind of run in which `preview_prompt` tells it."""
        return await kind_now(self.board.readers, agent, task)

    async def run_prompt(self, run: Run) -> Prompt:
        """What this run would be told if it began now."""
        lines = (await asyncio.to_thread(read_guardrails, self.folder)).lines
        return await run_prompt(
            self.board.readers, self.library, self.folder, run, budget=self.config.prompts.budget, red_lines=lines,
        )  # fmt: skip

    async def kept_prompt(self, run_id: int) -> Prompt:
        """What this run was told. Raises NotFound when nothing was kept of it, Invalid for a file that is none."""
        return await asyncio.to_thread(read_kept, self.prompt_path(run_id))

    def _take_up(self) -> None:
        """Set up the owner's parts when this process owns the board."""
        writer = self.board.writer
        if writer is None or self._local is not None:
            return
        caps = self.config.caps
        self._local = LocalDoor(writer, self.token, self._guardrails.book)
        self._transcripts = Transcripts(self.folder / "runs", self.clock)
        self.knowledge = KnowledgeIndex(self.folder, self.board.readers, self._local)
        self.dispatcher = Dispatcher(
            self._local,
            self.board.readers,
            self._runners,
            self.folder,
            Caps(caps.runs_at_once, caps.starts_per_minute, caps.run_seconds),
            self._transcripts,
            clock=self.clock,
            before=self._check_guardrails,
            library=self.library,
            prompt_tokens=self.config.prompts.budget,
            give_access=lambda: self.give_access,
            permission_wait_s=self.config.permissions.wait_s,
        )
        self.ticker = Ticker(
            writer, self._local, self.dispatcher.lost,
            clock=self.clock, monotonic=time.monotonic, on_tick=self._note_tick,
            before=self._check_guardrails,
        )  # fmt: skip

    async def _check_guardrails(self) -> None:
        if self._local is not None:
            await self._guardrails.check(self._local)

    def _note_tick(self, ticked: Ticked) -> None:
        self.last_tick = ticked
        if self.knowledge is not None:
            self.knowledge.poke()

    def take_warnings(self) -> list[str]:
        """What came up since that is not as it should be and hinders nothing, each told once."""
        return [words for files in self._files for words in files.take_warnings()]

    async def start(self) -> None:
        """Begin to tick and to run, or to wait for the owner's end in order to take over."""
        if self.is_owner:
            await self._start_owner()
        else:
            self._jobs.append(asyncio.create_task(self._wait_for_ownership(), name="take over"))

    async def _start_owner(self) -> None:
        assert self.ticker is not None
        assert self.dispatcher is not None
        assert self.knowledge is not None
        self.warnings = await asyncio.to_thread(self.library.require)
        await self.dispatcher.sweep()
        self._files = tuple(files(self.folder, self.board.readers) for files in (ReportFiles, StaffFiles))
        heard = [self.dispatcher.hear, self.ticker.hear, *(files.hear for files in self._files)]
        self._unfollow += [self.board.follow(hear) for hear in heard]
        self._jobs += [
            asyncio.create_task(self.dispatcher.run(), name="dispatcher"),
            asyncio.create_task(self.ticker.run(), name="ticker"),
            asyncio.create_task(self.knowledge.run(), name="knowledge"),
            *(asyncio.create_task(files.run(), name=files.told) for files in self._files),
        ]

    async def _wait_for_ownership(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            with contextlib.suppress(BoardError):
                if await self.board.try_own():
                    await self._guardrails.renew()
                    self._take_up()
                    await self._start_owner()
                    return

    async def close(self) -> None:
        """End the runs whole, stop ticking, and let the board go."""
        for unfollow in self._unfollow:
            unfollow()
        for job in reversed(self._jobs):
            job.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)
        self._jobs.clear()
        for files in self._files:
            await files.finish()
        if self.ticker is not None:
            await self.ticker.give_up_lease()
        if self._transcripts is not None:
            await asyncio.to_thread(self._transcripts.stop)
        await self._remote.close()
        await self.board.close()
