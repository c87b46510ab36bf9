"""Text of agents inside Markdown that the program writes: words stay words, whatever they look like."""

import re
import unicodedata

_MARKS = re.compile(r"([\\`*_{}\[\]()#|~<>!&^$])")
_BLOCK = re.compile(r"^([-+=]|\d{1,9}[.)])")
_BLANKS = re.compile(r"\s+")
_RUNS = re.compile(r"`+")


def line(text: str, most: int) -> str:
    """One line without any structure: fit for a cell of a table, a heading or an item of a list."""
    return _escaped(_clipped(_BLANKS.sub(" ", _visible(_begun(text, most))).strip(), most))


def paragraphs(text: str, most: int) -> str:
    """Several lines; items of a plain list stay items, everything else is words."""
    lines = [
        _BLANKS.sub(" ", part).strip() for part in _clipped(_visible(_begun(text, most)).strip(), most).split("\n")
    ]
    return "\n".join(_paragraph_line(part) for part in lines)


def _paragraph_line(text: str) -> str:
    if text.startswith(("- ", "* ")):
        return f"- {_escaped(text[2:].strip())}"
    return _BLOCK.sub(lambda found: f"{found[1][:-1]}\\{found[1][-1]}", _escaped(text))


def fenced(text: str, most: int) -> list[str]:
    """The lines of a code block that nothing in the text can close."""
    shown = _clipped(_visible(_begun(text, most)), most)
    fence = "`" * (1 + max([2, *(len(run) for run in _RUNS.findall(shown))]))
    return [f"{fence}text", *shown.split("\n"), fence]


def _begun(text: str, most: int) -> str:
    """As much of a text as can be needed: nobody waits while what is cut off is looked at letter by letter."""
    enough = 4 * most + 200
    return text if len(text) <= enough else text[:enough] + "…"


def _visible(text: str) -> str:
    """Without control characters, and without those that turn the direction of what follows; line ends are `\\n`."""
    text = re.sub(r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]", "\n", text).replace("\t", "    ")
    return "\n".join(part if part.isprintable() else _printable(part) for part in text.split("\n"))


def _printable(text: str) -> str:
    return "".join(char for char in text if unicodedata.category(char) not in ("Cc", "Cf", "Cs"))


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(most - 1, 0)].rstrip() + "…"


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\1", text)
