"""The room's terminal. One that is gone, or takes nothing more, stops neither the room nor the company (F19).

Textual hands each frame to a thread through a short queue. When that thread dies at a closed terminal, or waits at one
that nobody reads (a lost connection), the queue fills and the next frame would stop the event loop, and with it the
ticker: the company would stand still, and hold its board.
"""

import asyncio
import os
import queue
import select
import signal
from typing import IO, Any

from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver

CATCH_UP_S = 0.2
SUSPENDED = "\nThe room is suspended, and its company stands still: `fg` brings it back.\n"
LAST_WORDS_S = 1.0  # for what restores a terminal that takes nothing


def is_gone(descriptor: int) -> bool:
    """Whether a terminal was closed at its other end."""
    watch = select.poll()
    watch.register(descriptor, 0)
    return any(mask & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, mask in watch.poll(0))


class LastingFile:
    """A terminal to write to, without a buffer of our own; once it is gone it swallows what it is told."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._is_gone = False

    def write(self, text: str) -> None:
        """Write all of it, however long that takes."""
        data = text.encode("utf-8", "replace")
        while data and not self._is_gone:
            try:
                data = data[os.write(self._file.fileno(), data) :]
            except BlockingIOError:
                select.select([], [self._file], [])
            except OSError:
                self._is_gone = True

    def flush(self) -> None:
        """Nothing is kept back."""

    def fileno(self) -> int:
        """The descriptor of the terminal."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._file.isatty()


def is_given_away(driver: Driver | None) -> bool:
    """Whether another program has the terminal now."""
    return isinstance(driver, RoomDriver) and driver._is_leaving


class RoomDriver(LinuxDriver):
    """Frames that a terminal does not take are left out, and the screen is painted whole once it takes them again."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file: Any = LastingFile(self._file)
        self._is_leaving = False
        self._is_behind = False

    def write(self, data: str) -> None:
        """Hand a frame over; never waits for the terminal, but for a moment when it is to be restored."""
        thread = self._writer_thread
        assert thread is not None, "the driver is in application mode"
        try:
            if self._is_leaving:
                thread._queue.put(data, timeout=LAST_WORDS_S)
            else:
                thread._queue.put_nowait(data)
        except queue.Full:
            if not self._is_leaving and not self._is_behind:
                self._is_behind = True
                asyncio.get_running_loop().call_later(CATCH_UP_S, self._catch_up)

    def start_application_mode(self) -> None:
        """Take the terminal, also after another program had it."""
        self._is_leaving = False
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def stop_application_mode(self) -> None:
        """Give the terminal back as it was, if it takes that."""
        self._is_leaving = True
        super().stop_application_mode()

    def close(self) -> None:
        """End the thread; one that waits at its terminal is left to end with the program."""
        thread = self._writer_thread
        if thread is not None and not thread._queue.full():
            thread._queue.put_nowait(None)
            thread.join(LAST_WORDS_S)

    def _sigtstp_application(self, *_: object) -> None:
        """Leave the terminal to the shell, and say what that means for the company."""
        if self._auto_restart:
            self.suspend_application_mode()
            self._must_signal_resume = True
            self._file.write(SUSPENDED)
        os.kill(os.getpid(), signal.SIGSTOP)

    def _catch_up(self) -> None:
        if self._is_leaving or self._writer_thread is None:
            self._is_behind = False
        elif self._writer_thread._queue.empty():
            self._is_behind = False
            self._app.refresh(layout=True)
        else:
            asyncio.get_running_loop().call_later(CATCH_UP_S, self._catch_up)
