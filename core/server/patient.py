"""Connections that say nothing, or take nothing, do not keep others out of the server."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 10.0  # until the head of a request has come whole
UNREAD_S = 120.0  # that a client may leave an answer unread
SILENT_MAX = 100  # connections without a request: of more, the oldest is closed


def patient(silent: "dict[H11Protocol, asyncio.TimerHandle]") -> type[H11Protocol]:
    """The protocol of one server; `silent` are its connections without a request, the oldest first."""

    class Patient(H11Protocol):
        _unread: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._look()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._look()

        def connection_lost(self, exc: Exception | None) -> None:
            self._heard()
            if self._unread is not None:
                self._unread.cancel()
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._unread = self.loop.call_later(UNREAD_S, self.transport.abort)

        def resume_writing(self) -> None:
            if self._unread is not None:
                self._unread.cancel()
            super().resume_writing()

        def _look(self) -> None:
            """Wait for the head of a request as long as none is at work."""
            cycle: Any = self.cycle
            if self.transport.is_closing() or (cycle is not None and not cycle.response_complete):
                self._heard()
            elif self not in silent:
                if len(silent) >= SILENT_MAX:
                    oldest = next(iter(silent))
                    silent.pop(oldest).cancel()
                    oldest.transport.abort()
                silent[self] = self.loop.call_later(HEAD_S, self.transport.abort)

        def _heard(self) -> None:
            waiting = silent.pop(self, None)
            if waiting is not None:
                waiting.cancel()

    return Patient
