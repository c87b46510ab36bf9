"""A question before something that cannot be taken back: what will happen, and Cancel has the focus."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from tui.actions import Hint
from tui.panes.differences import Differences, DifferencesView
from tui.panes.words import said
from tui.text import plain

DEAF_S = 0.4


class Confirm(ModalScreen[bool]):
    """Answers true only for the other button, and only after the eye has had time to see the question."""

    CSS_PATH = "dialogs.tcss"
    HINTS: ClassVar = (Hint("←/→", "choose", 2), Hint("enter", "answers", 1), Hint("esc", "cancels", 0))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "cancel", "Cancel", show=False),
        Binding("left,up,h,k", "go('cancel')", show=False),
        Binding("right,down,l,j", "go('yes')", show=False),
        Binding("pageup", "turn(-1)", show=False),
        Binding("pagedown", "turn(1)", show=False),
    ]

    def __init__(
        self,
        title: str,
        lines: Sequence[str],
        yes: str,
        monotonic: Callable[[], float],
        differences: Differences | None = None,
    ) -> None:
        super().__init__()
        self._question = title
        self._lines = lines
        self._yes = yes
        self._differences = differences
        self._monotonic = monotonic
        self._asked_at = monotonic()

    def compose(self) -> ComposeResult:
        """What will happen, and two buttons."""
        with Vertical(classes="dialog" if self._differences is None else "dialog sides") as dialog:
            dialog.border_title = said(self._question)
            yield Static(Content("\n".join(plain(each) for each in self._lines)), id="what")
            if self._differences is not None:
                with VerticalScroll(id="sides", can_focus=False):
                    yield DifferencesView(self._differences)
            with Horizontal(id="buttons"):
                yield Static(said("←/→ choose · enter · esc cancels", "dim"), id="which")
                yield Button("Cancel", id="cancel", compact=True)
                yield Button(said(self._yes), id="yes", variant="error", compact=True)

    def on_mount(self) -> None:
        """Enter alone does nothing."""
        self._asked_at = self._monotonic()
        self.query_one("#cancel").focus()

    @on(Button.Pressed)
    def _answered(self, event: Button.Pressed) -> None:
        event.stop()
        if self._monotonic() - self._asked_at < DEAF_S:
            return
        self.dismiss(event.button.id == "yes")

    def action_go(self, button: str) -> None:
        """Left is always Cancel, however often it is pressed."""
        self.query_one(f"#{button}").focus()

    def action_turn(self, pages: int) -> None:
        """What does not fit is a page further on."""
        for sides in self.query("#sides").results(VerticalScroll):
            (sides.scroll_page_down if pages > 0 else sides.scroll_page_up)(animate=False)

    def action_cancel(self) -> None:
        """No."""
        self.dismiss(False)
