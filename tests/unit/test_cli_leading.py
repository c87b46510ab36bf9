"""The CEO led from the command line: stage B with a yes to what it costs, a recall, a heartbeat, the mission."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from core.commands.registry import parse
from core.company import OpenCompany
from core.config import Config
from core.domain.actors import System
from tests import founding
from tests.unit.test_cli_inbox import Play
from tui.cli import main
from tui.cli.exits import Exit


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A company at work whose CEO has drafted one goal."""

    async def play() -> None:
        await founding.a_company(tmp_path / "c", Config(name="Acme", mission="Know every map"))
        company = await OpenCompany.open(tmp_path / "c", role="owner")
        try:
            for slug, role, boss in (("vera", "ceo", {}), ("orlo", "coordinator", {"manager": "vera"})):
                await company.execute(parse("HireAgent", {"slug": slug, "name": slug, "role": role, **boss}))
            await company.execute(parse("StartCompany", {}))
            play = Play(company)
            vera = await play.run(1, "vera", "propose")
            await play.do("CreateGoal", vera, title="Count", split=False)
            await play.do("FinishRun", System(), run=vera.run_id, status="succeeded")
        finally:
            await company.close()

    asyncio.run(play())
    return str(tmp_path / "c")


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == Exit.OK
    return json.loads(capsys.readouterr().out)


def history(capsys: pytest.CaptureFixture[str], folder: str) -> str:
    """Everything that happened."""
    capsys.readouterr()
    assert main(["events", folder]) == Exit.OK
    return capsys.readouterr().out


async def dispatched(folder: str) -> None:
    """The system dispatches the draft, as a tick does."""
    company = await OpenCompany.open(Path(folder), role="owner")
    try:
        await company.execute(parse("DispatchGoal", {"goal": 1}), actor=System("ticker"))
    finally:
        await company.close()


def test_events_are_filtered_by_the_words_of_the_history(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    def kinds(words: str, *more: str) -> list[str]:
        capsys.readouterr()
        assert main(["events", folder, f"--filter={words}", "--json", *more]) == Exit.OK
        return [json.loads(line)["kind"] for line in capsys.readouterr().out.splitlines()]

    everything = kinds("")
    assert kinds("G1 actor:vera -kind:task") == ["GoalCreated"]
    assert "GoalCreated" in everything
    assert "GoalCreated" not in kinds("-goal:G1")
    assert kinds("since:2h") == everything
    assert kinds("until:#3") == everything[:3]
    assert kinds("", "--after", "3") == everything[3:]


def test_stage_b_is_told_before_it_is_switched_on(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["autonomy", folder, "B", "--budget", "2.50"]) == Exit.WAITS
    out, err = capsys.readouterr()
    assert "It may cost 2.50 USD a day" in out
    assert "G1, which waits, begins now." in out
    assert f"opsroom autonomy {folder} A` goes back at once" in out
    assert f"opsroom autonomy {folder} B --budget 2.50 --yes" in err
    assert told(capsys, "autonomy", folder)["stage"] == "A"
    now = told(capsys, "autonomy", folder, "B", "--budget", "2.50", "--yes")
    assert now == {
        "stage": "B", "budget_micros": 2_500_000, "spent_micros": 0, "auto_in_a_row": 0, "dispatching": True,
        "drafts": ["G1"], "changed": True,
    }  # fmt: skip
    assert main(["autonomy", folder]) == Exit.OK
    assert "0.00 USD of 2.50 USD today" in capsys.readouterr().out
    assert told(capsys, "autonomy", folder, "A")["stage"] == "A"
    assert told(capsys, "autonomy", folder)["budget_micros"] == 2_500_000


def test_without_a_yes_the_json_says_that_nothing_changed(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["autonomy", folder, "B", "--json"]) == Exit.WAITS
    found = json.loads(capsys.readouterr().out)
    assert (found["stage"], found["changed"], found["drafts"]) == ("A", False, ["G1"])


def test_a_goal_of_stage_b_is_recalled_and_another_is_not(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "autonomy", folder, "B", "--yes")
    asyncio.run(dispatched(folder))
    assert told(capsys, "autonomy", folder)["auto_in_a_row"] == 1
    assert told(capsys, "goal", "recall", folder, "G1", "--reason", "not that")["answer"]["status"] == "draft"
    goal = told(capsys, "goal", "show", folder, "G1")
    assert (goal["status"], goal["reviewed"], goal["reason"]) == ("draft", False, "not that")
    told(capsys, "goal", "review", folder, "G1")
    told(capsys, "goal", "add", folder, "Mine")
    told(capsys, "goal", "dispatch", folder, "G2")
    assert main(["goal", "recall", folder, "G2"]) == Exit.REFUSED
    assert "was dispatched by you" in capsys.readouterr().err


def test_a_heartbeat_is_called_while_there_is_a_ceo_at_work(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "heartbeat", folder)["answer"]["called"] is True
    for words in ("heartbeat", "start"):
        assert main([words, folder]) == Exit.OK
        said = capsys.readouterr().out
        assert f"while a room, `opsroom serve {folder}` or `opsroom run {folder} --headless` is open." in said
    told(capsys, "agent", "pause", folder, "vera")
    assert main(["heartbeat", folder]) == Exit.REFUSED
    assert "There is no active CEO" in capsys.readouterr().err
    told(capsys, "stop", folder)
    assert main(["heartbeat", folder]) == Exit.REFUSED
    assert "The company is stopped" in capsys.readouterr().err


def test_the_mission_is_changed(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    for mission in ("", "Know every photograph"):
        assert told(capsys, "company", folder, "--mission", mission)["answer"]["changed"] == ["mission"]
        assert told(capsys, "status", folder)["company"]["mission"] == mission


@pytest.mark.parametrize(
    ("words", "told_"),
    [
        (["autonomy", "DIR", "C"], "invalid choice"),
        (["autonomy", "DIR", "--yes"], "Which stage?"),
        (["autonomy", "DIR", "B", "--budget", "much"], "no amount of US dollars"),
        (["autonomy", "DIR", "B", "--budget", "0"], "could start nothing"),
        (["autonomy", "DIR", "B", "--budget", "0", "--yes"], "could start nothing"),
        (["goal", "recall", "DIR", "T1"], "is no goal's id"),
        (["company", "DIR"], "Nothing is to be changed"),
        (["company", "DIR", "--name", " "], "name"),
    ],
)
def test_what_is_wrong_changes_nothing(
    folder: str, capsys: pytest.CaptureFixture[str], words: list[str], told_: str
) -> None:
    before = history(capsys, folder)
    try:
        code = main([folder if word == "DIR" else word for word in words])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == Exit.USAGE
    assert told_ in capsys.readouterr().err
    assert history(capsys, folder) == before
