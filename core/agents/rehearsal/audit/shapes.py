"""The results of the audit as JSON-ready shapes. Paths are relative to the folder, as `shown`."""

from typing import Any, TypedDict


class Counts(TypedDict):
    """Regular files, their lines (0 for binary ones) and their bytes."""

    files: int
    lines: int
    bytes: int


class LeftOut(TypedDict):
    """A file or folder that was not read, and why, in words for people."""

    path: str
    reason: str


class Skipped(TypedDict):
    """How many files or folders were not read, and the first 200 of them."""

    count: int
    first: list[LeftOut]


class Audited(TypedDict):
    """What every result says of its reading: `git` tells whether git named the files."""

    git: bool
    notes: list[str]
    skipped: Skipped


class OtherFiles(TypedDict):
    """Files of no known language: `text` without a NUL byte in the first 8 KiB, `binary` with one."""

    text: Counts
    binary: Counts


class Inventory(Audited):
    """Counts by language (names as Pygments gives them, sorted), of other files, and of all."""

    languages: dict[str, Counts]
    other: OtherFiles
    total: Counts


class Place(TypedDict):
    """A line with a mark: its number from 1, and its text cut to 200 characters."""

    path: str
    line: int
    text: str


class MarkedFile(TypedDict):
    """A file and how many of its lines hold a mark."""

    path: str
    lines: int


class Marks(Audited):
    """Lines with TODO or FIXME in text files: all, the first 200 places, the ten fullest files."""

    lines: int
    files: int
    places: list[Place]
    top_files: list[MarkedFile]


class LargeFile(TypedDict):
    """A file with its bytes and lines (0 for a binary one)."""

    path: str
    bytes: int
    lines: int


class UntouchedFile(TypedDict):
    """A file and when it last changed (ISO 8601, UTC); `by` is "commit" or "mtime"."""

    path: str
    date: str
    by: str


class History(Audited):
    """The ten largest files, largest first, and the ten longest untouched, oldest first."""

    largest: list[LargeFile]
    untouched: list[UntouchedFile]


class Heading(TypedDict):
    """A heading of the README: its level (1 to 6) and its plain text."""

    level: int
    text: str


class Readme(TypedDict):
    """The README: its first 100 headings, and where each expected section was found.

    `sections` maps installation, usage, tests and licence to "heading", "text" (the word is only
    in the text) or None. Headings are read from Markdown only.
    """

    path: str
    headings: list[Heading]
    sections: dict[str, str | None]


class DeadLink(TypedDict):
    """A Markdown file and the target, as written, of a relative link that leads nowhere."""

    file: str
    target: str


class Documentation(Audited):
    """The README (None when there is none), Markdown files read, and their dead relative links."""

    readme: Readme | None
    markdown_files: int
    dead_links: list[DeadLink]


class Duplicates(Audited):
    """Groups of non-empty files with equal bytes; `spare_bytes` is what all copies but one take."""

    groups: list[list[str]]
    files: int
    spare_bytes: int


class LongestLine(TypedDict):
    """The first of the longest lines: its number from 1 and its bytes without the newline."""

    line: int
    bytes: int


class Commits(TypedDict):
    """Commits (merges left out) that touched a file; dates are ISO 8601 in UTC."""

    count: int
    first: str
    last: str


class CloserLook(Audited):
    """One file in detail; line figures are 0 for a binary file.

    `repeated_share` (0 to 1) is the share of non-blank lines that equal another one, taken over
    the first `compared_lines` non-blank lines. `commits` is None where git knows none.
    """

    path: str
    language: str | None
    binary: bool
    bytes: int
    lines: int
    blank_lines: int
    longest_line: LongestLine | None
    marks: int
    first_marks: list[Place]
    repeated_share: float
    compared_lines: int
    commits: Commits | None


class Check(TypedDict):
    """One recomputed figure: what it is, the claimed and the found value, and whether they agree."""

    what: str
    claimed: Any
    found: Any
    equal: bool


class Recomputed(TypedDict):
    """The sampled checks of a reviewer; `equal` when all agree."""

    checks: list[Check]
    equal: bool
