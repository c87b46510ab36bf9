"""Questions about what is no row yet (`hire:scout`) and about the company: read, decided and told like any other."""

from pathlib import Path
from typing import Any

from core.domain.entities import AgentRecord, Approval
from core.domain.states import ApprovalStatus
from tests.flows.world import HOME, Office, an_office, head_of, press, ready, shown, wait, write
from tui.panes.threads import TABS, read_thread

SCOUT: dict[str, Any] = {
    "slug": "scout", "name": "Milo", "role": "executor", "capabilities": ("marks",), "why": "nobody looks for marks",
}  # fmt: skip


async def a_hire_waits(office: Office, **more: Any) -> int:
    ceo = await office.agent("ceo", "mention")
    answer = await office.do("ProposeHire", ceo, **{**SCOUT, **more})
    await office.end(ceo)
    return int(answer["id"])


async def slugs(office: Office) -> list[str]:
    return [agent.slug for agent in await office.company.board.readers.entities(AgentRecord, "true ORDER BY id")]


async def test_a_hire_is_read_in_every_tab_and_approved(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        number = await a_hire_waits(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "i")
            assert app.room.situation.ref == "hire:scout"
            assert app.room.situation.tag == f"Q{number}"
            assert "Hire Milo (scout) as executor?" in head_of(app)
            assert "the agent is hired exactly as shown" in head_of(app)
            for tab in range(1, len(TABS) + 1):
                await press(pilot, str(tab))
            await press(pilot, "1")
            assert "nobody looks for marks" in shown(app)
            await wait(pilot, office, 1)
            await press(pilot, "a")
            await wait(pilot, office, 6)
            assert "scout" in await slugs(office)
            assert app.room.view.inbox() == []


async def test_two_hires_wait_and_one_is_sent_back_with_a_note(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        first = await a_hire_waits(office)
        second = await a_hire_waits(office, slug="twin", name="Tilda", capabilities=("twins",))
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "i")
            await wait(pilot, office, 1)
            await press(pilot, "r")
            await write(pilot, "why?")
            await press(pilot, "enter")
            await wait(pilot, office, 6)
            assert (await office.approval(first)).status == ApprovalStatus.REVISION_REQUESTED
            assert (await office.approval(second)).status == ApprovalStatus.PENDING
            assert [item.entity for item in app.room.view.inbox()] == ["hire:twin"]
            agent = next(each for each in app.room.view.tables.all(AgentRecord) if each.slug == "ceo")
            mail = await read_thread(office.company, app.room.view, f"agent:{agent.id}", 6)
            assert any("the company" in str(block.heading) for block in mail)


async def test_a_change_of_the_organisation_is_refused_with_a_reason(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        ceo = await office.agent("ceo", "mention")
        changes = [{"agent": "links", "duties": "every link"}]
        answer = await office.do("ProposeOrganisation", ceo, changes=changes, why="it is good at it")
        await office.end(ceo)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "i")
            assert app.room.situation.ref == "company:1"
            await wait(pilot, office, 1)
            await press(pilot, "b")
            await write(pilot, "not now")
            await press(pilot, "enter")
            await wait(pilot, office, 6)
            asked = (await office.company.board.readers.entities(Approval, "id = :id", id=answer["id"]))[0]
            assert (asked.status, asked.note) == (ApprovalStatus.REJECTED, "not now")


async def test_what_happens_to_hires_and_agents_meanwhile_shows_at_once(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        number = await a_hire_waits(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "i")
            payload = {"slug": "scout-2", "name": "Milo the second"}
            await office.do("EditApproval", approval=number, payload=payload)
            await wait(pilot, office, 1)
            assert app.room.situation.ref == "hire:scout-2"
            assert "Hire Milo the second (scout-2)" in head_of(app)
            await office.do("HireAgent", slug="scout-2", name="Another", role="reviewer")
            await wait(pilot, office, 1)
            assert "has that name by now" in head_of(app)
            await press(pilot, "a")
            await wait(pilot, office, 6)
            assert "cannot be carried out any more" in app.room.message.says
            await office.do("RetireAgent", agent="ceo", reason="enough")
            await wait(pilot, office, 1)
            assert {item.kind for item in app.room.view.inbox()} == {"hire_agent", "no ceo"}
            assert app.room.view.ceo() is None
