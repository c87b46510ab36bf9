"""The four phases as a person meets them: real processes on a real folder, read from the board's file afterwards.

The seven criteria of S2-39, and V1-V4, R2 and R3 of S3-30. (R1 is that test_demo_headless holds.)
"""

import json
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import a_finished_demo, a_folder, opsroom, started

PATIENCE_S = 40.0
Row = dict[str, Any]


@dataclass(frozen=True)
class Board:
    """A company's board file, read only; JSON columns are opened."""

    company: Path

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """What a query finds now."""
        connection = sqlite3.connect(f"file:{self.company / 'board.db'}?mode=ro", uri=True, timeout=20)
        try:
            connection.row_factory = sqlite3.Row
            return [{key: opened(row[key]) for key in tuple(row.keys())} for row in connection.execute(sql, values)]
        finally:
            connection.close()

    def until(self, sql: str, *values: Any) -> list[Row]:
        """What a query finds, once it finds something."""
        deadline = time.monotonic() + PATIENCE_S
        while not (found := self.rows(sql, *values)):
            assert time.monotonic() < deadline, f"it did not happen in time: {sql} {values}"
            time.sleep(0.05)
        return found


def opened(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) and value[:1] in ("{", "[") else value


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Board:
    """One demo that came to its end in a process of its own."""
    _, done = a_finished_demo(tmp_path_factory)
    assert done.returncode == 0, done.stderr
    return Board(Path(json.loads(done.stdout)["company"]))


class TestTheSevenCriteria:
    """S2-39."""

    def test_an_agent_writes_a_comment_with_a_mention(self, demo: Board) -> None:
        (asked,) = demo.rows("SELECT * FROM comments WHERE author = 'librarian' AND kind = 'question'")
        assert asked["body"].startswith("@scout ")
        (mention,) = demo.rows("SELECT slug FROM mentions JOIN agents ON agents.id = agent_id WHERE comment_id = ?",
                               asked["id"])  # fmt: skip
        assert mention == {"slug": "scout"}

    def test_agents_create_the_sub_tasks_themselves(self, demo: Board) -> None:
        made = demo.rows(
            "SELECT t.created_by, t.end_state, t.must_haves, r.kind FROM tasks t JOIN events e ON e.entity = 'tasks'"
            " AND e.entity_id = t.id AND e.kind = 'TaskCreated' JOIN runs r ON r.id = e.run_id WHERE r.kind = 'discuss'"
        )
        assert {row["created_by"] for row in made} == {"surveyor", "scout", "archivist", "librarian", "twin-finder"}
        assert all(row["end_state"] and row["must_haves"] for row in made)
        # The discussion converged: nobody had to rule.
        assert demo.rows("SELECT outcome FROM turns ORDER BY number DESC LIMIT 1") == [{"outcome": "converged"}]
        assert demo.rows("SELECT * FROM runs WHERE kind = 'plan'") == []
        named = {must for row in made for must in row["must_haves"]}
        assert named == {must["id"] for must in demo.rows("SELECT must_haves FROM goals")[0]["must_haves"]}

    def test_a_mention_spawns_one_run_that_answers(self, demo: Board) -> None:
        (asked,) = demo.rows("SELECT id FROM comments WHERE author = 'librarian' AND kind = 'question'")
        (run,) = demo.rows(
            "SELECT runs.id, runs.kind, runs.status FROM mentions JOIN runs ON runs.id = run_id WHERE comment_id = ?",
            asked["id"],
        )
        assert (run["kind"], run["status"]) == ("mention", "succeeded")
        (answer,) = demo.rows("SELECT author, run_id FROM comments WHERE reply_to = ?", asked["id"])
        assert answer == {"author": "scout", "run_id": run["id"]}

    def test_the_end_of_a_round_spawns_exactly_one_review_by_the_coordinator(self, demo: Board) -> None:
        rounds = demo.rows("SELECT id FROM rounds ORDER BY number")
        assert len(rounds) == 2
        for round_ in rounds:
            (run,) = demo.rows(
                "SELECT role, queued_at FROM runs JOIN agents ON agents.id = agent_id"
                " WHERE runs.kind = 'round_review' AND round_id = ?",
                round_["id"],
            )
            (last,) = demo.rows("SELECT max(updated_at) AS at FROM tasks WHERE round_id = ?", round_["id"])
            assert run["role"] == "coordinator"
            assert run["queued_at"] >= last["at"]

    def test_the_review_makes_a_next_round_or_finishes(self, demo: Board) -> None:
        first, second = demo.rows("SELECT id, decision FROM rounds ORDER BY number")
        assert (first["decision"], second["decision"]) == ("next_round", "report")
        (reviewed,) = demo.rows(
            "SELECT run_id FROM events WHERE entity = 'rounds' AND entity_id = ? AND kind = 'RoundReviewed'",
            first["id"],
        )
        (opened_by,) = demo.rows(
            "SELECT run_id FROM events WHERE entity = 'rounds' AND entity_id = ? AND kind = 'RoundOpened'", second["id"]
        )
        assert reviewed == opened_by
        assert demo.rows("SELECT status FROM goals") == [{"status": "done"}]

    def test_each_finished_task_passed_a_reviewer_who_never_ran_it(self, demo: Board) -> None:
        done = demo.rows("SELECT id FROM tasks WHERE status = 'done'")
        assert len(done) == 7
        for task in done:
            (approval,) = demo.rows(
                "SELECT agents.id, role, opened_outputs FROM reviews JOIN agents ON slug = reviewer"
                " WHERE subject_id = ? AND verdict = 'approved' AND settled = 1",
                task["id"],
            )
            ran = demo.rows("SELECT agent_id FROM runs WHERE task_id = ? AND kind = 'execute'", task["id"])
            outputs = demo.rows("SELECT id FROM outputs WHERE task_id = ?", task["id"])
            assert approval["role"] == "reviewer"
            assert approval["id"] not in {run["agent_id"] for run in ran}
            assert approval["opened_outputs"] == [output["id"] for output in outputs]
            (moved,) = demo.rows(
                "SELECT r.kind FROM events e JOIN runs r ON r.id = e.run_id"
                " WHERE e.entity = 'tasks' AND e.entity_id = ? AND e.kind = 'TaskApproved'",
                task["id"],
            )
            assert moved == {"kind": "review"}

    def test_no_guardrail_asks_about_normal_tasks(self, demo: Board) -> None:
        (only,) = demo.rows("SELECT * FROM approvals")
        assert (only["kind"], only["payload"]["publish"], only["status"]) == ("red_line", True, "consumed")
        assert demo.rows("SELECT * FROM events WHERE kind = 'RedLineBlocked'") == []
        waited = demo.rows("SELECT DISTINCT entity_id FROM events WHERE entity = 'tasks' AND kind = 'TaskWaits'")
        assert [f"task:{row['entity_id']}" for row in waited] == [only["entity"]]


