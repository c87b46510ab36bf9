"""The report: composed by the program, refused while something is open, kept in versions, a file too (S2-14)."""

import hashlib
from pathlib import Path

import pytest

from core.domain.actors import Agent
from core.domain.entities import Comment, Decision, Goal, Output, Task
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.limits import INLINE_OUTPUT_MAX
from core.domain.states import GoalStatus, RunKind, TaskStatus
from core.guardrails import shipped
from core.reports import ReportFiles
from core.simulation.laws import broken_laws
from tests.unit.world import HANDOFF, World

THREE = {"goal_clear": "yes", "covered": "yes", "next_step": "report it", "decision": "report"}


async def a_covered_goal(world: World, **more: object) -> tuple[Goal, Agent]:
    """A goal whose one must-have is delivered, and the coordinator's run that is to report it."""
    usual = {"must_haves": ("count",), "tasks": ({"title": "Count", "must_haves": ("M1",)},)}
    goal = await world.an_active_goal(**{**usual, **more})
    for task in await world.all(Task, "goal_id = :g", g=goal.id):
        await world.brought_to(task.id, "done")
    cora = await world.run("cora", RunKind.REPORT, goal_id=goal.id)
    await world.do(cora, "ReviewRound", round=(await world.round_of(goal.id)).id, **THREE)
    return goal, cora


async def reports(world: World, goal: Goal) -> list[Output]:
    return await world.all(Output, "goal_id = :g AND task_id IS NULL ORDER BY id", g=goal.id)


async def test_the_program_writes_the_report_and_the_operator_gets_it(world: World) -> None:
    goal, cora = await a_covered_goal(world)
    answer = await world.do(
        cora, "ReportGoal", goal=goal.id, summary="All there.", findings=("42 files",), not_done=("no sizes",)
    )
    (output,) = await reports(world, goal)
    assert (answer["output"], answer["version"]) == (output.id, 1)
    assert (output.title, output.type) == (f"Report on G{goal.id}, version 1", "document")
    assert output.content is not None
    assert output.sha256 == hashlib.sha256(output.content.encode()).hexdigest()
    for said in ("All there.", "- 42 files", "- no sizes", "| M1 | count | covered |", "42 files", "### O1"):
        assert said in output.content
    assert (await world.goal(goal.id)).status == GoalStatus.REPORTING
    said = await world.all(Comment, "kind = 'report'")
    assert [comment.body for comment in said] == ["All there."]
    assert await world.read(broken_laws) == []


async def test_sent_back_and_reported_again_it_is_version_2_and_tells_the_remark(world: World) -> None:
    goal, cora = await a_covered_goal(world)
    await world.do(cora, "ReportGoal", goal=goal.id, summary="All there.")
    await world.operator("SendBackGoal", goal=goal.id, note="Where are the sizes?")
    answer = await world.do(cora, "ReportGoal", goal=goal.id, summary="Now with sizes.")
    first, second = await reports(world, goal)
    assert (answer["version"], second.title) == (2, f"Report on G{goal.id}, version 2")
    assert "Where are the sizes?" in (second.content or "")
    assert "Where are the sizes?" not in (first.content or "")


async def test_an_output_that_names_no_must_have_does_not_cover_it(world: World) -> None:
    goal = await world.an_active_goal(must_haves=("count",), tasks=({"title": "Count", "must_haves": ("M1",)},))
    task = (await world.all(Task))[0]
    ada = await world.brought_to(task.id, "working")
    assert ada is not None
    await world.do(ada, "AddOutput", task=task.id, type="data", title="Figures for M1", content="42")
    await world.do(ada, "AddComment", task=task.id, kind="handoff", body=HANDOFF)
    await world.do(ada, "SubmitTask", task=task.id)
    await world.reviewed(task.id)
    cora = await world.run("cora", RunKind.REPORT, goal_id=goal.id)
    await world.do(cora, "ReviewRound", round=(await world.round_of(goal.id)).id, **THREE)
    with pytest.raises(Conflict, match="no output of a done task names M1 count"):
        await world.do(cora, "ReportGoal", goal=goal.id, summary="done")


