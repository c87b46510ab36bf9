"""How each known program that speaks the protocol is started, and in which mode it asks the operator: data."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from core.agents.access import Access
from core.agents.acp.settings import AcpSettings, settings_of
from core.agents.models.providers import GatewayWire
from core.agents.programs.catalogue import GatewayRow, Start, environment_told, filled, gateway_of
from core.domain.errors import Invalid

_PROGRAMS = Path(__file__).parents[1] / "programs"


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")
    command: list[str] = Field(default_factory=list)
    asks: list[str] = Field(default_factory=list)
    by_start: bool = False
    model: list[str] = Field(default_factory=list)
    model_set: dict[str, str] = Field(default_factory=dict)
    env: list[str] = Field(default_factory=list)
    set: dict[str, str] = Field(default_factory=dict)
    cost: Literal["session", "process"] = "session"
    gateway: dict[GatewayWire, GatewayRow] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Supervision:
    """How the operator stays asked. `mode` is to be set (empty: none), `asks` are the modes that may be at work.

    With `free` the operator lets the program act without being asked; then any mode may be at work.
    """

    mode: str
    asks: frozenset[str]
    free: bool


class Startable:
    """A program of the catalogue, or the operator's own (an empty `name`)."""

    def __init__(self, name: str, row: _Row) -> None:
        self._name = name
        self._row = row

    @property
    def takes_model(self) -> bool:
        """Whether it is started with the model; otherwise the session is asked to choose it."""
        return bool(self._row.model or self._row.model_set)

    @property
    def costs_begin_anew(self) -> bool:
        """Whether the money that it tells is that of its process, also in a session that it goes on with."""
        return self._row.cost == "process"

    def start(self, settings: AcpSettings, access: Access) -> Start:
        """Its command and environment. Raises Invalid for a gateway that it cannot speak to."""
        row = self._row
        by_gateway = gateway_of(self._name or "A program of your own", row.gateway, settings, access) if (
            self._name
        ) else GatewayRow()  # fmt: skip
        model = row.model if by_gateway.model is None else by_gateway.model
        words = [*(settings.command or row.command[:1]), *row.command[1:], *by_gateway.args]
        words += model if settings.model else []
        words += settings.args
        values = {"@MODEL@": settings.model, "@MCP@": access.mcp_url, "@FOLDER@": str(_PROGRAMS)}
        if settings.gateway:
            values["@GATEWAY@"] = access.gateway(settings.gateway)
        told = environment_told(settings, access)
        if settings.model:
            told["OPSROOM_MODEL"] = settings.model
        by_model = row.model_set if settings.model else {}
        for one in (row.set, by_model, by_gateway.set):
            for name, text in one.items():
                # The token stands in variables alone: arguments are seen by others.
                told[name] = joined(told.get(name, ""), filled(text, {**values, "@TOKEN@": access.token}))
        return Start(tuple(filled(word, values) for word in words), told, tuple(row.env))

    def supervision(self, settings: AcpSettings) -> Supervision:
        """Raises Invalid where nothing says that the operator is asked, and they have not let it go unasked."""
        asks = frozenset(self._row.asks)
        if settings.unsupervised:
            return Supervision(settings.mode, asks, free=True)
        if self._row.by_start:
            return Supervision(settings.mode, frozenset(), free=False)
        if not self._name and settings.mode:
            return Supervision(settings.mode, frozenset({settings.mode}), free=False)
        if not asks:
            raise Invalid(
                "Nothing says that this program asks you before it acts.",
                'Name the session mode in which it does as "mode", or let it act unasked: "unsupervised": true.',
            )
        if settings.mode and settings.mode not in asks:
            raise Invalid(
                f"In the mode {settings.mode[:80]!r} of {self._name} you are not asked.",
                f'Take one of: {", ".join(self._row.asks)}; or let it act unasked: "unsupervised": true.',
            )
        return Supervision(settings.mode or self._row.asks[0], asks, free=False)


def joined(before: str, after: str) -> str:
    """What a variable is told later; settings in JSON (both begin with a brace) are put together, the later hold."""
    if not (before.startswith("{") and after.startswith("{")):
        return after
    return json.dumps(_together(json.loads(before), json.loads(after)))


def _together(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    both = {
        name: _together(before[name], value)
        if isinstance(value, dict) and isinstance(before.get(name), dict)
        else value
        for name, value in after.items()
    }
    return {**before, **both}


@cache
def _rows() -> Mapping[str, _Row]:
    text = (Path(__file__).parent / "catalogue.toml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, _Row]).validate_python(tomllib.loads(text))


def program_of(settings: AcpSettings) -> Startable:
    """Blocks the first time (a file). Raises Invalid for a program that is not known."""
    if not settings.program:
        return Startable("", _Row())
    rows = _rows()
    if settings.program not in rows:
        raise Invalid(
            f"There is no program {settings.program[:80]!r} in the catalogue.",
            f"Known: {', '.join(rows)}. For any other give its command and no program.",
        )
    return Startable(settings.program, rows[settings.program])


def command_of(program: str) -> str:
    """The command by which a known program speaks the protocol, often one of another name; empty if it is not known.

    Blocks the first time (a file).
    """
    row = _rows().get(program)
    return row.command[0] if row is not None else ""


def check(runner: Mapping[str, Any]) -> None:
    """Raises Invalid for settings that no run could use; whether the program is there is not looked at."""
    settings = settings_of(runner)
    program_of(settings).supervision(settings)
