"""What a text is, by its file's name, by the kind of its output and by how it begins; and the text drawn as that. Pure.

It is called in a thread: reading a long text takes its time.
"""

import re
from pathlib import PurePosixPath

from core.domain.states import OutputType
from tui.rendering.code import LANGUAGES, code, language
from tui.rendering.data import delimiter, indented, is_json, table
from tui.rendering.diffs import difference, is_difference
from tui.rendering.markdown import looks_like, markdown
from tui.rendering.pieces import Document, Piece, as_written, counted_lines

LONGEST_LINE = 16_384  # a text with a longer line is shown as written
WARM_WIDTH = 80
_MARKDOWN = frozenset({"md", "markdown", "mdown", "mkd"})
_PLAIN = frozenset({"txt", "log", "text"})


def document(text: str, *, type: str, name: str = "", raw: bool = False) -> Document:
    """The text ready to be drawn. `name` is its file's, `type` that of its output; `raw` shows it as it was written."""
    lines = counted_lines(text)
    size = f"{lines:,} line{'' if lines == 1 else 's'}"
    if raw:
        return Document(as_written(text), f"as written, {size}")
    kind = _kind(text, type, _ending(name))
    if kind == "text" or not (pieces := _pieces(text, kind)):
        return Document(as_written(text), f"text, {size}")
    # what is loaded on the first use is loaded here and not while a key waits
    pieces[0].lines(WARM_WIDTH)
    return Document(pieces, f"{_named(kind)}, {size}")


def _ending(name: str) -> str:
    """The ending of a file's name, or the whole name of one that has none, e.g. `makefile`; in small letters."""
    last = PurePosixPath(name.strip()).name.casefold()
    if " " in last:
        return ""
    return last.rpartition(".")[2]


def _kind(text: str, type: str, ending: str) -> str:
    if max(map(len, text.split("\n"))) > LONGEST_LINE:
        # JSON may have been written on one line
        return "json" if ending in ("", "json") and is_json(text) and not _has_long_text(text) else "text"
    if ending in _MARKDOWN:
        return "markdown"
    if ending in ("diff", "patch") or is_difference(text):
        return "diff"
    if ending in ("csv", "tsv"):
        return ending if delimiter(text) else "text"
    if ending in _PLAIN:
        return "text"
    if ending == "json" or (not language(ending) and is_json(text)):
        return "json" if is_json(text) else "code json"
    if known := language(ending):
        return f"code {known}"
    return _by_type(text, type)


def _has_long_text(text: str) -> bool:
    return re.search(rf'"[^"]{{{LONGEST_LINE}}}', text) is not None


def _by_type(text: str, type: str) -> str:
    match type:
        case OutputType.DOCUMENT:
            return "markdown"
        case OutputType.DATA:
            return "csv" if delimiter(text) else "text"
        case OutputType.CODE:
            return f"code {_told_by_first_line(text)}"
        case OutputType.CONFIG:
            return f"code {'ini' if _has_sections(text) else ''}"
        case _:
            return "markdown" if looks_like(text) else "text"


def _told_by_first_line(text: str) -> str:
    """The language that `#!/usr/bin/env python3` names."""
    first = text[:200].partition("\n")[0]
    words = first.removeprefix("#!").replace("/", " ").split() if first.startswith("#!") else []
    return next((known for word in words if (known := language(word.rstrip("0123456789.")))), "")


def _has_sections(text: str) -> bool:
    """Whether the first line that says something is the name of a section."""
    lines = (line.strip() for line in text[:4_000].split("\n"))
    first = next((line for line in lines if line and line[0] not in "#;"), "")
    return first.startswith("[") and first.endswith("]")


def _pieces(text: str, kind: str) -> tuple[Piece, ...]:
    match kind.partition(" "):
        case "markdown", _, _:
            return markdown(text)
        case "diff", _, _:
            return difference(text)
        case "json", _, _:
            return indented(text)
        case (("csv" | "tsv"), _, _):
            return table(text, delimiter(text))
        case _, _, known:
            return code(text, known)


def _named(kind: str) -> str:
    first, _, known = kind.partition(" ")
    words = {"markdown": "Markdown", "diff": "difference", "json": "JSON", "csv": "table", "tsv": "table"}
    return words.get(first) or LANGUAGES.get(known, "code")
