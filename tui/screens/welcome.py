"""What one sees first where there is no company: try the rehearsal, make one, open one, and what is here to run on."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.suggester import Suggester
from textual.widgets import Input, Static

from core.blackboard.checks import Check
from core.config import read_config
from core.domain.errors import Invalid
from core.founding.ground import Ground
from tui.actions import Hint
from tui.panes.footer import KeyLine
from tui.panes.words import hanging, line, put, said
from tui.recent import Known, at_home, holds_company, known
from tui.remembered import Memory
from tui.widgets.row import Tone
from tui.widgets.row_messages import Selected
from tui.widgets.rows import Column, Row, Rows

Way = Literal["rehearse", "make", "open"]
_WAYS: tuple[tuple[Way, str, str], ...] = (
    ("rehearse", "Try the rehearsal", "agents audit a folder: no key, no network, no cost"),
    ("make", "Make a company", "name, mission, language, who works there, limits"),
    ("open", "Open a company", "by its folder"),
)
_ASKS: dict[Way, str] = {
    "rehearse": "Folder to audit (it is read, never changed):", "make": "Folder of the new company:",
    "open": "Folder of the company:",
}  # fmt: skip
_VERDICTS: dict[str, tuple[str, Tone | None]] = {"ok": ("·", "dim"), "warn": ("!", "warn"), "fail": ("✗", "bad")}
LOOKING = "looking for what is here…"
NOTHING_YET = "None yet. What you open stands here the next time."
NOT_REMEMBERED = "Nothing is remembered: `remember` is off in your settings."


@dataclass(frozen=True, slots=True)
class Here:
    """What the doctor found: each finding with what to do, a last word, and what agents can be put on."""

    checks: tuple[Check, ...]
    closing: str
    grounds: tuple[Ground, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the person wants, and of which folder."""

    way: Way
    folder: Path


