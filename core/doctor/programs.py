"""Which agent programs are on the PATH, and what each calls its version: asked by running it, for a short time."""

import asyncio
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.agents.programs.environment import environment_of
from core.agents.programs.scripts import without_controls
from core.agents.programs.started import Program, Skipped

VERSION_S = 15.0  # a program on node takes seconds to begin on a busy machine
_LINE_MAX = 4096
_SHOWN = 60
_NUMBER = re.compile(r"\d+\.\d+[^\s,;()]*")


@dataclass(frozen=True, slots=True)
class FoundProgram:
    """A program on the PATH. `version` is empty where it told none, and `problem` says why."""

    name: str
    path: str
    version: str
    problem: str = ""


async def find_programs(names: Iterable[str], ours: Mapping[str, str]) -> tuple[FoundProgram, ...]:
    """Those of the names that are on the PATH of `ours`, with their versions, all asked at once."""
    paths = await asyncio.to_thread(lambda: {name: shutil.which(name, path=ours.get("PATH", "")) for name in names})
    there = [(name, path) for name, path in paths.items() if path]
    return tuple(await asyncio.gather(*(_asked(name, path, ours) for name, path in there)))


async def _asked(name: str, path: str, ours: Mapping[str, str]) -> FoundProgram:
    folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="opsroom-doctor-")
    try:
        return await _version(name, path, Path(folder), ours)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, True)


async def _version(name: str, path: str, folder: Path, ours: Mapping[str, str]) -> FoundProgram:
    # Its own environment as for a run, without a key; nothing that it starts is left.
    program = await Program.start((path, "--version"), cwd=folder, environment=environment_of(ours), grace_s=0.5)
    said: list[str] = []

    async def read() -> None:
        async for line in program.lines(_LINE_MAX):
            if not isinstance(line, Skipped) and len(said) < 20:
                said.append(without_controls(line.decode(errors="replace")).strip())
        await program.wait()

    async def drain() -> None:
        async for _ in program.errors():
            pass

    reading, draining = asyncio.create_task(read()), asyncio.create_task(drain())
    program.feed(b"")
    try:
        _, late = await asyncio.wait([reading], timeout=VERSION_S)
        end = await program.end()
        await asyncio.wait([reading, draining])
    finally:
        program.close()
    if late:
        return FoundProgram(name, path, "", f"it told no version in {VERSION_S:g} s")
    if end.code != 0:
        return FoundProgram(name, path, "", end.words)
    line = next((each for each in said if _NUMBER.search(each)), "")
    found = _NUMBER.search(line)
    return FoundProgram(name, path, found[0][:_SHOWN] if found else "", "" if found else "it told no version")