async def test_a_decision_must_land_in_an_output_or_be_waived_by_the_operator(world: World) -> None:
    goal = await world.an_active_goal("One", "Two")
    one, two = (task.id for task in await world.all(Task, "goal_id = :g ORDER BY id", g=goal.id))
    for text in ("Links count once", "Sizes in bytes"):
        await world.read(
            lambda tx, text=text: tx.insert(
                Decision, "DecisionMade", goal_id=goal.id, text=text, covered_by=(), created_by="ada"
            )
        )
    ada = await world.brought_to(one, "working")
    assert ada is not None
    added = await world.do(ada, "AddOutput", task=one, type="data", title="Figures", content="42", decisions=(1, 1))
    assert [decision.covered_by for decision in await world.all(Decision)] == [(added["id"],), ()]
    await world.do(ada, "AddComment", task=one, kind="handoff", body=HANDOFF)
    await world.do(ada, "SubmitTask", task=one)
    await world.reviewed(one)
    await world.finish(ada)
    await world.brought_to(two, "done")
    cora = await world.run("cora", RunKind.REPORT, goal_id=goal.id)
    await world.do(cora, "ReviewRound", round=(await world.round_of(goal.id)).id, **THREE)
    with pytest.raises(Conflict, match="2 'Sizes in bytes'"):
        await world.do(cora, "ReportGoal", goal=goal.id, summary="done")
    await world.read(lambda tx: tx.update(tx.get(Decision, 2), "DecisionWaived", waived_by="human"))
    await world.do(cora, "ReportGoal", goal=goal.id, summary="done")
    assert "waived by human" in ((await reports(world, goal))[0].content or "")


async def test_outputs_name_only_what_is_their_tasks_and_their_goals(world: World) -> None:
    foreign = await world.an_active_goal()
    await world.read(
        lambda tx: tx.insert(Decision, "DecisionMade", goal_id=foreign.id, text="x", covered_by=(), created_by="ada")
    )
    more = {"must_haves": ("count", "sizes"), "tasks": ({"title": "Count", "must_haves": ("M1",)},)}
    task, ada = await world.a_task("working", **more)
    assert ada is not None
    output = {"type": "data", "title": "x", "content": "y"}
    for wrong in ({"must_haves": ("M2",)}, {"must_haves": ("M9",)}, {"decisions": (1,)}):
        with pytest.raises(Invalid):
            await world.do(ada, "AddOutput", task=task.id, **output, **wrong)
    with pytest.raises(Invalid, match="covers no must-have"):
        await world.do(ada, "AddOutput", goal=task.goal_id, must_haves=("M1",), **output)
    assert await world.all(Output) == []


async def test_open_tasks_and_a_goal_that_is_not_at_work_are_not_reported(world: World) -> None:
    goal, cora = await a_covered_goal(world)
    draft = await world.operator("CreateTask", goal=goal.id, title="late", draft=True)
    with pytest.raises(Conflict, match="not finished"):
        await world.do(cora, "ReportGoal", goal=goal.id, summary="done")
    await world.operator("CancelTask", task=draft["id"], reason="no")
    await world.do(cora, "ReportGoal", goal=goal.id, summary="done")
    with pytest.raises(Conflict, match="is reporting"):
        await world.do(cora, "ReportGoal", goal=goal.id, summary="done")
    with pytest.raises(Forbidden):
        await world.operator("ReportGoal", goal=goal.id, summary="done")
    assert (await world.all(Task, "title = 'late'"))[0].status == TaskStatus.CANCELLED


async def test_long_texts_are_cut_and_the_report_fits_on_the_board(world: World) -> None:
    goal, cora = await a_covered_goal(world, description="x" * 20_000)
    texts = tuple("界" * 20_000 for _ in range(100))
    await world.do(cora, "ReportGoal", goal=goal.id, summary="界" * 20_000, findings=texts, not_done=texts)
    (output,) = await reports(world, goal)
    assert 0 < output.size <= INLINE_OUTPUT_MAX


