"""Source code with its words coloured and its lines numbered. Only well-known languages, only lines of a usual length:
what a highlighter makes of anything else could take it minutes. Pure.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from tui.rendering.pieces import PIECE, Lines, Parts, Piece, cut
from tui.rendering.spans import Span, wrapped
from tui.text import plain

if TYPE_CHECKING:
    from pygments.lexer import RegexLexer

LEXED = 65_536  # characters that are read as a whole; what is longer is read piece by piece
LONGEST_LINE = 400  # of a piece whose words are coloured
PIECE_LINES = 60

LANGUAGES = {
    "bash": "sh", "c": "c", "cpp": "C++", "csharp": "C#", "css": "CSS", "docker": "Dockerfile", "go": "Go",
    "html": "HTML", "ini": "INI", "java": "Java", "javascript": "JavaScript", "json": "JSON", "kotlin": "Kotlin",
    "lua": "Lua", "make": "Makefile", "php": "PHP", "python": "Python", "ruby": "Ruby", "rust": "Rust",
    "scss": "SCSS", "sql": "SQL", "swift": "Swift", "toml": "TOML", "tsx": "TSX", "typescript": "TypeScript",
    "xml": "XML", "yaml": "YAML",
}  # fmt: skip
"""The languages that are known, by the name that the highlighter has for each; and their names for people."""
ALIASES = {
    "py": "python", "python3": "python", "js": "javascript", "jsx": "javascript", "mjs": "javascript",
    "ts": "typescript", "sh": "bash", "shell": "bash", "zsh": "bash", "console": "bash", "yml": "yaml", "rs": "rust",
    "rb": "ruby", "golang": "go", "c++": "cpp", "cc": "cpp", "cxx": "cpp", "hpp": "cpp", "h": "c", "cs": "csharp",
    "htm": "html", "svg": "xml", "cfg": "ini", "conf": "ini", "dockerfile": "docker", "makefile": "make", "mk": "make",
    "kt": "kotlin", "pyi": "python", "jsonc": "json", "json5": "json",
}  # fmt: skip
_LOOKS = (
    ("Token.Comment", "comment"), ("Token.Keyword.Constant", "number"), ("Token.Keyword", "keyword"),
    ("Token.Operator.Word", "keyword"), ("Token.Literal.String", "string"), ("Token.Literal.Number", "number"),
    ("Token.Name.Function", "function"), ("Token.Name.Class", "function"), ("Token.Name.Tag", "keyword"),
    ("Token.Name.Attribute", "function"), ("Token.Name.Decorator", "function"), ("Token.Name.Builtin", "function"),
)  # fmt: skip


def language(name: str) -> str:
    """The known language of this name, alias or file ending; empty when there is none."""
    name = name.strip().casefold()
    name = ALIASES.get(name, name)
    return name if name in LANGUAGES else ""


def code(text: str, known: str, *, numbers: bool = True) -> tuple[Piece, ...]:
    """The text as code in a known language; `known` may be empty: then nothing is coloured."""
    gutter = len(str(text.count("\n") + 1)) + 1 if numbers else 0
    if len(text) <= LEXED:
        rows = coloured(plain(text.removesuffix("\n")), known)
        return tuple(_rows_piece(rows, first, gutter) for first in range(0, len(rows), PIECE_LINES))
    pieces, number = [], 1
    for source in cut(text, PIECE // 2):  # colours cost ten times what wrapping does
        pieces.append(Piece(partial(_lazily, source, known, number, gutter), len(source), source.count("\n")))
        number += source.count("\n")
    return tuple(pieces)


def _rows_piece(rows: Sequence[Sequence[Span]], first: int, gutter: int) -> Piece:
    mine = rows[first : first + PIECE_LINES]
    characters = sum(len(text) for row in mine for text, _ in row)
    return Piece(partial(_numbered, mine, first + 1, gutter), characters, len(mine))


def _lazily(source: str, known: str, number: int, gutter: int, width: int) -> Lines:
    return _numbered(coloured(plain(source.removesuffix("\n")), known), number, gutter, width)


def _numbered(rows: Sequence[Sequence[Span]], first: int, gutter: int, width: int) -> list[Parts]:
    """Lines behind their numbers, where there is room for those."""
    if width < 4 * gutter:
        gutter = 0
    lines: list[Parts] = []
    for number, row in enumerate(rows, first):
        sign = f"{number:>{gutter - 1}} " if gutter else ""
        for place, line in enumerate(wrapped(row, max(1, width - gutter)) or [()]):
            lines.append(((sign if not place else " " * gutter, "dim"), *line))
    return lines


def coloured(text: str, known: str) -> list[list[Span]]:
    """The lines of a plain text, each of texts with their looks."""
    lines = text.split("\n")
    if not known or max(map(len, lines)) > LONGEST_LINE:
        return [[(line, None)] for line in lines]
    rows: list[list[Span]] = [[]]
    for look, value in _json_words(text) if known == "json" else _lexed(text, known):
        for place, part in enumerate(value.split("\n")):
            if place:
                rows.append([])
            if part:
                rows[-1].append((part, look))
    return rows


@cache
def _lexer(known: str) -> "RegexLexer":
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(known)  # type: ignore[return-value]


def _lexed(text: str, known: str) -> Iterator[tuple[str | None, str]]:
    for _at, token, value in _lexer(known).get_tokens_unprocessed(text):
        name = str(token)
        yield next((look for starts, look in _LOOKS if name.startswith(starts)), None), value


_TOKEN = re.compile(
    r'(?P<name>"(?:[^"\\\n]|\\.)*"(?=\s*:))|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<number>-?\d[\d.eE+-]*|\b(?:true|false|null)\b)|[^\"\d\w-]+|."
)


def _json_words(text: str) -> Iterator[tuple[str | None, str]]:
    """JSON is read by one pattern of our own: names and values are told apart, and no text makes it slow."""
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup
        yield {"name": "function", "string": "string", "number": "number"}.get(kind or ""), found[0]
