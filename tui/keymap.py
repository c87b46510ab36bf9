"""Keys by the person's wish: `[keys.room]` and its like in the settings, checked before the room starts.

A place (`room`, `lists`, a screen) has actions with keys. Keys of one place, and those of `lists` with every other
place, are heard at the same time: there no key may have two meanings.
"""

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

from tui.actions import ACTIONS, SHOWN, Hint

if TYPE_CHECKING:  # what the room remembers needs the names of keys, and nothing of the library
    from textual.binding import BindingType

LISTS = "lists"
_MODIFIERS = ("ctrl", "alt", "shift", "super")
_SIGNS = {"plus": "+", "minus": "-", "backslash": "\\", "at": "@", "underscore": "_", "slash": "/"}
TAKEN = {
    "tab": "goes to the next pane", "shift+tab": "goes to the pane before", "ctrl+c": "is for copying",
    "ctrl+z": "is the terminal's own", "ctrl+i": "is the same as tab in a terminal",
    "ctrl+m": "is the same as enter in a terminal", "ctrl+h": "is the same as backspace in many terminals",
}  # fmt: skip
"""Keys that no action may have, and why."""


@dataclass(frozen=True, slots=True)
class Slot:
    """An action that can have other keys. `ids` are its bindings: a list's action is bound in several widgets."""

    place: str
    name: str
    keys: tuple[str, ...]
    about: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeyFault:
    """What is wrong in `keys`, and at which setting."""

    at: tuple[str, ...]
    why: str


_LIST_ACTIONS = (
    ("up", ("up", "k"), "Up", ("rows.up", "prose.up")),
    ("down", ("down", "j"), "Down", ("rows.down", "prose.down")),
    ("page_up", ("pageup",), "A page up", ("rows.page_up", "prose.page_up")),
    ("page_down", ("pagedown",), "A page down", ("rows.page_down", "prose.page_down")),
    ("half_up", ("ctrl+u",), "Half a page up", ("rows.half_up", "prose.half_up")),
    ("half_down", ("ctrl+d",), "Half a page down", ("rows.half_down", "prose.half_down")),
    ("first", ("home", "g"), "To the first line", ("rows.first", "prose.start")),
    ("last", ("end", "G"), "To the last line", ("rows.last", "prose.end")),
    ("collapse", ("left", "h"), "Fold", ("rows.collapse",)),
    ("expand", ("right", "l"), "Unfold", ("rows.expand",)),
    ("open", ("enter",), "Open the selected thing", ("rows.open", "prose.follow")),
    ("next_target", ("full_stop",), "In a text: to the next id or @name", ("prose.next_target",)),
    ("previous_target", ("comma",), "In a text: to the id or @name before", ("prose.previous_target",)),
    ("mark", ("space",), "Mark", ("rows.mark",)),
)


def slot_name(action: str) -> str:
    """The name of an action of the room in the settings: `tab_1` for `tab(1)`."""
    return action.replace("(", "_").rstrip(")")


def room_slots() -> tuple[Slot, ...]:
    """The room's actions and those of its lists."""
    lists = tuple(Slot(LISTS, *each) for each in _LIST_ACTIONS)
    return tuple(
        Slot("room", slot_name(a.name), a.keys, a.about, (f"room.{slot_name(a.name)}",)) for a in ACTIONS
    ) + lists  # fmt: skip


def named(place: str, bindings: "Sequence[BindingType]") -> "list[BindingType]":
    """A screen's bindings with the ids by which the settings know them: `pause` for `act('pause')`."""
    from textual.binding import Binding

    return [
        replace(each, id=f"{place}.{_name(each.action)}") if isinstance(each, Binding) else each for each in bindings
    ]


def _name(action: str) -> str:
    """`act('turn', -1)` is turn_back, `page(2)` is page_2."""
    name, _, rest = action.partition("(")
    parts = [part.strip(" '\"") for part in rest.rstrip(")").split(",") if part.strip()]
    if name in ("act", "decide"):
        name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in parts.pop(0)).lstrip("_")
    return "_".join((name, *(part.replace("-1", "back") for part in parts)))


def slots_of(place: str, bindings: "Sequence[BindingType]") -> tuple[Slot, ...]:
    """What of a screen can have other keys: the bindings that are named by its place."""
    from textual.binding import Binding

    return tuple(
        Slot(place, each.id.partition(".")[2], tuple(each.key.split(",")), each.description, (each.id,))
        for each in bindings
        if isinstance(each, Binding) and each.id and each.id.startswith(f"{place}.")
    )


