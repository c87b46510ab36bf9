"""The rehearsal agents at a heartbeat, and at a draft that an operator wrote (S1-04, S1-11)."""

from pathlib import Path
from typing import Any

import pytest

from core.agents.rehearsal.refusals import next_kinds
from core.agents.rehearsal.runner import RehearsalRunner
from core.agents.rehearsal.works import WORKS
from core.agents.runner import Assignment, Desk, Outcome
from core.domain.entities import Comment, Goal, Run, Task
from core.domain.goals import is_reviewed
from core.domain.limits import HEARTBEAT_MS
from core.domain.states import RunKind, RunStatus
from tests.agents.rehearsal_support import FILES, a_rehearsal
from tests.agents.test_audit_world import a_folder
from tests.unit.facts import a

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


async def test_a_refused_draft_is_not_repeated_and_its_reason_is_taken_into_account(tmp_path: Path) -> None:
    audited = a_folder(tmp_path / "audited", FILES)
    async with a_rehearsal(tmp_path / "company", audited) as play:
        await play.start()
        first = await play.one(Goal, "status = 'draft'")
        await play.do("CancelGoal", goal=first.id, reason="No duplicates and no TODO marks, they are known.")
        await play.quiet()
        await play.pass_time(HEARTBEAT_MS)
        second = await play.one(Goal, "status = 'draft'")
        texts = [must["text"] for must in second.must_haves]
        refused = [WORKS[kind].must_have for kind in ("marks", "duplicates")]
        assert texts == [work.must_have for work in WORKS.values() if work.must_have not in refused]
        assert list(second.out_of_scope) == refused
        assert "No duplicates and no TODO marks" in second.description
        await play.do("CancelGoal", goal=second.id, reason="Not this week.")
        await play.quiet()
        await play.pass_time(HEARTBEAT_MS)
        await play.one(Run, "kind = 'propose' AND status = 'succeeded' AND detail LIKE 'the operator refused%'")
        assert len(await play.all(Goal)) == 2, "a reason that names no part leaves nothing else to propose"


@pytest.mark.parametrize(
    ("reasons", "kinds"),
    [
        ([], list(WORKS)),
        (["only the inventory, please"], ["inventory"]),
        (["no README checks", "and no duplicates"], ["inventory", "marks", "history", "closer_look"]),
        (["只要盘点"], ["inventory"]),
        (["no"], []),
        (["no duplicates", "no duplicates"], []),
        (["only the inventory", "no inventory"], []),
    ],
)
def test_what_is_left_to_propose_after_refusals(reasons: list[str], kinds: list[str]) -> None:
    refused: list[Goal] = []
    for reason in reasons:
        left = next_kinds(refused)
        musts = tuple({"id": f"M{n}", "text": WORKS[kind].must_have, "waived_by": ""} for n, kind in enumerate(left))
        refused.append(a(Goal, must_haves=musts, reason=reason))
    assert next_kinds(refused) == kinds
