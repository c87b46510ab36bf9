"""The agents: who works here, what each costs, who reports to whom; paused, limited, retired, hired, edited by key."""

import re
from pathlib import Path

import pytest
from textual.pilot import Pilot

from core.domain.entities import AgentRecord, Budget
from core.domain.states import AgentStatus
from tests.flows.conftest import Picture
from tests.flows.test_hostile_board import EVIL, OURS
from tests.flows.world import (
    HOME,
    SMALL,
    TINY,
    Office,
    a_goal_at_work,
    an_office,
    at_work,
    press,
    ready,
    settle,
    settle_screen,
    shown,
    wait,
    write,
)
from tui.app import OpsroomApp
from tui.screens.agents import AgentsScreen
from tui.screens.confirm import Confirm
from tui.screens.control import ControlScreen
from tui.screens.lines_form import LinesForm

# Long: only by `make soak`.
pytestmark = pytest.mark.soak


async def agent(office: Office, slug: str) -> AgentRecord:
    return (await office.company.board.readers.entities(AgentRecord, "slug = :slug", slug=slug))[0]


async def a_staff(office: Office) -> None:
    """A goal at work: one agent is at a task, one is paused, one has a budget that is used for the most part."""
    await office.do("EditAgent", agent="inventory", capabilities=["inventory", "figures"], duties="Every figure")
    await office.do("SetBudget", scope="agent", slug="ceo", limit_micros=5_000, period="day")
    await a_goal_at_work(office)
    await office.do("PauseAgent", agent="reviewer", reason="holidays")
    await at_work(office, 3, "links")
    office.clock.forward(75)


async def opened(pilot: Pilot[None], office: Office) -> tuple[OpsroomApp, AgentsScreen]:
    app = await ready(pilot, office)
    await press(pilot, "A")
    assert isinstance(app.screen, AgentsScreen)
    return app, app.screen


async def go_to(pilot: Pilot[None], screen: AgentsScreen, slug: str) -> None:
    view = screen.leading.view
    found = next(each for each in view.tables.all(AgentRecord) if each.slug == slug)
    screen.roster.focus()
    screen.roster.move_to(f"agent:{found.id}")
    await settle(pilot)


def spoken(screen: AgentsScreen) -> str:
    return "\n".join(f"{block.heading}\n{block.body}" for block in screen.facts.blocks)


