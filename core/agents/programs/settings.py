"""What an agent's runner of the kind `command` may say, checked when a run begins."""

import asyncio
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field

from core.agents.models.keys import Secret
from core.agents.programs.environment import checked_name
from core.agents.programs.started import GRACE_S
from core.agents.settings import SharedSettings, checked
from core.domain.budgets import MONEY_MAX
from core.domain.errors import Invalid

SCRIPT = "script"
TOKENS = 20_000_000  # of a run, in and out
Allow = Literal["board", "edits", "commands"]


class ProgramSettings(SharedSettings):
    """What all programs share: `command` is the program with its arguments. `env` names variables, never values.

    Of one run: `wall_s` and `silence_s` (seconds), `turns` (answers of its model, as far as it tells them), `tokens`,
    `cost_micros`. `grace_s` is how long it has to end itself before it is killed. `gateway` is the provider of
    `[gateway.providers]` through which it asks models; without one it needs a login of its own.
    """

    command: list[str] = Field(default_factory=list, max_length=200)
    model: str = Field("", max_length=200)
    args: list[str] = Field(default_factory=list, max_length=200)
    env: list[str] = Field(default_factory=list, max_length=50)
    cwd: str = Field("", max_length=4000)
    gateway: str = Field("", max_length=40)
    wall_s: float | None = Field(None, gt=0, le=604_800)
    silence_s: float = Field(600, gt=0, le=604_800)
    turns: int = Field(200, ge=1, le=10_000)
    tokens: int = Field(TOKENS, ge=1, le=1_000_000_000)
    cost_micros: int | None = Field(None, ge=1, le=MONEY_MAX)
    grace_s: float = Field(GRACE_S, ge=0, le=60)


class CommandSettings(ProgramSettings):
    """A program of the catalogue, or a script of one's own and how its output is read.

    A program of the catalogue may do unasked what `allow` says, and nothing else, since nobody is there to be asked.
    With `own_home` it keeps its settings and sessions in `homes/<slug>` of the company; unless that is said, only with
    a gateway, since its login is in the operator's.
    """

    program: str = SCRIPT
    output: Literal["text", "json"] = "text"
    allow: Allow = "edits"
    own_home: bool | None = None

    @property
    def has_own_home(self) -> bool:
        """Whether its program leaves the operator's settings and login alone."""
        return bool(self.gateway) if self.own_home is None else self.own_home


P = TypeVar("P", bound=ProgramSettings)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program is and works. `secrets` are the values of the variables that were named for it."""

    argv: tuple[str, ...]
    cwd: Path
    named: Mapping[str, str] = field(repr=False)
    missing: tuple[str, ...]

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """What is never shown: whatever was named is taken for a key."""
        return tuple(Secret(value) for value in self.named.values())


def settings_of(runner: Mapping[str, Any]) -> CommandSettings:
    """The settings of an agent. Raises Invalid, which names what is wrong."""
    told = checked(CommandSettings, runner)
    return checked_program(told, needs_command=told.program == SCRIPT)


def checked_program(told: P, *, needs_command: bool) -> P:
    """The same settings. Raises Invalid for what no program can be started with."""
    for name in told.env:
        checked_name(name)
    if needs_command and not (told.command and told.command[0]):
        raise Invalid("The runner names no command.", 'Give one, e.g. "command": ["python3", "agent.py"].')
    if any("\0" in part for part in (*told.command, *told.args, told.cwd)):
        raise Invalid("The runner's command holds a null character.", "Take it out.")
    return told


async def place_of(
    told: ProgramSettings, argv: tuple[str, ...], folder: Path, slug: str, ours: Mapping[str, str] = os.environ,
    workplace: Path | None = None,
) -> Place:  # fmt: skip
    """Where this command is run. Raises Invalid when there is no such program or folder.

    A name with a slash is a path from the company's folder, any other is looked for on PATH. The agent works in
    `workplace` if its task has one, else in `cwd` (from the company's folder), or in `work/<slug>`, which is made.
    """
    found, cwd = await asyncio.to_thread(_found, argv[0], str(workplace or told.cwd), folder, slug, ours)
    named = {name: ours[name] for name in told.env if name in ours}
    missing = tuple(name for name in told.env if name not in ours)
    return Place((found, *argv[1:]), cwd, named, missing)


def found_program(name: str, folder: Path, ours: Mapping[str, str]) -> str:
    """Where a program is: a name with a slash from this folder, any other on the PATH of `ours`. Blocks.

    Raises Invalid where there is none that can be run.
    """
    if "/" in name:
        path = folder / Path(name).expanduser()
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise Invalid(f"{path} is no program that can be run.", "Name one that is there, and make it executable.")
        return str(path)
    found = shutil.which(name, path=ours.get("PATH", os.defpath))
    if found is None:
        raise Invalid(f"There is no program {name!r} on the PATH.", "Install it, or give its path.")
    return found


def _found(name: str, said_cwd: str, folder: Path, slug: str, ours: Mapping[str, str]) -> tuple[str, Path]:
    folder = folder.absolute()
    found = found_program(name, folder, ours)
    if said_cwd:
        cwd = folder / Path(said_cwd).expanduser()
        if not cwd.is_dir():
            raise Invalid(f"The folder {cwd} is not there.", "Make it, or name another as cwd.")
        return found, cwd
    cwd = folder / "work" / slug
    made(cwd)
    return found, cwd


def made(folder: Path) -> None:
    """Make a folder of an agent's own. Blocks. Raises Invalid where it cannot be made."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        told = f"The folder {folder} cannot be made: {error.strerror}."
        raise Invalid(told, "Make room for it, or name another as cwd.") from None
