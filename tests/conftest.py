"""For every test: less looking for garbage, bytecode that is kept, and folders in memory where the machine has room.

Screens make many objects that live as long as their test: a fifth of the whole run was spent on looking for garbage
among them. Without kept bytecode every worker compiles every test anew.
"""

import gc
import os
import shutil
import signal
import sys
from pathlib import Path

from hypothesis import settings

MEMORY = Path("/dev/shm")  # Linux keeps it in memory
ROOM = 2 * 1024**3  # bytes; containers often have 64 MB there

# How many examples Hypothesis tries where a test says nothing of its own; `make soak` asks for the second.
settings.register_profile("few", settings(), max_examples=40)
settings.register_profile("soak", settings(), max_examples=200)
settings.load_profile("few")
gc.set_threshold(200_000, 20, 100)
# In the background of a shell (`make test &`) ctrl+c is ignored, also by the programs that tests end by it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def _holds_folders(place: Path) -> bool:
    """Whether tests can work there: room for what they write, and programs may be started."""
    if not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
        return False
    return shutil.disk_usage(place).free >= ROOM and not os.statvfs(place).f_flag & os.ST_NOEXEC


if _holds_folders(MEMORY):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_collection_finish() -> None:
    """What was collected stays to the end: nobody looks for garbage among it."""
    gc.freeze()


def pytest_sessionfinish() -> None:
    """One look is enough: pytest takes five at its end, over all that a worker has gathered."""
    gc.collect()
    gc.freeze()
