"""`company.toml`: the settings of one company, checked when it is opened."""

import json
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.agents.models.providers import GatewayConfig
from core.domain.errors import Invalid
from core.domain.limits import PROMPT_TOKENS, PROMPT_TOKENS_MIN, RUNS_AT_ONCE, STARTS_PER_MINUTE
from core.domain.wrong_settings import wrong_setting

CONFIG = "company.toml"
BOARD = "board.db"


class CapsConfig(BaseModel):
    """Upper bounds; all finite."""

    model_config = ConfigDict(extra="forbid")
    runs_at_once: int = Field(RUNS_AT_ONCE, ge=1, le=1000)
    starts_per_minute: int = Field(STARTS_PER_MINUTE, ge=1, le=100_000)
    run_seconds: float = Field(1800, gt=0)


class RehearsalConfig(BaseModel):
    """What the rehearsal agents audit, and how long they pause between acts so that a person can watch."""

    model_config = ConfigDict(extra="forbid")
    folder: str
    pace_ms: int = Field(0, ge=0, le=60_000)


class PromptsConfig(BaseModel):
    """What an agent may be told at once, in tokens (docs/prompts.md)."""

    model_config = ConfigDict(extra="forbid")
    budget: int = Field(PROMPT_TOKENS, ge=PROMPT_TOKENS_MIN, le=1_000_000)


class PermissionsConfig(BaseModel):
    """How many seconds what a program asks waits for you before it is refused; without it, as long as its run lives."""

    model_config = ConfigDict(extra="forbid")
    wait_s: float | None = Field(None, ge=1, le=31_536_000)


class PriceConfig(BaseModel):
    """What a model costs, in US dollars for a million tokens; cache prices are that of input unless they are named."""

    model_config = ConfigDict(extra="forbid")
    tokens_in: float = Field(ge=0, le=1_000_000)
    tokens_out: float = Field(ge=0, le=1_000_000)
    cache_read: float | None = Field(None, ge=0, le=1_000_000)
    cache_write: float | None = Field(None, ge=0, le=1_000_000)


class Config(BaseModel):
    """All of `company.toml`. `prices` are by the model's name, for models whose price is not known (docs/agents.md)."""

    model_config = ConfigDict(extra="forbid")
    name: str = "My company"
    mission: str = ""
    locale: Literal["en", "zh"] = "en"
    caps: CapsConfig = Field(default_factory=CapsConfig)
    prompts: PromptsConfig = Field(default_factory=PromptsConfig)
    permissions: PermissionsConfig = Field(default_factory=PermissionsConfig)
    rehearsal: RehearsalConfig | None = None
    prices: dict[str, PriceConfig] = Field(default_factory=dict)
    gateway: GatewayConfig = Field(default_factory=GatewayConfig)


def board_path(folder: Path) -> Path:
    """The blackboard file of a company."""
    return folder / BOARD


def read_config(folder: Path) -> Config:
    """The settings of a company. Raises Invalid, which names the file and each wrong key."""
    path = folder / CONFIG
    try:
        return Config.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise Invalid(f"{folder} holds no company: {CONFIG} is missing.", "Make one with `opsroom init`.") from None
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.", "Check its owner and mode.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Invalid(f"{path} is not valid TOML: {error}.", "Mend that line; nothing was changed.") from None
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, item['loc']))}: {wrong_setting(item)}" for item in error.errors())
        raise Invalid(f"{path} has wrong settings: {problems}.", "Mend them; nothing was changed.") from None


def runner_kinds(config: Config) -> frozenset[str]:
    """The kinds of runners that this program has for a company with these settings; what others name cannot run."""
    kinds = frozenset({"acp", "chat", "command"})
    return kinds if config.rehearsal is None else kinds | {"rehearsal"}


def write_config(folder: Path, config: Config) -> None:
    """Write a new company.toml; never over an existing one (FileExistsError)."""
    with (folder / CONFIG).open("x", encoding="utf-8") as file:
        file.write(_toml(config.model_dump(exclude_none=True)))


def _toml(table: dict[str, Any], path: tuple[str, ...] = ()) -> str:
    plain = [
        f"{_key(key)} = {json.dumps(value, ensure_ascii=False)}"
        for key, value in table.items()
        if not isinstance(value, dict)
    ]
    text = "\n".join(plain) + "\n" if plain else ""
    for key, value in table.items():
        if isinstance(value, dict) and value:
            inner = (*path, _key(key))
            holds_tables = all(isinstance(part, dict) for part in value.values())
            text += ("" if holds_tables else f"\n[{'.'.join(inner)}]\n") + _toml(value, inner)
    return text


def _key(name: str) -> str:
    return name if name.isascii() and name.isidentifier() else json.dumps(name, ensure_ascii=False)
