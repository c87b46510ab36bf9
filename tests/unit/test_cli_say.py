"""What is written at the command line: what it means, and what it sets in motion."""

from pathlib import Path

import pytest

from tests.unit.test_cli_inbox import Play, company_where
from tui.cli import main
from tui.cli.exits import Exit


def says(capsys: pytest.CaptureFixture[str], *words: str, code: Exit = Exit.OK) -> str:
    capsys.readouterr()
    assert main(["say", *words]) == code
    told = capsys.readouterr()
    return told.out if code == Exit.OK else told.err


async def an_open_plan(play: Play) -> None:
    await play.do("PostPlan", await play.working(), task=1, body="First count, then tell.")


async def a_talk(play: Play) -> None:
    await play.do("CreateGoal", title="One", explore=True)


def test_a_word_in_a_talk_calls_the_coordinator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = company_where(tmp_path / "c", a_talk)
    told = says(capsys, folder, "G1", "It is for me.")
    assert "The coordinator is called" in told
    assert "nobody" not in told
    assert "opsroom start" not in told
    assert "It wakes nobody." in says(capsys, folder, "G1", "/note for me")
    main(["stop", folder])
    assert f"nothing runs before opsroom start {folder}" in says(capsys, folder, "G1", "Anything else?")


def test_an_objection_to_an_open_plan_makes_its_author_adjust(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = company_where(tmp_path / "c", an_open_plan)
    told = says(capsys, folder, "T1", "That leaves out links.", "--kind", "objection")
    assert "its author, ada, adjusts it first" in told
    assert "nobody" not in told
    # No plan stands open any more.
    assert "It wakes nobody." in says(capsys, folder, "T1", "No.", "--kind", "objection")