@pytest.mark.parametrize(
    "size",
    [HOME, *(pytest.param(size, marks=pytest.mark.soak) for size in (SMALL, TINY))],
    ids=["home", "small", "tiny"],
)
async def test_the_staff_is_read(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_staff(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            _, screen = await opened(pilot, office)
            assert "● working" in shown(app)
            await picture(pilot, "the-ceo")
            assert "mode: operating" in spoken(screen)
            assert "stage A: you dispatch what it drafts" in spoken(screen)
            assert "$0.0042 of $0.005 today, 84 %" in spoken(screen)
            await go_to(pilot, screen, "links")
            assert "T3 Check the relative links" in spoken(screen)
            await press(pilot, "o")
            assert ["inventory  Inventory clerk", 2] in [[row.cells[1], row.depth] for row in screen.chart.rows]
            await picture(pilot, "the-chart")
            await press(pilot, "escape", "enter")
            await picture(pilot, "one-of-them")
            await press(pilot, "escape", "escape")
            assert app.screen is app.room


async def test_what_an_agent_runs_on_is_read(tmp_path: Path) -> None:
    chat = {"kind": "chat", "url": "http://127.0.0.1:8080/v1", "model": "qwen3", "key": "env:MY_KEY"}
    async with an_office(tmp_path / "c") as office:
        await office.do("EditAgent", agent="links", runner=chat)
        async with office.app().run_test(size=HOME) as pilot:
            _, screen = await opened(pilot, office)
            await go_to(pilot, screen, "links")
            assert "runner: chat, qwen3 at 127.0.0.1:8080\n" in f"{spoken(screen)}\n"
            assert "MY_KEY" not in spoken(screen)


async def test_an_agent_is_paused_and_resumed(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_staff(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            _, screen = await opened(pilot, office)
            await go_to(pilot, screen, "links")
            await press(pilot, "p")
            await picture(pilot, "why")
            await press(pilot, "enter")
            assert "a reason is needed" in shown(app)
            await write(pilot, "too slow")
            await press(pilot, "enter")
            assert (await agent(office, "links")).status == AgentStatus.PAUSED
            assert (await office.task(3)).status == "pending"
            assert "links is paused" in shown(app)
            assert "paused because: too slow" in spoken(screen)
            await press(pilot, "p")
            assert (await agent(office, "links")).status == AgentStatus.ACTIVE


@pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])
async def test_an_agent_retires_after_a_question(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_staff(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            _, screen = await opened(pilot, office)
            await go_to(pilot, screen, "coordinator")
            await press(pilot, "x")
            await write(pilot, "not needed")
            await press(pilot, "enter")
            assert isinstance(app.screen, Confirm)
            assert "inventory, links report to ceo then." in shown(app)
            await picture(pilot, "the-question")
            await wait(pilot, office, 1)
            await press(pilot, "enter")  # cancel has the focus
            assert (await agent(office, "coordinator")).status == AgentStatus.ACTIVE
            await press(pilot, "x")
            await write(pilot, "not needed")
            await press(pilot, "enter")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            assert (await agent(office, "coordinator")).status == AgentStatus.TERMINATED
            assert (await agent(office, "links")).manager_id == (await agent(office, "ceo")).id
            await press(pilot, "p")
            assert "has retired" in shown(app)


async def test_a_budget_is_set_raised_and_taken_away(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            _, screen = await opened(pilot, office)
            await go_to(pilot, screen, "links")
            await press(pilot, "$")
            await write(pilot, "lots")
            await press(pilot, "enter")
            assert "is no amount" in shown(app)
            await press(pilot, "$")
            await write(pilot, "20.50 month")
            await press(pilot, "enter")
            (budget,) = await office.company.board.readers.entities(Budget, "true")
            assert (budget.limit_micros, budget.period) == (20_500_000, "month")
            assert "budget: $20.50 a month" in spoken(screen)
            await press(pilot, "$")
            assert screen.composer.field.value == "20.50 month"
            await press(pilot, *["backspace"] * 11, "0", "enter")
            (budget,) = await office.company.board.readers.entities(Budget, "true")
            assert budget.limit_micros == 0
            assert "no budget of its own" in spoken(screen)


@pytest.mark.parametrize(
    "size",
    [HOME, *(pytest.param(size, marks=pytest.mark.soak) for size in (SMALL, TINY))],
    ids=["home", "small", "tiny"],
)
async def test_an_agent_is_hired_in_a_form(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        app = office.app()
        async with app.run_test(size=size) as pilot:
            _, screen = await opened(pilot, office)
            await press(pilot, "n")
            assert isinstance(app.screen, LinesForm)
            await press(pilot, "ctrl+s")
            await picture(pilot, "what-is-missing")
            app.screen.text.text = app.screen.text.text.replace("name:\nshort name:", "name: Milo\nshort name: scout")
            await press(pilot, "ctrl+s")
            hired = await agent(office, "scout")
            assert (hired.name, hired.role, hired.manager_id) == ("Milo", "executor", (await agent(office, "ceo")).id)
            assert "scout is hired" in shown(app)
            assert "scout" in [row.cells[0] for row in screen.roster.rows]


async def test_what_was_written_is_kept_and_what_was_refused_is_told(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            _, screen = await opened(pilot, office)
            await go_to(pilot, screen, "links")
            await press(pilot, "e")
            assert isinstance(app.screen, LinesForm)
            await write(pilot, "2")
            await press(pilot, "escape", "e")
            await settle_screen(pilot, LinesForm)
            form = app.screen
            assert isinstance(form, LinesForm)
            assert "name: Link checker2" in form.text.text
            form.text.text = form.text.text.replace("reports to: coordinator", "reports to: nobody-here")
            await press(pilot, "ctrl+s")
            assert app.screen is form
            assert "nobody-here" in shown(app)
            await picture(pilot, "refused")
            form.text.text = form.text.text.replace("nobody-here", "ceo").replace("duties:", "duties: Every link")
            await press(pilot, "ctrl+s")
            assert app.screen is screen
            edited = await agent(office, "links")
            assert (edited.name, edited.duties) == ("Link checker2", "Every link")
            assert edited.manager_id == (await agent(office, "ceo")).id


async def test_nothing_of_an_agents_words_acts(tmp_path: Path, wire: list[str]) -> None:
    async with an_office(tmp_path / "c") as office:
        ceo = await office.agent("ceo", "mention")
        why = "\n".join(EVIL)
        await office.do("ProposeHire", ceo, slug="scout", name=EVIL[0] + EVIL[1], role="executor", why=why)
        changes = [{"agent": "links", "duties": why}]
        await office.do("ProposeOrganisation", ceo, changes=changes, why=EVIL[2])
        await office.end(ceo)
        await office.do("EditAgent", agent="links", name=EVIL[1], duties=EVIL[3])
        app = office.app()
        async with app.run_test(size=HOME, notifications=True) as pilot:
            await ready(pilot, office)
            for _ in range(2):
                await press(pilot, "enter", "escape", "e")
                await settle_screen(pilot, LinesForm)
                await press(pilot, "escape")
                await settle_screen(pilot, ControlScreen)
                await press(pilot, "down")
            await press(pilot, "A")
            await settle_screen(pilot, AgentsScreen)
            screen = app.screen
            assert isinstance(screen, AgentsScreen)
            await go_to(pilot, screen, "links")
            await press(pilot, "e")
            await settle_screen(pilot, LinesForm)
        sent = OURS.sub("", "".join(wire))
        assert not {char for char in sent if ord(char) < 32 and char not in "\r\n"}
        assert not re.search("[\x80-\x9f\u202a-\u202e\u2066-\u2069\u200b]", sent)


@pytest.mark.parametrize("size", [HOME, SMALL, TINY], ids=["home", "small", "tiny"])
async def test_what_each_goal_and_model_cost_is_read(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_staff(office)
        run = await office.agent("coordinator", "mention", goal_id=1)
        await office.end(run, cost_micros=1_250_000, tokens_in=1_000, tokens_out=100)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            _, screen = await opened(pilot, office)
            await press(pilot, *["o"] * (1 if size == HOME else 2))
            assert screen.focused is screen.spent
            of_goal, of_model = [row.cells for row in screen.spent.rows if row.depth]
            assert (str(of_goal[0])[:3], of_goal[3], of_model[0]) == ("G1 ", "$1.28", "(not named)")
            assert "$1.28" in shown(app)
            await picture(pilot, "the-spending")
            chosen = screen.agent
            await press(pilot, "down", "enter")
            assert screen.agent == chosen
            await press(pilot, "o")
            assert screen.focused is screen.roster
            assert "(not named)" not in shown(app)
