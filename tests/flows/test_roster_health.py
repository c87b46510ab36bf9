"""The roster by health: who works, who waits and for what, who is stuck; groups fold; acts on runs; the filter."""

from pathlib import Path

import pytest

from core.domain.actors import System
from core.domain.entities import Comment, Remark, Run
from core.domain.health import Health
from tests.flows.conftest import Picture
from tests.flows.test_agents_screen import agent, go_to, opened, spoken
from tests.flows.test_run import CHAT, CLAUDE
from tests.flows.world import (
    HOME,
    SMALL,
    Office,
    a_goal_at_work,
    an_office,
    at_work,
    press,
    settle_screen,
    shown,
    wait,
    write,
)
from tui.panes.staff import group_id
from tui.screens.agents import AgentsScreen
from tui.screens.confirm import Confirm
from tui.screens.lines_form import LinesForm


async def a_mixed_staff(office: Office) -> None:
    """Somebody in every group: one at work, one whose budget is used up, one who asks, one blocked, paused, retired."""
    for slug, name in (("scout", "Milo the scout"), ("writer", "Writer"), ("cook", "Cook"), ("old", "Old hand")):
        await office.do("HireAgent", slug=slug, name=name, role="executor", manager="coordinator", runner=CHAT)
    await a_goal_at_work(office)
    await at_work(office, 3, "links")
    asking = await at_work(office, 2, "inventory")
    await office.do(
        "AskOperator", asking, task=2, kind="question", title="Which of the two folders counts?", payload={"a": "b"}
    )
    await office.end(asking)
    stuck = await at_work(office, 4, "scout")
    await office.do("BlockTask", stuck, task=4, block_kind="capability", reason="No agent may use the network.")
    await office.end(stuck)
    writer = await agent(office, "writer")
    await office.do("QueueRun", System(), kind="mention", agent_id=writer.id, key="for-the-writer", goal_id=1)
    await office.do("PauseAgent", agent="reviewer", reason="holidays")
    await office.do("RetireAgent", agent="old", reason="its work is done")
    office.clock.forward(75)


def groups(screen: AgentsScreen) -> dict[str, list[str]]:
    """Who stands below which group."""
    found: dict[str, list[str]] = {}
    for row in screen.roster.rows:
        if row.depth == 0:
            last = found.setdefault(row.id.partition(":")[2], [])
        else:
            last.append(str(row.cells[0]))
    return found


CONTRAST = pytest.param(HOME, "high-contrast", marks=pytest.mark.soak)


@pytest.mark.parametrize(("size", "theme"), [(HOME, ""), (SMALL, ""), CONTRAST], ids=["home", "small", "high-contrast"])
async def test_the_roster_says_who_waits_for_what(
    tmp_path: Path, picture: Picture, size: tuple[int, int], theme: str
) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_mixed_staff(office)
        async with office.app(theme=theme).run_test(size=size) as pilot:
            _app, screen = await opened(pilot, office)
            assert groups(screen) == {
                "stuck": ["scout"], "waiting": ["inventory", "writer"], "working": ["links"], "paused": ["reviewer"],
                "idle": ["ceo", "coordinator", "cook"], "retired": [],
            }  # fmt: skip
            await press(pilot, "g")
            assert "No agent may use the network." in spoken(screen)
            await picture(pilot, "by-health")
            await press(pilot, "enter")
            assert groups(screen)["stuck"] == []
            await press(pilot, "enter", "l", "h")
            assert screen.roster.cursor_id == group_id(Health.STUCK)
            await press(pilot, "G", "l")
            assert groups(screen)["retired"] == ["old"]
            await go_to(pilot, screen, "writer")
            await press(pilot, *["o"] * (2 if size == HOME else 3))
            assert (screen.focused, screen.agent and screen.agent.slug) == (screen.roster, "writer")


