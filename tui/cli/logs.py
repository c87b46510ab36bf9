"""Where the program's own faults are written: `opsroom.log` in the company's folder, never over the screen."""

import logging
import os
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path

LOG = "opsroom.log"
_SIZE = 1_000_000


class _Private(RotatingFileHandler):
    def _open(self):  # type: ignore[no-untyped-def]
        return open(self.baseFilename, self.mode, encoding=self.encoding, errors=self.errors, opener=_private)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class _Short(logging.Handler):
    """Hands each fault on as one line; its traceback is in the file."""

    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._note = note

    def emit(self, record: logging.LogRecord) -> None:
        fault = record.exc_info[1] if record.exc_info else None
        cause = f" ({type(fault).__name__}: {fault})" if fault is not None else ""
        self._note(f"{record.levelname.lower()}: {record.getMessage()}{cause}; see {LOG}")


def keep_log(folder: Path, note: Callable[[str], None] | None = None) -> None:
    """Write warnings and faults of this process to the company's log, and tell `note` of each in a line."""
    logging.raiseExceptions = False  # a full disk must not end the work, nor fill the screen
    root = logging.getLogger()
    for handler in list(root.handlers):
        if isinstance(handler, _Private | _Short):
            root.removeHandler(handler)
            handler.close()
    file = _Private(
        folder / LOG, maxBytes=_SIZE, backupCount=1, encoding="utf-8", errors="backslashreplace", delay=True
    )
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    file.setLevel(logging.WARNING)
    root.addHandler(file)
    if note is not None:
        root.addHandler(_Short(note))
