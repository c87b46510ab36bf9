"""How text from the audited folder is written on the board and in the report: as text, whatever it holds."""

import re
from typing import Any

# ASCII that Markdown (with tables, strikethrough and bare links) gives a meaning inside of a line.
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&#!$^{}()@:])")
_BARE_LINK = re.compile(r"\b(www)\.", re.IGNORECASE)


def plain(text: str) -> str:
    """The text in one line, with each control or invisible character drawn as its escape."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def cut(text: str, limit: int) -> str:
    """The text, shortened in its middle to `limit` characters."""
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return f"{text[:head]}…{text[len(text) - (limit - 1 - head) :]}"


def named(path: str, limit: int = 80) -> str:
    """A path for a comment: one line, short, and without a sign that would wake an agent of that name."""
    return cut(plain(path), limit).replace("@", "＠")


def markdown(text: Any) -> str:
    """Foreign text inside a paragraph or a table cell of Markdown, as it is."""
    escaped = _MARKDOWN.sub(r"\\\1", plain(str(text)))
    return _BARE_LINK.sub(r"\1\\.", escaped)


def number(value: Any) -> str:
    """A figure with its thousands set apart; what is no figure, as text."""
    return f"{value:,}" if isinstance(value, int) else str(value)


def counted(count: int, one: str, many: str = "") -> str:
    """'1 file', '1,204 files'."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(names: list[str]) -> str:
    """'a, b and c'."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
