"""What a Markdown text links to and how it is headed, and where a relative target leads on disk.

markdown-it reads the text, so code is never taken for a link; raw HTML is not looked into.
"""

import os
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from core.agents.rehearsal.audit.shapes import Heading

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

FIRST_HEADINGS = 100
HEADING_CUT = 200
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def targets(text: str) -> set[str]:
    """The targets of links, images and reference definitions, as written (escapes resolved)."""
    seen: dict[str, Any] = {}
    tokens = _parser().parse(text, seen)
    found = {target for token in tokens for target in _inline_targets(token)}
    for label, reference in seen.get("references", {}).items():
        if not label.startswith("^"):  # a footnote of one word reads as a reference
            found.add(str(reference["href"]))
    return found


def headings(text: str) -> list[Heading]:
    """The first 100 headings, `#` and underlined ones, as plain text cut to 200 characters."""
    found: list[Heading] = []
    tokens = _parser().parse(text)
    for opening, inside in pairwise(tokens):
        if opening.type == "heading_open" and len(found) < FIRST_HEADINGS:
            plain = "".join(_plain(part) for part in inside.children or [])
            found.append({"level": int(opening.tag[1:]), "text": plain.strip()[:HEADING_CUT]})
    return found


def is_relative(target: str) -> bool:
    """Whether a target names a file: no scheme, no host, not only an anchor or a query."""
    return bool(target) and not target.startswith(("#", "?", "//")) and not _SCHEME.match(target)


def leads_nowhere(root: bytes, file: bytes, target: str) -> bool:
    """Whether a relative target of a file (relative to root) names nothing on disk.

    A leading slash means the root. A target outside of the root is looked up all the same; one that
    may not be looked at counts as there.
    """
    path = unquote_to_bytes(re.split("[#?]", target, maxsplit=1)[0].encode("utf-8", "surrogateescape"))
    from_folder = b"" if path.startswith(b"/") else os.path.dirname(file)
    place = os.path.normpath(os.path.join(root, from_folder, path.lstrip(b"/")))
    try:
        os.stat(place)
    except PermissionError:
        return False
    except (OSError, ValueError):
        return True
    return False


def _inline_targets(token: "Token") -> Iterator[str]:
    for part in token.children or []:
        if not str(part.meta.get("label", "")).startswith("^"):
            target = part.attrGet({"link_open": "href", "image": "src"}.get(part.type, ""))
            if target:
                yield str(target)


def _plain(part: "Token") -> str:
    return " " if part.type in ("softbreak", "hardbreak") else part.content


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    class AsWritten(MarkdownIt):
        """Keeps each target as it is written instead of percent-encoding it."""

        def normalizeLink(self, url: str) -> str:
            return url

    return AsWritten("commonmark", {"store_labels": True}).enable("table")
