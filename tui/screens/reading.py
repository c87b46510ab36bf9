"""Screens that only tell: the help, made from the table of actions, and the dry run of the next tick."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from core.domain.ceo_mode import CeoModeAnswer
from core.domain.plan import Action as PlannedAction
from core.domain.plan import Plan
from tui.actions import (
    ACTIONS,
    AGENT_KEYS,
    BOARD_KEYS,
    DECIDE,
    HISTORY_KEYS,
    LOOK,
    PROMPT_KEYS,
    RUN,
    TALK_KEYS,
    WATCH_KEYS,
    WIDGET_KEYS,
    WRITE,
    Hint,
    Situation,
    label_of,
)
from tui.keymap import LISTS, USUAL, Keymap, people_say
from tui.panes.ceo import MEANS
from tui.panes.words import said
from tui.projection import Projection
from tui.text import act_in_words, in_words, wrap
from tui.widgets.row import Slot, lay_out
from tui.widgets.row_painter import GUTTER, MARGIN
from tui.widgets.rows import Cell, Column, Row, Rows


class Reading(ModalScreen[None]):
    """A list over the room; esc, q or enter go back."""

    CSS_PATH = "dialogs.tcss"
    HINTS: ClassVar = (Hint("↑/↓", "move", 1), Hint("esc", "back", 0))
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,T,enter", "close", "Back", show=False)]

    def __init__(self, title: str, columns: Sequence[Column], rows: Sequence[Row], empty: str = "") -> None:
        super().__init__()
        self._heading = title
        self._rows = rows
        self.list = Rows(*columns, markable=False, empty=empty, id="reading")

    def compose(self) -> ComposeResult:
        """One list with a frame."""
        with Vertical(classes="dialog wide") as dialog:
            dialog.border_title = said(self._heading)
            yield self.list
            yield Static(said("↑/↓ move · esc goes back", "dim"), id="hint")

    def on_resize(self) -> None:
        """Every text is there whole at every width."""
        self.call_after_refresh(self._fold)

    def show_rows(self, rows: Sequence[Row], empty: str) -> None:
        """What was worked out meanwhile."""
        self.list.empty = empty
        self._rows = rows
        self._fold()

    def _fold(self) -> None:
        scrollbar = 1
        slots = lay_out(self.list.columns, max(1, self.list.size.width - GUTTER - MARGIN - scrollbar))
        self.list.set_rows([each for row in self._rows for each in _folded(row, slots)])

    def action_close(self) -> None:
        """Back to the room."""
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        """A click beside the dialog closes it, too."""
        if self.get_widget_at(*event.screen_offset)[0] is self:
            self.dismiss(None)

    def on_rows_selected(self) -> None:
        """Enter goes back too: there is nothing to open."""
        self.dismiss(None)


_PLACES = (
    (LISTS, "In lists and texts", WIDGET_KEYS), ("board", "The whole board", BOARD_KEYS),
    ("agents", "The agents", AGENT_KEYS), ("run", "A run, live", WATCH_KEYS), ("prompts", "The prompts", PROMPT_KEYS),
    ("history", "The history and the past", HISTORY_KEYS),
)  # fmt: skip
"""By place: the heading and the keys of a screen's section."""


def help_screen(
    situation: Situation, ceo: CeoModeAnswer | None = None, keymap: Keymap = USUAL, here: str = ""
) -> Reading:
    """Every key, what it does, and why it does not apply now. `here` is the screen that is helped: it stands first."""
    own = next((each for each in _PLACES if each[0] == here), None)
    rows: list[Row] = []
    if own is not None:
        rows += [*_section(own, keymap, "Here: "), *_section(_PLACES[0], keymap)]
    rows += _room_keys(situation, keymap)
    for place in _PLACES:
        if place is not own and (own is None or place is not _PLACES[0]):
            rows += _section(place, keymap)
    if ceo is not None:
        # the small screen has no room for the pane that tells it
        rows.append(Row("CEO", ("", "", ("The CEO", "strong"))))
        rows.append(Row("mode", ("", in_words(ceo.mode), MEANS[ceo.mode])))
        rows += [Row(f"why {place}", ("", "since", why)) for place, why in enumerate(ceo.reasons)]
    columns = (
        Column("key", width=9), Column("", width=11), Column("what it does", min_width=30),
        Column("why not now", width=36, drop_below=96),
    )  # fmt: skip
    where = f"{own[1][0].lower()}{own[1][1:]} · then every other key" if own is not None else "every key"
    return Reading(f"Help: {where}, and why one does not apply now", columns, rows)


