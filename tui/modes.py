"""The modes of the room, one key each: a row here, an action of the same name, and `MODE` on the screen it opens.

The control room lies below all of them. A key of a mode works on every screen that can be left at any time, unless
that screen needs the key itself; the mode is remembered until the next start.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from tui.actions import ACTIONS
from tui.keymap import slot_name

if TYPE_CHECKING:
    from tui.app import OpsroomApp

HOME = "home"


@dataclass(frozen=True, slots=True)
class Mode:
    """`name` is that of the action that opens it; `label` stands in the line of crumbs."""

    name: str
    label: str


MODES: tuple[Mode, ...] = (
    Mode(HOME, "Control"),
    Mode("board", "Board"),
    Mode("agents", "Agents"),
    Mode("prompts", "Prompts"),
    Mode("mail", "Mail"),
    Mode("history", "History"),
)
_LABELS = {mode.name: mode.label for mode in MODES} | {"run": "Run", "past": "Past"}
"""A run is looked at from any mode, the past from the history."""


def mode_bindings() -> list[BindingType]:
    """The keys of the modes, for the app and for what stands over the room as a dialog."""
    keys = {action.name: action.keys for action in ACTIONS}
    return [
        Binding(",".join(keys[mode.name]), f"app.mode('{mode.name}')", mode.label, show=False,
                id=f"room.{slot_name(mode.name)}")
        for mode in MODES
    ]  # fmt: skip


def room_bindings(but: Collection[str] = ()) -> list[BindingType]:
    """The keys of the room, for it and for what shows its things in another way."""
    return [
        Binding(",".join(each.keys), f"act('{each.name}')", each.about, show=False, id=f"room.{slot_name(each.name)}")
        for each in ACTIONS
        if each.name not in but
    ]


def mode_of(screen: Screen[object]) -> str:
    """What a screen is called here; empty for one that is no mode, e.g. a question."""
    return str(getattr(screen, "MODE", ""))


def crumbs(app: App[object]) -> list[tuple[str, str]]:
    """Where one is and how one came there, as names and labels, e.g. Control, Agents, Run; none in the room itself."""
    path = [(name, _LABELS[name]) for screen in app.screen_stack if (name := mode_of(screen)) in _LABELS]
    return path if len(path) > 1 else []


class _Owner(Protocol):
    """Who opened a screen, and forgets it when it is left."""

    def left(self, screen: Any, /) -> None: ...


class Modes:
    """Which mode is shown, and the way to another."""

    def __init__(self, app: "OpsroomApp") -> None:
        self._app = app

    @property
    def now(self) -> str:
        """The mode on the screen: the uppermost of the table."""
        names = [mode_of(screen) for screen in self._app.screen_stack]
        return next((name for name in reversed(names) if any(mode.name == name for mode in MODES)), HOME)

    def go(self, name: str) -> bool:
        """Show this mode: what stands over the control room is left, if that loses nothing; else False."""
        room = self._app.room
        above = [screen for screen in self._app.screen_stack if screen is not room and screen.is_attached][1:]
        composer = getattr(self._app.screen, "composer", None)
        if not all(map(mode_of, above)) or (composer is not None and composer.asks):
            return False
        looks = room.looking_back
        owners: dict[Screen[Any] | None, _Owner] = {
            room.leading.screen: room.leading, room.prompting.screen: room.prompting,
            room.attaching.screen: room.attaching, looks.screen: looks, looks.then: looks,
            room.boarding.screen: room.boarding,
        }  # fmt: skip
        for screen in reversed(above):
            if screen in owners:
                owners[screen].left(screen)
            else:
                screen.dismiss()
        if name != HOME:
            room.action_act(name)
        return True

    def note(self) -> None:
        """Remember the mode that is shown."""
        memory = self._app.personal.memory
        if self._app.room.view.loaded and memory.now.mode != self.now:
            memory.keep(mode=self.now)

    def restore(self) -> None:
        """Show what was shown when the room was left."""
        name = self._app.personal.memory.now.mode
        if name != HOME and any(mode.name == name for mode in MODES):
            self._app.room.action_act(name)
