"""The company's `knowledge/` folder, read when it changes and copied to the board by sections (S4-01, D-07)."""

import asyncio
import json
import logging
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.blackboard.readers import Readers
from core.commands.door import LocalDoor
from core.commands.knowledge import PATH_MAX, SECTION_MAX, SECTIONS_AT_ONCE, IndexKnowledge, Section, digest
from core.domain.actors import System
from core.domain.errors import OpsroomError
from core.domain.sections import sections_of

KNOWLEDGE = "knowledge"
FILE_MAX = 262_144  # bytes
FILES_MAX = 10_000
TOTAL_MAX = 67_108_864  # bytes of all files
PAUSE_S = 1.0  # between two looks
_FILES_AT_ONCE = 20
_BATCH_CHARACTERS = 10_000  # in one command: the writer serves everybody
_TOLD = 5
_LINK = "it is a link; links are not followed"
_TOO_LARGE = f"it has more than {FILE_MAX >> 10} KiB"
_Signature = tuple[int, int, int, int]
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Listing:
    """The files by their path, `knowledge/` first, each with what changes when it does; and what is left out, and why.

    `unread` are the folders that could not be read: nothing below them is known to be gone.
    """

    files: dict[str, _Signature] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)

    def is_spared(self, path: str) -> bool:
        """Whether a file that is not listed may still be there."""
        return any(path.startswith(f"{folder}/") for folder in self.unread)


def listed(company: Path) -> Listing:
    """The Markdown files of a company's knowledge, in the order of their names. Blocks; never raises OSError."""
    listing, total = Listing(), 0
    for path, seen in _entries(company / KNOWLEDGE, KNOWLEDGE, listing):
        if problem := _unfit(seen):
            listing.left_out[path] = problem
        elif len(listing.files) == FILES_MAX or total + seen.st_size > TOTAL_MAX:
            listing.left_out[path] = f"there are more than {FILES_MAX:,} files or {TOTAL_MAX >> 20} MiB"
        else:
            total += seen.st_size
            listing.files[path] = (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino)
    return listing


