"""The child process's door: its lines, its errors, and its memory on large folders."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.agents.rehearsal.audit import __main__ as door
from tests.agents.test_audit_world import a_folder, a_repository

COMMAND = [sys.executable, "-m", "core.agents.rehearsal.audit"]


def run(*arguments: str | bytes, **environment: str) -> tuple[int, list[dict[str, Any]], int]:
    """The exit code, the lines and the peak memory (KiB) of a child of its own."""
    child = subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env={**os.environ, **environment}
    )
    assert child.stdout is not None
    output = child.stdout.read()
    child.stdout.close()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert output.isascii()
    return child.returncode, [json.loads(line) for line in output.splitlines()], usage.ru_maxrss


def result(audit: str, folder: Path, **further: object) -> dict[str, Any]:
    code, lines, _ = run(audit, str(folder), "--json-arguments", json.dumps(further))
    assert code == 0, lines
    assert all(set(line) == {"progress"} for line in lines[:-1])
    found: dict[str, Any] = lines[-1]["result"]
    return found


def test_every_kind_answers_with_progress_and_one_result(tmp_path: Path) -> None:
    folder = a_repository(tmp_path / b"f\xff\n".decode("utf-8", "surrogateescape"), {b"\xff\n.py": b"# TODO\n"})
    name = "\\xff\n.py"
    assert result("inventory", folder)["languages"] == {"Python": {"files": 1, "lines": 1, "bytes": 7}}
    assert result("marks", folder)["places"] == [{"path": name, "line": 1, "text": "# TODO"}]
    assert result("history", folder)["untouched"][0]["path"] == name
    assert result("documentation", folder)["readme"] is None
    assert result("duplicates", folder)["groups"] == []
    look = result("closer_look", folder, path=name)
    assert look["commits"]["count"] == 1
    assert result("recompute", folder, kind="closer_look", claimed=look, seed=3)["equal"]


def test_a_folder_that_begins_with_a_dash_comes_after_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_folder(tmp_path, {"-rf/a.py": b""})
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    monkeypatch.chdir(tmp_path)
    code, lines, _ = run("inventory", "--", "-rf")
    assert (code, lines[-1]["result"]["total"]["files"]) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["inventory", "{}/gone"], "does not exist"),
        (["inventory", "{}/file"], "is not a folder"),
        (["mood", "{}"], "called wrongly"),
        ([], "called wrongly"),
        (["inventory", "{}", "--json-arguments", "["], "cannot be read"),
        (["inventory", "{}", "--json-arguments", "[]"], "not a JSON object"),
        (["inventory", "{}", "--json-arguments", "@{}/gone"], "cannot be read"),
        (["inventory", "{}", "--json-arguments", '{"x": 1}'], "Unknown further arguments: x"),
        (["closer_look", "{}"], "argument path is missing"),
        (["closer_look", "{}", "--json-arguments", '{"path": "../x"}'], "is not in the folder"),
    ],
)
def test_what_cannot_be_done_is_one_error_for_people(
    tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    a_folder(tmp_path, {"file": b""})
    assert (
        door.main(
            [argument.replace("{}", str(tmp_path), 1) if argument != "{}" else str(tmp_path) for argument in arguments]
        )
        == 1
    )
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    assert message in json.loads(lines[0])["error"]


def test_an_unforeseen_failure_is_told_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setitem(door.KINDS, "inventory", fail)
    assert door.main(["inventory", str(tmp_path)]) == 1
    written = capsys.readouterr()
    assert "out of luck" in json.loads(written.out)["error"]
    assert "Traceback" in written.err


def test_a_long_claim_comes_in_a_file(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "f", {f"{n:0200}{half}": str(n).encode() for n in range(350) for half in "ab"})
    claim = result("duplicates", folder)
    further = tmp_path / "further.json"
    further.write_text(json.dumps({"kind": "duplicates", "claimed": claim, "seed": 1}))
    assert further.stat().st_size > 128 << 10
    code, lines, _ = run("recompute", str(folder), "--json-arguments", f"@{further}")
    assert (code, lines[-1]["result"]["equal"]) == (0, True)


def test_a_reader_that_leaves_is_no_failure_to_shout_about(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    child = subprocess.run([*COMMAND, "inventory", str(tmp_path)], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (child.returncode, child.stderr) == (1, b"")


def many(folder: Path, count: int) -> Path:
    return a_folder(folder, {f"{n % 97}/{n}.py": b"x = 1  # TODO\n" * (n % 5) for n in range(count)})


def memory_stays_flat(tmp_path: Path, count: int, kinds: list[str]) -> None:
    few, lots = many(tmp_path / "few", 10), many(tmp_path / "lots", count)
    for kind in kinds:
        _, _, small = run(kind, str(few))
        code, lines, large = run(kind, str(lots))
        assert code == 0
        assert "progress" in lines[0]
        # The paths of all files may be held by some; their contents, by none.
        assert large < 1.25 * small + 0.4 * count, kind


@pytest.mark.soak
def test_memory_stays_flat_over_three_thousand_files(tmp_path: Path) -> None:
    memory_stays_flat(tmp_path, 3_000, ["inventory", "duplicates"])


@pytest.mark.soak
def test_memory_stays_flat_over_large_files(tmp_path: Path) -> None:
    few = a_folder(tmp_path / "few", {"a.py": b"x\n"})
    lots = a_folder(tmp_path / "lots", {"a.py": (b"TODO" * 20 + b" TODO\n") * 300_000, "b.py": b"TODO " * 5_000_000})
    for kind in ("marks", "duplicates"):
        assert run(kind, str(lots))[2] < run(kind, str(few))[2] + (16 << 10), kind


@pytest.mark.soak
def test_memory_stays_flat_over_fifty_thousand_files(tmp_path: Path) -> None:
    memory_stays_flat(tmp_path, 50_000, list(door.KINDS)[:5])
    git_folder = a_repository(tmp_path / "lots", {})
    code, lines, _ = run("inventory", str(git_folder))
    assert (code, lines[-1]["result"]["total"]["files"]) == (0, 50_000)
    assert sum("progress" in line for line in lines) > 1
