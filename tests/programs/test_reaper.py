"""Nothing of a program is left: read from /proc, whatever the program does."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.agents.process import kill_family
from core.agents.programs import reaper
from core.agents.programs.started import Program
from tests.programs.processes import FORKING, MARK, STUBBORN, a_program, argv_of, marked

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
PATIENCE_S = 60


async def lines_of(program: Program) -> list[bytes]:
    async with asyncio.timeout(PATIENCE_S):
        return [line async for line in program.lines() if isinstance(line, bytes)]


async def first_line(program: Program) -> None:
    async with asyncio.timeout(PATIENCE_S):
        assert await anext(program.lines()) == b"ready"


async def gone(mark: str) -> bool:
    """Whether all with this mark have died, waited for."""
    async with asyncio.timeout(PATIENCE_S):
        while marked(mark):  # noqa: ASYNC110 - other processes' end
            await asyncio.sleep(0.02)
    return True


async def test_a_program_that_ignores_sigterm_is_ended(tmp_path: Path) -> None:
    program = await a_program(tmp_path, STUBBORN, "stubborn")
    program.feed(b"")
    await first_line(program)
    assert marked("stubborn")
    end = await program.end()
    program.close()
    assert (end.signal, end.left, end.whole) == (signal.SIGKILL, 0, True)
    assert marked("stubborn") == []


async def test_children_in_sessions_of_their_own_end_with_their_program(tmp_path: Path) -> None:
    program = await a_program(tmp_path, FORKING, "forking")
    assert await lines_of(program) == [b"ready"]  # although its grandchildren hold the pipe when it ends
    end = await program.wait()
    program.close()
    assert (end.code, end.left) == (0, 0)
    assert marked("forking") == []


async def test_how_it_ended_is_told(tmp_path: Path) -> None:
    for code, expected in (
        ("import sys; sys.exit(7)", (7, None)),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", (None, signal.SIGSEGV)),
    ):
        program = await a_program(tmp_path, code, "ends")
        await lines_of(program)
        end = await program.wait()
        program.close()
        assert (end.code, end.signal, end.error) == (*expected, "")


async def test_what_cannot_be_started_says_why(tmp_path: Path) -> None:
    program = await Program.start(["./there-is-none"], cwd=tmp_path, environment={"PATH": "/usr/bin"})
    assert await lines_of(program) == []
    end = await program.wait()
    program.close()
    assert end.words == "it could not be started: No such file or directory"


async def test_a_program_that_forks_while_it_is_ended_is_ended_too(tmp_path: Path) -> None:
    code = """
import os, signal, time
def again(*_):
    for _ in range(5):
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
signal.signal(signal.SIGTERM, again)
print("ready", flush=True)
for _ in range(1000):
    time.sleep(0.6)
"""
    program = await a_program(tmp_path, code, "forks-on-term")
    await first_line(program)
    end = await program.end()
    program.close()
    assert end.left == 0
    assert marked("forks-on-term") == []


OWNER = """
import asyncio, sys
from pathlib import Path
from tests.programs.processes import FORKING, STUBBORN, a_program
async def own():
    program = await a_program(Path(sys.argv[1]), FORKING + STUBBORN, sys.argv[2])
    async for line in program.lines():
        print(line.decode(), flush=True)
asyncio.run(own())
"""


async def test_nothing_outlives_an_owner_that_was_killed(tmp_path: Path) -> None:
    root = Path(reaper.__file__).parents[3]
    owner = subprocess.Popen(  # noqa: ASYNC220 - it is killed, and waited for off the loop
        [sys.executable, "-c", OWNER, str(tmp_path), "orphans"], stdout=subprocess.PIPE, cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )  # fmt: skip
    try:
        assert owner.stdout is not None
        for _ in range(2):
            assert await asyncio.to_thread(owner.stdout.readline) == b"ready\n"
        assert len(marked("orphans")) >= 5
        owner.kill()
        assert await gone("orphans")
    finally:
        owner.kill()
        owner.wait()
        owner.stdout.close()


async def test_a_killed_reaper_takes_its_program_along_and_the_end_says_so(tmp_path: Path) -> None:
    program = await a_program(tmp_path, STUBBORN, "no-reaper")
    await first_line(program)
    os.kill(program.pid, signal.SIGKILL)
    end = await program.wait()
    program.close()
    assert "supervisor was killed" in end.words
    assert not end.whole
    assert await gone("no-reaper")


async def test_what_a_program_whose_reaper_is_killed_had_started_is_found_and_ended(tmp_path: Path) -> None:
    program = await a_program(tmp_path, FORKING.replace('print("ready"', 'print("forked"') + STUBBORN, "orphaned")
    async with asyncio.timeout(PATIENCE_S):
        lines = program.lines()
        assert [await anext(lines), await anext(lines)] == [b"forked", b"ready"]
    bystander = await a_program(tmp_path, STUBBORN, "bystander")
    await first_line(bystander)
    assert len(marked("orphaned")) >= 5
    os.kill(program.pid, signal.SIGKILL)
    end = await program.wait()
    program.close()
    assert marked("orphaned") == []
    assert (end.left, end.whole, end.ran) == (0, False, True)
    assert len(marked("bystander")) == 2
    await bystander.end()
    bystander.close()


async def test_the_sweep_at_start_finds_everything_by_the_reapers_fingerprint(tmp_path: Path) -> None:
    program = await a_program(tmp_path, FORKING + STUBBORN, "swept")
    async with asyncio.timeout(PATIENCE_S):
        lines = program.lines()
        assert [await anext(lines), await anext(lines)] == [b"ready", b"ready"]
    assert await asyncio.to_thread(kill_family, program.pid, program.started) >= 5
    assert await gone("swept")
    await program.wait()
    program.close()


def test_without_a_subreaper_the_group_is_ended_and_the_report_says_so(
    tmp_path: Path,
) -> None:
    # In a process of its own: the reaper changes its signals and streams.
    code = """
import sys
from core.agents.programs import reaper
reaper.prctl = lambda option, value: False
sys.exit(reaper.main(sys.argv[1:]))
"""
    root = Path(reaper.__file__).parents[3]
    orders, control = os.pipe()
    report, tells = os.pipe()
    env = {**os.environ, "PYTHONPATH": str(root), MARK: "by-group"}
    command = [
        sys.executable, "-c", code, str(orders), str(tells), "0.2", str(os.getpid()), *argv_of(STUBBORN)
    ]  # fmt: skip
    process = subprocess.Popen(command, pass_fds=(orders, tells), env=env, stdout=subprocess.PIPE, cwd=tmp_path)
    os.close(orders)
    os.close(tells)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    os.close(control)
    assert process.wait(PATIENCE_S) == 0
    told = os.read(report, 4096)
    os.close(report)
    process.stdout.close()
    assert b'"by": "group"' in told
    assert b'"left": 0' in told
    assert marked("by-group") == []


def test_the_reaper_is_a_light_process() -> None:
    code = "import runpy, sys; runpy.run_path(sys.argv[1]); print(*sys.modules)"
    command = [sys.executable, "-I", "-S", "-c", code, reaper.__file__]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not {"asyncio", "psutil", "core", "subprocess"} & set(loaded)
