"""Fences around text that others wrote: what stands inside is data, and cannot end its fence (F15). Pure."""

import re
import secrets
from collections.abc import Callable, Iterable

# Three digits are one token each, so each nonce costs the same. One that occurs in any value is drawn anew.
NONCE_DIGITS = 12
# Hexadecimal ones are in prompts that were kept before.
NONCE_FORM = re.compile(r"[0-9]{12}|[0-9a-f]{8}")
TRIES_MAX = 100
Randomness = Callable[[], str]

# Control, direction and zero width; drawn as nothing although they count as letters or marks: grapheme joiner,
# fillers, Mongolian and supplementary selectors; a blank that is none (U+2800).
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Persian and Indic words, and those of their neighbours, need joiners between two letters.
_JOINED = (
    "\u0620-\u06dc\u06de-\u070e\u0710-\u088f\u0898-\u08e1\u08e3-\u109f\u1780-\u17b3\u17b6-\u17dd\u1820-\u18aa"
    "\u1900-\u1cff\ua800-\uabff\U00011000-\U000110bc\U00011100-\U00011fff"
)
_JOINERS = "\u200c\u200d"
_SELECTORS = (
    "\ufe00-\ufe0f"  # one after a sign chooses how it is drawn; more, or after a Latin letter, say something else
)
_UNSEEN = re.compile(
    f"[{_HIDDEN}]|(?<![{_JOINED}])[{_JOINERS}]|[{_JOINERS}](?![{_JOINED}])"
    rf"|(?<![^\s\x00-\x22\x24-\x29\x2b-\x2f\x3a-\xa0{_SELECTORS}{_JOINERS}{_HIDDEN}])[{_SELECTORS}]"
)
_LABEL = re.compile(r"[^\w .:#@+-]")


def draw_nonce() -> str:
    """A fresh nonce: twelve decimal digits."""
    return f"{secrets.randbelow(10**NONCE_DIGITS):0{NONCE_DIGITS}d}"


def unused(draw: Randomness, values: Iterable[str]) -> str:
    """A nonce that occurs in none of the values as they are shown. Raises ValueError when `draw` finds none."""
    shown = visible("\n".join(values))
    for _ in range(TRIES_MAX):
        if (nonce := draw()) and nonce not in shown:
            return nonce
    raise ValueError(f"{TRIES_MAX} nonces were drawn, and each of them occurs in a value")


def fence(text: str, label: str, nonce: str) -> str:
    """`text` between an opening and a closing line that carry the nonce, each alone in its line."""
    name = _LABEL.sub("", label)[:60].strip()
    opening = f"<data {nonce} {name}>" if name else f"<data {nonce}>"
    return f"{opening}\n{visible(text)}\n</data {nonce}>"


def visible(text: str) -> str:
    """The text with what is not seen (control, direction, zero width) spelled as in `\\u202E`; line ends are `\\n`.

    Joiners between letters stay: Persian and Indic words need them.
    """
    return _UNSEEN.sub(_spelled, text.replace("\r\n", "\n"))


def one_line(text: str, length: int = 80) -> str:
    """A name as it may stand in a sentence: on one line, nothing hidden, no tag, at most `length` code points."""
    line = " ".join(visible(" ".join(text.split())).replace("<", "‹").replace(">", "›").split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _spelled(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\u{number:04X}" if number <= 0xFFFF else f"\\U{number:08X}"
