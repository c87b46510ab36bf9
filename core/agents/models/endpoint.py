"""Where a model is: an address, a wire format, a model's name and a key; and the bounds on its answers."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from core.agents.models.keys import Secret
from core.domain.errors import Invalid


class Line(NamedTuple):
    """What a cool-down belongs to: a provider, and a fingerprint of the key (empty without one)."""

    provider: str
    key: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`url` ends before `/chat/completions` (openai) or `/v1/messages` (anthropic).

    `headers` and `extra` (fields of the body) are the operator's own and win over ours. Raises Invalid for an address
    that is none.
    """

    url: str
    model: str
    wire: Literal["openai", "anthropic"] = "openai"
    key: Secret | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
    stream: bool = True

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
            fine = fine and parts.port != 0 and not parts.query and not parts.fragment
        except ValueError:
            fine = False
        if not fine:
            raise Invalid(
                "The address of a model server is http:// or https://, a host and a path, with no name or key in it.",
                "Set it, e.g. to http://127.0.0.1:8080/v1.",
            )

    def address(self, path: str) -> str:
        """The address of a path; a `/v1` that stands in both stands once."""
        base = self.url.rstrip("/")
        return base + (path.removeprefix("/v1") if base.endswith("/v1") else path)

    @property
    def line(self) -> Line:
        """What this endpoint's cool-downs belong to."""
        parts = urlsplit(self.url)
        return Line(parts.netloc.lower(), self.key.fingerprint if self.key else "")

    @property
    def local(self) -> bool:
        """The server is on this machine: no proxy stands between."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one answer: seconds to connect, to the first byte, of silence, in all; and bytes.

    The first byte may take long: a local server reads the whole prompt before it says anything.
    """

    connect_s: float = 10.0
    first_s: float = 300.0
    silence_s: float = 120.0
    whole_s: float = 900.0
    answer_bytes: int = 50_000_000
    refusal_bytes: int = 64 * 1024
