"""What the operator does about the panes of the room: zoom, sizes, hiding; and the way of the focus among them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.widget import Widget

from tui.panes.frame import Body
from tui.remembered import Layout

if TYPE_CHECKING:
    from tui.screens.control import ControlScreen


class Arranging:
    """The acts by name, as the table of actions calls them. Beside `Leading` and `Writing`."""

    def __init__(self, room: "ControlScreen") -> None:
        self._room = room
        self.body = Body(changed=self._remember)

    @property
    def _lists(self) -> Mapping[str, Widget]:
        return {"inbox": self._room.inbox.list, "board": self._room.board.list, "detail": self._room.detail.prose}

    @property
    def _pane(self) -> str:
        """The pane that has the focus."""
        focused = self._room.focused
        pane = next((name for name, each in self._lists.items() if each is focused), "")
        return pane or ("board" if self._room.board.field.has_focus else "detail" if self.in_detail else "inbox")

    @property
    def in_detail(self) -> bool:
        """Whether the selected thing is being read."""
        return self._room.has_class("-in-detail")

    def _remember(self, layout: Layout) -> None:
        self._room.app.personal.memory.keep(layout=layout)

    def restore(self) -> None:
        """As the room was left."""
        self.body.restore(self._room.app.personal.memory.now.layout)

    def focused(self, widget: Widget | None) -> None:
        """A pane that gets the focus is seen: it is shown again, and takes over the zoom."""
        pane = next((name for name, each in self._lists.items() if each is widget), "")
        if pane:
            self.body.reveal(pane)
            if self.body.zoomed not in ("", pane):
                self.body.zoom(pane)

    def step(self, by: int) -> None:
        """To the next pane or the one before, also where only one is shown at a time."""
        one_at_a_time = self.body.zoomed or self._room.has_class("-narrow")
        there = [name for name in self._lists if name not in self.body.hidden]
        if one_at_a_time and self._room.focused in self._lists.values() and there:
            place = there.index(self._pane) if self._pane in there else 0
            self._lists[there[(place + by) % len(there)]].focus()
        elif by > 0:
            self._room.focus_next()
        else:
            self._room.focus_previous()

    # ------------------------------------------------------------- the acts

    def zoom(self) -> None:
        """The pane with the focus takes all the room, or gives it back."""
        self.body.zoom("" if self.body.zoomed else self._pane)

    def wider(self) -> None:
        """More width for the left side."""
        self._widen(1)

    def narrower(self) -> None:
        """More width for the detail."""
        self._widen(-1)

    def _widen(self, steps: int) -> None:
        if self._room.has_class("-narrow"):
            self._room.say("One column is shown here; from 100 columns on there are two.", "dim")
        else:
            self.body.widen(steps)

    def higher(self) -> None:
        """More height for the inbox."""
        self._heighten(1)

    def lower(self) -> None:
        """More height for the board."""
        self._heighten(-1)

    def _heighten(self, steps: int) -> None:
        if self._room.has_class("-narrow"):
            self._room.say(f"This is too small to move borders; {self._key('zoom')} gives one pane all of it.", "dim")
        else:
            self.body.heighten(steps)

    def hide(self) -> None:
        """Hide the pane with the focus; the next one gets it."""
        pane = self._pane
        others = [name for name in self._lists if name != pane and name not in self.body.hidden]
        if not others:
            self._room.say("This is the last pane.", "warn")
            return
        self.body.zoom("")
        self._lists[others[0]].focus()
        self.toggle(pane)

    def toggle(self, pane: str) -> None:
        """Hide this pane, or show it again."""
        name = {"strip": "round and CEO"}.get(pane, pane)
        if self.body.toggle(pane):
            self._room.say(f"{name}: shown", "good")
        else:
            self._room.say(f"{name}: hidden; {self._key('all_panes')} shows every pane again.", "good")

    def all_panes(self) -> None:
        """Every pane in its usual place."""
        self.body.reset()
        self._room.say("Every pane is in its usual place.", "good")

    def _key(self, action: str) -> str:
        return self._room.view.keymap.shown(action)
