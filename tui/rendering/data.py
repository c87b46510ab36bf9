"""JSON indented and lists of values as tables. The tokens of a text stay as they were written. Pure."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from functools import cache, partial

from tui.rendering.code import code
from tui.rendering.pieces import PIECE, Lines, Parts, Piece, cut
from tui.rendering.tables import Cell, body, card, head, widths
from tui.text import plain

JSON_MOST = 524_288  # characters that are indented; what is longer is shown as written
DEEPEST = 16  # levels that are told by indentation
SHORT = 60  # characters of a list or an object that stays on one line
MOST_QUOTED = 65_536  # characters that a quoted cell may run on for
LOOKED_AT = 100  # rows by which the columns get their widths
DELIMITERS = {"csv": ",", "tsv": "\t", "semicolons": ";"}

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def is_json(text: str) -> bool:
    """Whether a text is an object or a list, and not too long to be read at once."""
    if len(text) > JSON_MOST or not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def indented(text: str) -> tuple[Piece, ...]:
    """JSON, a value a line; digits, escapes and names said twice stay as they are."""
    return code("\n".join(_rows(_TOKEN.findall(text))), "json")


def _rows(tokens: list[str]) -> Iterator[str]:
    """Lines of JSON from its tokens. What is short and holds nothing deeper stays on one line."""
    row, depth, place = "", 0, 0
    while place < len(tokens):
        token = tokens[place]
        if token in "{[":
            whole = _short(tokens, place)
            if whole:
                row += _joined(tokens[place : place + whole])
                place += whole
                continue
            yield row + token
            depth += 1
            row = "  " * min(depth, DEEPEST)
        elif token in "}]":
            yield row
            depth -= 1
            row = "  " * min(depth, DEEPEST) + token
        elif token == ",":
            yield row + token
            row = "  " * min(depth, DEEPEST)
        else:
            row += ": " if token == ":" else token
        place += 1
    yield row


def _short(tokens: list[str], start: int) -> int:
    """How many tokens a short, flat list or object has; 0 when it is none."""
    used = 0
    for count, token in enumerate(tokens[start : start + SHORT], 1):
        used += len(token) + (token in ",:")
        if used > SHORT or (count > 1 and token in "{["):
            return 0
        if token in "}]":
            return count
    return 0


def _joined(tokens: list[str]) -> str:
    return "".join(f"{token} " if token in ",:" else token for token in tokens)


def delimiter(text: str) -> str:
    """What stands between the cells of a text that is a table; empty when it is none."""
    beginning = text[:PIECE].split("\n")
    lines = [line for line in (beginning if len(text) <= PIECE else beginning[:-1]) if line.strip()][:20]
    for sign in DELIMITERS.values():
        counts = {len(row) for row in _read("\n".join(lines), sign)}
        if len(lines) > 1 and len(counts) == 1 and counts.pop() > 1:
            return sign
    return ""


def table(text: str, sign: str) -> tuple[Piece, ...]:
    """Lines of cells as a table; the first line names the columns, the first rows give them their widths."""
    slices = list(_whole_rows(text))
    first = _cells(slices[0], sign) if slices else []
    if not first:
        return ()
    names, sample = tuple(first[0]), tuple(map(tuple, first[: LOOKED_AT + 1]))
    columns = cache(partial(widths, sample))
    pieces = []
    for place, source in enumerate(slices):
        draw = partial(_draw, source, sign, names, columns, place == 0)
        pieces.append(Piece(draw, len(source), source.count("\n")))
    return tuple(pieces)


def _whole_rows(text: str) -> Iterator[str]:
    """Slices of a text that do not end within a quoted cell, unless that cell has no end."""
    held = ""
    for each in cut(text):
        held += each
        if held.count('"') % 2 == 0 or len(held) > MOST_QUOTED:
            yield held
            held = ""
    if held:
        yield held


def _read(text: str, sign: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(text.splitlines(keepends=True), delimiter=sign) if row]
    except csv.Error:
        return [[line] for line in text.split("\n") if line]


def _cells(source: str, sign: str) -> list[list[Cell]]:
    return [[((plain(cell), "number" if _is_number(cell) else None),) for cell in row] for row in _read(source, sign)]


def _is_number(cell: str) -> bool:
    return cell.strip().replace(".", "", 1).replace(",", "").removeprefix("-").isdecimal()


def _draw(source: str, sign: str, names: tuple[Cell, ...], columns: Callable[[int], list[int] | None], is_first: bool,
          width: int) -> Lines:  # fmt: skip
    rows, given = _cells(source, sign), columns(width)
    lines: list[Parts] = []
    if is_first:
        rows = rows[1:]
        lines += head(names, given) if given is not None else []
    for row in rows:
        if given is not None and len(row) <= len(given):
            aligns = ["right" if cell and cell[0][1] == "number" else "left" for cell in row]
            lines += body(row, given, aligns)
        else:
            lines += card(names, row, width)
    return lines