def _entries(folder: Path, name: str, listing: Listing) -> Iterator[tuple[str, os.stat_result]]:
    """Whatever is called `*.md`, also in folders below; what begins with a dot is nobody's business."""
    try:
        if folder.is_symlink():
            raise OSError(0, _LINK)
        with os.scandir(folder) as found:
            entries = sorted((entry for entry in found if entry.name[:1] != "."), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    except OSError as error:
        listing.left_out[_visible(name)] = _cannot(error)
        listing.unread.add(name)
        return
    for entry in entries:
        path = f"{name}/{entry.name}"
        try:
            is_folder = entry.is_dir()
            if not is_folder and not entry.name.lower().endswith(".md"):
                continue
            if path != _visible(path) or len(path) > PATH_MAX:
                listing.left_out[_visible(path)] = f"its name is no UTF-8, or has more than {PATH_MAX} characters"
            elif is_folder and entry.is_symlink():
                listing.left_out[path] = _LINK
            elif is_folder:
                yield from _entries(Path(entry.path), path, listing)
            else:
                yield path, entry.stat(follow_symlinks=False)
        except OSError as error:
            listing.left_out[_visible(path)] = _cannot(error)


def _visible(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _cannot(error: OSError) -> str:
    return error.strerror if error.errno == 0 and error.strerror else f"it cannot be read: {error.strerror or error}"


def _unfit(seen: os.stat_result) -> str:
    if stat.S_ISLNK(seen.st_mode):
        return _LINK
    if not stat.S_ISREG(seen.st_mode):
        return "it is no file"
    return _TOO_LARGE if seen.st_size > FILE_MAX else ""


def read_sections(company: Path, path: str) -> list[Section] | str:
    """The sections of one file, or why there are none that can be read. Blocks."""
    try:
        # A pipe or a link may have taken the place of what was listed.
        descriptor = os.open(company / path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return "it is no file"
            data = file.read(FILE_MAX + 1)
    except OSError as error:
        return _cannot(error)
    if len(data) > FILE_MAX:
        return _TOO_LARGE
    if b"\0" in data:
        return "it is binary"
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return f"line {data.count(10, 0, error.start) + 1} is no UTF-8"
    return [Section(path=path, heading=heading, body=body) for heading, body in sections_of(text, SECTION_MAX)]


class KnowledgeIndex:
    """Keeps the board's copy as the folder is. Lives in the owner; `poke` says that it is time to look.

    `left_out` are the files that are not on the board, each with its reason.
    """

    def __init__(self, company: Path, readers: Readers, door: LocalDoor) -> None:
        self._company = company
        self._readers = readers
        self._door = door
        self._seen: dict[str, _Signature] = {}
        self._bad: dict[str, str] = {}  # of those seen
        self._is_first = True
        self._due = asyncio.Event()
        self._due.set()
        self.left_out: Mapping[str, str] = {}

    def poke(self) -> None:
        """There may be something new."""
        self._due.set()

    async def run(self) -> None:
        """Look at the start, and whenever it is time; until cancelled."""
        told = ""
        while True:
            await self._due.wait()
            self._due.clear()
            try:
                await self.renew()
                told = ""
            except Exception as error:
                # E.g. a full disk: the next look goes on where this one ended.
                if str(error) != told:
                    unknown = None if isinstance(error, OpsroomError) else error
                    log.warning("knowledge was not brought up to date: %s", error, exc_info=unknown)
                told = str(error)
            await asyncio.sleep(PAUSE_S)

    async def renew(self) -> int:
        """Bring the board up to date; answers how many sections were written or removed. Raises BoardError."""
        listing = await asyncio.to_thread(listed, self._company)
        done = await self._forget(listing)
        changed = [path for path, signature in listing.files.items() if self._seen.get(path) != signature]
        for start in range(0, len(changed), _FILES_AT_ONCE):
            done += await self._read(changed[start : start + _FILES_AT_ONCE], listing)
        self._is_first = bool(listing.unread)
        self._tell({**listing.left_out, **self._bad})
        return done

    async def _forget(self, listing: Listing) -> int:
        """Files that are gone, or may no longer be read."""
        known = set(self._seen)
        if self._is_first:
            known |= {row["path"] for row in await self._readers.all("SELECT DISTINCT path FROM knowledge")}
        gone = [path for path in known if path not in listing.files and not listing.is_spared(path)]
        done = await self._write(gone, {}) if gone else 0
        for path in gone:
            self._seen.pop(path, None)
            self._bad.pop(path, None)
        return done

    async def _read(self, paths: Sequence[str], listing: Listing) -> int:
        found = await asyncio.to_thread(lambda: {path: read_sections(self._company, path) for path in paths})
        done = await self._write(paths, {path: [] if isinstance(got, str) else got for path, got in found.items()})
        for path, got in found.items():
            self._seen[path] = listing.files[path]
            self._bad.pop(path, None)
            if isinstance(got, str):
                self._bad[path] = got
        return done

    async def _write(self, paths: Sequence[str], found: Mapping[str, Sequence[Section]]) -> int:
        """Make the board's sections of these files those that were found; only what differs is written."""
        rows = await self._readers.all(
            "SELECT id, path, heading, sha256 FROM knowledge WHERE path IN (SELECT value FROM json_each(:paths))",
            paths=json.dumps(paths),
        )
        known = {(row["path"], row["heading"]): row for row in rows}
        changed: list[Section] = []
        for section in (section for sections in found.values() for section in sections):
            row = known.pop((section.path, section.heading), None)
            if row is None or row["sha256"] != digest(section.body):
                changed.append(section)
        for command in _commands(changed, [row["id"] for row in known.values()]):
            await self._door.execute(System("knowledge"), command)
        return len(changed) + len(known)

    def _tell(self, left_out: Mapping[str, str]) -> None:
        fresh = [f"{path}: {why}" for path, why in left_out.items() if self.left_out.get(path) != why]
        for words in fresh[:_TOLD]:
            log.warning("left out of the knowledge: %s", words)
        if len(fresh) > _TOLD:
            log.warning("left out of the knowledge: %s more files", len(fresh) - _TOLD)
        self.left_out = dict(left_out)


def _commands(sections: Iterable[Section], removed: Sequence[int]) -> Iterator[IndexKnowledge]:
    """Small ones, so that others' commands come in between."""
    for start in range(0, len(removed), SECTIONS_AT_ONCE):
        yield IndexKnowledge(removed=tuple(removed[start : start + SECTIONS_AT_ONCE]))
    batch: list[Section] = []
    size = 0
    for section in sections:
        if batch and (len(batch) == SECTIONS_AT_ONCE or size + len(section.body) > _BATCH_CHARACTERS):
            yield IndexKnowledge(sections=tuple(batch))
            batch, size = [], 0
        batch.append(section)
        size += len(section.body)
    if batch:
        yield IndexKnowledge(sections=tuple(batch))
