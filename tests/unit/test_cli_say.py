"""What is written at the command line: what it means, and what it sets in motion."""

import json
from pathlib import Path

import pytest

from core.domain.states import CommentKind
from tests.unit.test_cli_inbox import Play, company_where
from tui.cli import main
from tui.cli.exits import Exit
from tui.letters import BY_PERSONS


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


def last_comment(capsys: pytest.CaptureFixture[str], folder: str) -> tuple[str, str]:
    capsys.readouterr()
    assert main(["goal", "show", folder, "G1", "--json"]) == Exit.OK
    comment = json.loads(capsys.readouterr().out)["comments"][-1]
    return comment["kind"], comment["body"]


async def a_goal(play: Play) -> None:
    await play.do("CreateGoal", title="One")


def test_the_first_word_means_what_it_means_in_the_room(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = company_where(tmp_path / "c", a_goal)
    for typed, written in (
        ("/mail @ada when?", ("mail_request", "@ada when?")),
        ("/object no", ("objection", "no")),
        ("/ask which?", ("question", "which?")),
        ("/inform @ada done", ("mail_inform", "@ada done")),
        ("/note mine", ("note", "mine")),
        ("/tmp/x is large", ("dialogue", "/tmp/x is large")),
        (" /foo bar", ("dialogue", "/foo bar")),
    ):
        says(capsys, folder, "G1", typed)
        assert last_comment(capsys, folder) == written
    says(capsys, folder, "G1", "also this", "--kind", "question")
    assert last_comment(capsys, folder) == ("question", "also this")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["/foo bar"], "There is no /foo. Known: /note"),
        (["x", "--kind", "report"], "Known: dialogue, note, question"),
        (["x", "--kind", "handoff"], "no kind that a person writes"),
        (["x", "--kind", "nonsense"], "no kind that a person writes"),
        (["/ask x", "--kind", "note"], "begins as question"),
        ([""], "There is no text"),
        (["  "], "There is no text"),
        (["/mail"], "There is no text"),
        (["x" * 20_001], "20001 characters"),
    ],
)
def test_what_cannot_be_written_is_refused_in_plain_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    folder = company_where(tmp_path / "c", a_goal)
    said = says(capsys, folder, "G1", *words, code=Exit.USAGE)
    assert told in said
    assert "AddComment" not in said


def test_agents_work_is_told_in_kinds_of_their_own() -> None:
    of_agents = {
        CommentKind.REPORT,
        CommentKind.HANDOFF,
        CommentKind.PLAN,
        CommentKind.OBSERVATION,
        CommentKind.REBUTTAL,
        CommentKind.REVIEW,
    }
    assert set(BY_PERSONS) == set(CommentKind) - of_agents