class TestTheTemplatesInTheirPlace:
    """S3-30."""

    def test_v1_a_broadcast_is_claimed_observed_or_passed(self, demo: Board) -> None:
        (task,) = demo.rows("SELECT id FROM tasks WHERE title LIKE 'Collect the TODO%'")
        answers = demo.rows("SELECT slug, answer FROM offers JOIN agents ON agents.id = agent_id WHERE task_id = ?",
                            task["id"])  # fmt: skip
        by = {row["slug"]: row["answer"] for row in answers}
        assert by == {"scout": "claim", "librarian": "observation", "surveyor": "no_reply", "archivist": "no_reply",
                      "twin-finder": "no_reply"}  # fmt: skip
        (said,) = demo.rows("SELECT * FROM comments WHERE task_id = ? AND kind = 'observation'", task["id"])
        assert said["author"] == "librarian"
        assert 0 < len(said["body"]) <= 200
        # An observation moves nothing (S3-26).
        assert demo.rows("SELECT * FROM events WHERE entity = 'tasks' AND run_id = ? AND entity_id = ?",
                         said["run_id"], task["id"]) == []  # fmt: skip

    def test_v2_an_executor_goes_from_its_claim_to_output_and_handoff_by_itself(self, demo: Board) -> None:
        for task in demo.rows("SELECT id FROM tasks WHERE status = 'done'"):
            last = demo.rows("SELECT max(id) AS id FROM runs WHERE kind = 'execute' AND task_id = ?", task["id"])[0]
            acts = [row["kind"] for row in demo.rows("SELECT kind FROM events WHERE run_id = ? ORDER BY id",
                                                     last["id"])]  # fmt: skip
            acts = [act for act in acts if act in ("TaskStarted", "OutputAdded", "CommentAdded", "TaskSubmitted")]
            assert acts[0] == "TaskStarted"
            assert acts[-3:] == ["OutputAdded", "CommentAdded", "TaskSubmitted"]
            (handoff,) = demo.rows("SELECT body FROM comments WHERE run_id = ? AND kind = 'handoff'", last["id"])
            assert 50 <= len(handoff["body"]) <= 500
        assert demo.rows("SELECT * FROM experiences")

    def test_v2_what_was_decided_lands_in_the_outputs(self, demo: Board) -> None:
        (decision,) = demo.rows("SELECT * FROM decisions")
        figures = demo.rows("SELECT id FROM outputs WHERE title LIKE '%the figures' AND title NOT LIKE 'Choose%'")
        assert sorted(decision["covered_by"]) == sorted(row["id"] for row in figures)

    def test_v3_a_review_is_written_with_how_sure_it_is(self, demo: Board) -> None:
        said = demo.rows("SELECT * FROM comments WHERE author = 'vera'")
        done = demo.rows("SELECT id FROM tasks WHERE status = 'done'")
        assert {row["task_id"] for row in said} == {row["id"] for row in done}
        assert all(0 < row["confidence"] <= 1 for row in said)
        for review in demo.rows("SELECT dimensions FROM reviews"):
            assert len(review["dimensions"]) == 6  # the five of S2-19, and the summary
            assert "[confidence: 0." in review["dimensions"]["summary"]
            assert "I have not seen" in review["dimensions"]["summary"]

    def test_v4_each_round_answers_three_questions_and_looks_for_drift(self, demo: Board) -> None:
        (goal,) = demo.rows("SELECT content_hash FROM goals")
        first, second = [row["answers"] for row in demo.rows("SELECT answers FROM rounds ORDER BY number")]
        assert set(first) == set(second) == {"goal_clear", "covered", "next_step"}
        assert f"reads as it was dispatched ({goal['content_hash'][:8]})" in first["goal_clear"]
        assert "not yet: M6" in first["covered"]
        assert "not yet" not in second["covered"]

    def test_r3_never_more_runs_at_once_than_the_caps_say(self, demo: Board) -> None:
        runs = demo.rows("SELECT started_at, ended_at FROM runs WHERE started_at IS NOT NULL AND ended_at IS NOT NULL")
        marks = sorted([(run["started_at"], 1) for run in runs] + [(run["ended_at"], -1) for run in runs])
        live = most = 0
        for _at, step in marks:
            live += step
            most = max(most, live)
        assert 1 < most <= 4

    def test_the_report_is_a_file_that_names_what_covers_each_must_have(self, demo: Board) -> None:
        report = (demo.company / "reports" / "G1-v1.md").read_text(encoding="utf-8")
        for must_id in ("M1", "M2", "M3", "M4", "M5", "M6"):
            assert f"| {must_id} |" in report
        assert "open |" not in report
        assert (demo.company / "outputs" / "audit-G1.md").exists()


