"""The coordinator: plans a goal, judges its rounds, and mends what cannot run. The report is in `reporting`."""

from typing import Any

from core.agents.rehearsal.asking import ask, give_up
from core.agents.rehearsal.deliveries import approved_figures
from core.agents.rehearsal.judging import judge
from core.agents.rehearsal.reporting import report
from core.agents.rehearsal.shift import Shift, no_reply
from core.agents.rehearsal.words import listed
from core.agents.rehearsal.works import WORKS, beyond_us, first_kinds, is_done, new_task, of_version
from core.agents.runner import Outcome
from core.domain.entities import AgentRecord, Approval, Comment, Goal, Round, Task, TaskDep
from core.domain.states import BlockKind, CommentKind, GoalStatus, OnFail, TaskStatus


async def plan(shift: Shift) -> Outcome:
    """Make the tasks of a goal. Run again after a crash, it goes on where it was."""
    goal = await shift.goal()
    if goal.status == GoalStatus.ACTIVE:
        return await plan_anew(shift, goal)
    if goal.status != GoalStatus.PLANNING:
        return no_reply(f"{goal.name_tag} is {goal.status}")
    if not first_kinds(goal):
        return await give_up(shift, goal, "none of its must-haves is work that the rehearsal agents can do")
    made = [await plan_task(shift, new_task(goal, kind, 1), goal) for kind in first_kinds(goal)]
    await drop_placeholder(shift, goal, made)
    await say_plan(shift, goal, made)
    await shift.act("ActivateGoal", goal=goal.id)
    return Outcome(detail=f"{len(made)} tasks")


async def plan_task(shift: Shift, new: dict[str, Any], goal: Goal) -> int:
    """The id of this task: made now, or by an earlier run that did not come to its end."""
    known = await shift.find(Task, "idempotency_key = :key", key=new["idempotency_key"])
    if known:
        return known[0].id
    return int((await shift.act("CreateTask", goal=goal.id, **new))["id"])


async def drop_placeholder(shift: Shift, goal: Goal, made: list[int]) -> None:
    """The one draft task that a goal is made with says nothing that the new ones do not say better."""
    drafts = await shift.find(Task, "goal_id = :goal AND status = 'draft' ORDER BY id", goal=goal.id)
    for task in drafts:
        if not (task.end_state or task.arguments or task.capabilities):
            reason = f"It stood for the whole goal; in its place there are {listed([f'T{number}' for number in made])}."
            await shift.act("CancelTask", task=task.id, reason=reason)


async def say_plan(shift: Shift, goal: Goal, made: list[int]) -> None:
    """One comment a goal, however often the planning began anew."""
    said = await shift.find(
        Comment, "goal_id = :goal AND author = :slug AND kind = 'plan' LIMIT 1", goal=goal.id, slug=shift.slug
    )
    if said:
        return
    body = f"Round 1 has {len(made)} tasks side by side; none needs another one's result."
    if "closer_look" in {kind for kind in WORKS if kind not in first_kinds(goal)}:
        body += " What the closer look is about, only their figures can tell: it gets a round of its own."
    if beyond_us(goal):
        body += f" {listed([must['id'] for must in beyond_us(goal)])}: nobody here can do that; the operator decides."
    await shift.act("AddComment", goal=goal.id, kind=CommentKind.PLAN, body=body)


async def plan_anew(shift: Shift, goal: Goal) -> Outcome:
    """A report that came back, or work that the operator does not want given up: a further round."""
    rounds = await shift.find(Round, "goal_id = :goal AND status <> 'closed'", goal=goal.id)
    if rounds:
        return no_reply(f"{goal.name_tag} has an open round")
    version = len(await shift.reports_of(goal)) + 1
    tasks = await shift.tasks_of(goal)
    note = goal.reason or await refusal_of(shift, goal)
    kinds = first_kinds(goal) or [kind for kind in WORKS if kind != "closer_look"]
    tried = {kind: of_version(tasks, kind, version) for kind in kinds}
    new = [new_task(goal, kind, version, tried[kind], note=note) for kind in kinds if not is_done(tried[kind])]
    if not new:
        # E.g. the operator waived what could not be delivered, and did not let the goal be given up.
        return await report(shift)
    await shift.act("OpenRound", goal=goal.id, tasks=new)
    return Outcome(detail=f"{len(new)} tasks for version {version} of the report")


async def refusal_of(shift: Shift, goal: Goal) -> str:
    """Why the operator did not let the goal be given up."""
    found = await shift.find(
        Approval, "entity = :entity AND kind = 'goal_failure' AND note <> '' ORDER BY id DESC LIMIT 1",
        entity=f"goal:{goal.id}",
    )  # fmt: skip
    return found[0].note if found else ""


async def review_round(shift: Shift) -> Outcome:
    """Three answers and one decision, from the board's own facts."""
    goal, round_ = await shift.goal(), shift.assignment.round
    assert round_ is not None
    tasks = await shift.tasks_of(goal)
    version = len(await shift.reports_of(goal)) + 1
    judgement = judge(goal, round_, tasks, version, await approved_figures(shift, goal))
    shift.desk.say(f"Covered: {judgement.covered}. Next: {judgement.next_step}")
    await shift.act(
        "ReviewRound", round=round_.id, goal_clear=judgement.goal_clear, covered=judgement.covered,
        next_step=judgement.next_step, decision=judgement.decision, tasks=judgement.tasks,
    )  # fmt: skip
    return Outcome(detail=str(judgement.decision))


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
    if task.arguments.get("audit") in WORKS and executors and task.capabilities:
        await shift.act("EditTask", task=task.id, capabilities=())
        return Outcome(detail=f"{task.name_tag} is open to everybody now")
    asked_for = listed(sorted(task.capabilities)) or "nothing in particular"
    reason = f"Nobody here can do it: it asks for {asked_for}, and its arguments name no audit that we know."
    if not executors:
        await ask(shift, f"task:{task.id}", f"{task.name_tag} has nobody to work on it: no executor is active")
        return no_reply("no executor is active")
    await shift.act("CancelTask", task=task.id, reason=reason)
    return Outcome(detail=reason)
