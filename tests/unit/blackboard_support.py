"""A small world for the tests of the database: boards in a folder of the test, rows, and programs of their own."""

import asyncio
import contextlib
import os
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

from core.blackboard.board import Board, prepare
from core.blackboard.files import uri_of
from core.blackboard.transaction import Transaction
from core.blackboard.writer import Writer
from core.domain.entities import Goal, Task

ROOT = Path(__file__).parents[2]


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def a_board_file(folder: Path) -> Path:
    """A new, migrated, closed board that nobody owns."""
    path = folder / "company" / "board.db"
    ownership = prepare(path, now_ms(), create=True, role="owner")
    assert ownership is not None
    ownership.release()
    return path


@contextlib.asynccontextmanager
async def a_board(path: Path, clock: Callable[[], int] = now_ms, **options: Any) -> AsyncIterator[Board]:
    board = await Board.open(path, clock=clock, create=True, **options)
    try:
        yield board
    finally:
        await board.close()


@contextlib.contextmanager
def plain(path: Path, mode: str = "rw") -> Iterator[sqlite3.Connection]:
    """A connection that is not ours, to look at the file behind the back of the code."""
    with contextlib.closing(sqlite3.connect(uri_of(path, mode), uri=True, isolation_level=None)) as connection:
        yield connection


def the_writer(board: Board) -> Writer:
    assert board.writer is not None
    return board.writer


def a_goal(tx: Transaction, **fields: Any) -> Goal:
    usual = {
        "title": "Audit the folder",
        "description": "",
        "must_haves": (),
        "constraints": (),
        "status": "draft",
        "origin": "operator",
        "created_by": "human",
        "content_hash": "",
        "split": False,
        "round_cap": 8,
        "reason": "",
    }
    return tx.insert(Goal, "GoalAdded", **{**usual, **fields})


def a_task(tx: Transaction, goal: Goal, **fields: Any) -> Task:
    usual = {
        "goal_id": goal.id,
        "title": "Count the lines",
        "intent": "know how large it is",
        "end_state": "a table of languages",
        "constraints": (),
        "must_haves": (),
        "capabilities": ("inventory",),
        "arguments": {},
        "risk": "standard",
        "status": "pending",
        "fence": 0,
        "attempts": 0,
        "review_attempts": 0,
        "priority": 5,
        "open_deps": 0,
        "offer": 0,
        "broadcasts": 0,
        "created_by": "human",
        "reason": "",
    }
    return tx.insert(Task, "TaskAdded", **{**usual, **fields})


async def until(holds: Callable[[], object], seconds: float = 30) -> None:
    """Let the loop run until something holds; fails when it takes too long."""
    async with asyncio.timeout(seconds):
        while True:
            if holds():
                return
            await asyncio.sleep(0.01)


def a_program(code: str, *arguments: object, **options: Any) -> "subprocess.Popen[str]":
    """Start a Python program of its own on this code; its words come through stdout and stderr."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def outcome(program: "subprocess.Popen[str]", timeout: float = 60) -> tuple[int, str, str]:
    """Its exit code and words; ends it when it hangs."""
    try:
        out, err = program.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        program.kill()
        program.communicate()
        raise
    return program.returncode, out, err
