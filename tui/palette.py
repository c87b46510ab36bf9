"""The palette: every action that applies now, by name, and the themes. Made from the table of actions."""

from collections.abc import Callable, Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from tui.actions import ACTIONS, DECIDE, WRITE, label_of
from tui.panes.frame import PANES
from tui.screens.control import ControlScreen


class RoomCommands(Provider):
    """Offers nothing that would be refused."""

    async def discover(self) -> Hits:
        """All of it, before anything is typed."""
        for name, about, act in self._offered():
            yield DiscoveryHit(name, act, help=about)

    async def search(self, query: str) -> Hits:
        """What fits the letters."""
        matcher = self.matcher(query)
        for name, about, act in self._offered():
            if (score := matcher.match(name)) > 0:
                yield Hit(score, matcher.highlight(name), act, help=about)

    def _offered(self) -> Iterator[tuple[str, str, Callable[[], None]]]:
        room = self.screen
        if not isinstance(room, ControlScreen):
            return
        keys = room.app.personal.keymap
        for action in ACTIONS:
            if action.name != "palette" and not action.why_not(room.situation):
                tag = (
                    f" {room.situation.tag}"
                    if action.group in (DECIDE, WRITE) and action.name not in ("undo", "new_goal")
                    else ""
                )
                word = f"{label_of(action, room.situation)}{tag}"
                yield (
                    f"{word}  ({keys.shown(action.name)})",
                    action.about,
                    partial(room.action_act, action.name),
                )
        for pane in PANES:
            verb = "show" if pane in room.arranging.body.hidden else "hide"
            yield f"{verb}: {pane}", "Panes that are hidden are remembered", partial(room.arranging.toggle, pane)
        for theme in sorted(self.app.available_themes):
            yield f"theme: {theme}", "Change the colours", partial(room.app.choose_theme, theme)
