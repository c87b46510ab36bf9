"""Screens that only tell: the help, made from the table of actions, and the dry run of the next tick."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from core.domain.plan import Plan
from tui.actions import ACTIONS, DECIDE, LOOK, RUN, SHOWN, WIDGET_KEYS, Situation, label_of
from tui.panes.words import said
from tui.widgets.rows import Cell, Column, Row, Rows


class Reading(ModalScreen[None]):
    """A list over the room; esc, q or enter go back."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,T,enter", "close", "Back", show=False)]

    def __init__(self, title: str, columns: Sequence[Column], rows: Sequence[Row], empty: str = "") -> None:
        super().__init__()
        self._heading = title
        self.list = Rows(*columns, markable=False, empty=empty, id="reading")
        self.list.set_rows(rows)

    def compose(self) -> ComposeResult:
        """One list with a frame."""
        with Vertical(classes="dialog wide") as dialog:
            dialog.border_title = said(self._heading)
            yield self.list
            yield Static(said("esc goes back", "dim"), id="hint")

    def action_close(self) -> None:
        """Back to the room."""
        self.dismiss(None)

    def on_rows_selected(self) -> None:
        """Enter goes back too: there is nothing to open."""
        self.dismiss(None)


def help_screen(situation: Situation) -> Reading:
    """Every key, what it does, and why it does not apply now."""
    rows: list[Row] = []
    for group in (DECIDE, RUN, LOOK):
        rows.append(Row(group, ("", (group, "strong"), "")))
        for action in ACTIONS:
            if action.group == group:
                why_not = action.why_not(situation)
                keys = " ".join(SHOWN.get(key, key) for key in action.keys)
                about: Cell = (f"{action.about} — now not: {why_not}", "dim") if why_not else action.about
                rows.append(Row(action.name, ((keys, "info"), label_of(action, situation), about)))
        if group == LOOK:
            rows += [Row(f"widget {keys}", ((keys, "info"), "", about)) for keys, about in WIDGET_KEYS]
    columns = (Column("key", width=9), Column("", width=11), Column("what it does"))
    return Reading("Help: every key, and why one does not apply now", columns, rows)


def dry_run_screen(plan: Plan) -> Reading:
    """What the next tick would do and what it holds back; nothing of it is done."""
    rows: list[Row] = []
    if plan.actions:
        rows.append(Row("does", ("", ("It would do", "strong"), "")))
    for number, action in enumerate(plan.actions):
        about = ", ".join(f"{key} {value}" for key, value in action.arguments.items() if key != "key")
        rows.append(
            Row(f"a{number}", ((action.step.name.lower(), "info"), f"{action.act} ({about})", (action.why, "dim")))
        )
    if plan.held:
        rows.append(Row("holds", ("", ("It holds back", "strong"), "")))
    for number, held in enumerate(plan.held):
        rows.append(Row(f"h{number}", (("waits", "warn"), _tag(held.entity), held.why)))
    columns = (Column("step", width=10), Column("what", min_width=16), Column("why", min_width=16))
    return Reading("Dry run: what the next tick would do", columns, rows, "Nothing: the board is quiet.")


def _tag(ref: str) -> str:
    kind, _, number = ref.partition(":")
    letters = {"goal": "G", "task": "T", "run": "R", "agent": "A"}
    return f"{letters[kind]}{number}" if kind in letters else ref.replace(":", " ")
