"""A letter about the company, which belongs to no goal, is read by the rehearsal CEO and hinders nothing."""

import asyncio
from pathlib import Path

from core.commands.approvals import DecideApproval
from core.commands.company import StartCompany
from core.commands.hiring import ProposeHire
from core.commands.registry import build
from core.commands.runs import FinishRun, QueueRun, StartRun
from core.company import OpenCompany
from core.domain.actors import Agent, System
from core.domain.entities import AgentRecord, Run
from core.domain.states import RunKind, RunStatus
from core.rehearsal import found_rehearsal, rehearsal_runners


async def _proposed(company: OpenCompany) -> dict[str, object]:
    """A hire that the CEO asks for, in a run that then ends."""
    carla = (await company.board.readers.entities(AgentRecord, "role = 'ceo'"))[0]
    system = System()
    await company.execute(StartCompany())
    asked = await company.execute(build(QueueRun, kind="mention", agent_id=carla.id, key="a hire"), actor=system)
    await company.execute(build(StartRun, run=asked["id"], owner="test"), actor=system)
    (run,) = await company.board.readers.entities(Run, "id = :id", id=asked["id"])
    hire = build(ProposeHire, slug="dora", name="Dora", role="executor", why="nobody draws")
    answer = await company.execute(hire, actor=Agent(carla.id, carla.slug, run.id, run.fence))
    await company.execute(build(FinishRun, run=run.id, status="succeeded"), actor=system)
    return answer


async def test_a_hire_that_was_sent_back_wakes_the_ceo_whose_run_ends_well(tmp_path: Path) -> None:
    audited, folder = tmp_path / "audited", tmp_path / "c"
    audited.mkdir()
    config = await found_rehearsal(folder, audited)
    company = await OpenCompany.open(folder, rehearsal_runners(config), role="owner")
    try:
        answer = await _proposed(company)
        decision = build(DecideApproval, approval=answer["id"], decision="revision_requested", note="why?")
        await company.execute(decision)
        await company.start()
        found: list[Run] = []
        for _ in range(2_000):
            found = await company.board.readers.entities(Run, "kind = :kind", kind=RunKind.MENTION)
            if found and found[0].ended_at is not None:
                break
            await asyncio.sleep(0.01)
        assert [(run.goal_id, run.status) for run in found] == [(None, RunStatus.SUCCEEDED)]
    finally:
        await company.close()
    assert sorted(file.name for file in (folder / "agents" / "carla").iterdir()) == [
        "IDENTITY.md", "MEMORY.md", "SOUL.md",
    ]  # fmt: skip
