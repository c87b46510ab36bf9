"""A question before something that cannot be taken back: what will happen, and Cancel has the focus."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from tui.actions import Hint
from tui.panes.differences import Differences, DifferencesView
from tui.panes.words import put, said
from tui.text import plain

DEAF_S = 0.4
FRAME = 6  # lines of the dialog that are no text: its border, its padding and the buttons
KEYS = "←/→ choose · enter · esc cancels"
MORE_KEYS = "pgdn reads on · esc cancels"


class Confirm(ModalScreen[bool]):
    """Answers true only for the other button, once its end was shown, and after the eye had time to see it."""

    CSS_PATH = "dialogs.tcss"
    HINTS: ClassVar = (Hint("←/→", "choose", 2), Hint("enter", "answers", 1), Hint("esc", "cancels", 0))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "cancel", "Cancel", show=False),
        Binding("left,up,h,k", "go('cancel')", show=False),
        Binding("right,down,l,j", "go('yes')", show=False),
        Binding("pageup", "turn(-1)", show=False),
        Binding("pagedown", "turn(1)", show=False),
    ]

    what = getters.query_one("#what", VerticalScroll)

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
        self._was_at_end = False

    def compose(self) -> ComposeResult:
        """What will happen, and two buttons."""
        with Vertical(classes="dialog" if self._differences is None else "dialog sides") as dialog:
            dialog.border_title = said(self._question)
            with VerticalScroll(id="what", can_focus=False):
                yield Static(Content("\n".join(plain(each) for each in self._lines)))
                if self._differences is not None:
                    yield DifferencesView(self._differences)
            with Horizontal(id="buttons"):
                yield Static(said(KEYS, "dim"), id="which")
                yield Button("Cancel", id="cancel", compact=True)
                yield Button(said(self._yes), id="yes", variant="error", compact=True)

    def on_mount(self) -> None:
        """Enter alone does nothing."""
        self._asked_at = self._monotonic()
        self.query_one("#cancel").focus()
        self.watch(self.what, "scroll_y", self._scrolled, init=False)

    @on(Button.Pressed)
    def _answered(self, event: Button.Pressed) -> None:
        event.stop()
        if self._monotonic() - self._asked_at < DEAF_S:
            return
        if event.button.id == "yes" and self._has_more:
            self.action_turn(1)
            self._asked_at = self._monotonic()  # this page is seen only now
            return
        self.dismiss(event.button.id == "yes")

    def action_go(self, button: str) -> None:
        """Left is always Cancel, however often it is pressed."""
        self.query_one(f"#{button}").focus()

    def on_resize(self) -> None:
        """The buttons are always there; what has no room above them is a page further on."""
        self.what.styles.max_height = max(2, self.size.height * 9 // 10 - FRAME)
        self.call_after_refresh(self._say_if_there_is_more)

    @property
    def _has_more(self) -> bool:
        """Whether lines are left that were never on the screen."""
        return not self._was_at_end and self.what.max_scroll_y > 0

    def _scrolled(self) -> None:
        self._was_at_end = self._was_at_end or self.what.scroll_offset.y >= self.what.max_scroll_y
        self._say_if_there_is_more()

    def _say_if_there_is_more(self) -> None:
        put(self.query_one("#which", Static), said(MORE_KEYS if self._has_more else KEYS, "dim"))

    def action_turn(self, pages: int) -> None:
        """Read on, or back."""
        (self.what.scroll_page_down if pages > 0 else self.what.scroll_page_up)(animate=False)

    def action_cancel(self) -> None:
        """No."""
        self.dismiss(False)
