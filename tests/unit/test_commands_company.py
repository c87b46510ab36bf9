"""The company, its agents, and the CEO's mode that follows from them (S0-16, S0-17, F20, F26)."""

import re
from pathlib import Path

import pytest

from core.domain.ceo_mode import CeoMode, CeoModeContext, resolve_ceo_mode
from core.domain.entities import AgentRecord, Approval, Company, Run, Task
from core.domain.errors import Conflict, Invalid
from core.domain.states import Role, RunKind, RunStatus, TaskStatus
from tests.unit.world import World, a_company

HIRE = ("ProposeHire", {"slug": "ada", "name": "Ada", "role": "executor", "why": "nobody counts"})
ORG = ("ProposeOrganisation", {"changes": ({"agent": "vera", "duties": "the mission"},), "why": "nobody does"})


async def mode(world: World) -> CeoMode:
    """The CEO's mode, from the board as it is."""
    context = CeoModeContext(
        agent=await world.agent("vera"),
        company=(await world.all(Company))[0],
        active_agents=await world.all(AgentRecord),
        pending_approvals=await world.all(Approval, "status = 'pending'"),
    )
    return resolve_ceo_mode(context).mode


async def ask(world: World, what: tuple[str, dict[str, object]]) -> int:
    vera = await world.run("vera")
    answer = await world.do(vera, what[0], **what[1])
    await world.finish(vera)
    return int(answer["id"])


async def decide(world: World, approval: int, decision: str) -> None:
    await world.operator("DecideApproval", approval=approval, decision=decision, note="so")


async def test_the_ceos_mode_follows_hires_and_reviews_of_the_organisation(tmp_path: Path) -> None:
    async with a_company(tmp_path, staff={"vera": Role.CEO}) as world:
        assert await mode(world) == CeoMode.TEAM_BUILDING
        first = await ask(world, HIRE)
        assert await mode(world) == CeoMode.AWAITING_HIRE
        await decide(world, first, "rejected")
        assert await mode(world) == CeoMode.TEAM_BUILDING
        await decide(world, await ask(world, HIRE), "approved")
        assert await mode(world) == CeoMode.OPERATING
        review = await ask(world, ORG)
        assert await mode(world) == CeoMode.AWAITING_ORG
        await decide(world, review, "approved")
        assert await mode(world) == CeoMode.OPERATING


async def test_a_hire_that_waits_goes_before_a_review_of_the_organisation(tmp_path: Path) -> None:
    async with a_company(tmp_path, staff={"vera": Role.CEO}) as world:
        await ask(world, ORG)
        assert await mode(world) == CeoMode.TEAM_BUILDING
        await ask(world, HIRE)
        assert await mode(world) == CeoMode.AWAITING_HIRE


async def test_an_organisation_sent_back_still_waits(tmp_path: Path) -> None:
    async with a_company(tmp_path, staff={"vera": Role.CEO, "ada": Role.EXECUTOR}) as world:
        await decide(world, await ask(world, ORG), "revision_requested")
        assert await mode(world) == CeoMode.AWAITING_ORG
        await decide(world, await ask(world, ORG), "rejected")
        assert await mode(world) == CeoMode.OPERATING


def test_the_words_of_the_modes_stand_in_one_module_only() -> None:
    words = re.compile(r"""["'](team[_-]building|awaiting[_-]hire|awaiting[_-]org|operating)["']""")
    root = Path(__file__).parents[2]
    files = [file for folder in ("core", "tui") for file in (root / folder).rglob("*.py")]
    assert len(files) > 50
    found = [str(file.relative_to(root)) for file in files if words.search(file.read_text(encoding="utf-8"))]
    assert found == ["core/domain/ceo_mode.py"]


async def test_duplicates_and_a_second_ceo_are_refused_with_a_reason(world: World) -> None:
    wrong = [
        ({"slug": "ada", "name": "Ada Two", "role": "executor"}, Conflict, "already has that name"),
        ({"slug": "ada-2", "name": "Ada", "role": "executor"}, Conflict, "already has that name"),
        ({"slug": "victor", "name": "Victor", "role": "ceo"}, Conflict, "already the CEO"),
        ({"slug": "human", "name": "Human", "role": "executor"}, Invalid, "reserved"),
        ({"slug": "eve", "name": "Eve", "role": "executor", "manager": "nobody"}, Invalid, "no agent 'nobody'"),
        ({"slug": "Eve!", "name": "Eve", "role": "executor"}, Invalid, "slug"),
    ]
    for arguments, error, words in wrong:
        with pytest.raises(error, match=words):
            await world.operator("HireAgent", **arguments)
    assert len(await world.all(AgentRecord)) == 6


async def test_one_board_has_one_company(world: World) -> None:
    with pytest.raises(Conflict, match="already has a company"):
        await world.operator("CreateCompany", name="Another")


async def test_nothing_starts_before_the_operator_starts_the_company(tmp_path: Path) -> None:
    async with a_company(tmp_path, started=False) as world:
        ada = await world.agent("ada")
        queued = await world.system("QueueRun", kind="mention", agent_id=ada.id, key="x")
        answer = await world.system("StartRun", run=queued["id"], owner="o")
        assert answer["started"] is False
        assert "stopped: not started yet" in answer["why"]
        await world.operator("StartCompany")
        assert (await world.system("StartRun", run=queued["id"], owner="o"))["started"] is True


async def test_stopping_ends_every_run_and_gives_their_tasks_back_at_no_cost(world: World) -> None:
    task, ada = await world.a_task("working")
    await world.run("bob", RunKind.BROADCAST)
    answer = await world.operator("StopCompany", reason="the money is gone")
    assert answer == {"dispatching": False, "ended_runs": 2}
    assert {run.status for run in await world.all(Run, "ended_at IS NOT NULL")} >= {RunStatus.KILLED}
    task = await world.task(task.id)
    assert (task.status, task.attempts, task.current_run) == (TaskStatus.PENDING, 0, None)
    assert (await world.all(Company))[0].stop_reason == "the money is gone"
    assert ada is not None


async def test_pausing_an_agent_ends_its_runs_and_it_gets_no_new_one(world: World) -> None:
    task, ada = await world.a_task("working")
    await world.operator("PauseAgent", agent="ada")
    assert (await world.all(Task, "id = :id", id=task.id))[0].status == TaskStatus.PENDING
    assert ada is not None
    with pytest.raises(Conflict, match="Ada is paused"):
        await world.run("ada")
    with pytest.raises(Conflict, match="is paused"):
        await world.operator("AssignTask", task=task.id, agent="ada")
    await world.operator("ResumeAgent", agent="ada")
    await world.run("ada")
