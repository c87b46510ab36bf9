"""The room in a real terminal: keys, sizes, suspended and brought back, a notification's bytes, its terminal gone."""

import asyncio
import shlex
import sqlite3
import sys
import time
from pathlib import Path

import pytest

from core.config import board_path
from tests.command_line import opsroom
from tests.flows.world import a_draft, an_office
from tests.terminal.tmux import a_terminal, needs_tmux, until
from tui.cli.status import owner_of

pytestmark = needs_tmux
DEAF_S = 1.5  # keys do nothing for a moment after a question appears


def a_company(home: Path, settings: str) -> Path:
    """A started company with the CEO's draft in it, and the settings of the person at the terminal."""
    folder = home / "acme"

    async def found() -> None:
        async with an_office(folder) as office:
            await a_draft(office)

    asyncio.run(found())
    config = home / ".config" / "opsroom"
    config.mkdir(parents=True)
    (config / "config.toml").write_text(settings)
    return folder


def room_of(folder: Path) -> tuple[str, str, str, str]:
    return sys.executable, "-m", "tui.cli", str(folder)


def asked(folder: Path, sql: str) -> object:
    """One value from the board."""
    with sqlite3.connect(f"file:{board_path(folder)}?mode=ro", uri=True) as board:
        row = board.execute(sql).fetchone()
    board.close()
    return row[0] if row else None


def log_of(folder: Path) -> str:
    path = folder / "opsroom.log"
    return path.read_text() if path.exists() else ""


def owner_pid(folder: Path) -> int | None:
    found = owner_of(board_path(folder))
    return None if found is None else int(found["pid"])


def test_start_approve_resize_suspend_resume_and_a_notification(tmp_path: Path) -> None:
    folder = a_company(tmp_path, "[notify]\nterminal = 'osc9'\n")
    with a_terminal(tmp_path) as terminal:
        terminal.open("bash", "--norc", "--noprofile")
        terminal.press("-l", shlex.join(room_of(folder)))
        terminal.press("Enter")
        terminal.shows("Audit the folder", "Inbox", "approve", "owner")

        time.sleep(DEAF_S)
        terminal.press("a")
        terminal.shows("✓ approve G1", "d dispatch")
        assert asked(folder, "SELECT reviewed_hash = content_hash FROM goals") == 1

        for columns, rows, seen in ((80, 24, "Inbox"), (40, 10, "Audit"), (120, 40, "Discussion")):
            terminal.resize(columns, rows)
            screen = terminal.shows(seen)
            assert all(len(line) <= columns for line in screen.splitlines())
        terminal.shows("Inbox", "Board", "Discussion", "owner")

        terminal.press("C-z")
        terminal.shows("stands still", "Stopped", gone="Discussion")
        terminal.press("-l", "fg")
        terminal.press("Enter")
        terminal.shows("Inbox", "Discussion", "owner", gone="stands still")

        (folder / "guardrails.yaml").write_text("lines: [")
        terminal.press("t")
        terminal.shows("STOPPED", "waits for you")
        until(lambda: b"\x1b]9;Opsroom: The company waits for you: " in terminal.bytes.read_bytes(), lambda: "no bytes")
        assert terminal.bytes.read_bytes().count(b"]9;") == 1

        terminal.press("q")
        terminal.shows("Come back with")
        until(lambda: owner_pid(folder) is None, lambda: terminal.screen)


def test_a_company_goes_on_without_its_terminal_is_followed_stopped_taken_over_and_tells_it(tmp_path: Path) -> None:
    folder = a_company(tmp_path, "when_terminal_closes = 'go on'\n")
    with a_terminal(tmp_path) as terminal:
        terminal.open(*room_of(folder))
        terminal.shows("Audit the folder", "owner")
        first = owner_pid(folder)
        until(lambda: (folder / "board.sock").exists(), lambda: "no socket")
        ticks = asked(folder, "SELECT max(id) FROM events")
        terminal.close()
        until(lambda: "goes on without it" in log_of(folder), lambda: log_of(folder))
        assert owner_pid(folder) == first
        added = opsroom(tmp_path, "goal", "add", folder, "While nobody looked")
        assert added.returncode == 0, added.stderr
        assert asked(folder, "SELECT max(id) FROM events") != ticks

        terminal.open(*room_of(folder))
        terminal.shows(f"following pid {first}", "goes on without a room", "While nobody looked")
        stopped = opsroom(tmp_path, "stop", folder)
        assert stopped.returncode == 0, stopped.stderr
        terminal.shows("STOPPED", "owner")
        assert owner_pid(folder) not in (None, first)
        terminal.press("q")
        until(lambda: owner_pid(folder) is None, lambda: terminal.screen)


@pytest.mark.soak
def test_a_company_stops_with_its_terminal_and_tells_it_at_the_next_start(tmp_path: Path) -> None:
    folder = a_company(tmp_path, "")
    with a_terminal(tmp_path) as terminal:
        terminal.open(*room_of(folder))
        terminal.shows("Audit the folder", "owner")
        terminal.close()
        until(lambda: owner_pid(folder) is None, lambda: "it owns the company still")
        terminal.open(*room_of(folder))
        terminal.shows("was closed at", "owner")
        terminal.press("q")
        until(lambda: owner_pid(folder) is None, lambda: terminal.screen)
