"""The prompts: what any run was told or would be told now, by layers; own texts, experiences and knowledge beside it.

Rows come from the room's memory; prompts, files and sections are read by workers.
"""

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from core.domain.entities import Experience
from core.domain.errors import OpsroomError
from tui.actions import Hint
from tui.filter_line import FilterLine
from tui.keymap import named
from tui.panes import prompt_layers as layers
from tui.panes import prompt_page as page
from tui.panes import prompt_sources as sources
from tui.panes.composer import Composer
from tui.panes.footer import KeyLine
from tui.panes.message import MessageLine
from tui.panes.prompt_filters import panes_of
from tui.panes.prompt_layers import LAYERS, WHOLE
from tui.panes.prompt_page import PAGES, Chosen, Read
from tui.panes.prompt_reading import read_knowledge, read_own_texts, read_section, read_told, read_versus
from tui.panes.prompt_runs import TOLD, told_rows
from tui.panes.prompt_sources import EXPERIENCES, KNOWLEDGE, TEXTS
from tui.panes.words import entitle, line, put, said
from tui.screens.prompts_acts import PromptActs
from tui.told_commands import hint_for
from tui.widgets.prose import Block, Prose
from tui.widgets.row import Tone
from tui.widgets.row_messages import CursorMoved, Selected
from tui.widgets.rows import Rows

if TYPE_CHECKING:
    from tui.app import OpsroomApp
    from tui.screens.prompting import Prompting

_HINTS = {
    1: (Hint("enter", "read", 2), Hint("space", "mark", 5), Hint("d", "compare", 4), Hint("w", "ask", 3)),
    2: (Hint("enter", "read", 2),),
    3: (Hint("a", "keep", 2), Hint("b", "drop", 2), Hint("enter", "read", 3)),
    4: (Hint("enter", "read", 2),),
}
_ALWAYS = (
    Hint("c", "copy", 6),
    Hint("o", "open", 6),
    Hint("1-4", "page", 4),
    Hint("/", "filter", 5),
    Hint("?", "help", 7),
    Hint("esc", "back", 0),
)


