"""The coordinator: judges rounds and mends what cannot run. Plans are in `planning`, the report in `reporting`."""

import json

from core.agents.rehearsal.asking import ask
from core.agents.rehearsal.covering import covering
from core.agents.rehearsal.deliveries import approved_figures
from core.agents.rehearsal.judging import Ground, judge
from core.agents.rehearsal.shift import Shift, no_reply
from core.agents.rehearsal.words import listed
from core.agents.rehearsal.works import ALL_WORKS
from core.agents.runner import Outcome
from core.domain.entities import AgentRecord, Approval, Goal, Round, Task, TaskDep
from core.domain.states import BlockKind, OnFail, TaskStatus


async def review_round(shift: Shift) -> Outcome:
    """Three answers and one decision, from the board's own facts."""
    round_ = shift.assignment.round
    assert round_ is not None
    judgement = judge(await ground(shift, round_))
    shift.desk.say(f"Covered: {judgement.covered}. Next: {judgement.next_step}")
    more = {} if judgement.goal_change is None else {"goal_change": judgement.goal_change}
    await shift.act(
        "ReviewRound", round=round_.id, goal_clear=judgement.goal_clear, covered=judgement.covered,
        next_step=judgement.next_step, decision=judgement.decision, tasks=judgement.tasks, **more,
    )  # fmt: skip
    return Outcome(detail=str(judgement.decision))


async def ground(shift: Shift, round_: Round) -> Ground:
    """All that a judgement stands on, from the board."""
    goal = await shift.goal()
    refused = await shift.find(
        Approval, "entity = :goal AND kind = 'goal_change' AND status IN ('rejected', 'revision_requested') LIMIT 1",
        goal=f"goal:{goal.id}",
    )  # fmt: skip
    return Ground(
        goal, round_, await shift.tasks_of(goal), len(await shift.reports_of(goal)) + 1,
        await approved_figures(shift, goal), await covering(shift, goal), await drift(shift, goal), bool(refused),
    )  # fmt: skip


async def drift(shift: Shift, goal: Goal) -> str:
    """What the goal's content is against the one that was dispatched (S2-12); a change is named with its author."""
    rows = await shift.desk.readers.all(
        "SELECT kind, actor, changed FROM events WHERE entity = 'goals' AND entity_id = :goal"
        " AND (changed LIKE '%\"content_hash\"%' OR kind = 'GoalDispatched') ORDER BY id",
        goal=goal.id,
    )
    dispatched, last, by = "", "", ""
    for row in rows:
        if row["kind"] == "GoalDispatched":
            dispatched = last
        else:
            last, by = str(json.loads(row["changed"])["content_hash"]), str(row["actor"])
    if goal.content_hash != (dispatched or last):
        return f"it was changed by {by} after it was dispatched ({dispatched[:8]} became {goal.content_hash[:8]})"
    return f"it reads as it was dispatched ({goal.content_hash[:8]})"


async def unstick(shift: Shift) -> Outcome:
    """A stalled round, or one task that fits nobody."""
    if shift.assignment.run.task_id is not None:
        return await find_taker(shift, await shift.task())
    round_ = shift.assignment.round
    assert round_ is not None
    waiting = await shift.find(
        Task, "round_id = :round AND status NOT IN ('done', 'failed', 'cancelled') ORDER BY id", round=round_.id
    )
    changed = False
    for task in waiting:
        changed = await mend(shift, task) or changed
    if changed:
        return Outcome(detail="the round can go on")
    names = listed([f"{task.name_tag} is {task.status}" for task in waiting]) or "nothing is left in it"
    await ask(shift, f"round:{round_.id}", f"Round {round_.number} stands still: {names}. Try again?")
    return no_reply("the operator is asked")


async def mend(shift: Shift, task: Task) -> bool:
    """Let one task of a stalled round go on, or end it; False when only a person can."""
    if task.status == TaskStatus.PENDING:
        return await end_if_hopeless(shift, task)
    if task.status != TaskStatus.BLOCKED:
        return False
    if task.block_kind in (BlockKind.TRANSIENT, BlockKind.CAPABILITY, BlockKind.DEPENDENCY):
        await shift.act("UnblockTask", task=task.id, note="What blocked it may be over.")
        return True
    answered = await shift.find(
        Approval, "entity = :round AND kind = 'question' AND status = 'consumed' AND decided_at > :since LIMIT 1",
        round=f"round:{task.round_id}", since=task.updated_at,
    )  # fmt: skip
    if answered:
        await shift.act("UnblockTask", task=task.id, note="The operator says: try again.")
    return bool(answered)


async def end_if_hopeless(shift: Shift, task: Task) -> bool:
    """A task that waits for one which will never be done ends, with the reason; the round's review tries it again."""
    for edge in await shift.find(TaskDep, "task_id = :task AND met = 0", task=task.id):
        cause = (await shift.find(Task, "id = :id", id=edge.depends_on))[0]
        if edge.on_fail == OnFail.HOLD and cause.status in (TaskStatus.FAILED, TaskStatus.CANCELLED):
            reason = f"It waits for {cause.name_tag}, which is {cause.status} and will never be done."
            await shift.act("CancelTask", task=task.id, reason=reason)
            return True
    return False


async def find_taker(shift: Shift, task: Task) -> Outcome:
    """Any executor can do any work of the table; what is not in it, nobody can."""
    if task.status != TaskStatus.PENDING:
        return no_reply(f"{task.name_tag} is {task.status}")
    executors = await shift.find(AgentRecord, "role = 'executor' AND status = 'active'")
    if task.arguments.get("audit") in ALL_WORKS and executors and task.capabilities:
        await shift.act("EditTask", task=task.id, capabilities=())
        return Outcome(detail=f"{task.name_tag} is open to everybody now")
    asked_for = listed(sorted(task.capabilities)) or "nothing in particular"
    reason = f"Nobody here can do it: it asks for {asked_for}, and its arguments name no audit that we know."
    if not executors:
        await ask(shift, f"task:{task.id}", f"{task.name_tag} has nobody to work on it: no executor is active")
        return no_reply("no executor is active")
    await shift.act("CancelTask", task=task.id, reason=reason)
    return Outcome(detail=reason)
