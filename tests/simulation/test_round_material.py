"""What the review of a round is begun with: the goal, what was delivered, and what was said (S2-11)."""

from pathlib import Path

from core.agents.runner import Assignment, Desk, Outcome
from core.domain.states import RunKind
from core.simulation.simulator import a_simulation


async def test_the_coordinator_is_given_goal_outputs_and_comments_and_nobody_else_is(tmp_path: Path) -> None:
    seen: dict[RunKind, Assignment] = {}
    async with a_simulation(tmp_path) as simulation:
        play = simulation.agents.run

        async def run(assignment: Assignment, desk: Desk) -> Outcome:
            seen.setdefault(assignment.run.kind, assignment)
            return await play(assignment, desk)

        simulation.agents.run = run  # type: ignore[method-assign]
        goal = await simulation.operator("CreateGoal", title="Audit", must_haves=("count",), split=False)
        await simulation.operator("DispatchGoal", goal=goal["id"])
        await simulation.operator("AddComment", goal=goal["id"], kind="dialogue", body="Mind the links.")
        for _ in range(20):
            await simulation.step()
            if RunKind.ROUND_REVIEW in seen:
                break
    told = seen[RunKind.ROUND_REVIEW].prompt.user
    assert "Audit" in told
    assert "M1, covered by O" in told
    assert "What they delivered:" in told
    assert "Mind the links." in told
    others = [assignment.prompt.user for kind, assignment in seen.items() if kind != RunKind.ROUND_REVIEW]
    assert not any("The tasks of the round:" in text for text in others)
