"""A seat in the discussion: take what one can do, decide how, ask where domains meet, call for what nobody can."""

import contextlib

from core.agents.rehearsal.colleagues import holder_of, holders
from core.agents.rehearsal.meetings import MEETINGS
from core.agents.rehearsal.shift import Shift, no_reply
from core.agents.rehearsal.words import counted, cut, listed, named
from core.agents.rehearsal.works import (
    ALL_WORKS,
    CHOICE,
    CHOSEN_BY,
    LEFT_OUT,
    beyond_us,
    first_kinds,
    key_of,
    new_task,
    planned_kinds,
    serves,
)
from core.agents.runner import Outcome
from core.domain.entities import Comment, Goal, Task, Turn
from core.domain.errors import Conflict
from core.domain.states import CommentKind, GoalStatus


async def discuss(shift: Shift) -> Outcome:
    """One's say in this turn. Said again after a crash or in a later turn, nothing is said or made twice."""
    goal = await shift.goal()
    if goal.status != GoalStatus.PLANNING:
        return no_reply(f"{goal.name_tag} is {goal.status}")
    before = await words_of(shift, goal)
    taken = [kind for kind in planned_kinds(goal) if is_mine(shift, kind) and await take(shift, goal, kind)]
    for kind in taken:
        await ask_neighbour(shift, goal, kind)
    if await speaks_first(shift, goal):
        if taken:
            await shift.say_once(goal, CommentKind.DECISION, LEFT_OUT)
        await call_coordinator(shift, goal)
    said = len(await words_of(shift, goal)) - len(before)
    if not taken and not said:
        return no_reply("I have nothing to add")
    return Outcome(detail=f"took {listed(taken) or 'nothing'}, said {counted(said, 'thing')}")


async def words_of(shift: Shift, goal: Goal) -> list[Comment]:
    """What this agent has said about the goal."""
    return await shift.find(Comment, "goal_id = :goal AND author = :slug", goal=goal.id, slug=shift.slug)


def is_mine(shift: Shift, kind: str) -> bool:
    """Whether this agent can do that work."""
    return ALL_WORKS[kind].capability in shift.assignment.agent.capabilities


async def take(shift: Shift, goal: Goal, kind: str) -> bool:
    """Make the task of a work that nobody made yet, and say so; also what an earlier run left half said."""
    task = await task_of(shift, goal, kind)
    made = False
    if task is None:
        waits_for = await grounds(shift, goal) if kind == CHOICE else []
        if waits_for is None:
            return False
        made = await make(shift, goal, kind, waits_for)
        task = await task_of(shift, goal, kind)
    if task is None or task.created_by != shift.slug:
        return False
    await shift.say_once(goal, CommentKind.NOTE, claim_of(goal, task, kind))
    return made


def claim_of(goal: Goal, task: Task, kind: str) -> str:
    """What one takes and why, in a line or two."""
    work = ALL_WORKS[kind]
    musts = listed(list(serves(goal, kind))) or "this"
    why = f"{work.capability} is what I do, and it needs nobody else's result"
    if kind == CHOICE:
        why = "which file deserves it, only the figures of the others can tell, so it waits for them"
    return f"I take {musts} with {task.name_tag} ({named(task.title)}): {why}. It is done when this is there: " + cut(
        work.end_state, 300
    )


async def task_of(shift: Shift, goal: Goal, kind: str) -> Task | None:
    """The task of round 1 for this work, whoever made it."""
    return next(iter(await shift.find(Task, "idempotency_key = :key", key=key_of(goal, kind))), None)


async def grounds(shift: Shift, goal: Goal) -> list[int] | None:
    """The tasks that the choice of a file waits for; None while one of them is still to be made."""
    found = [await task_of(shift, goal, kind) for kind in CHOSEN_BY if kind in first_kinds(goal)]
    return None if None in found else [task.id for task in found if task is not None]


async def make(shift: Shift, goal: Goal, kind: str, waits_for: list[int]) -> bool:
    """Create the task; False when somebody else was first."""
    depends_on = [{"task": task_id, "on_fail": "proceed"} for task_id in waits_for]
    # Who was first is seen by the key, which only one task can have.
    with contextlib.suppress(Conflict):
        await shift.act("CreateTask", goal=goal.id, depends_on=depends_on, **new_task(goal, kind, 1))
        return True
    return False


async def ask_neighbour(shift: Shift, goal: Goal, kind: str) -> None:
    """One question to whoever does a work that touches this one (S3-03): the answer shapes both tasks."""
    for meeting in MEETINGS:
        if meeting.asks != kind or meeting.asked not in first_kinds(goal):
            continue
        neighbour = await holder_of(shift, ALL_WORKS[meeting.asked].capability)
        if neighbour is not None and neighbour.slug != shift.slug:
            await shift.say_once(goal, CommentKind.QUESTION, f"@{neighbour.slug} {meeting.question}")


async def speaks_first(shift: Shift, goal: Goal) -> bool:
    """The first seat speaks for all about what concerns nobody here."""
    turns = await shift.find(Turn, "goal_id = :goal ORDER BY number DESC LIMIT 1", goal=goal.id)
    return bool(turns) and turns[0].agents[:1] == (shift.assignment.agent.id,)


async def call_coordinator(shift: Shift, goal: Goal) -> None:
    """Must-haves that nobody here can do: the coordinator says what becomes of them."""
    coordinators = await holders(shift, role="coordinator")
    if not coordinators:
        return
    able = {capability for agent in await holders(shift) for capability in agent.capabilities}
    wants = [f"{must['id']} (“{named(must['text'], 200)}”)" for must in beyond_us(goal)]
    wants += [
        f"{listed(list(serves(goal, kind)))} ({kind})"
        for kind in first_kinds(goal)
        if ALL_WORKS[kind].capability not in able and await task_of(shift, goal, kind) is None
    ]
    if wants:
        body = f"@{coordinators[0].slug} {listed(wants)}: none of us can do that. What becomes of it?"
        await shift.say_once(goal, CommentKind.QUESTION, body)
