"""What `opsroom doctor` finds that agents could run on, what each agent lacks, and one real call to each."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from core.blackboard.checks import Check
from core.config import Config, runner_kinds
from core.doctor.calls import Called, call
from core.doctor.found import Found
from core.doctor.known import known
from core.doctor.needs import Need, needs_of, why_not_tried
from core.doctor.servers import ServerState
from core.domain.company_items import RUNNER_EXAMPLE
from core.domain.entities import AgentRecord
from core.domain.errors import Invalid
from core.runners import prices_of
from tui.cli.names import quoted
from tui.cli.output import note
from tui.text import counted

AT_ONCE = 2  # calls: a program may take several hundred megabytes
_MODELS_SHOWN = 3


def machine_checks(found: Found) -> Iterator[Check]:
    """Programs, model servers, keys and memory of this machine."""
    for program in found.programs:
        about = known().programs[program.name].about
        told = f"{about} {program.version}".strip() + f" at {program.path}."
        yield Check("program", "warn" if program.problem else "ok", f"{told}{_because(program.problem)}")
    if not found.programs:
        names = ", ".join(known().programs)
        yield Check("program", "ok", f"No agent program is on the PATH ({names}); agents can do without.")
    for server in found.servers:
        models = ", ".join(server.models[:_MODELS_SHOWN]) + (" …" if len(server.models) > _MODELS_SHOWN else "")
        said = server.words or f"{counted(len(server.models), 'model')}: {models}"
        is_well = server.state is ServerState.READY and server.models
        state = "loading" if server.state is ServerState.LOADING else server.state
        yield Check("server", "ok" if is_well else "warn",
                    f"{server.name}'s port, {server.url}: {state}; {said}.")  # fmt: skip
    if not found.servers:
        ports = ", ".join(f"{name} {port}" for name, port in known().servers.items())
        yield Check("server", "ok", f"No model server answers on this machine's usual ports ({ports}).")
    for name, is_set in (found.keys or {}).items():
        yield Check("key", "ok", f"{name} is {'set' if is_set else 'not set'}.")
    least, most = found.fit
    yield Check("memory", "ok" if least else "warn",
                f"{found.available // 2**20} MB are free: {least} to {most} agent programs fit at once.")  # fmt: skip


def _because(problem: str) -> str:
    return f" But {problem}." if problem else ""


async def agent_needs(agents: Sequence[AgentRecord], config: Config, folder: Path) -> tuple[Need, ...]:
    """Of those that have not retired."""
    return await needs_of(agents, runner_kinds(config), folder, providers=config.gateway.providers)


def agent_checks(needs: Sequence[Need], folder: Path) -> Iterator[Check]:
    """Which agents use what, and what is missing for each."""
    for need in needs:
        if need.missing:
            yield Check("agent", "warn", f"{need.agent} uses {need.uses}. {' '.join(need.missing)}"
                        f" Then try it: opsroom doctor {quoted(folder)} --call")  # fmt: skip
        else:
            yield Check("agent", "ok", f"{need.agent} uses {need.uses}.")


def nothing_to_run_on(found: Found, needs: Sequence[Need], folder: Path | None) -> str:
    """What to do where no agent of the company, or on this machine, has anything to run on; empty where one has."""
    if needs:
        if not all(need.missing for need in needs):
            return ""
        who = "The only agent has not" if len(needs) == 1 else f"None of the {len(needs)} agents has"
        other = f"opsroom agent edit {quoted(folder or Path())} {needs[0].agent} --runner '{RUNNER_EXAMPLE}'"
        return f"{who} what it needs to run: mend what is said of each above, or give it another runner: {other}"
    is_there = any(not each.problem for each in found.programs) or any((found.keys or {}).values())
    if folder is not None or is_there or any(each.state is ServerState.READY and each.models for each in found.servers):
        return ""
    return ("Agents have nothing to run on here: install one of the programs above, start a model server, or set a key;"
            " then ask again. The demo needs none: opsroom demo")  # fmt: skip


def consent(agents: Sequence[AgentRecord], said_yes: bool) -> bool:
    """Whether the person wants the calls, which use tokens of theirs. Raises Invalid where nobody can be asked."""
    agents = [agent for agent in agents if not why_not_tried(agent.runner)]
    if said_yes or not agents:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Invalid("A call uses tokens, and nobody is here to be asked.", "Add --yes to say that you want it.")
    names = ", ".join(agent.slug for agent in agents)
    note(f"opsroom: One real call each for {names}. It uses tokens of yours, a few hundred each; no board is changed.")
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


async def calls(agents: Sequence[AgentRecord], config: Config, folder: Path) -> list[Called]:
    """One call to what each runs on, in their order."""
    prices, turn = prices_of(config.prices), asyncio.Semaphore(AT_ONCE)

    async def one(agent: AgentRecord) -> Called:
        async with turn:
            return await call(agent.slug, agent.runner, folder, prices)

    return list(await asyncio.gather(*map(one, agents)))


def call_checks(called: Sequence[Called]) -> Iterator[Check]:
    """How the calls went."""
    for each in called:
        if not each.tried:
            yield Check("call", "warn", f"{each.agent}: {each.words}")
            continue
        how = "answered" if each.ok else "did not answer"
        yield Check("call", "ok" if each.ok else "fail", f"{each.agent} {how}: {each.words} ({each.cost_words})")


def as_json(found: Found, needs: Sequence[Need], called: Sequence[Called]) -> dict[str, Any]:
    """The same for programs; keys by name alone, unknown tokens and costs as null."""
    return {
        "programs": [
            {"name": each.name, "path": each.path, "version": each.version, "problem": each.problem}
            for each in found.programs
        ],
        "servers": [
            {"name": each.name, "url": each.url, "state": str(each.state), "models": list(each.models),
             "words": each.words}
            for each in found.servers
        ],
        "keys": [{"name": name, "set": is_set} for name, is_set in (found.keys or {}).items()],
        "memory": {"free_bytes": found.available, "fit_least": found.fit[0], "fit_most": found.fit[1]},
        "agents": [
            {"agent": each.agent, "kind": each.kind, "uses": each.uses, "missing": list(each.missing)}
            for each in needs
        ],
        "calls": [
            {"agent": each.agent, "ok": each.ok, "tried": each.tried, "words": each.words,
             "seconds": round(each.seconds, 3), "tokens_in": each.tokens_in, "tokens_out": each.tokens_out,
             "cost_micros": each.cost_micros}
            for each in called
        ],
    }  # fmt: skip
