"""A Markdown file as sections, one for each heading that has text of its own; pure."""

import re
from collections.abc import Iterable, Iterator

HEADING_MAX = 200  # characters
HEADINGS_MAX = 1_000  # a file; what follows belongs to the last
_ATX = re.compile(r" {0,3}#{1,6}(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*")
# A fence may begin in an item of a list or in a quote.
_FENCE = re.compile(r" {0,3}(?:(?:[-*+]|\d{1,9}[.)]|>)[ \t]+)*(`{3,}|~{3,})(.*)")
_CLOSE = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*")
_BLOCK = re.compile(r" {4}|\t| {0,3}(?:[-*+>|]|```|~~~|\d{1,9}[.)] )")
_ENDS = re.compile(r"\r\n?")


def sections_of(text: str, most: int) -> list[tuple[str, str]]:
    """(heading, body) in the file's order; headings are unique, and no body has more than `most` characters.

    What stands before the first heading has an empty one. A heading of the same words as one above, and what goes on
    after `most` characters, is numbered: `Setup (2)`. Front matter is left out; headings in fences are text.
    """
    found: list[tuple[str, str]] = []
    used: dict[str, int] = {}
    for heading, lines in _split(_without_front_matter(_ENDS.sub("\n", text).split("\n"))):
        for portion in _portions("\n".join(lines).strip("\n").rstrip(), most):
            found.append((_unused(heading, used), portion))
    return found


def _without_front_matter(lines: list[str]) -> list[str]:
    if lines and lines[0].rstrip() == "---":
        for number, line in enumerate(lines[1:], 1):
            if line.rstrip() in ("---", "..."):
                return lines[number + 1 :]
    return lines


def _split(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    heading, body, seen = "", list[str](), 0
    for line, is_code in _fenced(lines):
        if not is_code and seen < HEADINGS_MAX and (fresh := _heading(line, body)) is not None:
            yield heading, body
            heading, body, seen = fresh, [], seen + 1
            continue
        body.append(line)
    yield heading, body


def _fenced(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is in a fence of code or opens or closes one."""
    fence = ""
    for line in lines:
        is_code = bool(fence)
        if fence:
            closing = _CLOSE.fullmatch(line)
            fence = "" if closing and closing[1].startswith(fence) else fence
        elif opening := _FENCE.fullmatch(line):
            # Backticks after backticks are code within a line.
            fence = "" if opening[1][0] == "`" and "`" in opening[2] else opening[1]
            is_code = True
        yield line, is_code


def lines_outside_fences(text: str) -> list[str]:
    """The lines of a text that are no code in a fence."""
    return [line for line, is_code in _fenced(part.removesuffix("\r") for part in text.split("\n")) if not is_code]


def _heading(line: str, before: list[str]) -> str | None:
    """The words of the heading that this line makes; an underlined one is taken off the lines before."""
    if atx := _ATX.match(line):
        words = line[atx.end() :].strip()
        opened = words.rstrip("#")
        return _one_line(words if opened[-1:].strip() else opened)
    is_single = bool(before and before[-1].strip()) and not (len(before) > 1 and before[-2].strip())
    if is_single and _UNDERLINE.fullmatch(line) and not _BLOCK.match(before[-1]):
        return _one_line(before.pop())
    return None


def _one_line(words: str) -> str:
    return " ".join(words.split())[:HEADING_MAX].rstrip()


def _portions(body: str, most: int) -> Iterator[str]:
    """A long body in parts, cut between paragraphs if there are any, else between lines."""
    while len(body) > most:
        cut = next((place for end in ("\n\n", "\n") if (place := body.rfind(end, most // 2, most)) > 0), most)
        if portion := body[:cut].rstrip():
            yield portion
        body = body[cut:].lstrip("\n")
    if body.strip():
        yield body


def _unused(heading: str, used: dict[str, int]) -> str:
    name, number = heading, used.get(heading, 1)
    while name in used:
        number += 1
        name = f"{heading} ({number})".strip()
    used[heading] = number  # the next of these words begins there
    used.setdefault(name, 1)
    return name
