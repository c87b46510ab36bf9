"""All that agents could run on here, found at once: programs, model servers, keys by their variables' names, memory."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass

import psutil

from core.doctor.known import fitting, known
from core.doctor.programs import FoundProgram, find_programs
from core.doctor.servers import FoundServer, find_servers


@dataclass(frozen=True, slots=True)
class Found:
    """`keys` says which variables are set, never what they hold. `fit`: so many programs fit in memory, from … to."""

    programs: tuple[FoundProgram, ...] = ()
    servers: tuple[FoundServer, ...] = ()
    keys: Mapping[str, bool] | None = None
    available: int = 0
    fit: tuple[int, int] = (0, 0)

    def is_set(self, variable: str) -> bool:
        """Whether a variable of the table holds something."""
        return bool((self.keys or {}).get(variable))


async def look(ours: Mapping[str, str] = os.environ, servers: Mapping[str, int] | None = None) -> Found:
    """Look. `ours` is our environment; `servers` are ports by name, those of the table unless they are given.

    Takes as long as the slowest answer; each has a bound. Never raises for what is not there.
    """
    table = await asyncio.to_thread(known)
    programs, found = await asyncio.gather(
        find_programs(table.programs, ours), find_servers(table.servers if servers is None else servers)
    )
    names = dict.fromkeys(provider.key for provider in table.providers.values())
    available = psutil.virtual_memory().available
    return Found(
        programs, found, {name: bool(ours.get(name, "").strip()) for name in names}, available, fitting(available)
    )
