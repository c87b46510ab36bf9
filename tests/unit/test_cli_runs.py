"""`opsroom runs`: what a run said, and the operator's hand on it, from another process."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from core.agents.transcript import Transcripts
from core.company import OpenCompany
from core.domain.actors import System
from core.domain.entities import AgentRecord, Remark, Run
from tests.unit.test_cli_docs import agree
from tests.unit.test_cli_inbox import Play, company_where
from tui.cli import main
from tui.cli.exits import Exit

CHAT = {"kind": "chat", "url": "http://127.0.0.1:1/v1", "model": "m"}
CLAUDE = {"kind": "command", "program": "claude"}


async def at_work(play: Play) -> None:
    await play.working()
    await play.do("EditAgent", agent="ada", runner=CHAT)


async def ended(play: Play) -> None:
    await play.do("EditAgent", agent="ada", runner=CLAUDE)
    await play.working()
    await play.do("FinishRun", System(), run=1, status="failed", session="s-1", detail="\x1b[31mno")


def tell(folder: str, *lines: tuple[str, dict[str, Any]]) -> None:
    writing = Transcripts(Path(folder) / "runs", lambda: 1_796_031_994_000)
    for kind, facts in lines:
        writing.opened(1)(kind, facts)
    writing.stop()


def runs(capsys: pytest.CaptureFixture[str], *words: str, code: Exit = Exit.OK) -> str:
    capsys.readouterr()
    assert main(["runs", *words]) == code
    told = capsys.readouterr()
    return told.out if code == Exit.OK else told.err


def rows(folder: str, cls: type[Any]) -> list[Any]:
    async def look() -> list[Any]:
        company = await OpenCompany.open(Path(folder), role="reader")
        try:
            return list(await company.board.readers.entities(cls, "true ORDER BY id"))
        finally:
            await company.close()

    return asyncio.run(look())


def test_what_a_run_said_is_read_literally(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = company_where(tmp_path / "c", ended)
    tell(folder, ("text", {"text": "I look [b]here[/]\x1b]52;c;AAAA\x07"}), ("call", {"command": "AddComment"}))
    told = runs(capsys, "show", folder, "R1")
    assert "I look [b]here[/]" in told
    assert "AddComment" in told
    assert "\x1b" not in told
    assert runs(capsys, "show", folder, "r1", "--follow") == told  # it has ended: nothing more is waited for
    out = runs(capsys, "show", folder, "1", "--json")
    agree("runs show", out)
    assert [line["kind"] for line in json.loads(out)["lines"]] == ["text", "call"]
    assert "R9" in runs(capsys, "show", folder, "R9", code=Exit.REFUSED)


def test_runs_are_listed_by_task_and_agent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = company_where(tmp_path / "c", at_work)
    out = runs(capsys, folder, "--json")
    agree("runs list", out)
    assert [run["agent"] for run in json.loads(out)["runs"]] == ["ada"]
    assert json.loads(runs(capsys, "list", folder, "--task", "T1", "--json"))["runs"]
    assert not json.loads(runs(capsys, "list", folder, "--agent", "orlo", "--json"))["runs"]
    assert "no agent" in runs(capsys, "list", folder, "--agent", "zoe", code=Exit.REFUSED)


def test_a_run_is_spoken_to_paused_let_go_on_and_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = company_where(tmp_path / "c", at_work)
    for words in (["say", folder, "R1", "Skip it"], ["pause", folder, "R1"], ["resume", folder, "R1"]):
        agree(f"runs {words[0]}", runs(capsys, *words, "--json"))
    assert "paused" not in runs(capsys, folder)
    runs(capsys, "pause", folder, "R1")
    assert "paused" in runs(capsys, folder)
    agree("runs kill", runs(capsys, "kill", folder, "R1", "--reason", "enough", "--json"))
    assert [run.status for run in rows(folder, Run)] == ["killed"]
    assert [remark.status for remark in rows(folder, Remark)] == ["unheard"]
    told = runs(capsys, "say", folder, "R1", "Late", code=Exit.REFUSED)
    assert "has ended" in told
    assert "opsroom runs continue" in told


def test_an_ended_session_goes_on_in_a_new_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = company_where(tmp_path / "c", ended)
    agree("runs continue", runs(capsys, "continue", folder, "R1", "--note", "Use the other feed", "--json"))
    (_, new) = rows(folder, Run)
    assert (new.status, new.brief["session"], new.brief["remark"]) == ("queued", "s-1", "Use the other feed")


def test_the_session_of_a_paused_agent_goes_on_in_one_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def paused(play: Play) -> None:
        await ended(play)
        await play.do("PauseAgent", agent="ada")

    folder = company_where(tmp_path / "c", paused)
    why = runs(capsys, "continue", folder, "R1", code=Exit.REFUSED)
    assert "--resume-agent" in why
    runs(capsys, "continue", folder, "R1", "--resume-agent")
    assert [run.status for run in rows(folder, Run)][-1] == "queued"
    assert [each.status for each in rows(folder, AgentRecord) if each.slug == "ada"] == ["active"]
