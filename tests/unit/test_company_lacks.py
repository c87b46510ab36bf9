"""A company that can begin nothing says so: in the inbox, in doctor and when it hires, each with the way out."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from core.commands.registry import parse
from core.company import create_company
from core.config import Config
from core.domain.company_items import RUNNER_EXAMPLE
from tui.cli import main, opening
from tui.cli.exits import Exit


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A company of one's own, as `opsroom init` makes it: no mission, no runner."""
    asyncio.run(create_company(tmp_path / "c", Config(name="Acme")))
    return str(tmp_path / "c")


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = Exit.OK) -> str:
    capsys.readouterr()
    assert main(list(words)) == code
    told = capsys.readouterr()
    return told.out + told.err


def items(capsys: pytest.CaptureFixture[str], folder: str) -> dict[str, Any]:
    return {each["kind"]: each for each in json.loads(said(capsys, "inbox", folder, "--json"))["items"]}


def test_it_says_what_it_lacks_and_how_to_give_it(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    hired = said(capsys, "agent", "hire", folder, "vera", "--role", "ceo")
    assert "vera cannot run: there is no runner of kind 'rehearsal' in this program" in hired
    assert f"opsroom agent edit {folder} vera --runner '{RUNNER_EXAMPLE}'" in hired
    assert items(capsys, folder) == {}, "nothing is waited for before it is started"
    said(capsys, "start", folder)

    found = items(capsys, folder)
    assert set(found) == {"no mission", "no runner"}
    assert "the CEO proposes no goal" in found["no mission"]["why"]
    assert "vera" in found["no runner"]["title"]
    (choice,) = found["no mission"]["choices"]
    assert choice["type"] == f"opsroom company {folder} --mission 'what it is for'"
    checked = said(capsys, "doctor", folder)
    assert "Nothing runs for vera" in checked
    assert f"opsroom agent edit {folder} vera --runner '{RUNNER_EXAMPLE}'" in checked
    assert f"opsroom agent edit DIR vera --runner '{RUNNER_EXAMPLE}'" in found["no runner"]["why"]
    assert "The company has none: no goal is proposed." in checked

    said(capsys, "company", folder, "--mission", "Know every map")
    assert set(items(capsys, folder)) == {"no runner"}


def test_who_is_hired_runs_on_what_its_manager_or_the_first_hired_does(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    example = ("--runner", RUNNER_EXAMPLE)
    told = said(capsys, "init", f"{folder}-b")
    assert f"--role coordinator --runner '{RUNNER_EXAMPLE}'" in told
    assert "cannot run" not in said(capsys, "agent", "hire", folder, "vera", "--role", "coordinator", *example)
    otto = {"slug": "otto", "name": "Otto", "role": "executor", "runner": {"kind": "chat"}}
    asyncio.run(opening.send(Path(folder), parse("HireAgent", otto)))
    assert "Nothing runs for otto: its runner of kind 'chat' has no url and no model." in said(capsys, "doctor", folder)
    command = ("--runner", '{"kind": "command", "command": ["./agent.sh"]}')
    assert "cannot run" not in said(capsys, "agent", "hire", folder, "rita", "--role", "reviewer", *command)
    said(capsys, "agent", "hire", folder, "ada", "--role", "executor", "--manager", "rita")
    said(capsys, "agent", "hire", folder, "ben", "--role", "executor", "--manager", "otto")
    staff = json.loads(said(capsys, "agent", "list", folder, "--json"))["agents"]
    assert {each["agent"]: each["runner"] for each in staff} == {
        "vera": "chat", "otto": "chat", "rita": "command", "ada": "command", "ben": "chat",
    }  # fmt: skip
    said(capsys, "start", folder)
    assert items(capsys, folder)["no runner"]["title"] == "Nothing runs for otto", "ben has vera's url and model"


def test_a_paused_ceo_needs_no_mission_and_its_pause_is_told_with_its_reason(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "agent", "hire", folder, "vera", "--role", "ceo")
    said(capsys, "start", folder)
    paused = said(capsys, "agent", "pause", folder, "vera", "--reason", "holidays")
    assert paused.strip() == "vera is paused."
    assert items(capsys, folder) == {}
    shown = said(capsys, "agent", "show", folder, "vera")
    assert "paused since" in shown
    assert "holidays" in shown


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("agent", "hire", "{}", "ada", "--role", "executr"), "There is no role 'executr'."),
        (("agent", "hire", "{}", "Ada B", "--role", "executor"), "'Ada B' is no short name."),
        (
            ("agent", "hire", "{}", "ada", "--role", "executor", "--runner", "no such"),
            "'no such' is no kind of runner.",
        ),
        (("budget", "set", "{}", "company", "0.0000001"), "'0.0000001' is less than a millionth of a US dollar."),
    ],
)
def test_a_wrong_word_is_named(
    folder: str, words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in said(capsys, *(word.format(folder) for word in words), code=Exit.USAGE)
    assert json.loads(said(capsys, "agent", "list", folder, "--json"))["agents"] == []
