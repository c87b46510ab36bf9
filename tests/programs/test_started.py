"""What goes into a program and what comes out of it, whole, in whatever pieces it comes."""

import asyncio
from pathlib import Path

from core.agents.programs.started import Program, Skipped
from tests.programs.processes import a_program

PATIENCE_S = 60


async def all_lines(program: Program, limit: int) -> list[bytes | Skipped]:
    async with asyncio.timeout(PATIENCE_S):
        lines = [line async for line in program.lines(limit)]
        await program.wait()
    program.close()
    return lines


async def test_a_long_prompt_reaches_a_program_that_reads_slowly_and_then_ends(tmp_path: Path) -> None:
    code = """
import os, time
found = 0
while part := os.read(0, 65536):
    found += len(part)
    time.sleep(0.005)
print(found)
"""
    program = await a_program(tmp_path, code, "slow")
    program.feed(b"x" * 3_000_000)
    assert await all_lines(program, 1000) == [b"3000000"]


async def test_lines_come_whole_and_those_over_the_limit_as_a_mark(tmp_path: Path) -> None:
    code = r"""
import os, time
parts = (b"on", b"e\r\ntwo\n\n", b"x" * 100, b"y" * 100_000, b"\nafter\n", b"z" * 101 + b"\n", b"w" * 100 + b"\nlast")
for part in parts:
    os.write(1, part)
    time.sleep(0.02)
"""
    program = await a_program(tmp_path, code, "lines")
    expected = [b"one", b"two", b"", Skipped(100_100), b"after", Skipped(101), b"w" * 100, b"last"]
    assert await all_lines(program, 100) == expected


async def test_a_pipe_that_a_grandchild_holds_is_not_waited_on(tmp_path: Path) -> None:
    code = """
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
print("done", flush=True)
"""
    program = await a_program(tmp_path, code, "held")
    assert await all_lines(program, 100) == [b"done"]
    assert (await program.wait()).left == 0


async def test_a_flood_of_short_lines_leaves_turns_to_others(tmp_path: Path) -> None:
    program = await a_program(tmp_path, r"print('x\n' * 70_000, end='')", "flood")
    turns, stretch, longest, before = 0, 0, 0, -1

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(other())
    async with asyncio.timeout(PATIENCE_S):
        async for _ in program.lines():
            stretch = stretch + 1 if turns == before else 1
            longest, before = max(longest, stretch), turns
        await program.wait()
    beside.cancel()
    program.close()
    assert 1 <= longest <= 200
