"""What is looked at before a request on loopback is listened to: whom it addresses, and whether a web page sent it.

A page in a browser can make the operator's browser ask addresses on this machine, also under a name of its own that
leads here (DNS rebinding). So the name must be one of this machine's, no other page may ask, and nothing tells a
browser that it may read an answer.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from core.domain.errors import Forbidden, OpsroomError
from core.server.answers import TooLarge, refused

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HEADERS_MAX = 32_768  # bytes
NAMES = frozenset({"127.0.0.1", "localhost", "::1"})


class Misdirected(OpsroomError):
    """The request names another machine (HTTP 421)."""

    code = "misdirected"


class HeadTooLarge(OpsroomError):
    """More headers than anybody needs (HTTP 431)."""

    code = "head_too_large"


class Guard:
    """Lets requests through that address this machine and come from no foreign page."""

    def __init__(self, app: "ASGIApp", body_max: int, larger: Mapping[str, int] | None = None) -> None:
        """`larger` are the bounds of addresses that begin so, where bodies may have more bytes than `body_max`."""
        self._app = app
        self._body_max = body_max
        self._larger = larger or {}

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            return
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        try:
            require_local(headers)
            self._require_size(headers, scope["path"])
        except HeadTooLarge as error:
            await refused(error, 431, {"Connection": "close"})(scope, receive, send)
        except Misdirected as error:
            await refused(error, 421, {"Connection": "close"})(scope, receive, send)
        except OpsroomError as error:
            await refused(error, headers={"Connection": "close"})(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _require_size(self, headers: list[tuple[bytes, bytes]], path: str) -> None:
        most = next((size for begin, size in self._larger.items() if path.startswith(begin)), self._body_max)
        for said in _all(headers, b"content-length"):
            if said.isdigit() and (len(said) > 18 or int(said) > most):
                raise TooLarge(f"The body has more than {most / 1_048_576:g} MiB.", "Send less at once.")


def require_local(headers: Sequence[tuple[bytes, bytes]]) -> None:
    """Raises HeadTooLarge, Misdirected for another machine's name, Forbidden for what another web page sent."""
    _require_small(headers)
    _require_no_foreign_page(headers, _host(headers))


def _require_small(headers: Sequence[tuple[bytes, bytes]]) -> None:
    # The server's own limit counts only what has not come whole.
    if sum(len(name) + len(value) for name, value in headers) > HEADERS_MAX:
        raise HeadTooLarge(f"The headers have more than {HEADERS_MAX // 1024} KiB.", "Send fewer or shorter ones.")


def _all(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1").strip() for key, value in headers if key.lower() == name]


def _host(headers: Sequence[tuple[bytes, bytes]]) -> str:
    """The `Host` header. Raises Misdirected unless it is one of this machine's loopback names."""
    said = _all(headers, b"host")
    if len(said) != 1 or _name(f"//{said[0]}") not in NAMES:
        raise Misdirected("The Host header names no address of this machine.", "Use http://127.0.0.1 and the port.")
    return said[0].lower()


def _require_no_foreign_page(headers: Sequence[tuple[bytes, bytes]], host: str) -> None:
    for said in _all(headers, b"origin"):
        if said.lower() != f"http://{host}":
            raise Forbidden("Web pages may not ask here.", "Use a program, e.g. curl or an MCP client.")


def _name(address: str) -> str | None:
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - raises for what is no port
    except ValueError:
        return None
    return None if parts.path or parts.query or parts.fragment or "@" in parts.netloc else parts.hostname
