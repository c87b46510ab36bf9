"""The rehearsal agents at a heartbeat, and at a draft that an operator wrote (S1-04, S1-11)."""

from pathlib import Path
from typing import Any

from core.agents.rehearsal.runner import RehearsalRunner
from core.agents.rehearsal.works import WORKS
from core.agents.runner import Assignment, Desk, Outcome
from core.domain.entities import Comment, Goal, Run, Task
from core.domain.goals import is_reviewed
from core.domain.states import RunKind, RunStatus
from tests.agents.rehearsal_support import FILES, a_rehearsal
from tests.agents.test_audit_world import a_folder

OF_MINE = tuple(WORKS[kind].must_have for kind in ("inventory", "marks"))


async def test_an_operators_draft_gets_its_draft_tasks_and_goes_its_way_as_ever(tmp_path: Path) -> None:
    audited = a_folder(tmp_path / "audited", FILES)
    async with a_rehearsal(tmp_path / "company", audited) as play:
        made = await play.do("CreateGoal", title="Mine", must_haves=OF_MINE)
        await play.start()
        await play.one(Run, "kind = 'split' AND status = 'succeeded'")
        goal = (await play.all(Goal))[0]
        assert is_reviewed(goal)
        tasks = await play.all(Task)
        assert [task.status for task in tasks] == ["draft"] * len(tasks)
        assert {"inventory", "marks"} <= {task.arguments.get("audit") for task in tasks}
        await play.do("DispatchGoal", goal=made["id"])
        await play.one(Goal, "status = 'active'")
        assert len(await play.all(Run, "kind = 'split'")) == 1


class Blocking(RehearsalRunner):
    """Blocks its first task for a while; what comes later is worked on as ever."""

    blocked = False

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        if assignment.run.kind == RunKind.EXECUTE and not self.blocked:
            self.blocked = True
            how: dict[str, Any] = {"block_kind": "transient", "reason": "no disk just now"}
            await desk.call("StartTask", task=assignment.run.task_id)
            await desk.call("BlockTask", task=assignment.run.task_id, **how)
            return Outcome()
        return await super().run(assignment, desk)


async def test_what_is_blocked_only_for_now_is_tried_again_at_the_heartbeat(tmp_path: Path) -> None:
    audited = a_folder(tmp_path / "audited", FILES)
    async with a_rehearsal(tmp_path / "company", audited, lambda folder: Blocking(folder)) as play:
        await play.do("CreateGoal", title="Mine", must_haves=OF_MINE[:1], split=False)
        await play.do("DispatchGoal", goal=1)
        await play.start()
        task = await play.one(Task, "status = 'blocked'")
        await play.quiet()
        await play.do("CallHeartbeat")
        run = await play.one(Run, "kind = 'heartbeat' AND ended_at IS NOT NULL")
        assert (run.status, [item["entity"] for item in run.brief["agenda"]]) == (
            RunStatus.SUCCEEDED,
            [f"task:{task.id}"],
        )
        await play.one(Task, "id = :id AND status NOT IN ('blocked', 'pending')", id=task.id)
        assert not await play.all(Comment, "author = 'carla'")
