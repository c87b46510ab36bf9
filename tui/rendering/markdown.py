"""Markdown drawn: headings, lists, quotes, tables, code. Links show their target as it was written and lead nowhere;
HTML, images and whatever is not understood stand there literally. Pure.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui.rendering.code import code, language
from tui.rendering.pieces import PIECE, Lines, Parts, Piece, cut, written_piece
from tui.rendering.spans import Span, wrapped
from tui.rendering.tables import Cell, body, card, head, widths
from tui.text import one_line, plain

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

PARSED = 65_536  # characters that are read as a whole; of what is longer each section is read by itself
SECTION = 2 * PIECE
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_INLINE = {"strong": "strong", "em": "emphasis", "s": "struck"}
_LEAST_ROOM = 16  # cells that nesting leaves to a text


def markdown(text: str) -> tuple[Piece, ...]:
    """The blocks of a text, a blank line between them."""
    if len(text) <= PARSED:
        return tuple(_pieces(text))
    return tuple(Piece(partial(_section, each), len(each), each.count("\n")) for each in sections(text))


def _section(source: str, width: int) -> Lines:
    return [line for piece in _pieces(source) for line in piece.lines(width)]


def sections(text: str) -> Iterator[str]:
    """Slices that can be read by themselves: they end at a blank line outside a fence, where there is one in time."""
    held: list[str] = []
    size, fence = 0, ""
    for line in text.splitlines(keepends=True):
        for part in cut(line) if len(line) > PIECE else (line,):
            if size + len(part) > 2 * SECTION or (size > SECTION and not fence and not part.strip()):
                yield "".join(held)
                # a fence that is cut goes on in the next slice
                held, size = ([f"{fence}\n"] if fence else []), 0
            held.append(part)
            size += len(part)
        if found := _FENCE.match(line):
            sign = found[1]
            if not fence:
                fence = sign
            elif sign[0] == fence[0] and len(sign) >= len(fence) and not line.strip().strip(sign[0]):
                fence = ""
    if held:
        yield "".join(held)


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": 12}).enable(["table", "strikethrough"])
    # a target is only shown: it is neither judged nor written in another way
    parser.validateLink = lambda _url: True  # type: ignore[method-assign,assignment]
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return parser


def _pieces(text: str) -> Iterator[Piece]:
    try:
        tokens = _parser().parse(text)
    except (ValueError, IndexError, RecursionError):
        # what the parser cannot read is still shown
        yield written_piece(text)
        return
    yield from _Walker(tokens).blocks(_Place())


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a block stands: what is before its first line and before its other lines."""

    first: tuple[Span, ...] = ()
    rest: tuple[Span, ...] = ()

    def within(self, first: Span, rest: Span) -> "_Place":
        return _Place((*self.first, first), (*self.rest, rest))

    def after_first(self) -> "_Place":
        return replace(self, first=self.rest)

    def bars(self) -> "_Place":
        """What goes on beside a blank line."""
        rest = self.rest
        while rest and rest[-1][0].isspace():
            rest = rest[:-1]
        return _Place(rest, rest)

    def put(self, lines: Sequence[Parts], width: int) -> list[Parts]:
        """The lines with what is before them."""
        first, rest = self._fitting(width)
        return [(*(rest if place else first), *line) for place, line in enumerate(lines or [()])]

    def room(self, width: int) -> int:
        return max(1, width - sum(cell_len(text) for text, _ in self._fitting(width)[1]))

    def _fitting(self, width: int) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
        """Deep nesting leaves room for the text: the outermost steps are left out."""
        first, rest = self.first, self.rest
        while rest and width - sum(cell_len(text) for text, _ in rest) < _LEAST_ROOM:
            first, rest = first[1:], rest[1:]
        return first, rest


class _Walker:
    """Goes through the tokens of a text once, from block to block."""

    def __init__(self, tokens: "Sequence[Token]") -> None:
        self._tokens = tokens
        self._at = 0

    def blocks(self, place: _Place, until: str = "", *, tight: bool = False) -> Iterator[Piece]:
        """The blocks up to a closing token, each piece with the blank line before it."""
        is_first = True
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if until and token.type == until:
                return
            for number, piece in enumerate(self._block(token, place if is_first else place.after_first())):
                yield piece if is_first or number or tight else _spaced(piece, place)
                is_first = False

    def _block(self, token: "Token", place: _Place) -> Iterator[Piece]:
        match token.type:
            case "heading_open":
                yield _heading(token.tag, self._inline(), place)
            case "paragraph_open":
                yield _text(self._inline(), place)
            case "bullet_list_open" | "ordered_list_open":
                yield from self._list(token, place)
            case "blockquote_open":
                yield from self.blocks(place.within(("▎ ", "quote"), ("▎ ", "quote")), "blockquote_close")
            case "table_open":
                yield self._table(place)
            case "fence" | "code_block":
                yield from _code(token, place)
            case "hr":
                yield _leaf(lambda width: [(("─" * width, "dim"),)], place, 1)
            case "html_block":
                yield _text([(plain(token.content.rstrip("\n")), "dim")], place)
            case "inline":
                yield _text(_spans(token), place)

    def _inline(self) -> list[Span]:
        """The text between an opening and its closing token."""
        token = self._tokens[self._at]
        self._at += 2
        return _spans(token)

    def _list(self, opened: "Token", place: _Place) -> Iterator[Piece]:
        number = int(opened.attrs.get("start", 1)) if opened.type == "ordered_list_open" else 0
        tight, is_first = self._is_tight(opened), True
        while self._tokens[self._at].type == "list_item_open":
            self._at += 1
            sign = f"{number}. " if opened.type == "ordered_list_open" else "• "
            number += 1
            inner = (place if is_first else place.after_first()).within((sign, "info"), (" " * len(sign), None))
            pieces = list(self.blocks(inner, "list_item_close", tight=tight)) or [_text([], inner)]
            for place_in_item, piece in enumerate(pieces):
                yield piece if is_first or tight or place_in_item else _spaced(piece, place)
                is_first = False
        self._at += 1

    def _is_tight(self, opened: "Token") -> bool:
        """Whether its items stand below one another without blank lines; the parser hides their paragraphs then."""
        depth = opened.level + 2
        for token in self._tokens[self._at :]:
            if token.level < opened.level or (token.level == opened.level and token.type.endswith("list_close")):
                break
            if token.level == depth and token.type == "paragraph_open":
                return token.hidden
        return True

    def _table(self, place: _Place) -> Piece:
        rows: list[list[Cell]] = []
        aligns: list[str] = []
        while (token := self._tokens[self._at]).type != "table_close":
            self._at += 1
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                if token.type == "th_open":
                    aligns.append(str(token.attrs.get("style", "")).removeprefix("text-align:") or "left")
                rows[-1].append(self._inline())
        self._at += 1
        return _leaf(partial(_table_lines, rows, aligns), place, len(rows) + 1)


