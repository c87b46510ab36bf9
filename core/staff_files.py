"""The staff's files: `agents/<slug>/` in the company's folder, made once from what was approved, then the agent's."""

import asyncio
import contextlib
import json
import logging
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.blackboard.readers import Readers
from core.domain.entities import Event
from core.domain.errors import BoardError
from core.domain.staff_files import FILES, staff_files

FOLDER = "agents"
PART = ".part"
_LOG = logging.getLogger(__name__)
# A path is made of it: what is no short name leads nowhere.
_SLUG = re.compile(r"[a-z][a-z0-9-]{0,39}")
_HIRED = (
    "WITH staff AS (SELECT id, slug, (SELECT changed FROM events WHERE entity = 'agents' AND entity_id = agents.id"
    " AND kind = 'AgentHired' ORDER BY id LIMIT 1) AS hired, (SELECT payload FROM approvals WHERE kind = 'hire_agent'"
    " AND status = 'consumed' AND json_extract(payload, '$.slug') = agents.slug ORDER BY id DESC LIMIT 1) AS approved"
    " FROM agents WHERE status <> 'terminated')"
    " SELECT staff.slug, hired, approved, managers.slug AS manager FROM staff LEFT JOIN agents AS managers"
    " ON managers.id = json_extract(hired, '$.manager_id') ORDER BY staff.id"
)


class StaffFiles:
    """Writes the files of every agent once. `hear` is a listener of the board; `run` works until it is cancelled."""

    def __init__(self, company: Path, readers: Readers) -> None:
        self.folder = company / FOLDER
        self._readers = readers
        self._due = asyncio.Event()
        self._due.set()

    def hear(self, events: Sequence[Event]) -> None:
        """Somebody was hired."""
        if any(event.kind == "AgentHired" for event in events):
            self._due.set()

    async def run(self) -> None:
        """Make good what is missing, at the start and whenever somebody is hired."""
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
            _LOG.warning("files of the staff could not be written to %s: %s", self.folder, error)

    async def make_good(self) -> list[Path]:
        """Write the files that are missing; those that are there stay as they are. Answers what was written."""
        locale = str(await self._readers.value("SELECT locale FROM company"))
        written: list[Path] = []
        for row in await self._readers.all(_HIRED):
            slug = str(row["slug"])
            if _SLUG.fullmatch(slug) is None or row["hired"] is None:
                continue
            place = self.folder / slug
            missing = await asyncio.to_thread(_missing, place)
            if missing:
                texts = _texts(row, locale)
                written += await asyncio.to_thread(_write, place, {name: texts[name] for name in missing})
        return written


def _texts(row: Mapping[str, Any], locale: str) -> dict[str, str]:
    approved = json.loads(row["approved"]) if row["approved"] else {}
    return staff_files(json.loads(row["hired"]), locale, str(approved.get("why", "")), row["manager"])


def _missing(place: Path) -> list[str]:
    return [name for name in FILES if not os.path.lexists(place / name)]


def _write(place: Path, texts: Mapping[str, str]) -> list[Path]:
    """Each whole or not at all, never over what is there, and nowhere else: neither folder may be a link."""
    written = []
    for folder in (place.parent, place):
        if folder.is_symlink():
            raise OSError(f"{folder} is a link")
        folder.mkdir(mode=0o700, exist_ok=True)
    for name, text in texts.items():
        handle, part = tempfile.mkstemp(dir=place, prefix=f".{name}.", suffix=PART)
        try:
            with open(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            if _put(part, place / name):
                written.append(place / name)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part)
    return written


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


def _sweep(folder: Path) -> None:
    """Take away what an owner that died left half-written."""
    if folder.is_dir() and not folder.is_symlink():
        for part in folder.glob(f"*/.*{PART}"):
            part.unlink(missing_ok=True)
