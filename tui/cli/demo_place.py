"""Where a demo's company lives: never inside the folder that it audits, whole or not at all, and found again."""

import contextlib
import os
import re
import tempfile
from pathlib import Path

import platformdirs

from core.agents.rehearsal.audit.survey import AuditError, checked, shown
from core.blackboard.backup import stamp_of
from core.config import CONFIG, board_path, read_config
from core.domain.errors import Conflict, Invalid
from core.rehearsal import found_rehearsal
from tui.cli.founding import made_whole
from tui.cli.opening import now_ms

_SLUG_MAX = 40


def founded(audited: Path | None, company: Path | None, pace_ms: int) -> Path:
    """The company's folder: the one that is there already, or a new one. Raises Invalid or Conflict."""
    if company is not None and _holds_company(company):
        _require_same(company, audited)
        return company
    root = Path(os.fsdecode(_checked(audited or Path.cwd())))
    if company is not None:
        if _inside(company, root):
            raise Invalid(
                f"{company} is inside {root}, which is to be audited: the company would audit itself.",
                "Choose another place for it: --company DIR.",
            )
        return _found(company, root, pace_ms)
    base = _private_place(root)
    name = f"{_slug(root)}-{stamp_of(now_ms())}"
    for number in range(1, 100):
        place = base / (name if number == 1 else f"{name}-{number}")
        if not place.exists():
            with contextlib.suppress(Conflict):  # another demo came first
                return _found(place, root, pace_ms)
    raise Conflict(f"No free name was found in {base}.", "Name one: --company DIR.")


def _checked(folder: Path) -> bytes:
    try:
        return checked(folder)
    except AuditError as error:
        raise Invalid(str(error), "Name a folder that you may read.") from None


def _holds_company(folder: Path) -> bool:
    return (folder / CONFIG).exists() or board_path(folder).exists()


def _require_same(company: Path, audited: Path | None) -> None:
    rehearsal = read_config(company).rehearsal
    if rehearsal is None:
        raise Invalid(f"{company} holds a company that is no demo.", f"Open it: opsroom {company}; or name another.")
    if audited is not None and os.path.realpath(audited) != os.path.realpath(rehearsal.folder):
        raise Invalid(
            f"{company} holds the demo of {rehearsal.folder}, not of {audited}.",
            "Leave FOLDER out to go on with it, or name another place: --company DIR.",
        )


def _inside(place: Path, folder: Path) -> bool:
    return Path(os.path.realpath(place)).is_relative_to(folder)


def _private_place(audited: Path) -> Path:
    """Where demos live; elsewhere if that is a part of what is audited."""
    usual = Path(platformdirs.user_data_dir("opsroom")) / "demo"
    if not _inside(usual, audited):
        return usual
    other = Path(tempfile.gettempdir())
    if _inside(other, audited):
        raise Invalid(
            f"{audited} holds both {usual} and {other}: the company would audit itself.",
            "Name a place outside: --company DIR.",
        )
    return Path(tempfile.mkdtemp(prefix="opsroom-demo-"))


def _slug(folder: Path) -> str:
    name = shown(os.fsencode(folder.name)).lower()
    return re.sub(r"[^a-z0-9]+", "-", name).strip("-")[:_SLUG_MAX].strip("-") or "folder"


def _found(place: Path, audited: Path, pace_ms: int) -> Path:
    if os.path.lexists(place) and not place.is_dir():
        raise Invalid(f"{place} is not a folder.", "Name a new folder.")
    if place.is_dir() and any(place.iterdir()):
        raise Invalid(f"{place} holds something else already; it was left as it is.", "Name a new or empty folder.")
    made_whole(place, lambda folder: found_rehearsal(folder, audited, pace_ms))
    return place
