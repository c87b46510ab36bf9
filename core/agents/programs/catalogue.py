"""How each known program is started and read (`catalogue.toml`); a script of the operator's own needs no row."""

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from core.agents.access import Access
from core.agents.models.providers import GatewayWire
from core.agents.programs.parsers import ClaudeParser, CodexParser, GeminiParser, OpencodeParser
from core.agents.programs.pieces import Parser
from core.agents.programs.scripts import JsonParser, TextParser
from core.agents.programs.settings import SCRIPT, Allow, CommandSettings, ProgramSettings, settings_of
from core.domain.errors import Invalid

_FOLDER = Path(__file__).parent
_PARSERS: Mapping[str, Callable[[], Parser]] = {
    "claude": ClaudeParser, "codex": CodexParser, "opencode": OpencodeParser, "gemini": GeminiParser,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Start:
    """One process: its arguments, what its environment is told, and the names that it may have of ours.

    `homes` are variables that name a folder of this agent's own, where its program keeps its settings and sessions.
    """

    argv: tuple[str, ...]
    environment: dict[str, str]
    names: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()


class Startable(Protocol):
    """A program of the catalogue, or a script. `resumes` says whether a session of it can be gone on with."""

    resumes: bool

    def start(
        self, settings: CommandSettings, access: Access, session: str, commits: Sequence[Path] = ()
    ) -> Start:  # fmt: skip
        """How it is started, anew or to go on with a session. `commits`: where it may write to commit its work."""
        ...

    def parser(self, settings: CommandSettings) -> Parser:
        """What reads one process of it."""
        ...


class Script:
    """The operator's own command, as it stands. It cannot be gone on with."""

    resumes = False

    def start(
        self, settings: CommandSettings, access: Access, session: str, commits: Sequence[Path] = ()
    ) -> Start:  # fmt: skip
        """Its command, with the way to the board in its environment."""
        told = environment_told(settings, access)
        if settings.model:
            told["OPSROOM_MODEL"] = settings.model
        return Start((*settings.command, *settings.args), told)

    def parser(self, settings: CommandSettings) -> Parser:
        """By the setting `output`."""
        return JsonParser() if settings.output == "json" else TextParser()


class GatewayRow(BaseModel):
    """How a program is told of the gateway: more arguments, other words for its model, variables of its environment."""

    model_config = ConfigDict(extra="forbid")
    args: list[str] = Field(default_factory=list)
    model: list[str] | None = None
    set: dict[str, str] = Field(default_factory=dict)


class _AllowRow(BaseModel):
    """What one word of the setting `allow` adds to a program's start."""

    model_config = ConfigDict(extra="forbid")
    args: list[str] = Field(default_factory=list)
    set: dict[str, str] = Field(default_factory=dict)


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")
    command: list[str]
    model: list[str]
    resume: list[str] = Field(default_factory=list)
    last: list[str] = Field(default_factory=list)
    env: list[str] = Field(default_factory=list)
    home: list[str]
    interactive: list[str] = Field(default_factory=list)
    allow: dict[Allow, _AllowRow]
    set: dict[str, str] = Field(default_factory=dict)
    gateway: dict[GatewayWire, GatewayRow] = Field(default_factory=dict)


class Preset:
    """A row of the catalogue. The agent's `command` replaces its first word, e.g. where it is not on the PATH."""

    def __init__(self, name: str, row: _Row) -> None:
        self._name = name
        self._row = row
        self.resumes = bool(row.resume)

    def start(
        self, settings: CommandSettings, access: Access, session: str, commits: Sequence[Path] = ()
    ) -> Start:  # fmt: skip
        """Its command with the agent's model and arguments. Raises Invalid for a gateway that it cannot speak to."""
        row = self._row
        by_gateway = gateway_of(self._name, row.gateway, settings, access)
        model = row.model if by_gateway.model is None else by_gateway.model
        allowed = row.allow[settings.allow]
        words = [*(settings.command or row.command[:1]), *row.command[1:], *allowed.args, *by_gateway.args]
        words += model if settings.model else []
        words += settings.args
        words += row.resume if session else []
        words += row.last
        values = {"@MODEL@": settings.model, "@SESSION@": session, "@MCP@": access.mcp_url, "@FOLDER@": str(_FOLDER)}
        values["@COMMITS@"] = json.dumps([str(each) for each in commits], ensure_ascii=False)
        if settings.gateway:
            values["@GATEWAY@"] = access.gateway(settings.gateway)
        told = environment_told(settings, access)
        for name, text in {**row.set, **allowed.set, **by_gateway.set}.items():
            # The token stands in variables alone: arguments are seen by others.
            told[name] = filled(text, {**values, "@TOKEN@": access.token})
        homes = tuple(row.home) if settings.has_own_home else ()
        return Start(tuple(filled(word, values) for word in words), told, tuple(row.env), homes)

    def parser(self, settings: CommandSettings) -> Parser:
        """The one of its format."""
        return _PARSERS[self._name]()


def gateway_of(
    name: str, rows: Mapping[GatewayWire, GatewayRow], settings: ProgramSettings, access: Access
) -> GatewayRow:
    """What a row of a catalogue says for the first wire of the agent's provider that its program speaks.

    Nothing for an agent without a gateway. Raises Invalid for one that the program cannot speak to.
    """
    if not settings.gateway:
        return GatewayRow()
    access.gateway(settings.gateway)
    wires = access.wires.get(settings.gateway, ())
    found = next((rows[wire] for wire in rows if wire in wires), None)
    if found is None:
        spoken = ", ".join(rows) or "none that a gateway has"
        raise Invalid(
            f"{name} cannot use the gateway {settings.gateway}: that speaks {', '.join(wires)}.",
            f"Name a provider with one of the wires of {name}: {spoken}.",
        )
    return found


def environment_told(settings: ProgramSettings, access: Access) -> dict[str, str]:
    """The way to the board, and to the gateway if the agent has one. Raises Invalid for a gateway that is not there."""
    told = dict(access.environment)
    if settings.gateway:
        told["OPSROOM_GATEWAY"] = access.gateway(settings.gateway)
    return told


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with what stands for the names; inside JSON (it begins with a brace) as a part of a JSON string."""
    for name, value in values.items():
        text = text.replace(name, json.dumps(value)[1:-1] if text.startswith("{") else value)
    return text


@cache
def _rows() -> Mapping[str, _Row]:
    text = (_FOLDER / "catalogue.toml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, _Row]).validate_python(tomllib.loads(text))


def program_of(settings: CommandSettings) -> Startable:
    """Blocks the first time (a file). Raises Invalid for a program that is not known."""
    if settings.program == SCRIPT:
        return Script()
    rows = _rows()
    if settings.program not in rows:
        known = ", ".join((SCRIPT, *rows))
        raise Invalid(f"There is no program {settings.program[:80]!r} in the catalogue.", f"Known: {known}.")
    return Preset(settings.program, rows[settings.program])


def interactive_of(program: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """How a person goes on with a session of this program in a terminal: its words, with @SESSION@ in them; the names
    that it may have of our environment; its `home` variables. Empty words where it has no such way. Blocks.
    """
    row = _rows().get(program)
    return ((), (), ()) if row is None else (tuple(row.interactive), tuple(row.env), tuple(row.home))


def check(runner: Mapping[str, Any]) -> None:
    """Raises Invalid for settings that no run could use; whether the program is there is not looked at."""
    program_of(settings_of(runner))
