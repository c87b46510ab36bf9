"""A reviewer's recomputation: a sample of claimed figures, found again in another way.

Files are listed and named by the same rules; what they hold is counted anew, from whole files and
lines split in Python. A claim is another agent's word: any JSON. See `recheck` for the other kinds.
"""

import random
import re
from dataclasses import dataclass, field
from typing import Any, TypeVar

from core.agents.rehearsal.audit.files import FileEntry, iter_files
from core.agents.rehearsal.audit.inventory import BINARY, OTHER_TEXT, no_counts
from core.agents.rehearsal.audit.languages import language_of
from core.agents.rehearsal.audit.reading import HEAD, opened
from core.agents.rehearsal.audit.shapes import Check, Counts
from core.agents.rehearsal.audit.survey import Survey, unshown

ALL_READ_BELOW = 64 << 20
"""Bytes up to which a folder is recounted whole; beyond, only what the sample needs is read."""

T = TypeVar("T")


@dataclass
class Sample:
    """A claim, the folder it is about, and the checks so far; the seed settles what is drawn."""

    survey: Survey
    claimed: Any
    random: random.Random
    size: int
    checks: list[Check] = field(default_factory=list)

    def check(self, what: str, claimed: Any, found: Any) -> None:
        """Set a claimed value beside the one found."""
        self.checks.append({"what": what, "claimed": claimed, "found": found, "equal": claimed == found})

    def drawn(self, from_all: list[T]) -> list[T]:
        """Some of them, or all where there are few, in their order."""
        if len(from_all) <= self.size:
            return from_all
        return [from_all[at] for at in sorted(self.random.sample(range(len(from_all)), self.size))]

    def rows(self, key: str) -> list[dict[str, Any]]:
        """The claimed list of objects under a key; what is no object is left out."""
        rows = value(self.claimed, key)
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    def small(self) -> bool:
        """Whether the whole folder may be read again."""
        return sum(entry.size for entry in iter_files(self.survey)) <= ALL_READ_BELOW

    def place(self, path: Any) -> bytes:
        """Where a claimed path is on disk."""
        return self.survey.at(claimed_path(path))


def claimed_path(path: Any) -> bytes:
    """A claimed path as bytes which the system takes, relative to the root."""
    return unshown(str(path)).replace(b"\0", b"?").lstrip(b"/")


def table(claimed: Any, key: str) -> dict[str, Any]:
    """The claimed object under a key, empty when there is none."""
    found = value(claimed, key)
    return found if isinstance(found, dict) else {}


def value(claimed: Any, key: str) -> Any:
    """The claimed value under a key, None when there is none."""
    return claimed.get(key) if isinstance(claimed, dict) else None


def recount_inventory(sample: Sample) -> None:
    """Sampled languages (of a large folder those with least bytes) and the totals, counted again."""
    claimed = table(sample.claimed, "languages")
    other = table(sample.claimed, "other")
    total = table(sample.claimed, "total")
    small = sample.small()
    if small:
        chosen = None
    else:
        by_bytes = sorted(claimed, key=lambda name: (_bytes_of(claimed[name]), name))
        chosen = set(by_bytes[: sample.size])
    found = _counted(sample.survey, chosen)
    others = {"text": found.pop(OTHER_TEXT, no_counts()), "binary": found.pop(BINARY, no_counts())}
    sample.check("languages", sorted(claimed), sorted(found))
    names = sample.drawn(sorted({*claimed, *found})) if chosen is None else sorted(chosen)
    for name in names:
        sample.check(name, claimed.get(name), found.get(name))
    figures: tuple[str, ...] = ("files", "lines", "bytes") if small else ("files", "bytes")
    for name, counts in others.items():
        sample.check(f"other {name}", _only(other.get(name), figures), _only(counts, figures))
    everything = [*found.values(), *others.values()]
    summed = {figure: sum(value(counts, figure) for counts in everything) for figure in figures}
    sample.check("total", _only(total, figures), summed)


def recount_marks(sample: Sample) -> None:
    """Sampled places and files looked at again, and of a small folder all marked lines."""
    for place in sample.drawn(sample.rows("places")):
        lines = marked_line_numbers(sample.place(place.get("path")))
        found = place.get("line") in lines
        sample.check(f"a mark at {place.get('path')}:{place.get('line')}", True, found)
    for file in sample.drawn(sample.rows("top_files")):
        count = len(marked_line_numbers(sample.place(file.get("path"))))
        sample.check(f"marked lines in {file.get('path')}", file.get("lines"), count)
    if sample.small():
        counts = [len(marked_line_numbers(sample.survey.at(e.path))) for e in iter_files(sample.survey)]
        sample.check("marked lines", value(sample.claimed, "lines"), sum(counts))
        sample.check("marked files", value(sample.claimed, "files"), sum(map(bool, counts)))


def whole(place: bytes) -> bytes:
    """The bytes of a file; raises OSError."""
    with opened(place) as file:
        return b"".join(file.chunks())


def line_count(data: bytes) -> int:
    """Lines of a text, none of a binary one."""
    return 0 if b"\0" in data[:HEAD] else len(data.split(b"\n")) - (data[-1:] in (b"", b"\n"))


def marked_line_numbers(place: bytes) -> list[int]:
    """The numbers of the lines with a mark, found by splitting lines into words."""
    try:
        data = whole(place)
    except OSError:
        return []
    if b"\0" in data[:HEAD]:
        return []
    return [
        number
        for number, line in enumerate(data.split(b"\n"), 1)
        if (b"TODO" in line or b"FIXME" in line) and {b"TODO", b"FIXME"} & set(re.split(rb"[^A-Za-z0-9_]+", line))
    ]


def _counted(survey: Survey, chosen: set[str] | None) -> dict[str, Counts]:
    """Counts by group; lines only of the chosen groups (None: of all)."""
    groups: dict[str, Counts] = {}
    for number, entry in enumerate(iter_files(survey), 1):
        survey.tell(number, None, "counting again")
        try:
            group = _group(survey, entry)
            lines = line_count(whole(survey.at(entry.path))) if chosen is None or group in chosen else 0
        except OSError:
            continue
        counts = groups.setdefault(group, no_counts())
        counts["files"] += 1
        counts["lines"] += lines
        counts["bytes"] += entry.size
    return groups


def _group(survey: Survey, entry: FileEntry) -> str:
    with opened(survey.at(entry.path)) as file:
        head = file.head
    return BINARY if b"\0" in head else language_of(entry.path, head) or OTHER_TEXT


def _bytes_of(counts: Any) -> int:
    claimed = value(counts, "bytes")
    return claimed if isinstance(claimed, int) else 0


def _only(counts: Any, figures: tuple[str, ...]) -> dict[str, Any]:
    return {figure: value(counts, figure) for figure in figures}
