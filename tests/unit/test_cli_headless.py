"""A company without a room: which decisions are taken for the operator, and every way in which it ends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from core.agents.runner import Assignment, Desk, Outcome
from core.commands.registry import parse
from core.company import OpenCompany
from core.config import Config
from core.headless import Ended, Ending, Headless
from tests import founding


class Idle:
    """An agent that is called and does nothing."""

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        return Outcome()


@asynccontextmanager
async def a_company(folder: Path, *, started: bool = True) -> AsyncIterator[OpenCompany]:
    await founding.a_company(folder, Config(name="Acme"))
    company = await OpenCompany.open(folder, {"test": Idle()}, role="owner")
    try:
        if started:
            await do(company, "StartCompany")
        await company.start()
        yield company
    finally:
        await company.close()


async def do(company: OpenCompany, command: str, **arguments: Any) -> dict[str, Any]:
    return await company.execute(parse(command, arguments))


async def hire(company: OpenCompany, *roles: str) -> None:
    for role in roles:
        await do(company, "HireAgent", slug=role, name=role.title(), role=role, runner={"kind": "test"})


async def ended(company: OpenCompany, **how: Any) -> Ended:
    return await Headless(company, patience_s=0.5, **how).run()


async def test_a_company_without_a_goal_waits_for_one(tmp_path: Path) -> None:
    async with a_company(tmp_path / "acme") as company:
        found = await ended(company, approve_all=True)
    assert (found.how, found.needs) == (Ending.WAITS, "goal")


async def test_a_decision_is_left_to_the_person_unless_all_are_approved(tmp_path: Path) -> None:
    async with a_company(tmp_path / "acme") as company:
        await do(company, "CreateGoal", title="One")
        found = await ended(company)
    assert found.how == Ending.WAITS
    assert [item.kind for item in found.owed] == ["dispatch"]


async def test_approving_all_never_starts_what_the_operator_stopped(tmp_path: Path) -> None:
    async with a_company(tmp_path / "acme", started=False) as company:
        await do(company, "CreateGoal", title="One")
        found = await ended(company, approve_all=True)
    assert found.how == Ending.WAITS
    assert "stopped" in found.words


async def test_where_nothing_moves_it_says_what_it_waits_for(tmp_path: Path) -> None:
    async with a_company(tmp_path / "acme") as company:
        # A CEO that proposes nothing.
        await hire(company, "ceo")
        await do(company, "EditCompany", mission="Look after it")
        found = await ended(company, approve_all=True)
    assert found.how == Ending.STUCK
    assert "waits for: a first goal" in found.words


async def test_work_that_nobody_can_do_is_an_end_without_success(tmp_path: Path) -> None:
    async with a_company(tmp_path / "acme") as company:
        await do(company, "CreateGoal", title="One")
        await do(company, "DispatchGoal", goal=1)
        found = await ended(company, approve_all=True)
    assert found.how == Ending.UNSUCCESSFUL
    assert "Nobody here can decide this: One (" in found.words


async def test_with_wait_a_person_may_take_their_time(tmp_path: Path) -> None:
    async with a_company(tmp_path / "acme") as company:
        await do(company, "CreateGoal", title="One")
        waiting = Headless(company, wait=True, patience_s=0.1)
        await waiting._look()
        assert waiting._waits
        await do(company, "CancelGoal", goal=1, reason="enough")
        found = await waiting.run()
    assert found.how == Ending.UNSUCCESSFUL
    assert "G1 One is cancelled (enough)" in found.words


async def test_the_same_yes_is_not_said_for_ever(tmp_path: Path) -> None:
    took: list[str] = []
    async with a_company(tmp_path / "acme") as company:
        # A coordinator that plans nothing: after each three runs the question comes back.
        await hire(company, "coordinator")
        await do(company, "CreateGoal", title="One")
        await do(company, "DispatchGoal", goal=1)
        found = await Headless(
            company, approve_all=True, patience_s=20, took=lambda item, choice: took.append(choice.verb)
        ).run()
    assert found.how == Ending.UNSUCCESSFUL, found
    assert took == ["try again"] * 3
    assert "3 times" in found.words


async def test_an_ended_goal_is_the_end_at_once(tmp_path: Path) -> None:
    async with a_company(tmp_path / "acme") as company:
        await hire(company, "ceo")
        await do(company, "CreateGoal", title="One")
        await do(company, "CancelGoal", goal=1, reason="no longer needed")
        found = await ended(company, approve_all=True)
    assert found.how == Ending.UNSUCCESSFUL


async def test_a_goal_that_is_drafted_during_a_look_is_no_end(tmp_path: Path) -> None:
    async with a_company(tmp_path / "acme") as company:
        headless = Headless(company)
        await do(company, "CreateGoal", title="One")
        # The look had found nothing alive; then the news of the draft came.
        headless._goals = {1}
        assert await headless._over() is None
        assert headless._woken.is_set()


async def test_a_ceo_that_has_retired_is_told_and_keeps_no_goal_from_its_end(tmp_path: Path) -> None:
    async with a_company(tmp_path / "acme") as company:
        await hire(company, "ceo")
        goal = await do(company, "CreateGoal", title="One")
        await do(company, "RetireAgent", agent="ceo", reason="enough")
        found = await ended(company)
        assert [item.kind for item in found.owed] == ["dispatch"]
        await do(company, "CancelGoal", goal=goal["id"], reason="enough")
        found = await ended(company)
    assert (found.how, found.owed) == (Ending.UNSUCCESSFUL, ())
