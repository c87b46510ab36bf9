"""At the stop of a budget: told at 80 %, asked with the figures, and one key lets the held run go on (F24)."""

from pathlib import Path

from core.domain.actors import System
from core.domain.entities import Approval, Budget
from tests.flows.world import HOME, Office, an_office, press, ready, settle, shown, wait


async def ran(office: Office, cost: int) -> None:
    """A run of the coordinator that ended."""
    await office.end(await office.agent("coordinator", "mention"), cost_micros=cost)


async def held(office: Office) -> int:
    """A run that the budget holds."""
    queued = await office.do("QueueRun", System(), kind="mention", agent_id=2, key="held")
    answer = await office.do("StartRun", System(), run=queued["id"], owner=office.company.token)
    assert not answer["started"]
    return int(queued["id"])


async def test_a_budget_is_told_of_asked_about_and_raised_once_by_key(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await office.do("SetBudget", scope="agent", slug="coordinator", limit_micros=5_000_000)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await ran(office, 4_500_000)
            await settle(pilot)
            assert "90 % of the budget of Coordinator: 4.50 USD of 5.00 USD" in app.room.message.says

            run = await held(office)
            await settle(pilot)
            assert "Coordinator has 0.50 USD left" in shown(app)
            (item,) = app.room.view.inbox()
            assert [choice.verb for choice in item.choices] == ["raise once", "leave held", "raise for good", "pause"]
            await press(pilot, "i", "a")
            assert "raise once" in app.room.message.says
            await wait(pilot, office, 6)
            assert (await office.company.board.readers.entities(Approval, "true"))[0].status == "consumed"
            assert (await office.company.board.readers.entities(Budget, "true"))[0].extra_micros == 5_000_000
            assert app.room.view.inbox() == []
            again = await office.do("StartRun", System(), run=run, owner=office.company.token)
            assert again["started"]


async def test_what_a_no_holds_stays_in_the_inbox(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await office.do("SetBudget", scope="company", limit_micros=1_000_000)
        await ran(office, 1_000_000)
        run = await held(office)
        await office.do("DecideApproval", approval=1, decision="rejected", note="tomorrow")
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            (item,) = app.room.view.inbox()
            assert item.why == f"you allowed no more (tomorrow); held: R{run}"
            assert "! budget" in shown(app)
