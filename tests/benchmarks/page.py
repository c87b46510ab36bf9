"""docs/performance.md: the tables of a measurement, between marks in a page whose words people write."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
BEGIN, END = "<!-- measured by make bench: begin -->", "<!-- measured by make bench: end -->"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> str:
    """What it was measured on."""
    return (
        f"Measured with {os.cpu_count()} cores, Python {platform.python_version()}, Textual {version('textual')},"
        f" on {platform.system()} {platform.machine()}."
    )


def write(text: str, page: Path = PAGE) -> None:
    """Put this in place of what was measured before. Raises ValueError when the page has lost its marks."""
    old = page.read_text(encoding="utf-8")
    before, after = old.index(BEGIN) + len(BEGIN), old.index(END)
    page.write_text(f"{old[:before]}\n\n{text}\n\n{old[after:]}", encoding="utf-8")