def all_slots() -> tuple[Slot, ...]:
    """Every action that can have other keys; imports the screens."""
    from tui.screens.agents import AgentsScreen
    from tui.screens.board_mode import BoardScreen
    from tui.screens.history import HistoryScreen
    from tui.screens.mail import MailScreen
    from tui.screens.prompts import PromptsScreen
    from tui.screens.run import RunScreen

    screens = (
        ("agents", AgentsScreen), ("prompts", PromptsScreen), ("run", RunScreen), ("history", HistoryScreen),
        ("mail", MailScreen), ("board", BoardScreen),
    )  # fmt: skip
    return room_slots() + tuple(slot for place, screen in screens for slot in slots_of(place, screen.BINDINGS))


# ------------------------------------------------------------- the names of keys


@cache
def _known() -> frozenset[str]:
    """The keys that have a name of their own."""
    from textual.keys import Keys

    return frozenset(key.value for key in Keys if key.value.isalnum()) - {"return"}


def key_of(text: str) -> str:
    """A key as the terminal's driver names it: `question_mark` for `?`. Raises ValueError that says what is wrong."""
    *modifiers, last = text.split("+") if len(text) > 1 and not text.endswith("+") else [text]
    if unknown := [each for each in modifiers if each not in _MODIFIERS]:
        raise ValueError(f"{unknown[0]!r} is no modifier; those are {', '.join(_MODIFIERS)}")
    key = "+".join((*modifiers, _single(last)))
    if key in TAKEN:
        raise ValueError(f"{key} {TAKEN[key]}")
    return key


def _single(text: str) -> str:
    from textual.keys import KEY_NAME_REPLACEMENTS, key_to_character

    if len(text) == 1 and text.isprintable() and not text.isspace() and not unicodedata.combining(text):
        if text.isalnum():
            return text
        name = unicodedata.name(text, "").lower().replace("-", "_").replace(" ", "_")
        return KEY_NAME_REPLACEMENTS.get(name, name)
    if text in _known() or text in SHOWN:
        return text
    if len(text) > 1 and (sign := key_to_character(text)):
        return _single(sign)
    raise ValueError(f"{text[:40]!r} is no key; write a letter, a sign, or a name like f5, home, ctrl+k")


def people_say(key: str) -> str:
    """A key as people read it: `?` for `question_mark`, `^k` for `ctrl+k`."""
    if key in SHOWN:
        return SHOWN[key]
    if len(key) == 1:
        return key
    from textual.keys import key_to_character

    before, _, last = key.rpartition("+")
    last = last if last in _known() else _SIGNS.get(last) or key_to_character(last) or last
    return f"^{last}" if before == "ctrl" else f"{before}+{last}" if before else last


def pressed(shown: str) -> str:
    """The key that people read so: `escape` for `esc`; empty for several at once, e.g. `↑/↓`."""
    for key, sign in SHOWN.items():
        if sign == shown:
            return key
    if shown.startswith("^") and len(shown) == 2:
        return f"ctrl+{shown[1]}"
    try:
        return shown if shown in ("enter", "tab", "space", "pgdn") else key_of(shown)
    except ValueError:
        return ""


# ------------------------------------------------------------- the keymap


@dataclass(frozen=True, slots=True)
class Keymap:
    """The keys of all actions that have other ones than usual, by binding: `room.approve` has `y`."""

    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    replaced: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By place: how a usual key is shown, and what is shown instead."""

    def for_textual(self) -> dict[str, str]:
        """As the library takes it."""
        return {name: ",".join(keys) for name, keys in self.changed.items()}

    def keys(self, action: str) -> tuple[str, ...]:
        """The keys of an action of the room."""
        usual = next((each.keys for each in ACTIONS if each.name == action), ())
        return self.changed.get(f"room.{slot_name(action)}", usual)

    def shown(self, action: str) -> str:
        """The first key of an action of the room, as people read it."""
        keys = self.keys(action)
        return people_say(keys[0]) if keys else ""

    def instead(self, usual: str, place: str = "room") -> str:
        """What is shown where a usual key stands in a table, e.g. `y` for `a`; several stand apart by spaces."""
        replaced = {**self.replaced.get(place, {}), **self.replaced.get(LISTS, {})}
        return " ".join(replaced.get(each, each) for each in usual.split(" ")) if replaced else usual

    def hints(self, hints: Iterable[Hint], place: str) -> list[Hint]:
        """A screen's footer with the keys as they are."""
        return [replace(each, key=self.instead(each.key, place)) for each in hints]


