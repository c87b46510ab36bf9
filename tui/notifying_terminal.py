"""A desktop notification by way of the terminal: its bytes, and which terminals are known to show one. Pure.

Whatever the text holds, the sequence ends where we end it: controls are drawn as signs before they come here.
"""

from collections.abc import Mapping
from typing import Literal

from tui.text import fit, one_line

Way = Literal["", "osc9", "osc777"]
_MOST_CELLS = 240
_BY_PROGRAM: dict[str, Way] = {"iTerm.app": "osc9", "WezTerm": "osc777", "ghostty": "osc777"}
_BY_TERM: dict[str, Way] = {
    "xterm-kitty": "osc9", "xterm-ghostty": "osc777", "wezterm": "osc777", "foot": "osc777", "foot-extra": "osc777",
}  # fmt: skip


def way_of(wanted: str, environ: Mapping[str, str]) -> Way:
    """How this terminal is told: as the settings say, or what it is known to show; empty for not at all.

    Within tmux or screen it is not known which terminal is behind, so that only a wish counts there.
    """
    if wanted in ("osc9", "osc777"):
        return "osc9" if wanted == "osc9" else "osc777"
    if wanted == "off" or environ.get("TMUX") or environ.get("STY"):
        return ""
    return _BY_PROGRAM.get(environ.get("TERM_PROGRAM", "")) or _BY_TERM.get(environ.get("TERM", ""), "")


def sequence(way: Way, title: str, words: str, *, in_tmux: bool = False) -> str:
    """What is written to the terminal; empty where nothing is to be. Within tmux it is handed through."""
    if not way:
        return ""
    title, words = (fit(one_line(text), _MOST_CELLS) for text in (title, words))
    if way == "osc9":
        # some terminals take a number at its beginning for another request
        told = f"\x1b]9;Opsroom: {title}: {words}\x07"
    else:
        # a semicolon would begin the next field
        told = f"\x1b]777;notify;{title.replace(';', ',')};{words.replace(';', ',')}\x07"
    return "\x1bPtmux;" + told.replace("\x1b", "\x1b\x1b") + "\x1b\\" if in_tmux else told
