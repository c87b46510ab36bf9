"""The companies that were opened before, as they are now: some have vanished, some are broken. All of it blocks."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.config import CONFIG, board_path, read_config
from core.domain.errors import Invalid

MOST = 12


@dataclass(frozen=True, slots=True)
class Known:
    """A company of the list. `problem` says why it cannot be opened (`why` all of it), `gone` that there is none."""

    folder: str
    name: str
    about: str = ""
    problem: str = ""
    why: str = ""
    gone: bool = False


def with_newest(recent: Sequence[str], folder: Path) -> tuple[str, ...]:
    """The list once this company was opened. A name that is no text is not kept."""
    newest = str(folder)
    if newest.encode("utf-8", "replace").decode() != newest:
        return tuple(recent)
    return tuple(dict.fromkeys((newest, *recent)))[:MOST]


def holds_company(folder: Path) -> bool:
    """Whether a folder is a company's, also one with wrong settings."""
    return board_path(folder).exists() or (folder / CONFIG).exists()


def known(folder: str) -> Known:
    """How a company of the list is now."""
    path = Path(folder)
    name = path.name or folder
    try:
        if not path.is_dir():
            return Known(folder, name, problem="the folder is gone", gone=True)
        if not holds_company(path):
            return Known(folder, name, problem="it holds no company now", gone=True)
        config = read_config(path)
    except (Invalid, OSError) as error:
        return Known(folder, name, problem="its settings are broken", why=str(error))
    what = "" if config.rehearsal is None else f"rehearsal on {at_home(config.rehearsal.folder)}"
    return Known(folder, config.name, what)


def at_home(path: str | Path) -> str:
    """A path as people write it, `~/acme`, also at the beginning of a sentence."""
    home, text = os.path.expanduser("~").rstrip("/"), str(path)
    return "~" + text[len(home) :] if home not in ("", "~") and f"{text}/".startswith(f"{home}/") else text
