"""Files, lines and bytes by language."""

from core.agents.rehearsal.audit.files import iter_files
from core.agents.rehearsal.audit.languages import language_of
from core.agents.rehearsal.audit.reading import OpenFile, count_lines, opened
from core.agents.rehearsal.audit.shapes import Counts, Inventory
from core.agents.rehearsal.audit.survey import Folder, Progress, Survey, reason, silent

OTHER_TEXT = "Other text"
BINARY = "Binary"


def inventory(folder: Folder, tell: Progress = silent) -> Inventory:
    """Count the folder's files by language; raises AuditError when the folder cannot be read."""
    survey = Survey.of(folder, tell)
    groups: dict[str, Counts] = {}
    total = no_counts()
    for number, entry in enumerate(iter_files(survey), 1):
        try:
            with opened(survey.at(entry.path)) as file:
                group = group_of(entry.path, file)
                lines, size = (0, file.size) if file.binary else count_lines(file.chunks())
        except OSError as error:
            survey.skip(entry.path, reason(error))
            continue
        for counts in (groups.setdefault(group, no_counts()), total):
            counts["files"] += 1
            counts["lines"] += lines
            counts["bytes"] += size
        tell(number, None, "counting lines")
    text, binary = groups.pop(OTHER_TEXT, no_counts()), groups.pop(BINARY, no_counts())
    return {
        "languages": dict(sorted(groups.items())),
        "other": {"text": text, "binary": binary},
        "total": total,
        **survey.audited(),
    }


def group_of(path: bytes, file: OpenFile) -> str:
    """The language, "Other text", or "Binary": a file with NUL bytes is in no language, however named."""
    if file.binary:
        return BINARY
    return language_of(path, file.head) or OTHER_TEXT


def no_counts() -> Counts:
    """A count that has not begun."""
    return {"files": 0, "lines": 0, "bytes": 0}
