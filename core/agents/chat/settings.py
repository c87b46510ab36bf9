"""Where a model is and what it may use. From the environment: no key ever stands in a file or on a command line."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.domain.errors import Invalid

URL = "OPSROOM_CHAT_URL"
MODEL = "OPSROOM_CHAT_MODEL"
KEY = "OPSROOM_CHAT_KEY"


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """`url` ends before `/chat/completions`, e.g. `http://127.0.0.1:8080/v1`. `turns` bounds the requests of a run."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    turns: int = 20
    calls_a_turn: int = 20
    timeout_s: float = 120.0


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
    return ChatSettings(url, model, key)
