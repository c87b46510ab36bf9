"""Files that the owner makes once from the board, and makes good when they are missing: never over what is there."""

import asyncio
import contextlib
import logging
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from core.blackboard.readers import Readers
from core.domain.entities import Event
from core.domain.errors import BoardError

PART = ".part"
_LOG = logging.getLogger(__name__)


class KeptFiles(ABC):
    """Files below one folder of the company. `hear` is a listener of the board; `run` works until it is cancelled."""

    name: ClassVar[str]  # of the folder
    heard: ClassVar[str]  # the event after which there may be more to write
    told: ClassVar[str]  # what they are, for people

    def __init__(self, company: Path, readers: Readers) -> None:
        self.folder = company / self.name
        self._readers = readers
        self._due = asyncio.Event()
        self._due.set()
        self.warnings: tuple[str, ...] = ()  # what could not be written, for people
        self._untold: list[str] = []

    def warn(self, problems: Iterable[str]) -> None:
        """Keep what could not be written; it is told once, until it changes."""
        before, self.warnings = self.warnings, tuple(problems)
        new = [problem for problem in self.warnings if problem not in before]
        self._untold += new
        for problem in new:
            _LOG.warning("%s", problem)

    def take_warnings(self) -> list[str]:
        """What could not be written, each told once."""
        told, self._untold = self._untold, []
        return told

    @abstractmethod
    async def make_good(self) -> list[Path]:
        """Write the files that are missing; those that are there stay as they are. Answers what was written."""

    def hear(self, events: Sequence[Event]) -> None:
        """There may be more to write."""
        if any(event.kind == self.heard for event in events):
            self._due.set()

    async def run(self) -> None:
        """Make good what is missing, at the start and whenever there is more."""
        await asyncio.to_thread(_sweep, self.folder)
        while True:
            await self._due.wait()
            await self.finish()

    async def finish(self) -> None:
        """Write what is due; a folder that cannot be written is told in the log, and nothing else waits for it."""
        if not self._due.is_set():
            return
        self._due.clear()
        try:
            await self.make_good()
        except asyncio.CancelledError:
            self._due.set()
            raise
        except (OSError, BoardError) as error:
            self.warn([f"{self.told} could not be written to {self.folder}: {error}"])

    async def missing(self, places: Iterable[Path]) -> list[Path]:
        """Those places in the folder where nothing is. A link that leads nowhere is something."""
        return await asyncio.to_thread(lambda: [place for place in places if not os.path.lexists(place)])

    async def write(self, texts: Mapping[Path, str]) -> list[Path]:
        """Write files at places in the folder, or in folders of it. Answers those that were not there."""
        return await asyncio.to_thread(lambda: [place for place in texts if _write(self.folder, place, texts[place])])


def _write(base: Path, place: Path, text: str) -> bool:
    """Whole or not at all, never over what is there, and nowhere else: no folder on the way may be a link."""
    folder = place.parent
    for each in dict.fromkeys((base, folder)):
        if each.is_symlink():
            raise OSError(f"{each} is a link")
        each.mkdir(mode=0o700, exist_ok=True)
    # A name of its own: a write that was given up may still be at work in its thread.
    handle, part = tempfile.mkstemp(dir=folder, prefix=f".{place.name}.", suffix=PART)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        return _put(part, place)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def _put(part: str, place: Path) -> bool:
    """Give a written file its name, unless something has it. A link, not a rename: it never takes another's place."""
    try:
        os.link(part, place)
    except FileExistsError:
        return False
    except OSError:
        # Some file systems know no links.
        if os.path.lexists(place):
            return False
        os.replace(part, place)
    return True


def _sweep(base: Path) -> None:
    """Take away what an owner that died left half-written; nothing where a link leads."""
    if base.is_symlink():
        return
    with contextlib.suppress(OSError):
        for folder in (base, *base.glob("*/")):
            if not folder.is_symlink():
                for part in folder.glob(f".*{PART}"):
                    part.unlink(missing_ok=True)
