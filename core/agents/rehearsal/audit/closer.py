"""A closer look at one file, for the second round."""

import os
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b

from core.agents.rehearsal.audit import git
from core.agents.rehearsal.audit.history import iso
from core.agents.rehearsal.audit.languages import language_of
from core.agents.rehearsal.audit.marks import marked_lines
from core.agents.rehearsal.audit.reading import OpenFile, opened
from core.agents.rehearsal.audit.shapes import CloserLook, Commits, LongestLine, Place
from core.agents.rehearsal.audit.survey import (
    AuditError,
    Folder,
    Progress,
    Survey,
    reason,
    shown,
    silent,
    unshown,
)

FIRST_MARKS = 5
COMPARED_LINES = 100_000


def closer_look(folder: Folder, path: str, tell: Progress = silent) -> CloserLook:
    """Look closely at one regular file of the folder, named as `shown`, in one streamed reading.

    Raises AuditError when the path leads out of the folder or the file cannot be read.
    """
    survey = Survey.of(folder, tell)
    survey.git = git.knows(survey.root)
    inside = _inside(survey, path)
    lines = _Lines()
    count = 0
    first: list[Place] = []
    try:
        with opened(survey.at(inside)) as file:
            for found in marked_lines(lines.watching(_told(survey, file)), FIRST_MARKS):
                count += 1
                if count <= FIRST_MARKS:
                    first.append(Place(path=shown(inside), line=found.line, text=found.text))
    except OSError as error:
        raise AuditError(f"{path} cannot be read: {reason(error)}.") from error
    return {
        "path": shown(inside),
        "language": None if file.binary else language_of(inside, file.head),
        "binary": file.binary,
        "bytes": file.size if file.binary else lines.bytes,
        "lines": lines.count,
        "blank_lines": lines.blank,
        "longest_line": lines.longest,
        "marks": count,
        "first_marks": first,
        "repeated_share": lines.repeated_share(),
        "compared_lines": lines.compared,
        "commits": _commits(survey, inside) if survey.git else None,
        **survey.audited(),
    }


class _Lines:
    """The line figures of chunks that pass by; of a line in several chunks only figures are kept."""

    def __init__(self) -> None:
        self.bytes = self.count = self.blank = self.compared = 0
        self.longest: LongestLine | None = None
        self._equal: Counter[bytes] = Counter()
        self._begin()

    def watching(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The same chunks; the figures are complete when they have all passed."""
        for chunk in chunks:
            self.bytes += len(chunk)
            *whole, rest = chunk.split(b"\n")
            for part in whole:
                self._extend(part)
                self._end()
            if rest:
                self._extend(rest)
            yield chunk
        if self._length:
            self._end()

    def repeated_share(self) -> float:
        """The share (0 to 1) of the compared lines that equal another one."""
        repeated = sum(times for times in self._equal.values() if times > 1)
        return round(repeated / self.compared, 4) if self.compared else 0.0

    def _begin(self) -> None:
        self._length, self._blank, self._digest = 0, True, blake2b(digest_size=8)

    def _extend(self, part: bytes) -> None:
        self._digest.update(part)
        self._length += len(part)
        self._blank = self._blank and not part.strip()

    def _end(self) -> None:
        self.count += 1
        if self.longest is None or self._length > self.longest["bytes"]:
            self.longest = {"line": self.count, "bytes": self._length}
        if self._blank:
            self.blank += 1
        elif self.compared < COMPARED_LINES:
            self.compared += 1
            self._equal[self._digest.digest()] += 1
        self._begin()


def _told(survey: Survey, file: OpenFile) -> Iterator[bytes]:
    done = 0
    for chunk in file.text_chunks():
        yield chunk
        done += len(chunk)
        survey.tell(done, file.size, "reading the file")


def _inside(survey: Survey, path: str) -> bytes:
    """The path relative to the root; a folder on the way that links elsewhere counts as leaving."""
    inside = os.path.normpath(unshown(path))
    folder = os.path.realpath(os.path.dirname(survey.at(inside))) if b"\0" not in inside else b""
    within = folder == survey.root or folder.startswith(os.path.join(survey.root, b""))
    if os.path.isabs(inside) or not within:
        raise AuditError(f"{path} is not in the folder.")
    return inside


def _commits(survey: Survey, path: bytes) -> Commits | None:
    count, last, first = 0, 0, 0
    for time in git.commit_times(survey.root, path):
        last, first = last if count else time, time
        count += 1
    return {"count": count, "first": iso(first), "last": iso(last)} if count else None
