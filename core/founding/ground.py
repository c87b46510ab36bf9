"""What agents are put on when a company is made: of what is found here, or as it is named. No key is ever written."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from core.agents.kinds import check_runner
from core.doctor.found import Found
from core.doctor.known import known
from core.doctor.servers import ServerState
from core.domain.errors import Invalid

# Models of these names answer no questions.
_NO_TALK = ("embed", "rerank", "whisper", "tts", "bge-", "nomic-")
NOTHING_FOUND = "Nothing was found here that agents could run on: no agent program, no model server, no key."
WHAT_TO_DO = (
    "Install a program (e.g. npm install -g @anthropic-ai/claude-code), or start a model server (e.g. ollama serve), or"
    " set a variable such as ANTHROPIC_API_KEY; `opsroom doctor` shows what is there."
)
BY_OPTION = "Or name one by --runner."


@dataclass(frozen=True, slots=True)
class Ground:
    """One thing that agents can run on: its `name` for --runner, what it is, and the settings of a runner."""

    name: str
    about: str
    runner: Mapping[str, Any]


def grounds(found: Found, kinds: Collection[str]) -> tuple[Ground, ...]:
    """What is there, best first: programs with their own tools, then servers of this machine, then keys of providers.

    May block (a file of the program).
    """
    listed = [*_programs(found), *_servers(found), *_providers(found)]
    return tuple(each for each in listed if each.runner["kind"] in kinds)


def _programs(found: Found) -> list[Ground]:
    return [
        Ground(
            each.name,
            f"{known().programs[each.name].about} {each.version}".strip(),
            {"kind": "command", "program": each.name, **_variables(found, each.name)},
        )
        for each in found.programs
        if _startable(each.name)
    ]


def _startable(program: str) -> bool:
    """Whether it stands in the catalogue of programs that a run can be made with."""
    try:
        check_runner({"kind": "command", "program": program}, {"command"})
    except Invalid:
        return False
    return True


def _variables(found: Found, program: str) -> dict[str, list[str]]:
    """The names of the variables that hold its keys, where they are set: without them it uses its own login."""
    names = [name for name in known().programs[program].keys if found.is_set(name)]
    return {"env": names} if names else {}


def _servers(found: Found) -> list[Ground]:
    listed = []
    for server in found.servers:
        models = [model for model in server.models if not any(word in model.casefold() for word in _NO_TALK)]
        if server.state is ServerState.READY and models:
            name = server.name.casefold().replace(" ", "-")
            runner = {"kind": "chat", "url": server.url, "model": models[0]}
            listed.append(Ground(name, f"{models[0]} on {server.name}, this machine", runner))
    return listed


def _providers(found: Found) -> list[Ground]:
    listed = []
    for name, provider in known().providers.items():
        if found.is_set(provider.key):
            wire = {} if provider.wire == "openai" else {"wire": provider.wire}
            runner = {
                "kind": "chat", "url": provider.url, "model": provider.model, "key": f"env:{provider.key}", **wire,
            }  # fmt: skip
            listed.append(Ground(f"{name}-api" if name in known().programs else name,
                                 f"{provider.model} by {provider.key}", runner))  # fmt: skip
    return listed


def named(text: str, found: tuple[Ground, ...], kinds: Collection[str]) -> Ground:
    """What `--runner` names: one of what is found, or a runner's settings as JSON. Raises Invalid."""
    if text.lstrip().startswith("{"):
        try:
            runner = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Invalid(f"The runner's settings are no JSON: {error}.", 'E.g. \'{"kind": "chat", …}\'.') from None
        check_runner(runner, kinds)
        return Ground("as named", f"a runner of the kind {runner['kind']!r}", runner)
    for each in found:
        if each.name == text:
            return each
    there = ", ".join(each.name for each in found) or "nothing"
    raise Invalid(f"{text[:80]!r} is nothing that agents can run on here; nothing was made.",
                  f"Found: {there}. Settings as a JSON object will do too.")  # fmt: skip


def first(found: tuple[Ground, ...]) -> Ground:
    """The best of what is found. Raises Invalid where nothing is."""
    if not found:
        raise Invalid(f"{NOTHING_FOUND} Nothing was made.", f"{WHAT_TO_DO} {BY_OPTION}")
    return found[0]
