"""The largest files and the longest untouched ones, by git's commits where git is there."""

import heapq
from collections.abc import Iterator
from datetime import UTC, datetime

from core.agents.rehearsal.audit import git
from core.agents.rehearsal.audit.files import FileEntry, iter_files
from core.agents.rehearsal.audit.reading import count_lines, opened
from core.agents.rehearsal.audit.shapes import History, LargeFile
from core.agents.rehearsal.audit.survey import Folder, Progress, Survey, reason, shown, silent

HOW_MANY = 10


def history(folder: Folder, tell: Progress = silent) -> History:
    """Find the ten largest and ten longest untouched; raises AuditError when it cannot be read.

    A file that was never committed counts by its mtime. Paths and mtimes of all files are held.
    """
    survey = Survey.of(folder, tell)
    modified: dict[bytes, float] = {}
    sizes = ((-entry.size, entry.path) for entry in _noted(survey, modified))
    largest = [_large(survey, path) for _, path in heapq.nsmallest(HOW_MANY, sizes)]
    untouched = heapq.nsmallest(HOW_MANY, _touches(survey, modified))
    return {
        "largest": [one for one in largest if one is not None],
        "untouched": [{"path": shown(path), "date": iso(time), "by": by} for time, path, by in untouched],
        **survey.audited(),
    }


def iso(time: float) -> str:
    """Seconds since 1970 as an ISO 8601 date in UTC; what no calendar holds becomes its nearest end."""
    try:
        return datetime.fromtimestamp(int(time), UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        end = datetime.min if time < 0 else datetime.max.replace(microsecond=0)
        return end.replace(tzinfo=UTC).isoformat()


def _noted(survey: Survey, modified: dict[bytes, float]) -> Iterator[FileEntry]:
    for entry in iter_files(survey):
        modified[entry.path] = entry.modified
        survey.tell(len(modified), None, "listing files")
        yield entry


def _touches(survey: Survey, left: dict[bytes, float]) -> Iterator[tuple[float, bytes, str]]:
    """Each file's last touch; what no commit names is left for its mtime."""
    total = len(left)
    if survey.git:
        for path, time in git.last_touched(survey.root):
            if left.pop(path, None) is not None:
                survey.tell(total - len(left), total, "reading the history")
                yield time, path, "commit"
            if not left:
                return
    for path, seconds in left.items():
        yield seconds, path, "mtime"


def _large(survey: Survey, path: bytes) -> LargeFile | None:
    try:
        with opened(survey.at(path)) as file:
            lines, _ = count_lines(file.text_chunks())
            return {"path": shown(path), "bytes": file.size, "lines": lines}
    except OSError as error:
        survey.skip(path, reason(error))
        return None
