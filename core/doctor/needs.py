"""What each agent runs on, and what is missing here for it to run. No key is shown, and no other machine is asked."""

import asyncio
import os
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from core.agents.acp.catalogue import command_of
from core.agents.chat.settings import RunnerSettings
from core.agents.kinds import check_runner
from core.agents.models.endpoint import Endpoint
from core.agents.models.keys import key_from
from core.agents.models.providers import ProviderConfig
from core.agents.programs.settings import found_program
from core.agents.settings import checked
from core.doctor.known import known
from core.domain.entities import AgentRecord
from core.domain.errors import Invalid, OpsroomError
from core.domain.runner_uses import host_of, uses_of

_CONNECT_S = 2.0


@dataclass(frozen=True, slots=True)
class Need:
    """One agent: what it `uses`, in words, and what is `missing` for it here (nothing: it can run)."""

    agent: str
    kind: str
    uses: str
    missing: tuple[str, ...] = ()


async def needs_of(
    agents: Iterable[AgentRecord], kinds: Collection[str], folder: Path, ours: Mapping[str, str] = os.environ,
    providers: Mapping[str, ProviderConfig] | None = None,
) -> tuple[Need, ...]:  # fmt: skip
    """Of each agent, in their order; `kinds` are the runners that the company has, `folder` is its own.

    `providers` are those of its gateway.
    """
    return tuple(await asyncio.gather(*(_need(each, kinds, folder, ours, providers or {}) for each in agents)))


async def _need(
    agent: AgentRecord, kinds: Collection[str], folder: Path, ours: Mapping[str, str],
    providers: Mapping[str, ProviderConfig],
) -> Need:  # fmt: skip
    runner, kind = agent.runner, str(agent.runner.get("kind", ""))
    uses = uses_of(runner)
    try:
        await asyncio.to_thread(check_runner, runner, kinds)
    except OpsroomError as error:
        return Need(agent.slug, kind, uses, (f"{error.message} {error.hint}".strip(),))
    if kind == "chat":
        missing = await _of_chat(runner, ours)
    elif "program" in runner or "command" in runner:
        missing = await asyncio.to_thread(_of_program, runner, folder, ours)
        if gateway := str(runner.get("gateway", "")):
            missing += await _of_gateway(gateway, providers, ours)
    else:
        missing = []
    return Need(agent.slug, kind, uses, tuple(missing))


def why_not_tried(runner: Mapping[str, Any]) -> str:
    """Why no call can try these settings, in words; empty where one can."""
    gateway = runner.get("gateway")
    if not gateway or str(runner.get("kind")) not in ("acp", "command"):
        return ""
    return f"it asks models through the gateway {str(gateway)[:40]!r}, which only its runs reach: not tried"


async def _of_chat(runner: Mapping[str, Any], ours: Mapping[str, str]) -> list[str]:
    told = checked(RunnerSettings, runner)
    return await _of_server(told.url, told.key, ours)


async def _of_gateway(name: str, providers: Mapping[str, ProviderConfig], ours: Mapping[str, str]) -> list[str]:
    """What the provider lacks through which a program asks models; the key is the room's, not the program's."""
    if (provider := providers.get(name)) is None:
        has = f"it has {', '.join(providers)}" if providers else "it has none"
        return [f"There is no [gateway.providers.{name[:40]}] in company.toml; {has}."]
    return [f"The gateway {name}: {each}" for each in await _of_server(provider.url, provider.key, ours)]


async def _of_server(url: str, key: str, ours: Mapping[str, str]) -> list[str]:
    missing = []
    if key:
        try:
            await asyncio.to_thread(key_from, key, ours)
        except OpsroomError as error:
            missing.append(f"{error.message} {error.hint}".strip())
    if Endpoint(url, "").local and not await _listens(url):
        missing.append(f"Nothing listens at {host_of(url)}: start the model server.")
    return missing


async def _listens(url: str) -> bool:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        async with asyncio.timeout(_CONNECT_S):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


def _command_of(runner: Mapping[str, Any]) -> str:
    command, program = runner.get("command"), str(runner.get("program", ""))
    if isinstance(command, list) and command:
        return str(command[0])
    return command_of(program) if runner.get("kind") == "acp" else program


def _of_program(runner: Mapping[str, Any], folder: Path, ours: Mapping[str, str]) -> list[str]:
    word = _command_of(runner)
    missing = []
    try:
        found_program(word, folder, ours)
    except Invalid as error:
        install = known().install_of(word)
        missing.append(f"{error.message}{f' Install it: {install}' if install else ''}")
    names = runner.get("env")
    for name in names if isinstance(names, list) else ():
        if not ours.get(str(name)):
            missing.append(f"The variable {name} is not set.")
    return missing
