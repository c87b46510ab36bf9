"""Forms of lines over a screen: `^s` hands the text over, once; `esc` leaves and what was written is kept."""

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


class TextForm(ModalScreen[bool]):
    """A text, what is wrong with it, and the two keys; who makes one of it says what saving and leaving do."""

    CSS_PATH: ClassVar = ["dialogs.tcss", "lines_form.tcss"]
    HINTS: ClassVar = (Hint("^s", "save", 1), Hint("^o", "in $EDITOR", 2), Hint("esc", "leave", 0))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "Save", show=False, priority=True),
        Binding("escape", "leave", "Leave", show=False, priority=True),
        Binding("ctrl+o", "in_editor", "In $EDITOR", show=False, priority=True),
    ]

    def __init__(self, title: str, text: str, hint: str, *, line_numbers: bool = False) -> None:
        super().__init__()
        self._heading = title
        self._saving = False
        self.text = TextArea(text, id="lines", soft_wrap=True, show_line_numbers=line_numbers)
        self.problem = Static(id="lines-problem")
        self.hint = Static(said(hint, "dim"), id="lines-hint")

    def compose(self) -> ComposeResult:
        """The text, what is wrong with it, and the two keys."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = said(self._heading)
            yield self.text
            yield self.problem
            yield self.hint

    def on_mount(self) -> None:
        """The cursor stands behind the first line."""
        self.text.focus()
        self.text.move_cursor((0, len(self.text.document.get_line(0))))

    @on(TextArea.Changed)
    def _changed(self) -> None:
        self.tell("")

    def tell(self, text: str, tone: Tone = "bad") -> None:
        """Say below the text what is wrong with it."""
        put(self.problem, said(text, tone), layout=True)

    def hand_over(self, save: Awaitable[str], saved: Callable[[], None]) -> None:
        """Save by a worker; `saved` is called when nothing was wrong."""
        self._saving = True
        self._hand_over(save, saved)

    @work(name="save the form", group="commands", exit_on_error=False)
    async def _hand_over(self, save: Awaitable[str], saved: Callable[[], None]) -> None:
        try:
            problem = await save
        except OpsroomError as refused:
            problem = str(refused)
        finally:
            self._saving = False
        if problem:
            self.tell(problem)
            return
        saved()
        self.close(True)

    def action_in_editor(self) -> None:
        """Write it in the operator's editor; what is saved there stands here."""
        if (ways := getattr(self.app, "ways", None)) is not None:
            ways.write(self.text.text, self._come_back)

    def _come_back(self, text: str) -> None:
        self.text.text = text.removesuffix("\n")

    def close(self, was_saved: bool) -> None:
        """Back to the screen below; nothing else is closed when this one is closed already."""
        if self.is_current:
            self.dismiss(was_saved)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What is being saved is not saved once more."""
        return not (action == "save" and self._saving)


class LinesForm(TextForm):
    """`begun` is the text as it stood on the board; `kept` what was written before and not saved."""

    def __init__(self, title: str, begun: str, kept: str, what_it_does: str, save: Save, keep: Callable[[str], None]):
        super().__init__(title, kept or begun, f"^s {what_it_does} · esc leaves and keeps it")
        self._begun = begun
        self._save = save
        self._keep = keep

    def action_leave(self) -> None:
        """Leave without saving; the text is kept for the next time."""
        self._keep(self.text.text if self.text.text != self._begun else "")
        self.close(False)

    def action_save(self) -> None:
        """Hand it over."""
        self.hand_over(self._save(self.text.text), lambda: self._keep(""))
