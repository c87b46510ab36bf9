"""Goals at the command line: how they stand, and what comes next."""

import json
from pathlib import Path

import pytest

from core.domain.entities import Goal
from core.domain.states import GoalStatus
from tests.unit.facts import a
from tests.unit.test_cli_inbox import Play, company_where
from tui.cli import main
from tui.cli.exits import Exit
from tui.signs import of_goal


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