USUAL = Keymap()


def keymap_of(
    wanted: Mapping[str, Mapping[str, str | list[str]]], slots: Callable[[], Sequence[Slot]] = all_slots
) -> tuple[Keymap, list[KeyFault]]:
    """The keymap for what the settings ask, and every fault in it; with a fault the keymap is the usual one."""
    if not any(wanted.values()):
        return USUAL, []
    known = slots()
    chosen, faults = _read(wanted, known)
    faults += _conflicts(known, chosen)
    if faults:
        return USUAL, faults
    changed = {
        each: chosen[slot.place, slot.name] for slot in known if (slot.place, slot.name) in chosen for each in slot.ids
    }
    return Keymap(changed, _replaced(known, chosen)), []


_Chosen = dict[tuple[str, str], tuple[str, ...]]


def _read(wanted: Mapping[str, Mapping[str, str | list[str]]], known: Sequence[Slot]) -> tuple[_Chosen, list[KeyFault]]:
    chosen: _Chosen = {}
    faults: list[KeyFault] = []
    places = list(dict.fromkeys(slot.place for slot in known))
    for place, actions in wanted.items():
        if place not in places:
            faults.append(KeyFault((place,), f"there is no such place; those are {', '.join(places)}"))
            continue
        names = [slot.name for slot in known if slot.place == place]
        for name, keys in actions.items():
            if name not in names:
                near = get_close_matches(name, names, 1)
                meant = f"did you mean {near[0]}?" if near else "`opsroom config show` lists them"
                faults.append(KeyFault((place, name), f"there is no such action; {meant}"))
                continue
            try:
                given = [keys] if isinstance(keys, str) else keys
                if not given:
                    raise ValueError("an action needs a key")
                chosen[place, name] = tuple(dict.fromkeys(key_of(key) for key in given))
            except ValueError as error:
                faults.append(KeyFault((place, name), str(error)))
    return chosen, faults


def _conflicts(known: Sequence[Slot], chosen: _Chosen) -> Iterator[KeyFault]:
    """Keys with two meanings that are heard at the same time, told at the one that the settings chose."""
    told: set[tuple[str, str, str]] = set()
    for slot in known:
        for key in chosen.get((slot.place, slot.name), ()):
            for other in known:
                places = {other.place, slot.place}
                together = len(places) == 1 or LISTS in places or places == {"room", "board"}
                theirs = chosen.get((other.place, other.name), other.keys)
                pair = (key, *sorted((f"{slot.place}.{slot.name}", f"{other.place}.{other.name}")))
                if other is not slot and together and key in theirs and pair not in told:
                    told.add((pair[0], pair[1], pair[2]))
                    name = other.name if other.place == slot.place else f"{other.name} of {other.place}"
                    yield KeyFault((slot.place, slot.name), f"{people_say(key)} is the key of {name} ({other.about})")


def _replaced(known: Sequence[Slot], chosen: _Chosen) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for slot in known:
        keys = chosen.get((slot.place, slot.name))
        if keys is not None:
            shown = [people_say(key) for key in keys]
            for number, usual in enumerate(slot.keys):
                found.setdefault(slot.place, {})[people_say(usual)] = shown[min(number, len(shown) - 1)]
    return found


def as_lines(slots: Sequence[Slot], wanted: Mapping[str, Mapping[str, str | list[str]]]) -> Iterator[str]:
    """The keys as lines of a settings file: what is as usual is a comment."""
    for place in dict.fromkeys(slot.place for slot in slots):
        yield ""
        yield f"[keys.{place}]"
        for slot in slots:
            if slot.place == place:
                chosen = wanted.get(place, {}).get(slot.name)
                usual = slot.keys[0] if len(slot.keys) == 1 else list(slot.keys)
                value = json.dumps(usual if chosen is None else chosen, ensure_ascii=False)
                yield f"{'# ' if chosen is None else ''}{slot.name} = {value}  # {slot.about}"
