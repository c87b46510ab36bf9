"""Reports as files: what was composed on the board lies in the company's `reports/` too, for other programs (S2-14)."""

import asyncio
import logging
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from core.blackboard.readers import Readers
from core.domain.entities import Event, Output
from core.domain.errors import BoardError
from core.domain.reporting import report_file

FOLDER = "reports"
PART = ".part"
_LOG = logging.getLogger(__name__)
_VERSION = re.compile(r"version ([0-9]{1,9})\Z")
# Nobody else makes outputs by that event, whatever title they give them.
_COMPOSED = (
    "task_id IS NULL AND content IS NOT NULL AND EXISTS (SELECT 1 FROM events WHERE entity = 'outputs'"
    " AND entity_id = outputs.id AND kind = 'ReportComposed')"
)
_HEADS = f"SELECT id, goal_id, title FROM outputs WHERE {_COMPOSED} ORDER BY id"


class ReportFiles:
    """Writes every composed report once. `hear` is a listener of the board; `run` works until it is cancelled."""

    def __init__(self, company: Path, readers: Readers) -> None:
        self.folder = company / FOLDER
        self._readers = readers
        self._due = asyncio.Event()
        self._due.set()

    def hear(self, events: Sequence[Event]) -> None:
        """A report was composed."""
        if any(event.kind == "ReportComposed" for event in events):
            self._due.set()

    async def run(self) -> None:
        """Make good what is missing, at the start and whenever a report is composed."""
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
            _LOG.warning("reports could not be written to %s: %s", self.folder, error)

    async def make_good(self) -> list[Path]:
        """Write the files that are missing; those that are there stay as they are. Answers what was written."""
        written = []
        for row in await self._readers.all(_HEADS):
            found = _VERSION.search(row["title"])
            if found is None:
                continue
            place = self.folder / report_file(row["goal_id"], int(found[1]))
            if await asyncio.to_thread(os.path.lexists, place):
                continue
            outputs = await self._readers.entities(Output, "id = :id", id=row["id"])
            if outputs:
                await asyncio.to_thread(_write, place, outputs[0].content or "")
                written.append(place)
        return written


def _write(place: Path, text: str) -> None:
    """Whole or not at all, and nowhere else: neither the folder nor the file may be a link that leads away."""
    folder = place.parent
    if folder.is_symlink():
        raise OSError(f"{folder} is a link")
    folder.mkdir(mode=0o700, exist_ok=True)
    # A name of its own: a write that was given up may still be at work in its thread.
    handle, part = tempfile.mkstemp(dir=folder, prefix=f".{place.name}.", suffix=PART)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, place)
    except OSError:
        os.unlink(part)
        raise


def _sweep(folder: Path) -> None:
    """Take away what an owner that died left half-written."""
    if folder.is_dir() and not folder.is_symlink():
        for part in folder.glob(f".*{PART}"):
            part.unlink(missing_ok=True)
