"""Companies that are founded once a process and copied: making tables and staff anew takes longer than many a test."""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Hashable
from pathlib import Path

from core.company import create_company, wall_clock
from core.config import Config
from tui.cli import main

# Gone when the process ends.
_KEPT = tempfile.TemporaryDirectory(prefix="opsroom-founded-")
_MADE: dict[Hashable, Path] = {}


async def copied(folder: Path, key: Hashable, found: Callable[[Path], Awaitable[None]]) -> None:
    """Make `folder` what `found` makes of one; `key` names all that it depends on."""
    if key not in _MADE:
        place = Path(_KEPT.name) / str(len(_MADE))
        await found(place)
        _MADE[key] = place
    await asyncio.to_thread(shutil.copytree, _MADE[key], folder, dirs_exist_ok=True)


async def a_company(folder: Path, config: Config, clock: Callable[[], int] = wall_clock) -> None:
    """A company without staff, as `create_company` makes it."""
    at = None if clock is wall_clock else clock()
    await copied(folder, (config.model_dump_json(), at), lambda place: create_company(place, config, clock=clock))


def as_init_makes(folder: Path, name: str) -> None:
    """A company as `opsroom init --name` makes it, without staff."""
    key = ("init", name)
    if key not in _MADE:
        place = Path(_KEPT.name) / str(len(_MADE))
        assert main(["init", str(place), "--name", name]) == 0
        _MADE[key] = place
    shutil.copytree(_MADE[key], folder)
