"""A letter about the company, which belongs to no goal, is read by the rehearsal CEO and hinders nothing."""

import asyncio
from pathlib import Path

from core.commands.approvals import DecideApproval, RequestApproval
from core.commands.company import StartCompany
from core.commands.registry import build
from core.company import OpenCompany
from core.domain.actors import System
from core.domain.entities import Run
from core.domain.states import RunKind, RunStatus
from core.rehearsal import found_rehearsal, rehearsal_runners


async def test_a_hire_that_was_sent_back_wakes_the_ceo_whose_run_ends_well(tmp_path: Path) -> None:
    audited, folder = tmp_path / "audited", tmp_path / "c"
    audited.mkdir()
    config = await found_rehearsal(folder, audited)
    company = await OpenCompany.open(folder, rehearsal_runners(config), role="owner")
    try:
        hire = {"slug": "dora", "name": "Dora", "role": "executor", "manager": "carla"}
        asked = build(RequestApproval, kind="hire_agent", entity="company:1", title="Dora?", payload=hire)
        answer = await company.execute(asked, actor=System())
        decision = build(DecideApproval, approval=answer["id"], decision="revision_requested", note="why?")
        await company.execute(decision)
        await company.execute(StartCompany())
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
