"""Goals at the command line: how they stand, and what comes next."""

import asyncio
import json
from pathlib import Path

import pytest

from core.company import OpenCompany
from core.domain.actors import System
from core.domain.entities import Goal
from core.domain.states import GoalStatus
from tests.unit.facts import a
from tests.unit.test_cli_inbox import Play, Script, company_where
from tui.cli import main
from tui.cli.exits import Exit
from tui.signs import of_goal
from tui.text import counted


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(list(words)) == Exit.OK
    return capsys.readouterr().out


def test_a_goal_that_is_talked_over_is_not_called_reviewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def talk(play: Play) -> None:
        await play.do("CreateGoal", title="One", explore=True)

    folder = company_where(tmp_path / "c", talk)
    shown = told(capsys, "goal", "show", folder, "G1")
    assert "draft, exploring (still talked over" in shown
    assert "reviewed" not in shown
    assert "draft, exploring" in told(capsys, "goal", "list", folder)
    for words in (["goal", "show", folder, "G1"], ["goal", "list", folder]):
        found = json.loads(told(capsys, *words, "--json"))
        goal = found["goals"][0] if "goals" in found else found
        assert (goal["reviewed"], goal["exploring"]) == (False, True)
    told(capsys, "goal", "edit", folder, "G1", "--must", "a list :: it names every file")
    assert json.loads(told(capsys, "goal", "show", folder, "G1", "--json"))["reviewed"] is False
    told(capsys, "goal", "ready", folder, "G1")
    goal = json.loads(told(capsys, "goal", "show", folder, "G1", "--json"))
    assert (goal["reviewed"], goal["exploring"]) == (True, False)
    assert "draft (reviewed by you)" in told(capsys, "goal", "show", folder, "G1")


@pytest.mark.parametrize(("exploring", "word"), [(True, "exploring"), (False, "reviewed")])
def test_the_rooms_sign_shows_the_talk_before_the_review(exploring: bool, word: str) -> None:
    goal = a(
        Goal, status=GoalStatus.DRAFT, exploring=exploring, content_hash="x", reviewed_hash="x", reviewed_by="human",
        paused_at=None,
    )  # fmt: skip
    assert of_goal(goal)[1] == word


def test_dispatching_in_a_stopped_company_says_that_nothing_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def goals(play: Play) -> None:
        await play.do("CreateGoal", title="One")
        await play.do("CreateGoal", title="Two")

    folder = company_where(tmp_path / "c", goals)
    assert "nothing starts" not in told(capsys, "goal", "dispatch", folder, "G1")
    told(capsys, "stop", folder)
    assert f"nothing starts before opsroom start {folder}" in told(capsys, "goal", "dispatch", folder, "G2")


def test_outputs_say_where_they_are_and_counts_are_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def delivered(play: Play) -> None:
        ada = await play.working()
        (tmp_path / "c" / "outputs" / "list.md").write_text("one")
        await play.do("AddOutput", ada, task=1, type="data", title="In a file", path="list.md")
        await play.do("AddOutput", ada, task=1, type="data", title="Here", content="one")

    folder = company_where(tmp_path / "c", delivered)
    rows = told(capsys, "goal", "outputs", folder, "G1")
    assert "outputs/list.md  In a file" in rows
    assert "on the board     Here" in rows
    shown = told(capsys, "goal", "show", folder, "G1")
    assert "0 of 1 task ended" in shown
    must = "a list :: it names every file"
    told(capsys, "goal", "add", folder, "Two", "--must", must)
    assert "how to verify: it names every file" in told(capsys, "goal", "show", folder, "G2")


@pytest.mark.parametrize(("number", "words"), [(0, "0 tasks"), (1, "1 task"), (2, "2 tasks")])
def test_one_is_no_plural(number: int, words: str) -> None:
    assert counted(number, "task") == words


def test_a_new_company_says_that_agents_are_hired_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "c")
    next_line = told(capsys, "init", folder).splitlines()[-1]
    assert next_line.startswith("Next: opsroom agent hire")
    assert f"agent hire {folder} NAME --role coordinator" in next_line
    assert next_line.index("agent hire") < next_line.index("goal add")


def test_a_simulation_without_agents_is_refused_with_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--agents", "0"]) == Exit.USAGE
    assert "nobody would work" in capsys.readouterr().err


async def going_on(folder: str, script: Script) -> None:
    """A company that is there already is opened again for a while."""
    company = await OpenCompany.open(Path(folder), role="owner")
    try:
        await script(Play(company))
    finally:
        await company.close()


def test_a_draft_is_decided_by_what_was_shown_beside_its_hash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def drafted(play: Play) -> None:
        await play.do("HireAgent", slug="vera", name="Vera", role="ceo")
        await play.do("EditCompany", mission="Know every folder")
        vera = await play.run(3, "vera")
        await play.do("CreateGoal", vera, title="Audit", must_haves=("count",), split=False)
        await play.do("FinishRun", System(), run=vera.run_id, status="succeeded")

    async def added(play: Play) -> None:
        vera = await play.run(3, "vera", key="later")
        await play.do("CreateTask", vera, goal=1, title="Send it out", end_state="sent", must_haves=("M1",))

    folder = company_where(tmp_path / "c", drafted)
    assert main(["goal", "show", folder, "G1"]) == Exit.OK
    shown = next(line.split()[1] for line in capsys.readouterr().out.splitlines() if line.startswith("hash"))
    asyncio.run(going_on(folder, added))
    for act in (["goal", "review"], ["goal", "dispatch"], ["approve"]):
        assert main([*act, folder, "G1", "--hash", shown]) == Exit.REFUSED
        assert "changed since you read it" in capsys.readouterr().err
    assert main(["goal", "show", folder, "G1"]) == Exit.OK
    shown = next(line.split()[1] for line in capsys.readouterr().out.splitlines() if line.startswith("hash"))
    assert main(["approve", folder, "G1", "--hash", shown[:4]]) == Exit.REFUSED
    capsys.readouterr()
    assert main(["approve", folder, "G1", "--hash", "d" * 16]) == Exit.REFUSED
    assert f"is not the hash of what stands there; it is {shown[:16]}" in capsys.readouterr().err
    assert main(["approve", folder, "G1", "--hash", shown]) == Exit.OK
    assert main(["goal", "dispatch", folder, "G1", "--hash", shown]) == Exit.OK
