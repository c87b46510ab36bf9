"""Small programs that misbehave, and a look at /proc for what is left of them."""

import os
import sys
from pathlib import Path

from core.agents.programs.environment import environment_of
from core.agents.programs.started import Program

GRACE_S = 0.3
MARK = "MARK_OF_A_TEST"

# Each leaves a process behind in one way; all carry the mark in their environment.
STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(600)
"""
FORKING = """
import os, sys, time
for depth in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            import signal
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        os._exit(0)
time.sleep(0.1)
print("ready", flush=True)
"""


def argv_of(code: str, *arguments: str) -> list[str]:
    """How a program of this text is started."""
    return [sys.executable, "-c", code, *arguments]


async def a_program(folder: Path, code: str, mark: str, *arguments: str, **environment: str) -> Program:
    """It runs, under its reaper."""
    env = environment_of(os.environ, told={MARK: mark, **environment})
    return await Program.start(argv_of(code, *arguments), cwd=folder, environment=env, grace_s=GRACE_S)


def marked(mark: str) -> list[int]:
    """The pids of living processes with this mark in their environment."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            if f"{MARK}={mark}\0".encode() in Path(f"/proc/{name}/environ").read_bytes():
                found.append(int(name))
        except OSError:
            continue
    return found
