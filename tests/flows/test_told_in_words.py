"""What the threads tell in words: why attempts failed, and what a draft does not lack yet."""

from pathlib import Path

from core.domain.actors import System
from tests.flows.world import a_draft, a_goal_at_work, an_office
from tui.panes.threads import read_thread
from tui.projection import Projection

BASE = "plan:1:0"


async def test_a_question_after_failed_attempts_says_how_each_of_them_ended(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_goal_at_work(office)
        for number, detail in enumerate(
            ("the tool is missing", "out of tokens", "no plan was written", "the last one")
        ):
            agent = await office.agent("coordinator", "plan", key=f"{BASE}#{number}", goal_id=goal)
            await office.do(
                "FinishRun", System(), run=agent.run_id, status="failed", exit_kind="tool_failure", detail=detail
            )
        other = await office.agent("coordinator", "plan", key="plan:1:01#0", goal_id=goal)
        await office.do("FinishRun", System(), run=other.run_id, status="failed", exit_kind="x", detail="another base")
        await office.do(
            "RequestApproval", System(), kind="question", entity=f"goal:{goal}", title="Coordinator failed 4 times",
            payload={"what": "try_again", "on_reject": "cancel", "base": BASE},
        )  # fmt: skip
        blocks = await read_thread(office.company, Projection(), f"goal:{goal}", 1)
        body = next(block.body for block in blocks if "question" in str(block.heading))
        assert [text in body for text in ("the last one", "no plan was", "out of tokens")] == [True] * 3
        assert "failed (tool failure): the last one" in body
        assert "the tool is missing" not in body, "the last ones, not all"
        assert "another base" not in body
        assert BASE not in body


async def test_nobody_is_at_a_draft_and_that_is_no_lack(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)

        async def told() -> str:
            view = Projection()
            last, entities = await office.company.board.readers.snapshot()
            view.load(last, entities, None, tokens=0, cost=0)
            return "\n".join(block.body for block in await read_thread(office.company, view, f"goal:{goal}", 1))

        assert "○ M1 Files, lines" in await told()
        assert "no task is at it" not in await told()
        await office.do("ReviewGoal", goal=goal)
        await office.do("DispatchGoal", goal=goal)
        assert "no task is at it" in await told()
