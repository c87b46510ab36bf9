"""Keys by the person's wish: names, conflicts and unknown words, and what is shown then. Without a screen."""

from pathlib import Path

import pytest

from core.domain.errors import Invalid
from tui.actions import ACTIONS, Hint, Situation, footer
from tui.keymap import TAKEN, USUAL, all_slots, as_lines, key_of, keymap_of, people_say
from tui.settings import Settings, as_file, checked

PATH = Path("config.toml")


@pytest.mark.parametrize(
    ("written", "key", "read"),
    [
        ("a", "a", "a"), ("Z", "Z", "Z"), ("?", "question_mark", "?"), ("question_mark", "question_mark", "?"),
        ("/", "slash", "/"), ("+", "plus", "+"), ("-", "minus", "-"), ("ctrl+k", "ctrl+k", "^k"), 
        ("<", "less_than_sign", "<"), ("left_square_bracket", "left_square_bracket", "["),
        ("f5", "f5", "f5"), ("pageup", "pageup", "pageup"), ("é", "é", "é"), ("ж", "ж", "ж"), ("\\", "backslash", "\\"),
        ("alt+x", "alt+x", "alt+x"), ("_", "underscore", "_"), ("escape", "escape", "esc"),
    ],
)  # fmt: skip
def test_a_key_is_written_as_people_write_it(written: str, key: str, read: str) -> None:
    assert key_of(written) == key
    assert people_say(key) == read


@pytest.mark.parametrize(
    "written",
    ["", " ", "\t", "\x1b", "\x9b", "\u202e", "\u0301", "aa", "<any>", "ctrl+", "hyper+a", "\x1b]52;c;x\x07", "a,b",
     "ctrl+\x07", "[/]", "[@click=app.quit]x[/]", "a" * 5000, *TAKEN],
)  # fmt: skip
def test_what_is_no_key_is_refused_and_drawn(written: str) -> None:
    with pytest.raises(ValueError, match=r"\S") as refused:
        key_of(written)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[keys.room]\n\naprove = 'y'\n", 
         "line 3, column 1: keys.room.aprove: there is no such action; did you mean approve?"),
        ("[keys.rom]\na = 'y'\n", "line 1, column 7: keys.rom: there is no such place; those are room, lists, agents"),
        ("[keys.room]\napprove = 'd'\n", "line 2, column 1: keys.room.approve: d is the key of dispatch"),
        ("[keys.room]\napprove = ['f6', 'f6', 'ctrl+q']\n", "^q is the key of leave"),
        ("[keys.room]\napprove = 'x'\nblock = 'x'\n", "line 2, column 1: keys.room.approve: x is the key of block"),
        ("[keys.lists]\ndown = 'n'\n", "n is the key of new_goal of room"),
        ("[keys.lists]\ndown = 'x'\n", "x is the key of retire of agents"),
        ("[keys.lists]\ndown = 'b'\n", "b is the key of board of history (The board as it was after it)"),
        ("[keys.lists]\ndown = 'm'\n", "m is the key of close of mail"),
        ("[keys.room]\nwatch = 'j'\n", "j is the key of down of lists"),
        ("[keys.agents]\npause = 'x'\n", "keys.agents.pause: x is the key of retire"),
        ("[keys.room]\nwatch = 'tab'\n", "tab goes to the next pane"),
        ("[keys.room]\nwatch = []\n", "an action needs a key"),
        ("[keys.room]\n\"\\u001b]0;x\" = 'y'\n", "there is no such action"),
    ],
)  # fmt: skip
def test_a_wrong_key_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked(text, PATH)
    assert said in refused.value.message


def test_all_that_is_wrong_is_told_at_once_and_each_conflict_once() -> None:
    _, faults = keymap_of({"room": {"approve": "N", "block": "N", "nothing": "y"}})
    # N of the room and N of the agents' screen are never heard together
    assert [fault.at[1] for fault in faults] == ["nothing", "approve"]


def test_two_actions_may_change_their_keys_with_each_other() -> None:
    keymap, faults = keymap_of({"room": {"approve": "b", "block": "a"}})
    assert not faults
    assert (keymap.shown("approve"), keymap.shown("block"), keymap.shown("undo")) == ("b", "a", "u")
    assert keymap.instead("a b u") == "b a u"


def test_the_usual_keys_have_no_conflict_among_themselves() -> None:
    everything: dict[str, dict[str, str | list[str]]] = {}
    for slot in all_slots():
        everything.setdefault(slot.place, {})[slot.name] = list(slot.keys)
    keymap, faults = keymap_of(everything)
    assert not faults
    assert all(keymap.keys(action.name) == action.keys for action in ACTIONS)


def test_the_footer_has_the_new_keys() -> None:
    keymap, _ = keymap_of({"room": {"help": "f1", "new_goal": ["ctrl+n", "N"]}, "agents": {"pause": "z"}})
    shown = {hint.word: hint.key for hint in footer(Situation(), shown=lambda action: keymap.shown(action.name))}
    assert (shown["help"], shown["new goal"]) == ("f1", "^n")
    hints = [Hint("p", "pause", 1), Hint("x", "retire", 2)]
    assert [hint.key for hint in keymap.hints(hints, "agents")] == ["z", "x"]
    assert USUAL.hints(hints, "agents") == hints


def test_the_written_keys_are_read_again() -> None:
    settings, keymap = checked("[keys.room]\napprove = ['f6', 'é']\n[keys.lists]\nmark = 'insert'\n", PATH)
    again, same = checked(as_file(settings, list(as_lines(all_slots(), settings.keys))), PATH)
    assert {place: keys for place, keys in again.keys.items() if keys} == settings.keys
    assert same == keymap
    untouched, usual = checked(as_file(Settings(), list(as_lines(all_slots(), {}))), PATH)
    assert not any(untouched.keys.values())
    assert usual is USUAL


def test_every_action_stands_in_the_written_file_with_what_it_does() -> None:
    lines = list(as_lines(all_slots(), {}))
    for slot in all_slots():
        assert slot.about, slot
        assert any(line.startswith(f"# {slot.name} = ") and line.endswith(slot.about) for line in lines), slot
