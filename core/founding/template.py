"""The templates of `opsroom init` (`templates/*.toml`): agents, what each is like, further red lines, limits."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from core.domain.errors import Invalid
from core.domain.limits import RUNS_AT_ONCE
from core.domain.states import Role

FOLDER = Path(__file__).with_name("templates")
EMPTY = "empty"


class TemplateAgent(BaseModel):
    """One agent to hire. `soul` is what it is like, by language; it becomes its SOUL.md and is its own from then on."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    slug: str
    name: str
    role: Role
    manager: str | None = None
    capabilities: tuple[str, ...] = ()
    max_runs: int = 1
    soul: Mapping[Literal["en", "zh"], str]


class TemplateLine(BaseModel):
    """A red line beside the shipped ones (docs/guardrails.md)."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    about: str
    action: Literal["pause_and_escalate", "block_and_notify"]
    tags: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()


class Template(BaseModel):
    """A company to be made. `usd_a_day` is what all of it may spend a day; 0 is no limit."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    title: str
    about: str
    runs_at_once: int = RUNS_AT_ONCE
    usd_a_day: float = 0
    agents: tuple[TemplateAgent, ...] = ()
    red_lines: tuple[TemplateLine, ...] = Field(())


@cache
def templates() -> Mapping[str, Template]:
    """All of them by name, the empty one last. Blocks the first time (files)."""
    found = {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}
    names = sorted(found, key=lambda name: (name == EMPTY, name != "software-team", name))
    return {name: Template.model_validate(tomllib.loads(found[name].read_text(encoding="utf-8"))) for name in names}


def template_of(name: str) -> Template:
    """Raises Invalid, which lists what there is."""
    found = templates().get(name)
    if found is None:
        known = "; ".join(f"{each} ({one.title})" for each, one in templates().items())
        raise Invalid(f"There is no template {name[:80]!r}.", f"There are: {known}.")
    return found
