"""Which files a folder holds: as git names them where git is there, else as a walk finds them.

Links are never followed; nothing is opened here.
"""

import errno
import heapq
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from core.agents.rehearsal.audit import git
from core.agents.rehearsal.audit.survey import Survey, reason


class FileEntry(NamedTuple):
    """A regular file: its path relative to the root, its bytes, its mtime (seconds, UTC)."""

    path: bytes
    size: int
    modified: float


def iter_files(survey: Survey) -> Iterator[FileEntry]:
    """The regular files to audit, in a settled order (by path bytes), with flat memory.

    Left out: `.git`, what git ignores, and links. A nested repository is read by its own rules.
    Broken links, devices and what may not be read are told to `survey.skip`.
    """
    survey.git = git.knows(survey.root)
    yield from _under(survey, b"", by_git=survey.git)


def _under(survey: Survey, folder: bytes, *, by_git: bool) -> Iterator[FileEntry]:
    listing = git.listing(survey.at(folder)) if by_git else None
    if listing is not None:
        with listing.tracked, listing.untracked:
            yield from _as_git_lists(survey, folder, listing)
        return
    if by_git:
        survey.git = survey.git and folder != b""
        survey.note("git could not list the files: ignored ones are counted too.")
    yield from _walked(survey, folder)


def _as_git_lists(survey: Survey, folder: bytes, listing: git.Listing) -> Iterator[FileEntry]:
    for unopened in listing.unopened:
        survey.skip(unopened, "no permission to read")
    behind_link = _BehindLink(survey.root)
    nested: set[bytes] = set()
    last = b""
    for listed in heapq.merge(git.nul_fields(listing.tracked), git.nul_fields(listing.untracked)):
        path = folder + listed.rstrip(b"/")  # an untracked repository ends with a slash
        if path == last or path in nested or behind_link(os.path.dirname(path)):
            continue
        last = path
        status = _status(survey, path)
        if status is None:
            continue
        if not stat.S_ISDIR(status.st_mode):
            yield from _regular(survey, path, status)
        elif _is_repository(survey, path):
            nested.add(path)
            yield from _nested(survey, path + b"/")


def _walked(survey: Survey, folder: bytes) -> Iterator[FileEntry]:
    # A stack, not recursion: folders may be nested deeper than Python's limit.
    stack = [_names(survey, folder)]
    while stack:
        if not stack[-1]:
            stack.pop()
            continue
        path = stack[-1].pop()
        if not path.endswith(b"/"):
            status = _status(survey, path)
            if status is not None:
                yield from _regular(survey, path, status)
        elif _is_repository(survey, path):
            yield from _nested(survey, path)
        else:
            stack.append(_names(survey, path))


def _names(survey: Survey, folder: bytes) -> list[bytes]:
    """The paths in one folder, last one first; a folder's ends with a slash, which sorts as paths do."""
    try:
        with os.scandir(survey.at(folder)) as entries:
            return sorted(
                (
                    folder + entry.name + (b"/" if entry.is_dir(follow_symlinks=False) else b"")
                    for entry in entries
                    if entry.name != b".git"
                ),
                reverse=True,
            )
    except OSError as error:
        survey.skip(folder or b".", reason(error))
        return []


def _nested(survey: Survey, folder: bytes) -> Iterator[FileEntry]:
    return _under(survey, folder, by_git=git.knows(survey.at(folder), as_top=True))


def _is_repository(survey: Survey, folder: bytes) -> bool:
    return os.path.lexists(os.path.join(survey.at(folder), b".git"))


def _status(survey: Survey, path: bytes) -> os.stat_result | None:
    try:
        return os.lstat(survey.at(path))
    except (FileNotFoundError, NotADirectoryError):
        return None  # tracked but deleted, or gone since it was listed
    except OSError as error:
        survey.skip(path, reason(error))
        return None


def _regular(survey: Survey, path: bytes, status: os.stat_result) -> Iterator[FileEntry]:
    if stat.S_ISREG(status.st_mode):
        yield FileEntry(path, status.st_size, status.st_mtime)
    elif stat.S_ISLNK(status.st_mode):
        why = _why_broken(survey.at(path))
        if why is not None:
            survey.skip(path, why)
    elif not stat.S_ISDIR(status.st_mode):
        survey.skip(path, "not a regular file")


def _why_broken(link: bytes) -> str | None:
    try:
        os.stat(link)
    except (FileNotFoundError, NotADirectoryError):
        return "broken symbolic link"
    except OSError as error:
        return "symbolic link loop" if error.errno == errno.ELOOP else reason(error)
    return None


class _BehindLink:
    """Whether a folder is reached through a link: git still lists what a link has replaced."""

    def __init__(self, root: bytes) -> None:
        self._root = root
        self._last = (b"", False)

    def __call__(self, folder: bytes) -> bool:
        if self._last[0] != folder:
            self._last = (folder, self._look(folder))
        return self._last[1]

    def _look(self, folder: bytes) -> bool:
        while folder:
            if os.path.islink(os.path.join(self._root, folder)):
                return True
            folder = os.path.dirname(folder)
        return False
