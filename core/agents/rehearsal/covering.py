"""Coverage of a goal, as the board has it now."""

from core.agents.rehearsal.shift import Shift
from core.domain.coverage import Coverage, cover
from core.domain.entities import Decision, Goal, Output


async def covering(shift: Shift, goal: Goal) -> Coverage:
    """Each must-have and each decision, with the approved outputs that carry it."""
    return cover(
        goal,
        await shift.tasks_of(goal),
        await shift.find(Output, "goal_id = :goal ORDER BY id", goal=goal.id),
        await decisions_of(shift, goal),
    )


async def decisions_of(shift: Shift, goal: Goal) -> list[Decision]:
    """What was decided about the goal, oldest first."""
    return await shift.find(Decision, "goal_id = :goal ORDER BY id", goal=goal.id)
