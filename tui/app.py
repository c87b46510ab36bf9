"""The application: it follows a company's board that was opened for it, and ends everything when it ends."""

import asyncio
import logging
import os
import time
from collections.abc import Callable, Collection, Sequence
from typing import ClassVar

from textual import events, on, work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter
from textual.worker import Worker, WorkerState

from core.blackboard.owner import Ownership
from core.blackboard.queries import WITHOUT_COST
from core.company import OpenCompany
from core.domain.agenda import BEATS
from core.domain.entities import Event, Run
from core.domain.errors import OpsroomError
from core.staffing import left_since
from tui.came_back import SENT_BACK
from tui.driver import RoomDriver
from tui.modes import Modes, mode_bindings
from tui.one_key import KeyOver, KeyQueue
from tui.panes.footer import KeyLine
from tui.personal import Personal
from tui.projection import HEARTBEATS
from tui.rendering.isolation import Isolation
from tui.screens.control import ControlScreen
from tui.screens.disturbing import CLOSED, WENT_ON
from tui.screens.ways import Ways, way_bindings
from tui.text import one_line
from tui.themes import DEFAULT_THEME, load_themes, usable
from tui.widgets.target_view import TargetView

_ISOLATION = Isolation()
FLUSHES_PER_S = 20
CLOSE_S = 2.0
log = logging.getLogger(__name__)

_HEARTBEAT = (
    f"SELECT id FROM events WHERE entity = 'ticker' AND kind IN ({', '.join(repr(kind) for kind in BEATS)})"
    " ORDER BY id DESC LIMIT 1"
)
_OLD_RUNS = (
    "SELECT coalesce(sum(tokens_in + tokens_out), 0) AS tokens, coalesce(sum(cost_micros), 0) AS cost,"
    f" coalesce(sum({WITHOUT_COST}), 0) AS without_cost"
    " FROM runs WHERE id < :before AND status NOT IN ('queued', 'starting', 'running')"
)


