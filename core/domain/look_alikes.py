"""Characters that the eye does not see, or takes for those of a command or path. Pure."""

import re
import unicodedata

# They have a picture by their category, and draw nothing.
_BLANK = re.compile("[\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
# Scripts whose words nobody takes for a command's, but for these signs of theirs.
_OWN_SHAPES = ("CJK ", "HIRAGANA ", "KATAKANA ", "HANGUL ", "BOPOMOFO ")
_STROKES = frozenset("一丨丶丿〇ノ八口工ロニハーㄧㅣㅡㅇ〳〵")


def is_unseen(char: str) -> bool:
    """Whether it is drawn as nothing, or as a blank that is no space."""
    if char.isascii():
        return not char.isprintable()
    return not char.isprintable() or _BLANK.match(char) is not None


def look_alikes(text: str) -> list[str]:
    """The characters beyond ASCII that may pass for another, each once: letters of other alphabets, signs, marks."""
    return [char for char in dict.fromkeys(text) if not char.isascii() and not is_unseen(char) and _is_alike(char)]


def _is_alike(char: str) -> bool:
    if char in _STROKES:
        return True
    if unicodedata.category(char)[0] in "LN":
        return not unicodedata.name(char, "").startswith(_OWN_SHAPES)
    # Of signs those that become one of ASCII, that lie on a letter, or that stand for a dash, slash, quote, dot or bar.
    plain = unicodedata.normalize("NFKC", char)
    return plain.isascii() or unicodedata.category(char) in ("Mn", "Me", "Pd", "Pi", "Pf", "Sm", "Sk", "Po")
