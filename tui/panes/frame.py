"""Where the panes of the room stand: how much room each has, which are hidden, and which one has all of it.

The mouse moves a border between two panes. At less than 100 columns one column is shown, and widths mean nothing.
"""

from collections.abc import Callable

from textual import events
from textual.containers import Horizontal
from textual.widget import Widget

from tui.remembered import Layout

WHOLE = Layout()
PANES = ("inbox", "board", "detail", "strip")
_WIDTHS, _HEIGHTS = (20, 80), (15, 85)
STEP = 5


class Body(Horizontal):
    """The body of the room with its four panes; `changed` hears each change that is worth remembering."""

    def __init__(self, *, changed: Callable[[Layout], None]) -> None:
        super().__init__(id="body")
        self._changed = changed
        self._layout: Layout | None = None  # None: as the style sheets say
        self._zoomed = ""
        self._dragging = ""

    @property
    def hidden(self) -> tuple[str, ...]:
        """The panes that are hidden by wish."""
        return self._layout.hidden if self._layout is not None else ()

    @property
    def zoomed(self) -> str:
        """The pane that has all the room; empty when all have theirs."""
        return self._zoomed

    def restore(self, layout: Layout | None) -> None:
        """As it was remembered."""
        self._layout = layout
        self._place()

    # ------------------------------------------------------------- what the keys do

    def widen(self, steps: int) -> None:
        """Give the left side more of the width; the detail has the rest."""
        self._change(left=_within(_WIDTHS, self._shares()[0] + steps * STEP))

    def heighten(self, steps: int) -> None:
        """Give the inbox more of the height; the board has the rest."""
        self._change(inbox=_within(_HEIGHTS, self._shares()[1] + steps * STEP))

    def toggle(self, pane: str) -> bool:
        """Hide a pane, or show it again; whether it is there now. The last one with a list stays."""
        now = tuple(each for each in PANES if (each in self.hidden) != (each == pane))
        if {"inbox", "board", "detail"} <= set(now):
            return True
        self._change(hidden=now)
        return pane not in now

    def reveal(self, pane: str) -> None:
        """It is wanted: show it if it was hidden."""
        if pane in self.hidden:
            self.toggle(pane)

    def zoom(self, pane: str) -> None:
        """Give one pane all the room; an empty name gives each its own again."""
        self._zoomed = pane
        self._place()

    def reset(self) -> None:
        """Every pane where the style sheets put it."""
        self._zoomed, self._layout = "", None
        self._place()
        self._changed(WHOLE)

    # ------------------------------------------------------------- what the mouse does

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """A border between two panes is taken."""
        left, inbox = self._pane("left").region, self._pane("inbox").region
        x, y = event.screen_x, event.screen_y
        if self._zoomed or not self._pane("left").display:
            return
        if self._pane("detail").display and x in (left.right - 1, left.right) and left.y <= y < left.bottom:
            self._dragging = "left"
        elif self._pane("board").display and y in (inbox.bottom - 1, inbox.bottom) and left.x <= x < left.right:
            self._dragging = "inbox"
        else:
            return
        event.stop()
        self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """The border follows the mouse."""
        side = self._pane("left").region
        if self._dragging == "left":
            wide = side.width + self._pane("detail").region.width
            self._change(left=_within(_WIDTHS, round(100 * (event.screen_x + 1 - side.x) / max(1, wide))), tell=False)
        elif self._dragging == "inbox":
            share = round(100 * (event.screen_y + 1 - side.y) / max(1, side.height))
            self._change(inbox=_within(_HEIGHTS, share), tell=False)

    def on_mouse_up(self) -> None:
        """It is let go where it is."""
        if self._dragging:
            self._dragging = ""
            self.release_mouse()
            self._changed(self._layout or WHOLE)

    # ------------------------------------------------------------- where they stand

    def on_resize(self) -> None:
        """Widths hold only where two columns stand side by side."""
        self._place()

    def _pane(self, name: str) -> Widget:
        return self.query_one(f"#{name}")

    def _shares(self) -> tuple[int, int]:
        """What the left side has of the width and the inbox of the height, in percent, as it is drawn."""
        left, detail, inbox = (self._pane(name).region for name in ("left", "detail", "inbox"))
        wide, high = left.width + detail.width, left.height
        layout = self._layout or WHOLE
        is_split = left.width and detail.width
        return (
            round(100 * left.width / wide) if is_split else layout.left,
            round(100 * inbox.height / high) if inbox.height and high else layout.inbox,
        )

    def _change(self, *, left: int | None = None, inbox: int | None = None, hidden: tuple[str, ...] | None = None,
                tell: bool = True) -> None:  # fmt: skip
        now = self._shares()
        self._layout = Layout(
            left=_within(_WIDTHS, now[0] if left is None else left),
            inbox=_within(_HEIGHTS, now[1] if inbox is None else inbox),
            hidden=self.hidden if hidden is None else hidden,
        )
        self._place()
        if tell:
            self._changed(self._layout)

    def _place(self) -> None:
        """Bring classes and shares to what is wished; without a wish the style sheets decide alone."""
        if not self.is_mounted:
            return
        gone = {name for name in PANES if name in self.hidden or self._zoomed not in ("", name)}
        if {"inbox", "board"} <= gone:
            gone.add("left")
        for name in (*PANES, "left"):
            self._pane(name).set_class(name in gone, "-gone")
        is_narrow = self.screen.has_class("-narrow")
        layout = self._layout
        one_column = is_narrow or layout is None or "left" in gone or "detail" in gone
        self._pane("left").styles.width = None if one_column or layout is None else f"{layout.left}fr"
        self._pane("detail").styles.width = None if one_column or layout is None else f"{100 - layout.left}fr"
        alone = layout is None or {"inbox", "board"} & gone or is_narrow
        self._pane("inbox").styles.height = None if alone or layout is None else f"{layout.inbox}%"
        self.set_class("left" in gone, "-no-left")
        self.set_class("detail" in gone, "-no-detail")
        self.set_class("board" in gone, "-no-board")


def _within(bounds: tuple[int, int], share: int) -> int:
    return min(max(share, bounds[0]), bounds[1])
