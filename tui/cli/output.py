"""What is written: text for people, JSON for programs. Text of agents is drawn, never sent (tui.text)."""

import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from typing import Any

from tui.text import fit, one_line, plain


def prepare() -> None:
    """Names may hold half characters and terminals may not know all: show them escaped rather than fail."""
    # A stream that the caller closed is None in Python; what is written there is dropped.
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def say(text: str = "") -> None:
    """A line (or several) for people on standard output."""
    sys.stdout.write(drawn(text) + "\n")


def note(text: str) -> None:
    """A line for people on standard error: progress, warnings, errors."""
    sys.stderr.write(drawn(text) + "\n")
    sys.stderr.flush()


def drawn(text: str) -> str:
    """Text of others as it may go to a terminal; new lines stay."""
    return plain(_shown(text))


def _shown(text: str) -> str:
    # Bytes of file names that are no UTF-8 stay readable.
    return text.encode("utf-8", "backslashreplace").decode() if not text.isascii() else text


def print_json(value: Any) -> None:
    """One JSON object: indented for a terminal, one line for a pipe. ASCII, so that any encoding can carry it."""
    indent = 2 if sys.stdout.isatty() else None
    sys.stdout.write(json.dumps(value, ensure_ascii=True, indent=indent) + "\n")


def print_json_line(value: Any) -> None:
    """One JSON object on one line, at once."""
    sys.stdout.write(json.dumps(value, ensure_ascii=True) + "\n")


def table(rows: Sequence[Sequence[str]], headings: Sequence[str]) -> None:
    """Columns for people; on a terminal the last one is cut to fit."""
    from rich.cells import cell_len

    lines = [[one_line(_shown(cell)) for cell in row] for row in rows]
    widths = [max(cell_len(line[i]) for line in [list(headings), *lines]) for i in range(len(headings))]
    limit = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    for line in [list(headings), *lines]:
        cells = [fit(cell, width, pad=True) for cell, width in zip(line[:-1], widths, strict=False)]
        text = "  ".join([*cells, line[-1]]).rstrip()
        sys.stdout.write((fit(text, limit) if limit else text) + "\n")


def facts(pairs: Sequence[tuple[str, str]]) -> None:
    """Names and values below each other; empty values are left out."""
    width = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        if value:
            say(f"{name:<{width}}  {value}")


def when(ms: int | None) -> str:
    """A time for people, in UTC."""
    return "" if ms is None else time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(ms / 1000))
