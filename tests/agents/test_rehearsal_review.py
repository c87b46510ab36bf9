"""The reviewer recomputes: a wrong figure comes back with what was claimed and what was found."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from core.agents.rehearsal import quoting
from core.agents.rehearsal.runner import RehearsalRunner
from core.agents.rehearsal.shift import Shift
from core.domain.entities import Comment, Output, Review, Run, Task
from core.domain.states import RunKind, TaskStatus, Verdict
from tests.agents.rehearsal_support import FILES, Play, a_rehearsal
from tests.agents.test_audit_world import a_folder

# Long: only by `make soak`.
pytestmark = pytest.mark.soak

FOLDER = {"README.md": FILES["README.md"], "src/a.py": b"x = 1\n"}


class Wrong(RehearsalRunner):
    """Falsifies the inventory's Python lines in the first runs that compute it."""

    times = 1

    async def audit(self, at_work: Shift, kind: str, further: dict[str, Any]) -> dict[str, Any]:
        result = copy.deepcopy(await super().audit(at_work, kind, further))
        if kind == "inventory" and at_work.assignment.run.kind == RunKind.EXECUTE and self.times:
            self.times -= 1
            result["languages"]["Python"]["lines"] += 987_653
        return result


class AlwaysWrong(Wrong):
    """Never corrects itself."""

    times = 99


async def reviews_of(play: Play, task: Task) -> list[Review]:
    return await play.all(Review, "subject_id = :task ORDER BY id", task=task.id)


async def test_a_wrong_figure_is_sent_back_and_corrected(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", FOLDER), Wrong) as play:
        await play.start()
        goal = await play.dispatched()
        (task,) = await play.until(lambda: play.all(Task, "title LIKE 'Take an inventory%' AND status = 'done'"))
        first, second = await reviews_of(play, task)
        assert (first.verdict, second.verdict) == (Verdict.NEEDS_REVISION, Verdict.APPROVED)
        finding = first.findings[0]
        assert "claimed" in finding["what"]
        assert "'lines': 987654" in finding["what"]
        assert "'lines': 1," in finding["what"].split("found")[1]
        assert finding["where"].startswith("O")
        assert finding["change"]
        handoffs = await play.all(Comment, "task_id = :task AND kind = 'handoff' ORDER BY id", task=task.id)
        assert "Changed after the review" in handoffs[-1].body
        assert "987654" not in await play.reported(goal)
        assert (await play.figures("inventory"))["languages"]["Python"]["lines"] == 1


async def test_the_third_refusal_goes_to_the_operator(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", FOLDER), AlwaysWrong) as play:
        await play.start()
        await play.dispatched()
        asked = await play.question()
        assert "was refused 3 times" in asked.title
        task = await play.one(Task, "status = 'waiting_human'")
        reviews = await reviews_of(play, task)
        assert {review.verdict for review in reviews} == {Verdict.NEEDS_REVISION}
        # Each refusal was answered once with the author's own figures; the reviewer and the coordinator computed anew.
        assert [(review.attempt, review.stage) for review in reviews] == [
            (1, "review"), (1, "reply"), (1, "ruling"), (2, "review"), (2, "reply"), (2, "ruling"), (3, "review")
        ]  # fmt: skip
        assert [review.rebuttal_answer for review in reviews if review.stage == "review"] == ["REJECT", "REJECT", ""]
        assert all(finding["earlier"] == 1 for review in reviews[3:] for finding in review.findings)


class Spoilt(RehearsalRunner):
    """Its first delivered inventory is overwritten before the review."""

    spoilt = ""

    async def audit(self, at_work: Shift, kind: str, further: dict[str, Any]) -> dict[str, Any]:
        result = await super().audit(at_work, kind, further)
        if kind == "inventory" and at_work.assignment.run.kind == RunKind.EXECUTE and not self.spoilt:
            result["notes"].append("long " * 20_000)
        return result

    async def run(self, assignment: Any, desk: Any) -> Any:
        if assignment.run.kind == RunKind.REVIEW and not self.spoilt:
            for path in (assignment.folder / "outputs").glob("*-inventory-*.json"):
                self.spoilt = path.name
                path.write_text("{")
        return await super().run(assignment, desk)


async def test_an_output_that_is_not_what_was_delivered_is_rejected(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", FOLDER), Spoilt) as play:
        await play.start()
        goal = await play.dispatched()
        await play.reported(goal)
        (rejected,) = await play.all(Review, "verdict = 'rejected'")
        assert "not those that were delivered" in rejected.findings[0]["what"]
        assert len(await play.all(Run, "task_id = :t AND kind = 'execute'", t=rejected.subject_id)) == 2


class Talker(RehearsalRunner):
    """Delivers something else than JSON at first."""

    def __init__(self, audited: Path, content: str) -> None:
        super().__init__(audited)
        self.content: str | None = content

    async def run(self, assignment: Any, desk: Any) -> Any:
        call = desk.call

        async def other(command: str, **arguments: Any) -> Any:
            if command == "AddOutput" and self.content is not None and "languages" in str(arguments.get("title")):
                arguments["content"], self.content = self.content, None
            return await call(command, **arguments)

        desk.call = other
        return await super().run(assignment, desk)


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"kind": "marks", "result": {}}),
        *(
            pytest.param(content, marks=pytest.mark.soak)
            for content in ("All is well.", "[1, 2]", json.dumps({"kind": 7}))
        ),
    ],
)
async def test_what_is_no_json_of_this_work_is_rejected(tmp_path: Path, content: str) -> None:
    audited = a_folder(tmp_path / "audited", {"a.py": b"x = 1\n"})
    async with a_rehearsal(tmp_path / "company", audited, lambda folder: Talker(folder, content)) as play:
        await play.start()
        await play.reported(await play.dispatched())
        (rejected,) = await play.all(Review, "verdict = 'rejected'")
        assert rejected.findings[0]["change"]
        assert (await play.one(Task, "id = :id", id=rejected.subject_id)).status == TaskStatus.DONE
        assert len(await play.all(Output, "task_id = :id", id=rejected.subject_id)) == 2


async def test_a_quote_that_is_not_word_for_word_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = quoting.quote_of

    def other_lines(path: str, marks: list[dict[str, Any]]) -> dict[str, Any]:
        return whole(path, [{**marks[0], "text": "what the file never said"}, *marks[1:]])

    monkeypatch.setattr(quoting, "quote_of", other_lines)
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", FILES), RehearsalRunner) as play:
        await play.start()
        await play.dispatched()
        await play.decide("approved")
        (review,) = await play.until(lambda: play.all(Review, "verdict = 'needs_revision' LIMIT 1"))
        assert "quoted lines" in review.findings[0]["what"]
