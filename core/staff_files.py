"""The staff's files: `agents/<slug>/` in the company's folder, made once from what was approved, then the agent's."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.domain.staff_files import FILES, staff_files
from core.kept_files import KeptFiles

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


class StaffFiles(KeptFiles):
    """Writes the files of every agent once."""

    name = "agents"
    heard = "AgentHired"
    told = "files of the staff"

    async def make_good(self) -> list[Path]:
        locale = str(await self._readers.value("SELECT locale FROM company"))
        written: list[Path] = []
        in_the_way: list[str] = []
        for row in await self._readers.all(_HIRED):
            slug = str(row["slug"])
            if _SLUG.fullmatch(slug) is None or row["hired"] is None:
                continue
            try:
                written += await self._make_good(slug, row, locale)
            except OSError as error:
                # One folder in the way keeps nobody else from theirs.
                in_the_way.append(f"{slug}: {error}")
        self.warn(f"files of {each}" for each in in_the_way)
        return written

    async def _make_good(self, slug: str, row: Mapping[str, Any], locale: str) -> list[Path]:
        missing = await self.missing(self.folder / slug / name for name in FILES)
        if not missing:
            return []
        texts = _texts(row, locale)
        return await self.write({place: texts[place.name] for place in missing})


def _texts(row: Mapping[str, Any], locale: str) -> dict[str, str]:
    approved = json.loads(row["approved"]) if row["approved"] else {}
    return staff_files(json.loads(row["hired"]), locale, str(approved.get("why", "")), row["manager"])