async def test_what_an_agent_waits_for_is_answered_from_the_roster(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_mixed_staff(office)
        async with office.app().run_test(size=HOME) as pilot:
            app, screen = await opened(pilot, office)
            await go_to(pilot, screen, "writer")
            await press(pilot, "a")
            assert "it waits for nobody's word" in shown(app)
            await go_to(pilot, screen, "inventory")
            assert "answer" in shown(app)
            await press(pilot, "a")
            assert app.screen is app.room
            assert app.room.inbox.item is not None
            assert app.room.inbox.item.id == "approval:1"
            await wait(pilot, office, 1)
            await press(pilot, "a")
            await wait(pilot, office, 6)
            await press(pilot, "A")
            assert isinstance(app.screen, AgentsScreen)
            assert "inventory" not in groups(app.screen).get("waiting", [])


async def test_runs_are_ended_and_agents_are_nudged_from_the_roster(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_mixed_staff(office)
        async with office.app().run_test(size=HOME) as pilot:
            app, screen = await opened(pilot, office)
            await go_to(pilot, screen, "links")
            await picture(pilot, "at-work")
            await press(pilot, "N")
            await write(pilot, "How far are you?")
            await press(pilot, "enter")
            (asked,) = await office.company.board.readers.entities(Comment, "kind = 'question' AND task_id = 3")
            assert asked.body == "@links How far are you?"
            await office.do("EditAgent", agent="links", runner=CHAT)
            await press(pilot, "N")
            await write(pilot, "Skip the archive")
            await press(pilot, "enter")
            (remark,) = await office.company.board.readers.entities(Remark, "true")
            assert remark.body == "Skip the archive"
            await press(pilot, "X")
            assert isinstance(app.screen, Confirm)
            assert "T3 Check the relative links" in shown(app)
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            (run,) = await office.company.board.readers.entities(Run, "agent_id = :id AND status = 'killed'", id=4)
            assert run.task_id == 3
            assert "links" not in groups(screen)["waiting"] + groups(screen).get("working", [])
            await press(pilot, "X")
            assert "has no run that could be ended" in shown(app)
            await go_to(pilot, screen, "reviewer")
            await press(pilot, "N")
            assert "reviewer is paused: p lets it work again" in shown(app)
            await go_to(pilot, screen, "ceo")
            await press(pilot, "N")
            assert await office.company.board.readers.value("SELECT 1 FROM events WHERE kind = 'HeartbeatCalled'") == 1


async def test_a_session_is_gone_on_with_only_where_there_is_one(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        for slug, runner in (("links", CLAUDE), ("inventory", CHAT)):
            await office.do("EditAgent", agent=slug, runner=runner)
        await a_goal_at_work(office)
        for task, slug in ((3, "links"), (2, "inventory")):
            ended = await at_work(office, task, slug)
            await office.end(ended, session=f"session of {slug}")
        async with office.app().run_test(size=HOME) as pilot:
            app, screen = await opened(pilot, office)
            await go_to(pilot, screen, "inventory")
            assert "go on" not in shown(app)
            await press(pilot, "c")
            assert "whose sessions end with their run" in shown(app)
            await press(pilot, "w")
            assert "go on" not in shown(app)
            await press(pilot, "escape")
            await go_to(pilot, screen, "links")
            assert "go on" in shown(app)
            await press(pilot, "c")
            await write(pilot, "Skip the archive")
            await press(pilot, "enter")
            (run,) = await office.company.board.readers.entities(Run, "status = 'queued'")
            assert (run.task_id, run.brief["remark"]) == (3, "Skip the archive")


async def test_the_roster_is_filtered_and_keeps_its_place(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_mixed_staff(office)
        async with office.app().run_test(size=HOME) as pilot:
            app, screen = await opened(pilot, office)
            await go_to(pilot, screen, "links")
            await press(pilot, "slash")
            await write(pilot, "status:waiting -queued")
            await press(pilot)
            assert groups(screen) == {"waiting": ["inventory"]}
            await picture(pilot, "filtered")
            await press(pilot, "escape")
            assert (screen.focused, screen.agent and screen.agent.slug) == (screen.roster, "links")
            await press(pilot, "slash")
            await write(pilot, "status:merry")
            await press(pilot)
            assert "There is no status 'm" in shown(app)
            assert "links" in groups(screen)["working"]
            await press(pilot, *["backspace"] * 12)
            await write(pilot, "role:reviewer")
            await press(pilot, "enter")
            assert groups(screen) == {"paused": ["reviewer"]}
            assert "Agents · 1 of 9" in shown(app)
            await press(pilot, "escape")
            assert (app.screen, screen.agent and screen.agent.slug) == (screen, "reviewer")
            assert "of 9" not in shown(app)
            await press(pilot, "escape")
            assert app.screen is app.room


async def test_the_focus_stays_on_the_roster_when_a_runner_is_saved(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office, office.app().run_test(size=HOME) as pilot:
        app, screen = await opened(pilot, office)
        await go_to(pilot, screen, "links")
        await press(pilot, "r")
        await settle_screen(pilot, LinesForm)
        form = app.screen
        assert isinstance(form, LinesForm)
        form.text.text = "kind: chat\nurl: http://127.0.0.1:1/v1\nmodel: m"
        await press(pilot, "ctrl+s")
        await settle_screen(pilot, AgentsScreen)
        assert (await agent(office, "links")).runner["model"] == "m"
        assert (screen.focused, screen.agent and screen.agent.slug) == (screen.roster, "links")
        await press(pilot, "j")
        assert screen.agent is not None
        assert screen.agent.slug == "reviewer"
