"""Where a model is and what a run on it may use: from an agent's runner settings, or from the environment for evals.

Keys stand in neither: the settings say where a key comes from, and the environment is read.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from pydantic import Field

from core.agents.models.endpoint import Endpoint, Limits
from core.agents.models.keys import Secret, key_from
from core.agents.settings import SharedSettings, checked
from core.domain.budgets import MONEY_MAX
from core.domain.errors import Invalid

URL = "OPSROOM_CHAT_URL"
MODEL = "OPSROOM_CHAT_MODEL"
KEY = "OPSROOM_CHAT_KEY"
Wire = Literal["openai", "anthropic"]
Answers = Literal["tools", "schema"]


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """`url` ends before `/chat/completions` (openai) or `/v1/messages` (anthropic).

    Of one run: `turns` bounds the requests, `calls_a_turn` the calls of one answer, `tokens` all tokens, in and out,
    `cost_micros` the money (None: the budgets alone). Of one answer: `answer_tokens`, and seconds to its first byte, of
    silence, and in all. `answers` by a schema are for small models that cannot call tools (`core.agents.chat.answers`).
    """

    url: str
    model: str
    key: Secret | None = None
    wire: Wire = "openai"
    answers: Answers = "tools"
    stream: bool = True
    turns: int = 40
    calls_a_turn: int = 20
    tokens: int = 1_000_000
    cost_micros: int | None = None
    answer_tokens: int = 4096
    temperature: float | None = None
    first_s: float = 300.0
    silence_s: float = 120.0
    answer_s: float = 900.0

    @property
    def endpoint(self) -> Endpoint:
        """Where requests go. Raises Invalid for an address that is none."""
        return Endpoint(self.url, self.model, self.wire, self.key, stream=self.stream)

    @property
    def limits(self) -> Limits:
        """The bounds on one answer."""
        return Limits(first_s=self.first_s, silence_s=self.silence_s, whole_s=self.answer_s)


class RunnerSettings(SharedSettings):
    """What an agent's runner of the kind `chat` may say: of a run and an answer, as in ChatSettings."""

    url: str = Field(max_length=2000)
    model: str = Field(min_length=1, max_length=200)
    key: str = Field("", max_length=1000, description="Where the key comes from: env:NAME, file:PATH, keyring:…")
    wire: Wire = "openai"
    answers: Answers = "tools"
    stream: bool = True
    turns: int = Field(40, ge=1, le=1000)
    calls_a_turn: int = Field(20, ge=1, le=100)
    tokens: int = Field(1_000_000, ge=1, le=1_000_000_000)
    cost_micros: int | None = Field(None, ge=1, le=MONEY_MAX)
    answer_tokens: int = Field(4096, ge=16, le=1_000_000)
    temperature: float | None = Field(None, ge=0, le=2)
    first_s: float = Field(300, gt=0, le=86_400)
    silence_s: float = Field(120, gt=0, le=86_400)
    answer_s: float = Field(900, gt=0, le=86_400)


def check(runner: Mapping[str, Any]) -> None:
    """Raises Invalid for settings that no run could use; no key is read."""
    told = checked(RunnerSettings, runner)
    Endpoint(told.url, told.model, told.wire)


async def from_runner(runner: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> ChatSettings:
    """The settings of an agent, with its key. Raises Invalid, which names what is wrong, and what `key_from` raises."""
    told = checked(RunnerSettings, runner)
    key = await asyncio.to_thread(key_from, told.key, environment) if told.key else None
    same = {each.name for each in fields(ChatSettings)} - {"key"}
    return ChatSettings(key=key, **told.model_dump(include=same))


def from_environment(environment: Mapping[str, str] = os.environ) -> ChatSettings:
    """The settings of OPSROOM_CHAT_URL, OPSROOM_CHAT_MODEL and OPSROOM_CHAT_KEY (may be empty).

    Raises Invalid, which names the variable that is missing or wrong, and never its value.
    """
    url, model = environment.get(URL, "").strip().rstrip("/"), environment.get(MODEL, "").strip()
    if not url.startswith(("http://", "https://")):
        raise Invalid(f"{URL} names no model server.", "Set it, e.g. to http://127.0.0.1:8080/v1.")
    if not model:
        raise Invalid(f"{MODEL} names no model.", "Set it to a name that the server knows.")
    key = environment.get(KEY, "").strip()
    if not (key.isascii() and (not key or key.isprintable())):
        raise Invalid(f"{KEY} holds what no key has: control characters, or letters beyond ASCII.", "Set it anew.")
    return ChatSettings(url, model, Secret(key) if key else None)
