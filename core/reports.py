"""Reports as files: what was composed on the board lies in the company's `reports/` too, for other programs (S2-14)."""

import re
from pathlib import Path

from core.domain.reporting import report_file
from core.kept_files import KeptFiles

_VERSION = re.compile(r"version ([0-9]{1,9})\Z")
# Nobody else makes outputs by that event, whatever title they give them.
_COMPOSED = (
    "task_id IS NULL AND content IS NOT NULL AND EXISTS (SELECT 1 FROM events WHERE entity = 'outputs'"
    " AND entity_id = outputs.id AND kind = 'ReportComposed')"
)
_HEADS = f"SELECT id, goal_id, title FROM outputs WHERE {_COMPOSED} ORDER BY id"


class ReportFiles(KeptFiles):
    """Writes every composed report once."""

    name = "reports"
    heard = "ReportComposed"
    told = "reports"

    async def make_good(self) -> list[Path]:
        heads: dict[Path, int] = {}
        for row in await self._readers.all(_HEADS):
            found = _VERSION.search(row["title"])
            if found is not None:
                heads.setdefault(self.folder / report_file(row["goal_id"], int(found[1])), row["id"])
        written: list[Path] = []
        for place in await self.missing(heads):
            # One at a time: together they may be large.
            content = await self._readers.value("SELECT content FROM outputs WHERE id = :id", id=heads[place])
            written += await self.write({place: content})
        return written
