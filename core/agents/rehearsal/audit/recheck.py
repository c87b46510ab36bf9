"""A reviewer's recomputation of what is not plain counting, and `recompute`, the door to both.

Dates come from one git call a file, duplicates from filecmp, dead links from the disk.
"""

import filecmp
import hashlib
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from core.agents.rehearsal.audit import git
from core.agents.rehearsal.audit.closer import COMPARED_LINES
from core.agents.rehearsal.audit.documentation import dead_targets, markdown_files
from core.agents.rehearsal.audit.files import iter_files
from core.agents.rehearsal.audit.history import iso
from core.agents.rehearsal.audit.links import leads_nowhere
from core.agents.rehearsal.audit.reading import HEAD
from core.agents.rehearsal.audit.recount import (
    ALL_READ_BELOW,
    Sample,
    claimed_path,
    line_count,
    marked_line_numbers,
    recount_inventory,
    recount_marks,
    table,
    value,
    whole,
)
from core.agents.rehearsal.audit.shapes import Recomputed
from core.agents.rehearsal.audit.survey import AuditError, Folder, Progress, Survey, shown, silent, unshown

NO_FILE = "no such file"


def recompute(kind: str, folder: Folder, claimed: Any, seed: int, size: int = 5, tell: Progress = silent) -> Recomputed:
    """Compute a sample of a claimed result of this kind again; the seed settles the sample.

    Of each list up to `size` entries are drawn, all where there are no more. Raises AuditError when
    the kind is unknown or the folder cannot be read; a wrong or missing figure is a check not equal.
    """
    if kind not in _RECHECKS:
        raise AuditError(f"{kind} cannot be recomputed; what can: {', '.join(_RECHECKS)}.")
    sample = Sample(Survey.of(folder, tell), claimed, random.Random(seed), max(1, size))
    _RECHECKS[kind](sample)
    return {"checks": sample.checks, "equal": all(check["equal"] for check in sample.checks)}


def _recheck_history(sample: Sample) -> None:
    largest = sample.rows("largest")
    sizes = [entry.size for entry in iter_files(sample.survey)]
    claimed_size = largest[0].get("bytes") if largest else None
    sample.check("bytes of the largest file", claimed_size, max(sizes, default=None))
    for row in sample.drawn(largest):
        size = _size(sample.place(row.get("path")))
        sample.check(f"bytes of {row.get('path')}", row.get("bytes"), NO_FILE if size is None else size)
        if size is not None and size <= ALL_READ_BELOW:
            lines = line_count(_read(sample.place(row.get("path"))))
            sample.check(f"lines of {row.get('path')}", row.get("lines"), lines)
    for row in sample.drawn(sample.rows("untouched")):
        date = _last_touch(sample, row.get("path"))
        sample.check(f"last change of {row.get('path')}", row.get("date"), date or NO_FILE)


def _recheck_documentation(sample: Sample) -> None:
    links = sample.rows("dead_links")
    read = set()
    for link in sample.drawn(links):
        file, target = str(link.get("file")), str(link.get("target"))
        target_bytes = unshown(target).decode("utf-8", "surrogateescape")
        dead = leads_nowhere(sample.survey.root, claimed_path(file), target_bytes)
        read.add(claimed_path(file))
        sample.check(f"{target} in {file} is dead", True, dead)
    files = sorted(entry.path for entry in markdown_files(sample.survey))
    # What was missed shows only in files that are drawn from the folder, not from the claim.
    for path in sorted(read.union(sample.drawn(files))):
        claimed = sorted(str(link.get("target")) for link in links if link.get("file") == shown(path))
        found = dead_targets(sample.survey, path) if path in files else None
        sample.check(f"dead links of {shown(path)}", claimed, found or [])
    readme = table(sample.claimed, "readme").get("path")
    present = any(
        name.lower().split(b".")[0] == b"readme" and os.path.isfile(sample.survey.at(name))
        for name in os.listdir(sample.survey.root)
    )
    sample.check("a README is there", readme is not None, present)


def _recheck_duplicates(sample: Sample) -> None:
    claimed = value(sample.claimed, "groups")
    filecmp.clear_cache()
    lists = claimed if isinstance(claimed, list) else []
    groups = [sorted(map(str, group)) for group in lists if isinstance(group, list) and group]
    for group in sample.drawn(groups):
        first = sample.place(group[0])
        size = _size(first)
        found = sorted(shown(path) for path in _same_size(sample, size) if _same(sample, first, path))
        sample.check(f"copies of {group[0]}", group, found)
    if sample.small():
        sample.check("groups of duplicates", len(groups), _group_count(sample))


def _recheck_closer_look(sample: Sample) -> None:
    path = value(sample.claimed, "path")
    place = sample.place(path)
    size = _size(place)
    sample.check(f"bytes of {path}", value(sample.claimed, "bytes"), NO_FILE if size is None else size)
    if size is None or size > ALL_READ_BELOW:
        return
    for what, found in _looked(place).items():
        sample.check(f"{what} of {path}", value(sample.claimed, what), found)
    times = list(git.commit_times(sample.survey.root, claimed_path(path))) if _by_git(sample) else []
    count = table(sample.claimed, "commits").get("count", 0)
    sample.check(f"commits of {path}", count, len(times))


def _looked(place: bytes) -> dict[str, Any]:
    data = _read(place)
    lines = [] if b"\0" in data[:HEAD] else data.split(b"\n")
    if lines and lines[-1] == b"":
        lines.pop()
    written = [line for line in lines if line.strip()]
    times = Counter(written[:COMPARED_LINES])
    repeated = sum(count for count in times.values() if count > 1)
    longest = max(lines, key=len, default=None)
    return {
        "lines": len(lines),
        "blank_lines": len(lines) - len(written),
        "longest_line": None if longest is None else {"line": lines.index(longest) + 1, "bytes": len(longest)},
        "marks": len(marked_line_numbers(place)),
        "repeated_share": round(repeated / times.total(), 4) if times else 0.0,
    }


def _last_touch(sample: Sample, path: Any) -> str | None:
    if _by_git(sample):
        for time in git.commit_times(sample.survey.root, claimed_path(path), at_most=1):
            return iso(time)
    try:
        return iso(os.lstat(sample.place(path)).st_mtime)
    except (OSError, ValueError):
        return None


def _by_git(sample: Sample) -> bool:
    return git.knows(sample.survey.root)


def _size(place: bytes) -> int | None:
    try:
        return os.lstat(place).st_size
    except (OSError, ValueError):
        return None


def _read(place: bytes) -> bytes:
    try:
        return whole(place)
    except OSError:
        return b""


def _same_size(sample: Sample, size: int | None) -> Iterator[bytes]:
    return (entry.path for entry in iter_files(sample.survey) if entry.size == size)


def _same(sample: Sample, place: bytes, path: bytes) -> bool:
    try:
        return filecmp.cmp(place, sample.survey.at(path), shallow=False)
    except OSError:
        return False


def _group_count(sample: Sample) -> int:
    contents: Counter[bytes] = Counter()
    for entry in iter_files(sample.survey):
        data = _read(sample.survey.at(entry.path))
        if data:
            contents[hashlib.sha256(data).digest()] += 1
    return sum(1 for copies in contents.values() if copies > 1)


_RECHECKS: dict[str, Callable[[Sample], None]] = {
    "inventory": recount_inventory,
    "marks": recount_marks,
    "history": _recheck_history,
    "documentation": _recheck_documentation,
    "duplicates": _recheck_duplicates,
    "closer_look": _recheck_closer_look,
}