def _table_lines(rows: Sequence[Sequence[Cell]], aligns: Sequence[str], width: int) -> list[Parts]:
    given = widths(rows, width)
    if given is None:
        return [line for row in rows[1:] for line in card(rows[0], row, width)]
    return [*head(rows[0], given, aligns), *(line for row in rows[1:] for line in body(row, given, aligns))]


def _leaf(draw: Callable[[int], list[Parts]], place: _Place, rows: int, characters: int = 0) -> Piece:
    return Piece(lambda width: place.put(draw(place.room(width)), width), characters, rows)


def _text(spans: Sequence[Span], place: _Place) -> Piece:
    size = sum(len(text) for text, _ in spans)
    return _leaf(partial(wrapped, spans), place, sum(text.count("\n") for text, _ in spans) + 1, size)


def _heading(tag: str, spans: Sequence[Span], place: _Place) -> Piece:
    """Weight tells a heading, and a line below it the first two levels."""
    strong = [(text, f"{look} title" if look else "title") for text, look in spans]
    rule = {"h1": "━", "h2": "─"}.get(tag, "")

    def draw(width: int) -> list[Parts]:
        lines = wrapped(strong, width)
        longest = max((sum(cell_len(text) for text, _ in line) for line in lines), default=0)
        return [*lines, ((rule * longest, "title"),)] if rule else lines

    return _leaf(draw, place, 2)


def _code(token: "Token", place: _Place) -> Iterator[Piece]:
    """Code as it stands, in its colours, behind a line of its own."""
    named = token.info.split()[0] if token.info.strip() else ""
    inner = place.within(("▏ ", "dim"), ("▏ ", "dim"))
    if named:
        yield _leaf(partial(wrapped, [(one_line(plain(named)), "dim")]), inner, 1)
        inner = inner.after_first()
    for number, piece in enumerate(code(token.content, language(named), numbers=False)):
        where = inner if not number else inner.after_first()
        yield Piece(partial(_placed, piece, where), piece.characters, piece.rows)


def _placed(piece: Piece, place: _Place, width: int) -> list[Parts]:
    return place.put(list(piece.lines(place.room(width))), width)


def _spaced(piece: Piece, place: _Place) -> Piece:
    """A piece with a blank line before it; a quote's bar goes on beside that."""
    blank = place.bars()
    return Piece(lambda width: [*blank.put([()], width), *piece.lines(width)], piece.characters, piece.rows + 1)


def _spans(token: "Token") -> list[Span]:
    """The texts of a line with their looks; a link is followed by its target."""
    looks: list[str] = []
    spans: list[Span] = []
    links: list[tuple[str, int]] = []
    for child in token.children or ():
        kind = child.type.removesuffix("_open").removesuffix("_close")
        look = " ".join(looks) or None
        if child.type == "link_open":
            links.append((str(child.attrs.get("href", "")), len(spans)))
            looks.append("link")
        elif child.type == "link_close":
            target, begin = links.pop()
            looks.remove("link")
            said = "".join(text for text, _ in spans[begin:])
            if (shown := one_line(target)) != said:
                spans.append((f" ({shown})", "dim"))
        elif kind in _INLINE:
            looks.append(_INLINE[kind]) if child.type.endswith("_open") else looks.remove(_INLINE[kind])
        elif child.type in ("softbreak", "hardbreak"):
            spans.append(("\n", None))
        elif child.type == "code_inline":
            spans.append((plain(child.content), f"{look} code" if look else "code"))
        elif child.type == "image":
            spans.append((f"[image: {one_line(child.content)}] ({one_line(str(child.attrs.get('src', '')))})", "dim"))
        elif child.content:
            spans.append((plain(child.content), "dim" if child.type == "html_inline" else look))
    return spans


def looks_like(text: str) -> bool:
    """Whether a text of unknown kind has headings, fences or a table of Markdown in its beginning."""
    beginning = text[: 2 * PIECE]
    return re.search(r"^(#{1,6} \S|```|\|[ :]*-{3,})", beginning, re.MULTILINE) is not None