class PromptsScreen(Screen[None]):
    """Four pages: prompts with their layers, own texts, experiences, knowledge; the text of what is chosen beside."""

    app: "OpsroomApp"
    MODE = "prompts"
    AUTO_FOCUS = "#told-rows"
    CSS_PATH: ClassVar = ["prompts.tcss", "../panes/lines.tcss"]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-home"), (170, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = named("prompts", [
        Binding("escape,q,P", "leave", "Back", show=False),
        *(Binding(str(number), f"page({number})", name, show=False) for number, name in enumerate(PAGES, 1)),
        Binding("d", "act('compare')", "Compare", show=False),
        Binding("w", "act('ask')", "Whose prompt", show=False),
        Binding("c", "act('copy')", "Copy", show=False),
        Binding("o", "act('open')", "Open in the editor", show=False),
        Binding("a", "decide('KeepExperience')", "Keep", show=False),
        Binding("b", "decide('DropExperience')", "Drop", show=False),
        Binding("slash", "filter", "Filter", show=False),
        Binding("question_mark", "help", "Help", show=False),
    ])  # fmt: skip

    def __init__(self, prompting: "Prompting", ref: str) -> None:
        super().__init__()
        self.prompting = prompting
        self.acts = PromptActs(self, prompting)
        self.page = 1
        self._ref = ref
        self._more: list[str] = []  # rows that were asked for
        self.read = Read()
        self._is_old = False
        self.head = Static(id="prompts-head")
        self.pages = Static(id="prompts-pages")
        self.told = Rows(*TOLD, empty="No run yet: w asks.", id="told-rows")
        self.weights = Rows(*LAYERS, header=True, markable=False, empty="reading…", id="layer-rows")
        self.texts = Rows(*TEXTS, markable=False, empty="reading…", id="text-rows")
        self.experiences = Rows(*EXPERIENCES, header=True, markable=False, id="experience-rows",
                                empty="No handoff left an experience yet.")  # fmt: skip
        self.knowledge = Rows(*KNOWLEDGE, markable=False, empty="reading…", id="knowledge-rows")
        self.prose = Prose(empty="reading…", id="prompts-prose")
        self._frame = Vertical(self.prose, id="prompts-text", classes="pane")
        self._layers_frame = Vertical(self.weights, id="layers", classes="pane prompts-page prompts-page-1")
        self.panes = panes_of(self.told, self.texts, self.experiences, self.knowledge)
        self.composer = Composer()
        self.message = MessageLine()
        self.keys = KeyLine()

    def compose(self) -> ComposeResult:
        """All pages are there from the beginning; the number of the page and the size decide what stands."""
        yield self.head
        yield self.pages
        with Horizontal(id="prompts-body"):
            with Vertical(id="prompts-lists"):
                yield self.panes[0]
                yield self._layers_frame
                yield from self.panes[1:]
            yield self._frame
        yield self.composer
        yield self.message
        yield self.keys

    def on_mount(self) -> None:
        """From memory at once; the prompt when it is read."""
        self._layers_frame.border_title = Content("Layers")
        self.add_class("-page-1")
        self._show_rows()
        self._show()
        self._load()

    @property
    def rows(self) -> Rows:
        """The list of the page."""
        return (self.told, self.texts, self.experiences, self.knowledge)[self.page - 1]

    # ------------------------------------------------------------- bringing up to date

    def touch(self, dirty: frozenset[str]) -> None:
        """Something happened."""
        if not self.is_mounted:
            return
        if any(ref.startswith(("run:", "task:", "agent:", "experience:")) for ref in dirty):
            self._show_rows()
            if self.page == 3:
                self._show()
        if self.page == 4 and any(ref.startswith("knowledge:") for ref in dirty):
            self._read_knowledge()
        self._is_old |= bool(dirty)

    def grow_older(self) -> None:
        """Once a second: what would be told now, and a file of the company's own, may be another text by now."""
        if not self.is_mounted:
            return
        if self.page == 1:
            self._show_rows()
        if self.page == 2 and not any(worker.group == "texts" and worker.is_running for worker in self.workers):
            self._read_texts()
        if self._is_old and self.read.told is not None and not self.read.told.is_past and self.read.versus is None:
            self._load()
        self._is_old = False

    def before_key(self) -> None:
        """A key comes: what was said is read, and the rows are as the board has them."""
        self.message.clear()
        self.prompting.bring_up_to_date()

    def _show_rows(self) -> None:
        view = self.prompting.view
        self.panes[0].set_rows(told_rows(view, self._ref, self._more, self.prompting.now()))
        if self.page == 3:
            self.panes[2].set_rows(sources.experience_rows(list(view.tables.all(Experience))))

    # ------------------------------------------------------------- reading

    def _load(self) -> None:
        row = self.told.cursor_id
        if row is not None:
            self._load_told(row)

    @work(name="read a prompt", group="prompt", exclusive=True, exit_on_error=False)
    async def _load_told(self, row: str) -> None:
        told = await read_told(self.prompting.company, row)
        if self.read.versus is None and layers.is_same(self.read.told, told):
            return  # only its nonce is another
        self.read.told, self.read.versus = told, None
        self._show()

    @work(name="compare prompts", group="prompt", exclusive=True, exit_on_error=False)
    async def _load_versus(self, before: str, after: str) -> None:
        found = await read_versus(self.prompting.company, before, after)
        if isinstance(found, str):
            self.say(found, "warn")
            return
        self.read.versus = found
        self._show()
        self.weights.move_to(WHOLE)

    @work(name="read the texts", group="texts", exclusive=True, exit_on_error=False)
    async def _read_texts(self) -> None:
        found = await read_own_texts(self.prompting.company)
        if found == self.read.texts:
            return
        self.read.texts = found
        self.panes[1].set_rows(sources.text_rows(self.read.texts))
        self._show()

    @work(name="read the knowledge", group="knowledge", exclusive=True, exit_on_error=False)
    async def _read_knowledge(self) -> None:
        self.read.sections = await read_knowledge(self.prompting.company)
        self.knowledge.empty = "Nothing yet: Markdown files in the company's knowledge/ are read while it is open."
        self.panes[3].set_rows(sources.knowledge_rows(self.read.sections))
        self._show()
        self._read_section(self.knowledge.cursor_id or "")

    @work(name="read a section", group="section", exclusive=True, exit_on_error=False)
    async def _read_section(self, row: str) -> None:
        kind, _, name = row.partition(":")
        self.read.section = None
        if kind == "out":
            self.read.section = Block(
                ((name, "bad"), ("left out", "bad")), self.read.sections.left_out.get(name, ""), "bad"
            )
        elif kind == "knowledge" and (found := await read_section(self.prompting.company, int(name))) is not None:
            self.read.section = Block(((found.place, "strong"),), found.body, "info")
        self._show()

    # ------------------------------------------------------------- showing

    def _show(self) -> None:
        if self.page == 1:
            self._show_layers()
        blocks, thread = page.blocks(self.read, self.chosen)
        self.prose.empty = "reading…" if self.page == 1 and self.read.told is None else "Nothing is selected."
        self.prose.set_blocks(blocks, thread=thread)
        self._show_head()
        self.show_keys()

    def _show_layers(self) -> None:
        if self.read.versus is not None:
            self.weights.entitle(*layers.OF_DIFFERENCES)
            self.weights.set_rows(layers.difference_rows(self.read.versus))
            entitle(self._layers_frame, said("Differences"))
        elif self.read.told is not None:
            prompt = self.read.told.prompt
            is_first = not self.weights.rows
            self.weights.entitle(*layers.TITLES)
            self.weights.set_rows(layers.layer_rows(prompt) if prompt else ())
            self.weights.empty = "No prompt was kept." if self.read.told.is_past else "There is no prompt."
            if is_first:
                self.weights.move_to(WHOLE)
            entitle(self._layers_frame, said("Layers"))

    def _show_head(self) -> None:
        words, tone = page.head(self.read, self.chosen)
        put(self.head, line(said(words, tone)))
        tabs = []
        for number, name in enumerate(PAGES, 1):
            style = "reverse bold $text-primary" if number == self.page else "$foreground 60%"
            tabs.append(Content.styled(f" {number} {name} ", style))
        put(self.pages, Content("").join(tabs))
        entitle(self._frame, said(page.title(self.read, self.chosen)))

    # ------------------------------------------------------------- what is selected

    @property
    def chosen(self) -> Chosen:
        """Where the operator is."""
        every = tuple(self.prompting.view.tables.all(Experience))
        return Chosen(self.page, self.rows.cursor_id or "", self.weights.cursor_id or WHOLE, every)

    @on(CursorMoved)
    def _moved(self, event: CursorMoved) -> None:
        if event.rows is self.told:
            self._load()
        elif event.rows is self.knowledge:
            self._read_section(event.row_id or "")
        elif event.rows in (self.weights, self.rows):
            self._show()

    @on(Selected)
    def _open_row(self, event: Selected) -> None:
        (self.weights if event.rows is self.told else self.prose).focus()

    def watch_focused(self, _before: Widget | None, now: Widget | None) -> None:
        """Where there is room for one pane only, it is the one that is in use."""
        if isinstance(now, (Rows, Prose)):
            self.set_class(now is self.prose, "-reads")
            self.set_class(now is self.weights or (now is self.prose and self.has_class("-weighs")), "-weighs")
        self.show_keys()

    def action_page(self, number: int) -> None:
        """Another page; what it shows is read anew."""
        self.remove_class(f"-page-{self.page}", "-weighs")
        self.page = number
        self.add_class(f"-page-{number}")
        self._show_rows()
        if number == 2:
            self._read_texts()
        elif number == 4:
            self._read_knowledge()
        self._show()
        self.rows.focus()

    def action_leave(self) -> None:
        """Back by one step: from the line, from the text, from the layers, from a comparison, and to the room."""
        if self.composer.asks:
            self.composer.action_drop()
        elif self.focused is self.prose:
            (self.weights if self.has_class("-weighs") else self.rows).focus()
        elif self.focused is self.weights:
            self.told.focus()
        elif self.panes[self.page - 1].filter.is_narrow:
            self.panes[self.page - 1].filter.clear()
        elif self.page == 1 and self.read.versus is not None:
            self.end_comparison()
        else:
            self.prompting.left(self)
            return
        self.show_keys()

    # ------------------------------------------------------------- saying

    def say(self, text: str, tone: Tone | None = None) -> None:
        """Tell the operator above the keys."""
        self.message.say(text, tone)

    def refuse(self, problem: OpsroomError) -> None:
        """Say why something was not done, and what can be done."""
        self.say(f"{problem.message} {hint_for('room', problem.hint)}".strip(), "bad")

    def show_keys(self) -> None:
        """The keys of what is above, of the line that asks, or of the page."""
        if not self.is_attached:
            return
        if self.app.screen is not self:
            self.keys.show(getattr(self.app.screen, "HINTS", ()))
        elif isinstance(self.focused, FilterLine):
            self.keys.show(self.focused.HINTS)
        else:
            self.keys.show(
                self.composer.hints
                if self.composer.asks
                else self.app.personal.keymap.hints((*_HINTS[self.page], *_ALWAYS), "prompts")
            )

    def on_screen_suspend(self) -> None:
        """The help opened above."""
        self.show_keys()

    def on_screen_resume(self) -> None:
        """It closed."""
        self.show_keys()

    # ------------------------------------------------------------- acts

    def action_act(self, name: str) -> None:
        """One of the acts on what is chosen."""
        getattr(self.acts, name)()

    def action_filter(self) -> None:
        """Ask for words, for the list of the page."""
        self.panes[self.page - 1].filter.ask()

    @on(FilterLine.Refused)
    def _wrong_filter(self, event: FilterLine.Refused) -> None:
        self.say(str(event.problem), "warn")

    def action_decide(self, command: str) -> None:
        """Keep or drop the selected experience."""
        if self.page == 3:
            self.acts.decide(command)

    def action_help(self) -> None:
        """Every key."""
        from tui.screens.reading import help_screen

        self.app.push_screen(help_screen(self.prompting.situation, keymap=self.app.personal.keymap, here="prompts"))

    def look_at(self, row_id: str) -> None:
        """Show a prompt that was asked for; its row stands first from now on."""
        self._more = [row_id, *(each for each in self._more if each != row_id)]
        self._show_rows()
        self.panes[0].reveal(row_id)
        self.told.focus()

    def own_file(self) -> Path | None:
        """The file of the company's own text that is selected."""
        entry = self.read.texts.entry(self.texts.cursor_id or "") if self.page == 2 else None
        if entry is None or (entry.own is None and entry.problem is None):
            return None
        return self.prompting.company.folder / entry.file

    @property
    def is_comparing(self) -> bool:
        """Whether differences are shown."""
        return self.read.versus is not None

    def compare(self, before: str, after: str) -> None:
        """Show how two prompts differ; rows by their ids."""
        self._load_versus(before, after)

    def end_comparison(self) -> None:
        """The prompt under the cursor again."""
        self.read.told = self.read.versus = None
        self._load()

    def read_texts_again(self) -> None:
        """A file was edited."""
        self._read_texts()
