"""Groups of non-empty files with equal bytes: by size, then by how they begin, then whole."""

import hashlib
from collections.abc import Callable, Iterable, Iterator

from core.agents.rehearsal.audit.files import iter_files
from core.agents.rehearsal.audit.reading import opened
from core.agents.rehearsal.audit.shapes import Duplicates
from core.agents.rehearsal.audit.survey import Folder, Progress, Survey, reason, shown, silent

BEGINNING = 1 << 16


def duplicates(folder: Folder, tell: Progress = silent) -> Duplicates:
    """Find exact duplicates; raises AuditError when the folder cannot be read.

    Paths of one file under two names (hard links) count as duplicates. Only sizes and paths are held.
    """
    survey = Survey.of(folder, tell)
    groups: list[list[str]] = []
    spare = 0
    for size, paths in _equal_files(survey):
        groups.append(sorted(shown(path) for path in paths))
        spare += size * (len(paths) - 1)
    return {
        "groups": sorted(groups),
        "files": sum(map(len, groups)),
        "spare_bytes": spare,
        **survey.audited(),
    }


def _equal_files(survey: Survey) -> Iterator[tuple[int, list[bytes]]]:
    by_size = _by_size(survey)
    total, done = sum(map(len, by_size.values())), 0
    for size, paths in by_size.items():

        def beginning(path: bytes, size: int = size) -> bytes:
            nonlocal done
            done += 1
            survey.tell(done, total, "comparing files")
            return _digest(survey, path, size, min(size, BEGINNING))

        def whole(path: bytes, size: int = size) -> bytes:
            return _digest(survey, path, size, size)

        for alike in _grouped(survey, paths, beginning):
            equal = [alike] if size <= BEGINNING else _grouped(survey, alike, whole)
            for group in equal:
                yield size, group


def _by_size(survey: Survey) -> dict[int, list[bytes]]:
    by_size: dict[int, list[bytes]] = {}
    for number, entry in enumerate(iter_files(survey), 1):
        survey.tell(number, None, "listing files")
        if entry.size:
            by_size.setdefault(entry.size, []).append(entry.path)
    return {size: paths for size, paths in by_size.items() if len(paths) > 1}


def _grouped(survey: Survey, paths: Iterable[bytes], digest: Callable[[bytes], bytes]) -> list[list[bytes]]:
    groups: dict[bytes, list[bytes]] = {}
    for path in paths:
        try:
            groups.setdefault(digest(path), []).append(path)
        except OSError as error:
            survey.skip(path, reason(error))
    return [group for group in groups.values() if len(group) > 1]


def _digest(survey: Survey, path: bytes, size: int, wanted: int) -> bytes:
    """SHA-256 of the first bytes; raises OSError when the file is no longer of the listed size."""
    digest, left = hashlib.sha256(), wanted
    with opened(survey.at(path)) as file:
        if file.size != size:
            raise OSError("changed during the audit")
        for chunk in file.chunks():
            digest.update(chunk[:left])
            left -= min(left, len(chunk))
            if not left:
                return digest.digest()
    raise OSError("changed during the audit")