class OpsroomApp(App[None]):
    """`company` is open already; the app closes it. `clock` gives ms UTC, `monotonic` seconds that never step.

    `runner_kinds` are the kinds of runners that there are for it; None where that is not looked at.
    """

    TITLE = "Opsroom"
    ENABLE_COMMAND_PALETTE = False  # the room has one of its own
    BINDINGS: ClassVar[list[BindingType]] = [
        *mode_bindings(), *way_bindings(), Binding("ctrl+z", "suspend_process", show=False),
    ]  # fmt: skip

    def __init__(
        self,
        company: OpenCompany,
        *,
        clock: Callable[[], int] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        start: bool = True,
        theme: str = "",
        runner_kinds: Collection[str] | None = None,
        personal: Personal | None = None,
    ) -> None:
        super().__init__()
        self.personal = personal or Personal()
        self.modes = Modes(self)
        self.problems = [problem] if (problem := self.personal.memory.problem) else []
        self.personal.memory.tell = lambda problem: self.notify(problem, severity="warning", markup=False)
        self.set_keymap(self.personal.keymap.for_textual())
        self.company = company
        self.owner_pid: int | None = None
        self._clock = clock or company.clock
        self._start = start
        self._unfollow: Callable[[], None] | None = None
        self._ended = False
        self.left = ""  # how the terminal was lost, for the next start; empty where a person left the room
        self.company_goes_on = False  # whoever runs the app closes the company then
        self._key_queue = KeyQueue(self)
        self._theme_problems = self._take_themes(theme)
        self.room = ControlScreen(company, self._clock, monotonic, runner_kinds)
        self.room.view.keymap = self.personal.keymap
        self.ways = Ways(self, self.room)
        self.targets_in = self.ways.targets_in

    def get_driver_class(self) -> type[Driver]:
        """On a terminal of our own one that never waits; in a browser and on other systems Textual's."""
        found = super().get_driver_class()
        return RoomDriver if found is LinuxDriver else found

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What every drawn line goes through: Textual's own, and right-to-left text kept to itself."""
        return [*super().get_line_filters(), _ISOLATION]

    def _take_themes(self, wanted: str) -> list[str]:
        folder = self.personal.themes
        themes, problems = load_themes(*([folder] if folder is not None else []))
        wanted = wanted or self.personal.settings.theme or self.personal.memory.now.theme
        no_color = "NO_COLOR" in os.environ
        for name in list(self.available_themes):
            self.unregister_theme(name)
        for theme in themes:
            if usable(theme, no_color):
                self.register_theme(theme)
        self.theme = wanted if wanted in self.available_themes else DEFAULT_THEME
        told = [one_line(str(problem)) for problem in problems]
        if wanted and wanted != self.theme:
            why = "needs colours, and NO_COLOR is set" if any(t.name == wanted for t in themes) else "is not there"
            told.append(f"The theme {wanted!r} {why}: {self.theme} is shown.")
        return told

    def choose_theme(self, name: str) -> None:
        """Show this theme from now on, and at the next start."""
        self.theme = name
        self.personal.memory.keep(theme=name)

    def on_mount(self) -> None:
        """Paint first, read then."""
        self.push_screen(self.room)
        self._flushes = self.set_interval(1 / FLUSHES_PER_S, self._flush_room, pause=True)
        self._load()
        self.set_interval(1.0, self._look_at_owner)
        for problem in self._theme_problems:
            self.notify(problem, title="theme", severity="warning", markup=False)

    # ------------------------------------------------------------- the board

    @work(name="load the board", exit_on_error=False)
    async def _load(self) -> None:
        readers = self.company.board.readers
        last, entities = await readers.snapshot()
        shown = [entity.id for entity in entities if isinstance(entity, Run)]
        old = await readers.one(_OLD_RUNS, before=min(shown, default=0)) or {"tokens": 0, "cost": 0}
        beat = await readers.value(_HEARTBEAT)
        found = await readers.events_after(beat - 1, 1) if beat else []
        heartbeat = found[0] if found and found[0].kind in HEARTBEATS else None
        left = {agent: each.reason for agent, each in (await left_since(readers)).items()}
        known = {"tokens": old["tokens"], "cost": old["cost"], "without_cost": old["without_cost"]}
        self.room.view.load(last, entities, heartbeat, **known, left=left)
        self.room.view.came_back.load(await readers.all(SENT_BACK))
        self._look_up_owner()
        self._unfollow = self.company.board.follow(self._hear, after=last)
        self.room.board_loaded()
        await self.room.disturbing.begin()
        if self._start:
            await self.company.start()

    def _hear(self, happened: Sequence[Event]) -> None:
        # no message an event: a thousand a second must not fill the queue that keys go through
        self.room.view.apply(happened)
        self.room.disturbing.hear(happened)
        if self.room.view.is_dirty:
            self._flushes.resume()

    def _flush_room(self) -> None:
        self._flushes.pause()
        self.room.flush()

    def _look_at_owner(self) -> None:
        if (self.owner_pid is None) != self.company.is_owner:
            self._look_up_owner()

    @work(name="look up the owner", group="owner", exclusive=True, exit_on_error=False)
    async def _look_up_owner(self) -> None:
        if self.company.is_owner:
            self.owner_pid = None
            return
        holder = await asyncio.to_thread(Ownership.holder, self.company.board.path)
        self.owner_pid = int(holder.get("pid", 0))

    # ------------------------------------------------------------- keys and faults

    async def on_event(self, event: events.Event) -> None:
        """A key finds the board as it is, and what the key before it opened or closed."""
        if not isinstance(event, events.Key) or event.is_forwarded:
            await super().on_event(event)
            return
        if not self._key_queue.takes(event):
            return
        if (before_key := getattr(self.screen, "before_key", None)) is not None:
            before_key()
        way = self.focused or self.screen
        await super().on_event(event)
        self._key_queue.follow(way)

    @on(KeyOver)
    def _key_is_over(self, over: KeyOver) -> None:
        self._key_queue.arrived(over)
        self.modes.note()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """The one place where faults of workers end: a toast and a line in the log, never a traceback."""
        if event.state is not WorkerState.ERROR:
            return
        error = event.worker.error
        if isinstance(error, OpsroomError):
            self.room.refuse(error)
            return
        log.error("%s failed", event.worker.name, exc_info=error)
        text = f"{type(error).__name__}: {error}"
        self.notify(text, title=f"{event.worker.name} failed", severity="error", markup=False)

    def action_mode(self, name: str) -> None:
        """Another mode, from any screen that can be left at any time."""
        self.modes.go(name)

    @on(KeyLine.Pressed)
    def _clicked_key(self, event: KeyLine.Pressed) -> None:
        self.ways.click(event.hint, event.chain)

    def action_way(self, name: str) -> None:
        """What means the same on every screen: the palette, a jump, a copy, pager and editor."""
        self.ways.go(name)

    @on(TargetView.Pointed)
    def _pointed(self, event: TargetView.Pointed) -> None:
        self.ways.jumping.pointed(event.ref)

    @on(TargetView.Followed)
    def _followed(self, event: TargetView.Followed) -> None:
        self.ways.jumping.go(event.ref)

    # ------------------------------------------------------------- leaving

    def ask_to_leave(self) -> None:
        """Leave, after a question if that ends runs."""
        live = self.room.view.totals().live
        if not live or not self.company.is_owner:
            self._leave(True)
            return
        from tui.screens.confirm import Confirm

        lines = [
            "The runs that are at work will be ended and their tasks go back.",
            "They lose no attempt; the board keeps the rest.",
        ]
        self.push_screen(Confirm("Leave the room?", lines, "Leave", self.room.decisions.monotonic), self._leave)

    def _leave(self, agreed: bool | None) -> None:
        if agreed:
            self._end_and_exit()

    def hang_up(self, code: int, *, go_on: bool = False) -> None:
        """The terminal is gone: end with this code. With `go_on` a company at work here stays open, without a room."""
        if self._ended or self.left:
            return  # a signal tells of it, and so does the terminal itself
        company = self.room.view.company
        at_work = company is not None and company.dispatching and self.company.is_owner
        self.company_goes_on = go_on and at_work
        self.left = WENT_ON if self.company_goes_on else CLOSED
        self.exit(None, code)

    async def action_quit(self) -> None:
        """Whatever asks the app to end goes the same way."""
        self.ask_to_leave()

    @work(name="leave", group="leave", exclusive=True, exit_on_error=False)
    async def _end_and_exit(self) -> None:
        try:
            await self._end()
        finally:
            self.exit()

    async def on_unmount(self) -> None:
        """Also after a fault the board is let go."""
        await self._end()

    async def _end(self) -> None:
        """Send what is held, end the runs, let the board go; never longer than two seconds."""
        if self._ended:
            return
        self._ended = True
        ending = asyncio.ensure_future(self._close())
        await asyncio.wait({ending}, timeout=CLOSE_S)

    async def _close(self) -> None:
        held = await self.room.decisions.send_all()
        if held and self.is_running:
            self.notify("sent: " + ", ".join(each.words for each in held), markup=False)
        news = self.room.disturbing.news
        if news is not None:
            news.left(self.left if self.company.is_owner else "")
        if not self.company_goes_on:
            if self._unfollow is not None:
                self._unfollow()
            if news is not None:
                await news.close()
        await self.personal.memory.settle()
        if not self.company_goes_on:
            await self.company.close()
