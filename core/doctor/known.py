"""The table of what the doctor looks for (`known.toml`), read once."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

IDLE_MB = (216, 382)  # what an idle agent program takes, measured with four of them
_MIB = 1024 * 1024


class KnownProgram(BaseModel):
    """An agent program: how a person gets it, and the variables that its keys are usually in."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    about: str
    install: str
    keys: tuple[str, ...]


class Provider(BaseModel):
    """Where a key of this name belongs, as settings of a chat agent."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    key: str
    url: str
    model: str
    wire: Literal["openai", "anthropic"] = "openai"


class Known(BaseModel):
    """All of it; `servers` are the default ports of model servers on this machine.

    `adapters` are commands that speak the Agent Client Protocol for a program, with how a person gets them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    programs: Mapping[str, KnownProgram]
    adapters: Mapping[str, str] = Field(default_factory=dict)
    servers: Mapping[str, int] = Field(default_factory=dict)
    providers: Mapping[str, Provider]

    def install_of(self, command: str) -> str:
        """How a person gets this command; empty if it is not known here."""
        row = self.programs.get(command)
        return row.install if row is not None else self.adapters.get(command, "")


@cache
def known() -> Known:
    """Blocks the first time (a file)."""
    return Known.model_validate(tomllib.loads(Path(__file__).with_name("known.toml").read_text(encoding="utf-8")))


def fitting(available: int) -> tuple[int, int]:
    """How many idle agent programs fit in so many bytes of memory: at least, at most."""
    least, most = IDLE_MB
    return available // (most * _MIB), available // (least * _MIB)