def _section(place: tuple[str, str, tuple[tuple[str, str], ...]], keymap: Keymap, before: str = "") -> list[Row]:
    """The keys of one screen below its heading."""
    name, title, table = place
    heading = f"{before}{title[0].lower()}{title[1:]}" if before else title
    rows = [Row(f"section {name}", ("", "", (heading, "strong")))]
    return [*rows, *(Row(f"{name} {keys}", ((keymap.instead(keys, name), "info"), "", about)) for keys, about in table)]


def _room_keys(situation: Situation, keymap: Keymap) -> list[Row]:
    """The keys of the control room by group, with why one does not apply now."""
    rows: list[Row] = []
    for group in (DECIDE, WRITE, RUN, LOOK):
        rows.append(Row(group, ("", "", (group, "strong"))))
        for action in ACTIONS:
            if action.group == group:
                why_not = action.why_not(situation)
                keys = " ".join(people_say(key) for key in keymap.keys(action.name))
                cells: tuple[Cell, ...] = ((keys, "info"), label_of(action, situation), action.about, (why_not, "dim"))
                rows.append(Row(action.name, cells, muted=bool(why_not)))
        if group == WRITE:
            rows += [Row(f"talk {keys} {about}", ((keys, "info"), where, about)) for keys, where, about in TALK_KEYS]
    return rows


def _folded(row: Row, slots: Sequence[Slot]) -> Iterator[Row]:
    """The row, and below it what its texts have no room for; a text without a column stands below the last one."""
    lines: dict[int, list[Cell]] = {slot.index: [] for slot in slots}
    for index, cell in enumerate(row.cells):
        text, tone = (cell, None) if isinstance(cell, str) else cell
        slot = next((each for each in slots if each.index == index), slots[-1])
        text = text if slot.index == index or not text else f"· {text}"
        wrapped = wrap(text, max(2, slot.width)) if text else []
        lines[slot.index] += [(part, tone) if tone else part for part in wrapped]
    for number in range(max(1, *(len(parts) for parts in lines.values()))):
        cells: list[Cell] = [""] * len(row.cells)
        for index, parts in lines.items():
            if index < len(cells) and number < len(parts):
                cells[index] = parts[number]
        yield Row(f"{row.id}+{number}" if number else row.id, tuple(cells), muted=row.muted)


def dry_run_screen() -> Reading:
    """Says what the next tick would do, as soon as that is worked out."""
    columns = (Column("step", width=10), Column("what", min_width=16), Column("why", min_width=16))
    return Reading("Dry run: what the next tick would do", columns, (), "working it out…")


def dry_run_rows(plan: Plan, view: Projection) -> list[Row]:
    """What the next tick would do and what it holds back; nothing of it is done."""
    rows: list[Row] = []
    if plan.actions:
        rows.append(Row("does", ("", ("It would do", "strong"), "")))
    for number, action in enumerate(plan.actions):
        cells: tuple[Cell, ...] = ((action.step.name.lower(), "info"), _act(action, view), (action.why, "dim"))
        rows.append(Row(f"a{number}", cells))
    if plan.held:
        rows.append(Row("holds", ("", ("It would hold back", "strong"), "")))
    for number, held in enumerate(plan.held):
        rows.append(Row(f"h{number}", (("waits", "warn"), _tag(held.entity), held.why)))
    return rows


_LETTERS = {"run": "R", "task": "T", "goal": "G", "approval": "Q", "task_id": "T", "goal_id": "G"}


def _act(action: PlannedAction, view: Projection) -> str:
    """An action of the plan in words: `queue run: broadcast by inventory on T5`."""
    given = action.arguments
    words = act_in_words(action.act)
    kind = act_in_words(in_words(given.get("kind", "")))
    who = str(given.get("agent") or view.slug(given.get("agent_id")))
    about = [f"{letter}{given[name]}" for name, letter in _LETTERS.items() if isinstance(given.get(name), int)]
    about += [f"T{number}" for name in ("tasks", "offers") for number in given.get(name, ())]
    if isinstance(given.get("entity"), str):
        about.append(_tag(given["entity"]))
    more = (kind, f"by {who}" if who else "", f"on {', '.join(about)}" if about else "")
    return f"{words}: {' '.join(part for part in more if part)}" if any(more) else words


def _tag(ref: str) -> str:
    kind, _, number = ref.partition(":")
    letters = {"goal": "G", "task": "T", "run": "R", "agent": "A"}
    return f"{letters[kind]}{number}" if kind in letters else ref.replace(":", " ")
