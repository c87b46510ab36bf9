"""Lines that hold TODO or FIXME as a word, in text files."""

import heapq
import re
from collections.abc import Iterator
from typing import NamedTuple

from core.agents.rehearsal.audit.files import iter_files
from core.agents.rehearsal.audit.reading import CHUNK, opened
from core.agents.rehearsal.audit.shapes import Marks, Place
from core.agents.rehearsal.audit.survey import Folder, Progress, Survey, reason, shown, silent

FIRST_PLACES = 200
TOP_FILES = 10
TEXT_CUT = 200
MARK = re.compile(rb"\b(?:TODO|FIXME)\b")
_OVERLAP = 6  # the longest mark and the byte before it


class MarkedLine(NamedTuple):
    """A line with a mark: its number from 1, and its text cut to 200 characters (see `texts`)."""

    line: int
    text: str


def marks(folder: Folder, tell: Progress = silent) -> Marks:
    """Find the marks of a folder; raises AuditError when the folder cannot be read."""
    survey = Survey.of(folder, tell)
    lines = files = 0
    places: list[Place] = []
    fullest: list[tuple[int, bytes]] = []
    for number, entry in enumerate(iter_files(survey), 1):
        tell(number, None, "looking for marks")
        count = 0
        first: list[Place] = []
        try:
            with opened(survey.at(entry.path)) as file:
                for found in marked_lines(file.text_chunks(), FIRST_PLACES - len(places)):
                    count += 1
                    if len(places) + len(first) < FIRST_PLACES:
                        first.append(_place(entry.path, found))
        except OSError as error:
            survey.skip(entry.path, reason(error))
            continue
        if count:
            lines, files = lines + count, files + 1
            places += first
            fullest = heapq.nsmallest(TOP_FILES, [*fullest, (-count, entry.path)])
    return {
        "lines": lines,
        "files": files,
        "places": places,
        "top_files": [{"path": shown(path), "lines": -count} for count, path in fullest],
        **survey.audited(),
    }


def marked_lines(chunks: Iterator[bytes], texts: int = FIRST_PLACES) -> Iterator[MarkedLine]:
    """The lines with a mark, each once; only the first few (`texts`) come with their text.

    A line longer than a chunk is read in pieces.
    """
    line, told = 1, 0
    for piece, begins, ends in _pieces(chunks):
        counted = at = 0
        while found := MARK.search(piece, at):
            at = found.end()
            # At a cut the neighbour is unknown: such a mark is found whole in the other piece.
            if (found.start() == 0 and not begins) or (at == len(piece) and not ends):
                continue
            line += piece.count(b"\n", counted, at)
            line_end = piece.find(b"\n", at)
            counted = at = len(piece) if line_end < 0 else line_end  # the rest tells nothing new
            if line != told:
                told = line
                texts -= 1
                yield MarkedLine(line, _text(piece, found.start()) if texts >= 0 else "")
        line += piece.count(b"\n", counted)


def _pieces(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, bool, bool]]:
    """Pieces of whole lines, or of one long line with a little overlap: (bytes, begins, ends a line)."""
    rest, begins = b"", True
    for chunk in chunks:
        rest += chunk
        cut = rest.rfind(b"\n") + 1
        if cut:
            yield rest[:cut], begins, True
            rest, begins = rest[cut:], True
        elif len(rest) > CHUNK:
            yield rest, begins, False
            rest, begins = rest[-_OVERLAP:], False
    if rest:
        yield rest, begins, True


def _text(piece: bytes, mark: int) -> str:
    begin = piece.rfind(b"\n", 0, mark) + 1
    if mark - begin > TEXT_CUT // 2:
        begin = mark  # far into a long line, the mark itself is what to show
    line = piece[begin : begin + 4 * TEXT_CUT].split(b"\n", 1)[0]
    return line.decode("utf-8", "replace").strip()[:TEXT_CUT]


def _place(path: bytes, found: MarkedLine) -> Place:
    return {"path": shown(path), "line": found.line, "text": found.text}
