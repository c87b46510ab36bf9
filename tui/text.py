"""Text of others made fit for the screen: what it holds is drawn, nothing of it acts.

Only pure functions over strings live here; styling and wrapping belong to the widgets.
"""

import re

from rich.cells import cell_len, chop_cells, set_cell_size

STAND_IN = "\ufffd"
"""Drawn for every invisible character that has no picture of its own."""

ELLIPSIS = "…"

# Categories Cc, Cf, Cs, Zl, Zp, the code points Unicode reserves as ignorable, and letters with an empty glyph.
_INVISIBLE = (
    "\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
# Marks that paint over the character before them.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u302a-\u302f\u3099\u309a\ufe20-\ufe2f"
)
# No box drawing here: joined, it would be drawn wider than it is measured.
_PICTOGRAPH = (
    "©®‼⁉™ℹ\u2194-\u2199↩↪⌚⌛⌨⏏\u23e9-\u23f3\u23f8-\u23faⓂ▪▫▶◀\u25fb-\u25fe\u2600-\u27bf"
    "⤴⤵\u2b05-\u2b07⬛⬜⭐⭕〰〽㊗㊙\U0001f000-\U0001f1e5\U0001f200-\U0001faff"
)
_EMOJI = f"[{_PICTOGRAPH}][\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]?"
_MOST_MARKS = 4  # no living script stacks more; a longer stack paints over other lines

# `str.isprintable` finds the rest, far faster than a pattern does
_PRINTABLE_YET_SUSPECT = re.compile(
    f"[{_MARKS}\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_ORPHANED_MARK = re.compile(f"(\\A|\n)(?=[{_MARKS}])")
_TOO_MANY_MARKS = re.compile(f"([{_MARKS}]{{{_MOST_MARKS}}})[{_MARKS}]+")
_EMOJI_OR_INVISIBLE = re.compile(f"({_EMOJI}(?:\u200d{_EMOJI}){{0,4}}|[0-9#*]\ufe0f\u20e3)|[{_INVISIBLE}]")


def _drawn(match: re.Match[str]) -> str:
    """The stand-in of one invisible character; an emoji stays what it is."""
    if match[1] is not None:
        return match[1]
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else STAND_IN


def plain(text: str, *, tab: int = 4) -> str:
    """Return text that can be shown but cannot act: controls and invisible characters are drawn, never sent.

    Newlines stay, tabs become spaces. A joiner or variation selector stays only inside an emoji, where it
    changes the picture and nothing else; alone it hides data, and is drawn. A combining mark with nothing
    before it gets a dotted circle, for it would paint over the room's own signs.
    """
    lines = text.replace("\n", "") if "\n" in text else text
    if lines.isprintable() and (lines.isascii() or _PRINTABLE_YET_SUSPECT.search(lines) is None):
        return text
    text = text.replace("\r\n", "\n")
    if "\t" in text:
        text = text.expandtabs(max(tab, 1))
    text = _EMOJI_OR_INVISIBLE.sub(_drawn, text)
    text = _TOO_MANY_MARKS.sub(rf"\1{STAND_IN}", text)
    return _ORPHANED_MARK.sub("\\1\u25cc", text)


def one_line(text: str) -> str:
    """Return plain text on one line; a newline inside is drawn as ⏎."""
    text = plain(text)
    return text.strip("\n").replace("\n", "⏎") if "\n" in text else text


def fit(text: str, cells: int, *, pad: bool = False, right: bool = False) -> str:
    """Cut text to so many cells, with an ellipsis where something is lost.

    With `pad` the result is exactly `cells` wide, with `right` padded before the text instead of after it.
    """
    if cells <= 0:
        return ""
    width = len(text) if text.isascii() and text.isprintable() else cell_len(text)
    if width > cells:
        text = set_cell_size(text, cells - 1).rstrip(" ") + ELLIPSIS
        width = cell_len(text)
    if not pad or width >= cells:
        return text
    space = " " * (cells - width)
    return space + text if right else text + space


_WORD = re.compile(r"\S+|\s+")


def wrap(text: str, cells: int) -> list[str]:
    """Break plain text into lines of at most so many cells, between words where that is possible."""
    lines: list[str] = []
    for line in text.split("\n"):
        if cell_len(line) <= cells:
            lines.append(line)
        else:
            lines += _wrapped(line, max(cells, 2))  # a wide character has no half
    return lines


def _wrapped(line: str, cells: int) -> list[str]:
    lines: list[str] = []
    start = ""
    used = 0
    for word in _WORD.findall(line):
        width = cell_len(word)
        if used + width > cells:
            if start.strip():
                lines.append(start.rstrip())
                start, used = "", 0
            if word.isspace():
                continue
            if used + width > cells:
                *whole, word = chop_cells(start + word, cells)
                lines += whole
                start, width = "", cell_len(word)
                used = 0
        start += word
        used += width
    return [*lines, start.rstrip()] if start.strip() else lines


_AGES = ((365 * 86_400, "y"), (86_400, "d"), (3_600, "h"), (60, "m"))


def ago(ms_now: int, ms_then: int) -> str:
    """Return how long ago that was, in one unit: 3s, 12m, 4h, 9d, 2y. The future counts as now."""
    seconds = max(0, ms_now - ms_then) // 1000
    for size, unit in _AGES:
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def left(ms_now: int, ms_then: int) -> str:
    """Return how long it is until then, as minutes and seconds: 4:59. The past counts as now."""
    seconds = -(-max(0, ms_then - ms_now) // 1000)
    return f"{seconds // 60}:{seconds % 60:02}"


def counted(number: int, word: str) -> str:
    """Return a number with its noun: 1 task, 2 tasks."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def capital(words: str) -> str:
    """Return words that begin a sentence."""
    return words[:1].upper() + words[1:]


def in_words(word: object) -> str:
    """Return a word of the board as people read it: needs revision."""
    return str(word).replace("_", " ")


def act_in_words(name: str) -> str:
    """Return the name of a command or an event as people read it: task run queued."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()


def amount(number: int) -> str:
    """Return a whole number with its thousands set apart: 12,345."""
    return f"{number:,}"
