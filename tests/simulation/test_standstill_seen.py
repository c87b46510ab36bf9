"""A round in which nothing can move is stalled within two ticks after ten minutes, not before, and is told (C-05)."""

from pathlib import Path

import pytest

from core.domain.entities import Round, Task
from core.domain.inbox import InboxItem
from core.domain.limits import STALL_MS, TICK_MS
from core.domain.states import RoundStatus, RunKind, TaskStatus
from core.simulation.agents import GOOD
from core.simulation.simulator import Simulation, a_simulation

HELD = {"block": TaskStatus.BLOCKED, "ask": TaskStatus.WAITING_HUMAN}


async def the_round(simulation: Simulation) -> Round:
    return (await simulation.board.readers.entities(Round, "id = 1"))[0]


async def stalled(simulation: Simulation) -> list[InboxItem]:
    return [item for item in await simulation.inbox() if item.kind == "stalled"]


@pytest.mark.parametrize("trouble", list(HELD))
async def test_a_round_that_stands_still_is_stalled_in_time_and_says_what_can_be_done(
    trouble: str, tmp_path: Path
) -> None:
    assert STALL_MS == 10 * 60_000
    async with a_simulation(tmp_path, habits=GOOD.but(**{trouble: 1})) as simulation:
        simulation.agents.troubled = frozenset({RunKind.EXECUTE})
        await simulation.operator("PauseAgent", agent="cora")  # nobody but the operator can help
        shape = {"end_state": "A figure.", "must_haves": ("M1",), "risk": "low"}
        goal = await simulation.operator(
            "CreateGoal", title="Audit", must_haves=("count",), tasks=[{"title": "Count", **shape}]
        )
        await simulation.operator("DispatchGoal", goal=goal["id"], discussion=False)
        for _ in range(10):
            await simulation.step()
            if (await simulation.board.readers.entities(Task, "id = 1"))[0].status == HELD[trouble]:
                break
        since = (await the_round(simulation)).progress_at
        while simulation.clock() + TICK_MS - since < STALL_MS:
            await simulation.step()
            assert (await the_round(simulation)).status == RoundStatus.OPEN
            assert await stalled(simulation) == []
        for _ in range(2):
            await simulation.step()
        assert (await the_round(simulation)).status == RoundStatus.STALLED
        (item,) = await stalled(simulation)
        assert item.entity == "round:1"
        assert "EndRound" in {choice.command for choice in item.choices}
