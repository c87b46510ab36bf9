"""All mail of the company over the room, newest first: what waits for an answer is marked."""

from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from core.company import OpenCompany
from tui.actions import Hint
from tui.filter_line import FilterLine
from tui.keymap import named
from tui.modes import mode_bindings
from tui.panes.mail import MAIL_KEYS, Mailed, read_mailed
from tui.panes.words import entitle, said
from tui.projection import Projection
from tui.screens.ways import way_bindings
from tui.widgets.prose import Prose

if TYPE_CHECKING:
    from tui.app import OpsroomApp

_TITLE = "Mail of the company, newest first"
_NONE = "No mail yet. /mail @name asks somebody, /inform @name tells them."
_TOLD = "↑/↓ scroll · / filters · esc goes back · 6 shows the mail of what is selected"


class MailScreen(ModalScreen[None]):
    """Only tells; mail is answered below the thing that it is about."""

    app: "OpsroomApp"

    CSS_PATH: ClassVar = ["dialogs.tcss", "mail.tcss"]
    MODE = "mail"
    AUTO_FOCUS = "#all-mail"
    HINTS: ClassVar = (Hint("↑/↓", "scroll", 1), Hint("/", "filter", 2), Hint("esc", "back", 0))
    BINDINGS: ClassVar[list[BindingType]] = [
        *named(
            "mail",
            [
                Binding("escape,q,m", "close", "Back", show=False),
                Binding("slash", "filter", "Filter", show=False),
            ],
        ),
        Binding("enter", "close", show=False),
        Binding("question_mark", "help", show=False),
        *mode_bindings(),
        *way_bindings(),
    ]

    def __init__(self, company: OpenCompany, view: Projection) -> None:
        super().__init__()
        self._company = company
        self._view = view
        self._mail: list[Mailed] | None = None  # until it is read
        self.prose = Prose(empty="reading the mail…", id="all-mail")
        self.filter = FilterLine(MAIL_KEYS, lambda: self.prose, self._show, id="mail-filter")
        self._frame = Vertical(self.prose, self.filter, Static(said(_TOLD, "dim"), id="hint"), classes="dialog wide")

    def compose(self) -> ComposeResult:
        """One thread with a frame."""
        yield self._frame

    def on_mount(self) -> None:
        """The screen at once, the mail when it is read."""
        entitle(self._frame, said(_TITLE))
        self._read()

    @work(name="read the mail", group="mail", exclusive=True, exit_on_error=False)
    async def _read(self) -> None:
        self._mail = await read_mailed(self._company, self._view, "company:1")
        self._show()

    def _show(self) -> None:
        if self._mail is None:
            return
        found = [mail for mail in self._mail if self.filter.fits(mail.text, mail.values)]
        self.prose.empty = self.filter.nothing if self.filter.is_narrow else _NONE
        blocks = [block for mail in found for block in mail.blocks]
        self.prose.set_blocks(blocks, thread=f"mail {self.filter.value.strip() if self.filter.is_narrow else ''}")
        entitle(self._frame, self.filter.title(_TITLE, len(found), len(self._mail)))

    def action_filter(self) -> None:
        """Ask for words."""
        self.filter.ask()

    @on(FilterLine.Refused)
    def _wrong_filter(self, event: FilterLine.Refused) -> None:
        self.app.notify(str(event.problem), severity="warning", markup=False)

    def on_click(self, event: events.Click) -> None:
        """A click beside the dialog closes it, too."""
        if self.get_widget_at(*event.screen_offset)[0] is self:
            self.dismiss()

    def action_help(self) -> None:
        """Every key, those of lists and texts first."""
        from tui.screens.reading import help_screen

        self.app.push_screen(help_screen(self.app.room.situation, keymap=self._view.keymap, here="lists"))

    def action_close(self) -> None:
        """Out of the filter, then back to the room."""
        if self.filter.is_narrow:
            self.filter.clear()
        else:
            self.dismiss()
