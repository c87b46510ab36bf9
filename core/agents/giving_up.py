"""What a run that gets nowhere leaves behind, whatever its runner."""

from core.agents.runner import Assignment, Desk, Told
from core.domain.errors import Fenced, OpsroomError
from core.domain.states import RunKind


def not_done(turns: int) -> str:
    """Why a run was ended that has used up its turns."""
    return f'it was not done after {turns} turn{"" if turns == 1 else "s"} ("turns" of its runner)'


async def block_task(assignment: Assignment, desk: Desk, why: str) -> None:
    """A task whose run is stuck is blocked, so that the coordinator, then the operator, looks at it. Raises Fenced.

    Whoever claimed it next would likely be stuck in the same place. What was not begun simply goes back.
    """
    if assignment.run.kind != RunKind.EXECUTE or assignment.task is None:
        return
    reason = f"Its run was stuck and was ended: {why}"
    try:
        await desk.call("BlockTask", task=assignment.task.id, block_kind="capability", reason=reason)
    except Fenced:
        raise
    except OpsroomError as error:
        desk.tell(Told.REFUSED, command="BlockTask", error=error.message)
