"""All mail of the company over the room, newest first: what waits for an answer is marked."""

from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from core.company import OpenCompany
from tui.actions import Hint
from tui.keymap import named
from tui.modes import mode_bindings
from tui.panes.mail import read_mail
from tui.panes.words import said
from tui.projection import Projection
from tui.widgets.prose import Prose


class MailScreen(ModalScreen[None]):
    """Only tells; mail is answered below the thing that it is about."""

    CSS_PATH: ClassVar = ["dialogs.tcss", "mail.tcss"]
    MODE = "mail"
    AUTO_FOCUS = "#all-mail"
    HINTS: ClassVar = (Hint("↑/↓", "scroll", 1), Hint("esc", "back", 0))
    BINDINGS: ClassVar[list[BindingType]] = [
        *named("mail", [Binding("escape,q,m", "close", "Back", show=False)]),
        Binding("enter", "close", show=False),
        *mode_bindings(),
    ]

    def __init__(self, company: OpenCompany, view: Projection) -> None:
        super().__init__()
        self._company = company
        self._view = view
        self.prose = Prose(empty="reading the mail…", id="all-mail")

    def compose(self) -> ComposeResult:
        """One thread with a frame."""
        with Vertical(classes="dialog wide") as dialog:
            dialog.border_title = said("Mail of the company, newest first")
            yield self.prose
            yield Static(said("↑/↓ scroll · esc goes back · 6 shows the mail of what is selected", "dim"), id="hint")

    def on_mount(self) -> None:
        """The screen at once, the mail when it is read."""
        self._read()

    @work(name="read the mail", group="mail", exclusive=True, exit_on_error=False)
    async def _read(self) -> None:
        blocks = await read_mail(self._company, self._view, "company:1")
        self.prose.empty = "No mail yet. /mail @name asks somebody, /inform @name tells them."
        self.prose.set_blocks(blocks, thread="mail")

    def action_close(self) -> None:
        """Back to the room."""
        self.dismiss()
