"""The keys of the history, made from their table."""

from tui.actions import HISTORY_KEYS
from tui.keymap import Keymap
from tui.screens.reading import Reading
from tui.text import wrap
from tui.widgets.row import Column, Row


def history_help(keymap: Keymap) -> Reading:
    """Every key of the log and of the past."""
    rows = [
        Row(f"{keys} {number}", ((keymap.instead(keys, "history") if not number else "", "info"), part))
        for keys, about in HISTORY_KEYS
        for number, part in enumerate(wrap(about, 60))
    ]
    return Reading("Keys of the history", (Column("key", width=5), Column("what it does", min_width=20)), rows)
