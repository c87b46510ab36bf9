"""The coordinator plans: what a discussion left open, and the rounds after a report that came back."""

import contextlib
from typing import Any

from core.agents.rehearsal.asking import give_up
from core.agents.rehearsal.colleagues import holder_of
from core.agents.rehearsal.deliveries import approved_figures
from core.agents.rehearsal.judging import next_tasks
from core.agents.rehearsal.reporting import report
from core.agents.rehearsal.shift import Shift, no_reply
from core.agents.rehearsal.words import counted, listed
from core.agents.rehearsal.works import (
    ALL_WORKS,
    CHOICE,
    CHOSEN_BY,
    CLOSER_LOOK,
    WORKS,
    beyond_us,
    first_kinds,
    is_done,
    key_of,
    new_task,
    of_version,
    planned_kinds,
    wanted,
)
from core.agents.runner import Outcome
from core.domain.entities import Approval, Comment, Goal, Round, Task
from core.domain.errors import Conflict
from core.domain.states import CommentKind, GoalStatus


async def plan(shift: Shift) -> Outcome:
    """Rule where the discussion did not converge, or plan on. Run again after a crash, it goes on where it was."""
    goal = await shift.goal()
    if goal.status == GoalStatus.ACTIVE:
        return await plan_anew(shift, goal)
    if goal.status != GoalStatus.PLANNING:
        return no_reply(f"{goal.name_tag} is {goal.status}")
    if not first_kinds(goal):
        return await give_up(shift, goal, "none of its must-haves is work that the rehearsal agents can do")
    made = await make_missing(shift, goal)
    await say_plan(shift, goal, made)
    with contextlib.suppress(Conflict):  # the discussion may have converged at this very moment
        await shift.act("ActivateGoal", goal=goal.id)
    return Outcome(detail=f"{counted(len(made), 'task')} made by the coordinator")


async def split(shift: Shift) -> Outcome:
    """The draft tasks of an operator's own draft (S1-11); what nobody here can do is left to the talk about it."""
    goal = await shift.goal()
    if goal.status != GoalStatus.DRAFT or not first_kinds(goal):
        return no_reply(f"{goal.name_tag} asks for nothing that I could make tasks of")
    made = await make_missing(shift, goal)
    return Outcome(detail=f"{counted(len(made), 'draft task')} made")


async def make_missing(shift: Shift, goal: Goal, only: frozenset[str] | None = None) -> list[int]:
    """The tasks of round 1 that nobody made yet, or of these kinds; what nobody is able to is open to everybody."""
    made = []
    for kind in planned_kinds(goal):
        if (only is not None and kind not in only) or await known(shift, goal, kind):
            continue
        new = new_task(goal, kind, 1)
        if await holder_of(shift, ALL_WORKS[kind].capability) is None:
            new["capabilities"] = ()
        if kind == CHOICE:
            found = [await known(shift, goal, ground) for ground in CHOSEN_BY if ground in first_kinds(goal)]
            new["depends_on"] = [{"task": task.id, "on_fail": "proceed"} for task in found if task]
        made.append(int((await shift.act("CreateTask", goal=goal.id, **new))["id"]))
    return made


async def known(shift: Shift, goal: Goal, kind: str) -> Task | None:
    """The task of this work that an agent or an earlier run made."""
    return next(iter(await shift.find(Task, "idempotency_key = :key", key=key_of(goal, kind))), None)


async def say_plan(shift: Shift, goal: Goal, made: list[int]) -> None:
    """One comment a goal, however often the planning began anew."""
    said = "goal_id = :goal AND task_id IS NULL AND author = :slug AND kind = 'plan' LIMIT 1"
    if await shift.find(Comment, said, goal=goal.id, slug=shift.slug):
        return
    drafts = [task for task in await shift.tasks_of(goal) if task.arguments.get("audit") in ALL_WORKS]
    names = listed([task.name_tag for task in drafts])
    body = f"I rule: round 1 has {counted(len(drafts), 'task')} ({names})."
    if made:
        body += f" {listed([f'T{number}' for number in made])}: nobody had made them."
    if CLOSER_LOOK in wanted(goal):
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
    kinds = first_kinds(goal) or [kind for kind in WORKS if kind != CLOSER_LOOK]
    tried = {kind: of_version(tasks, kind, version) for kind in kinds}
    new: list[dict[str, Any]] = [
        new_task(goal, kind, version, tried[kind], note=note) for kind in kinds if not is_done(tried[kind])
    ]
    if not new:
        new = next_tasks(goal, tasks, version, await approved_figures(shift, goal))
    if not new:
        # E.g. the operator waived what could not be delivered, and did not let the goal be given up.
        return await report(shift)
    await shift.act("OpenRound", goal=goal.id, tasks=new)
    return Outcome(detail=f"{len(new)} tasks for version {version} of the report")


async def refusal_of(shift: Shift, goal: Goal) -> str:
    """Why the operator did not let the goal be given up or changed."""
    found = await shift.find(
        Approval,
        "entity = :entity AND kind IN ('goal_failure', 'goal_change') AND note <> '' ORDER BY id DESC LIMIT 1",
        entity=f"goal:{goal.id}",
    )  # fmt: skip
    return found[0].note if found else ""