@dataclass
class Talk:
    """A company that another process owns, and what the operator says to it from the command line."""

    home: Path
    board: Board
    owner: "subprocess.Popen[str]"

    def do(self, *words: object) -> str:
        """A command line that must succeed."""
        done = opsroom(self.home, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def say(self, what: str, text: str, *more: str) -> None:
        """Write on the board."""
        self.do("say", self.board.company, what, text, *more)

    def asked(self, goal: int, words: str) -> str:
        """The coordinator's newest word in the talk, once it has these words."""
        sql = (
            "SELECT body FROM (SELECT * FROM comments WHERE goal_id = ? AND kind = 'dialogue' ORDER BY id DESC LIMIT 1)"
            " WHERE author = 'orlo' AND body LIKE ?"
        )
        return str(self.board.until(sql, goal, f"%{words}%")[0]["body"])


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    """A demo whose CEO's draft gave way to a goal to explore, at work in a process that waits at decisions."""
    company = tmp_path / "company"
    waits = opsroom(tmp_path, "demo", a_folder(tmp_path / "src"), "--company", company, "--headless")
    assert waits.returncode == 3, waits.stderr
    for words in (("goal", "explore", company, "Tidy up"), ("goal", "cancel", company, "G1", "--reason", "another")):
        done = opsroom(tmp_path, *words)
        assert done.returncode == 0, done.stderr
    owner = started(tmp_path, "run", company, "--headless", "--wait", "--json")
    try:
        wait_until((company / "board.sock").exists)
        yield Talk(tmp_path, Board(company), owner)
    finally:
        owner.terminate()
        owner.communicate(timeout=20)


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


@pytest.mark.soak
def test_a_goal_is_explored_dispatched_discussed_and_accepted_from_the_command_line(talk: Talk) -> None:
    company = talk.board.company
    assert talk.asked(2, "What should be known").count("?") == 1
    talk.say("G2", "the TODO marks, and 重复文件")
    talk.asked(2, "What may not be done or quoted")
    talk.say("G2", "Stay away from build/")
    talk.asked(2, "What is out of scope")
    talk.say("G2", "nothing")
    talk.asked(2, "Is it ready")
    (goal,) = talk.board.rows("SELECT * FROM goals WHERE id = 2")
    assert [must["id"] for must in goal["must_haves"]] == ["M1", "M2"]
    assert all(must["verify"] for must in goal["must_haves"])
    assert any("Stay away from build/" in text for text in goal["constraints"])
    assert opsroom(talk.home, "goal", "dispatch", company, "G2").returncode == 1
    # R2: a letter by its agent's name is answered once, also while the talk goes on elsewhere.
    talk.do("say", company, "G2", "What can you do, @scout?", "--kind", "mail_request")
    (letter,) = talk.board.rows("SELECT id FROM comments WHERE kind = 'mail_request'")
    (answer,) = talk.board.until("SELECT author, body FROM comments WHERE reply_to = ?", letter["id"])
    assert answer["author"] == "scout"
    assert "marks, closer-look" in answer["body"]
    talk.do("goal", "ready", company, "G2")
    talk.do("goal", "dispatch", company, "G2")
    talk.board.until("SELECT 1 FROM goals WHERE id = 2 AND status = 'reporting'")
    assert {row["created_by"] for row in talk.board.rows("SELECT created_by FROM tasks WHERE status = 'done'")} == {
        "scout", "twin-finder"
    }  # fmt: skip
    assert talk.board.rows("SELECT * FROM approvals") == []
    talk.do("approve", company, "G2")
    assert talk.board.rows("SELECT status FROM goals WHERE id = 2") == [{"status": "done"}]
    assert talk.owner.wait(20) == 0
