"""Fences around text that others wrote: what stands inside is data, and cannot end its fence (F15). Pure."""

import re
import secrets
import unicodedata
from collections.abc import Callable, Iterable

# Three digits are one token each, so each nonce costs the same. One that occurs in any value is drawn anew.
NONCE_DIGITS = 12
# Hexadecimal ones are in prompts that were kept before.
NONCE_FORM = re.compile(r"[0-9]{12}|[0-9a-f]{8}")
TRIES_MAX = 100
Randomness = Callable[[], str]

_JOINERS = "\u200c\u200d"
# Drawn as nothing although they count as letters or marks: grapheme joiner, fillers, and supplementary selectors.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\U000e0100-\U000e01ef]")
# Only these can be anything else than plain text; most texts hold none, and are not looked at letter by letter.
_SUSPECT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\uffff"
    "\U000110bd-\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
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
    text = text.replace("\r\n", "\n")
    if _SUSPECT.search(text) is None:
        return text
    return "".join(
        _spelled(char) if _SUSPECT.match(char) and _is_hidden(text, at, char) else char for at, char in enumerate(text)
    )


def one_line(text: str, length: int = 80) -> str:
    """A name as it may stand in a sentence: on one line, nothing hidden, no tag, at most `length` code points."""
    line = " ".join(visible(" ".join(text.split())).replace("<", "‹").replace(">", "›").split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _is_hidden(text: str, at: int, char: str) -> bool:
    if char in _JOINERS:
        around = text[at - 1 : at] + text[at + 1 : at + 2]
        return not (at and len(around) == 2 and all(unicodedata.category(one)[0] in "LM" for one in around))
    return unicodedata.category(char) in _HIDDEN or _UNSEEN.match(char) is not None


def _spelled(char: str) -> str:
    number = ord(char)
    return f"\\u{number:04X}" if number <= 0xFFFF else f"\\U{number:08X}"
