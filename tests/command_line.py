"""How tests call the command line: as processes, forked where they run to their end, in homes of their own."""

import fcntl
import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.zygote import ROOT, Zygote

ARGV = (sys.executable, "-m", "tui.cli")
# Python reads these as it starts: a command line that is given one of them starts for itself.
READ_AT_START = ("PYTHON", "LANG", "LC_")


def environment(home: Path, **more: str) -> dict[str, str]:
    """Nothing of the tester's own settings."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "PYTHONPATH": str(ROOT),
            "GIT_CONFIG_GLOBAL": os.devnull, "TERM": "xterm", **more}  # fmt: skip


def opsroom(home: Path, *words: object, timeout: float = 60, **more: str) -> "subprocess.CompletedProcess[str]":
    """Run one command line to its end, without a terminal."""
    if not any(name.startswith(READ_AT_START) for name in more):
        return _zygote().run([*map(str, words)], environment(home, **more), home, timeout)
    return subprocess.run(
        [*ARGV, *map(str, words)], env=environment(home, **more), cwd=home, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="surrogateescape", timeout=timeout, check=False,
    )  # fmt: skip


@functools.cache
def _zygote() -> Zygote:
    return Zygote(sys.executable)


def started(home: Path, *words: object, **more: str) -> "subprocess.Popen[str]":
    """Start a command line that goes on."""
    return subprocess.Popen(
        [*ARGV, *map(str, words)], env=environment(home, **more), cwd=home, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def a_folder(place: Path, *, git: bool = True) -> Path:
    """A small folder with marks, duplicates, a dead link, and (with git) files that git ignores."""
    files = {
        "README.md": "# Small\n\n[there](src/main.py) [gone](docs/none.md)\n\nTODO: write more",
        "src/main.py": "def main():\n    # FIXME: nothing happens\n    return 0\n\n# todo is no mark, TODOS neither\n",
        "src/copy.py": "VALUE = 1\n# TODO once\n",
        "src/twin.py": "VALUE = 1\n# TODO once\n",
        "src/empty.py": "",
        "src/also_empty.py": "",
        "web/app.js": "let x = 1; // TODO in script\n",
        "build/out.py": "# TODO ignored\n" * 5,
        ".gitignore": "build/\n",
    }
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if git:
        run_git(place, "init", "--quiet")
        run_git(place, "add", ".")
        run_git(place, "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "all")
    return place


def run_git(place: Path, *words: str) -> str:
    """What git says."""
    return subprocess.run(["git", "-C", str(place), *words], capture_output=True, text=True, check=True).stdout


def a_finished_demo(factory: pytest.TempPathFactory) -> tuple[Path, "subprocess.CompletedProcess[str]"]:
    """One demo that came to its end, made once for all test processes: the audited folder and what was said.

    A copy of its company lies beside the folder, `as it ended`.
    """
    base = factory.getbasetemp()
    shared = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "finished demo"
    shared.mkdir(exist_ok=True)
    audited, told = shared / "small folder", shared / "told.json"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not told.exists():
            done = opsroom(shared, "demo", a_folder(audited), "--headless", "--approve-all", "--json")
            if done.returncode == 0:
                shutil.copytree(json.loads(done.stdout)["company"], shared / "as it ended")
            told.write_text(json.dumps([done.returncode, done.stdout, done.stderr]))
    code, out, err = json.loads(told.read_text())
    return audited, subprocess.CompletedProcess([], code, out, err)