class WelcomeScreen(Screen[None]):
    """`chosen` hears what is wanted once it is possible; `leave` that nothing is. Nothing is written here."""

    CSS_PATH: ClassVar = ["welcome.tcss", "../panes/lines.tcss"]
    AUTO_FOCUS = "#begin"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False),
        Binding("q", "leave", "Leave", show=False),
        Binding("x", "forget", "Forget", show=False),
        Binding("t", "ask('rehearse')", show=False),
        Binding("n", "ask('make')", show=False),
        Binding("o", "ask('open')", show=False),
        Binding("tab", "app.focus_next", show=False),
        Binding("shift+tab", "app.focus_previous", show=False),
    ]
    KEYS: ClassVar = (Hint("enter", "choose", 0), Hint("tab", "next", 3), Hint("t", "try", 4), Hint("n", "make", 5),
                      Hint("o", "open", 6), Hint("q", "leave", 1))  # fmt: skip
    RECENT_KEYS: ClassVar = (Hint("enter", "open it", 0), Hint("x", "forget it", 1), Hint("tab", "next", 3),
                             Hint("q", "leave", 2))  # fmt: skip
    ASK_KEYS: ClassVar = (Hint("enter", "go on", 0), Hint("→", "complete", 2), Hint("esc", "back", 1))

    def __init__(
        self, memory: Memory, look: Callable[[], Awaitable[Here]], chosen: Callable[[Chosen], None],
        leave: Callable[[], None], *, new_folder: Path, problem: str = "",
    ) -> None:  # fmt: skip
        super().__init__()
        self._memory = memory
        self._look = look
        self._chosen = chosen
        self._leave = leave
        self._new_folder = new_folder
        self._problem = problem
        self._known: dict[str, Known] = {}
        self._here: Here | None = None
        self._asked: Way | None = None
        self.ways = Rows(Column(width=20), Column(), id="begin", markable=False)
        self.recent = Rows(
            Column(min_width=10), Column(min_width=10), Column(width=24), id="recent", markable=False,
            empty=NOTHING_YET if memory.path is not None else NOT_REMEMBERED,
        )  # fmt: skip
        self.here = Static(LOOKING, id="here-text")
        self.path = Input(id="ask-path", compact=True, select_on_focus=False, suggester=Folders())
        self.problem = Static(id="welcome-problem")
        self.keys = KeyLine()

    def compose(self) -> ComposeResult:
        """Three boxes, and the line for a path."""
        yield Static(line(said("Opsroom", "strong"), said("   a control room for a company of AI agents", "dim")),
                     id="welcome-head")  # fmt: skip
        with Vertical(classes="box", id="box-begin") as begin:
            begin.border_title = said("Begin")
            yield self.ways
        with Vertical(classes="box", id="box-recent") as recent:
            recent.border_title = said("Companies that you opened")
            yield self.recent
        with Vertical(classes="box", id="box-here") as here:
            here.border_title = said("What agents could run on here")
            with VerticalScroll(id="here"):
                yield self.here
        with Horizontal(id="ask"):
            yield Static(id="ask-what")
            yield self.path
        yield self.problem
        yield self.keys

    def on_mount(self) -> None:
        """The ways at once; what must be looked for when it is found."""
        self.ways.set_rows([Row(way, ((title, "strong"), (about, "dim"))) for way, title, about in _WAYS])
        self.keys.show(self.KEYS)
        self.tell(self._problem)
        self._find_companies()
        self._find_what_is_here()

    # ------------------------------------------------------------- what is found, off the loop

    @work(name="look at the companies", group="companies", exclusive=True, exit_on_error=False)
    async def _find_companies(self) -> None:
        folders = self._memory.now.recent
        found = await asyncio.to_thread(lambda: [known(folder) for folder in folders])
        self._known = {each.folder: each for each in found}
        self.recent.set_rows([_row(each) for each in found])

    @work(name="look for what is here", group="here", exit_on_error=False)
    async def _find_what_is_here(self) -> None:
        self._here = await self._look()
        self.call_after_refresh(self._show_here)

    def on_resize(self) -> None:
        """Findings keep to their column."""
        self.call_after_refresh(self._show_here)

    def _show_here(self) -> None:
        if self._here is None:
            return
        width = max(20, self.query_one("#here").scrollable_content_region.width)
        first = sorted(self._here.checks, key=lambda check: check.verdict == "ok")
        parts = (
            [] if not self._here.closing else [hanging(said("! ", "warn"), self._here.closing, width, "warn", indent=2)]
        )
        for check in first:
            sign, tone = _VERDICTS[check.verdict]
            words = f"{check.name}: {check.text}"
            parts.append(hanging(said(f"{sign} ", tone), words, width, "dim" if tone == "dim" else None, indent=2))
        put(self.here, Content("\n").join(parts), layout=True)

    async def grounds(self) -> Sequence[Ground]:
        """What agents could be put on, once that is known."""
        while self._here is None:  # noqa: ASYNC110 - it is looked for meanwhile
            await asyncio.sleep(0.05)
        return self._here.grounds

    # ------------------------------------------------------------- what is wanted

    def tell(self, text: str) -> None:
        """Say what is wrong; empty for nothing."""
        put(self.problem, said(at_home(text), "bad"), layout=True)

    @on(Selected)
    def _selected(self, event: Selected) -> None:
        if event.rows is self.recent:
            self._open_known(self._known[event.row_id])
        else:
            self.action_ask(event.row_id)

    def _open_known(self, company: Known) -> None:
        if company.problem:
            forget = " x takes it off the list; nothing else is touched." if company.gone else ""
            self.tell(company.why or f"{company.folder} cannot be opened: {company.problem}.{forget}")
        else:
            self._try("open", company.folder)

    def action_ask(self, way: str) -> None:
        """Ask for the folder of what was chosen."""
        wanted = next(each for each, _, _ in _WAYS if each == way)
        self._asked = wanted
        put(self.query_one("#ask-what", Static), said(_ASKS[wanted]), layout=True)
        usual = {"rehearse": str(Path.cwd()), "make": str(self._new_folder), "open": ""}[wanted]
        self.path.value = at_home(usual)
        self.query_one("#ask").add_class("-asks")
        self.path.focus()
        self.path.cursor_position = len(self.path.value)
        self.tell("")
        self.keys.show(self.ASK_KEYS)

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        if self._asked is not None:
            self._try(self._asked, event.value.strip())

    @work(name="look at the folder", group="folder", exclusive=True, exit_on_error=False)
    async def _try(self, way: Way, text: str) -> None:
        try:
            folder = await asyncio.to_thread(_possible, way, text)
        except Invalid as problem:
            self.tell(f"{problem.message} {problem.hint}".strip())
            return
        self.tell("")
        self._stop_asking()
        self._chosen(Chosen(way, folder))

    def action_back(self) -> None:
        """From the line for a path to the lists."""
        self.tell("")
        self._stop_asking()

    def _stop_asking(self) -> None:
        if self._asked is None:
            return
        self._asked = None
        self.query_one("#ask").remove_class("-asks")
        self.ways.focus()

    def action_leave(self) -> None:
        """Begin nothing."""
        self._leave()

    def action_forget(self) -> None:
        """Take a company off the list. Its folder is left as it is."""
        folder = self.recent.cursor_id if self.recent.has_focus else None
        if folder is None:
            return
        self._memory.keep(recent=tuple(each for each in self._memory.now.recent if each != folder))
        self.recent.set_rows([row for row in self.recent.rows if row.id != folder])
        self.tell("")
        if not self.recent.rows:
            self.ways.focus()

    def on_descendant_focus(self) -> None:
        """The keys are those of where one is."""
        if self._asked is None:
            self.keys.show(self.RECENT_KEYS if self.recent.has_focus and self.recent.rows else self.KEYS)


class Folders(Suggester):
    """Completes the name of a folder as it is typed."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """The first folder that begins so, or None."""
        return await asyncio.to_thread(_first_folder, value)


def _first_folder(value: str) -> str | None:
    above, _, begin = value.rpartition("/")
    if not begin:
        return None
    try:
        with os.scandir(os.path.expanduser(f"{above}/") if "/" in value else ".") as found:
            names = sorted(each.name for each in found if each.name.startswith(begin) and each.is_dir())
    except OSError:
        return None
    whole = value[: len(value) - len(begin)]
    return f"{whole}{names[0]}/" if names else None


def _row(company: Known) -> Row:
    state: tuple[str, Tone] = (company.problem or company.about, "warn" if company.problem else "dim")
    return Row(company.folder, ((company.name, "strong"), at_home(company.folder), state), muted=company.gone)


def _possible(way: Way, text: str) -> Path:
    """The folder, if that can be done with it; blocks. Raises Invalid, which says what to do."""
    if not text:
        raise Invalid("The folder's name is empty.", "Type a path; `.` is this folder.")
    folder = Path(os.path.abspath(os.path.expanduser(text)))
    if way == "open":
        if not folder.is_dir():
            raise Invalid(f"{folder} is no folder.", "Type the folder of a company.")
        read_config(folder)
    elif way == "rehearse":
        if not (folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)):
            raise Invalid(f"{folder} is no folder that you may read.", "Type another one.")
    elif holds_company(folder):
        raise Invalid(f"{folder} holds a company already; it was left as it is.", "Open it: esc, then o.")
    elif folder.exists() and not folder.is_dir():
        raise Invalid(f"{folder} is no folder.", "Type the name of a new one.")
    return folder