# Files -------------------------------------------------------------------------------------------------------


async def reported(world: World) -> tuple[ReportFiles, Path, str]:
    goal, cora = await a_covered_goal(world)
    await world.do(cora, "ReportGoal", goal=goal.id, summary="All there.")
    (output,) = await reports(world, goal)
    return ReportFiles(world.folder, world.board.readers), world.folder / "reports" / "G1-v1.md", output.content or ""


async def test_a_report_is_a_file_too_and_one_that_is_missing_is_made_good(world: World) -> None:
    files, place, text = await reported(world)
    assert not place.exists()
    assert await files.make_good() == [place]
    assert place.read_text() == text
    place.write_text("the operator's own marks")
    assert await files.make_good() == []
    assert place.read_text() == "the operator's own marks"
    place.unlink()
    await ReportFiles(world.folder, world.board.readers).finish()
    assert place.read_text() == text
    assert [path.name for path in place.parent.iterdir()] == ["G1-v1.md"]


async def test_what_an_agent_calls_a_report_is_none(world: World) -> None:
    goal, cora = await a_covered_goal(world)
    for title in (f"Report on G{goal.id}, version 7", "../../etc, version 1"):
        await world.do(cora, "AddOutput", goal=goal.id, type="document", title=title, content="mine")
    assert await ReportFiles(world.folder, world.board.readers).make_good() == []


async def test_nothing_is_written_through_links(world: World, tmp_path: Path) -> None:
    files, place, _ = await reported(world)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place.parent.symlink_to(elsewhere)
    await files.finish()
    assert list(elsewhere.iterdir()) == []
    place.parent.unlink()
    place.parent.mkdir()
    place.symlink_to(elsewhere / "target")
    assert await files.make_good() == []
    assert not (elsewhere / "target").exists()


async def test_what_stood_at_a_red_line_and_was_not_allowed_is_named_as_not_done(world: World) -> None:
    world.door.book.current = shipped()
    goal = await world.an_active_goal(must_haves=("count",), tasks=({"title": "Count", "must_haves": ("M1",)},))
    (task,) = await world.all(Task, "goal_id = :g", g=goal.id)
    ada = await world.brought_to(task.id, "working")
    secret = {"tool": "post", "text": "password: hunter2hunter2"}
    for _ in range(2):
        assert ada is not None
        assert not (await world.do(ada, "CheckAct", task=task.id, act=secret))["allowed"]
    for folder, decision in (("old", "rejected"), ("new", "revision_requested"), ("tmp2", "approved")):
        assert ada is not None
        waits = await world.do(ada, "CheckAct", task=task.id, act={"tool": "shell", "command": f"rm -rf data/{folder}"})
        await world.finish(ada)
        await world.operator("DecideApproval", approval=waits["waits"], decision=decision, note=f"keep {folder}")
        ada = await world.brought_to(task.id, "working")
    assert ada is not None
    await world.delivered(ada, task.id)
    await world.finish(ada)
    await world.reviewed(task.id)
    cora = await world.run("cora", RunKind.REPORT, goal_id=goal.id)
    await world.do(cora, "ReviewRound", round=(await world.round_of(goal.id)).id, **THREE)
    await world.do(cora, "ReportGoal", goal=goal.id, summary="All there.")
    content = (await reports(world, goal))[0].content or ""
    not_done = content.split("## What was not done")[1].split("\n## ")[0]
    for said in (
        "Everything that was asked", "not allowed, keep old", "sent back, keep new", "keep tmp2",
        "blocked at the red line secret_exposure, 2 times", "hunter2",
    ):  # fmt: skip
        expected = said not in ("Everything that was asked", "keep tmp2", "hunter2")
        assert (said.replace("_", "\\_") in not_done or said in not_done) == expected, (said, not_done)
