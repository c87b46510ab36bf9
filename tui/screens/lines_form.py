"""A form of lines over a screen: `^s` hands the text over, `esc` leaves and what was written is kept."""

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from core.domain.errors import OpsroomError
from tui.actions import Hint
from tui.panes.words import put, said
from tui.widgets.row import Tone

Save = Callable[[str], Awaitable[str]]
"""Takes the text; returns what is wrong with it, or nothing. Raises what the board refuses it with."""


class LinesForm(ModalScreen[bool]):
    """`begun` is the text as it stood on the board; `kept` what was written before and not saved."""

    CSS_PATH: ClassVar = ["dialogs.tcss", "lines_form.tcss"]
    HINTS: ClassVar = (Hint("^s", "save", 1), Hint("esc", "leave", 0))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "Save", show=False, priority=True),
        Binding("escape", "leave", "Leave", show=False, priority=True),
    ]

    def __init__(self, title: str, begun: str, kept: str, what_it_does: str, save: Save, keep: Callable[[str], None]):
        super().__init__()
        self._heading = title
        self._begun = begun
        self._does = what_it_does
        self._save_text = save
        self._keep = keep
        self._saving = False
        self.text = TextArea(kept or begun, id="lines", soft_wrap=True, show_line_numbers=False)
        self.problem = Static(id="lines-problem")

    def compose(self) -> ComposeResult:
        """The text, what is wrong with it, and the two keys."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = said(self._heading)
            yield self.text
            yield self.problem
            yield Static(said(f"^s {self._does} · esc leaves and keeps it", "dim"), id="lines-hint")

    def on_mount(self) -> None:
        """The cursor stands behind the first line."""
        self.text.focus()
        self.text.move_cursor((0, len(self.text.document.get_line(0))))

    @on(TextArea.Changed)
    def _changed(self) -> None:
        self._say("")

    def _say(self, text: str, tone: Tone = "bad") -> None:
        put(self.problem, said(text, tone), layout=True)

    def action_leave(self) -> None:
        """Leave without saving; the text is kept for the next time."""
        self._keep(self.text.text if self.text.text != self._begun else "")
        self.dismiss(False)

    def action_save(self) -> None:
        """Hand it over, once."""
        if not self._saving:
            self._saving = True
            self._hand_over(self.text.text)

    @work(name="save the form", group="commands", exit_on_error=False)
    async def _hand_over(self, text: str) -> None:
        try:
            problem = await self._save_text(text)
        except OpsroomError as refused:
            problem = f"{refused.message} {refused.hint}".strip()
        finally:
            self._saving = False
        if problem:
            self._say(problem)
            return
        self._keep("")
        self.dismiss(True)
