"""The history: the log by a filter, an event in full, the board as it was, and that nothing of it can be changed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from core.domain.entities import Task
from core.domain.states import TaskStatus
from tests.flows.conftest import Picture
from tests.flows.test_hostile_board import EVIL
from tests.flows.world import (
    HOME,
    SMALL,
    Office,
    a_busy_board,
    an_office,
    press,
    ready,
    settle,
    settle_screen,
    shown,
    write,
)
from tui.app import OpsroomApp
from tui.panes.event_log import number_of
from tui.screens import history as module
from tui.screens.control import ControlScreen
from tui.screens.history import HistoryScreen
from tui.screens.past import PastScreen
from tui.screens.run import RunScreen

SIZES = pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])


@asynccontextmanager
async def the_history(
    folder: Path, size: tuple[int, int] = HOME, key: str = "L"
) -> AsyncIterator[tuple[Office, Pilot[None], OpsroomApp, HistoryScreen]]:
    """A busy company, and the log opened by its key from T3."""
    async with an_office(folder) as office:
        await a_busy_board(office)
        async with office.app().run_test(size=size) as pilot:
            app = await ready(pilot, office)
            app.room.board.list.focus()
            assert app.room.board.list.move_to("task:3")
            await press(pilot, key)
            assert isinstance(app.screen, HistoryScreen)
            yield office, pilot, app, app.screen


def numbers(screen: HistoryScreen) -> list[int]:
    return [number_of(row.id) for row in screen.log_rows.rows]


def the_past(app: OpsroomApp) -> PastScreen:
    assert isinstance(app.screen, PastScreen)
    return app.screen


async def to_event(pilot: Pilot[None], screen: HistoryScreen, kind: str, *, which: int = 0) -> None:
    """The cursor on an event of a kind, the newest first."""
    found = [number for number, event in screen._events.items() if event.kind == kind]
    screen.show_event(found[which])
    await settle(pilot)


@SIZES
async def test_the_log_is_filtered_and_the_past_is_walked_through(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with the_history(tmp_path / "c", size) as (office, pilot, app, screen):
        last = await office.events()
        assert numbers(screen) == list(range(last, max(0, last - module.PAGE), -1))
        await picture(pilot, "log")
        await press(pilot, "d")
        assert all(screen.back.view and row.cells[0] == ("★", "warn") for row in screen.log_rows.rows)
        assert "is:decision" in screen.field.value
        await to_event(pilot, screen, "TaskReviewed")
        await picture(pilot, "decisions")
        if size == SMALL:
            await press(pilot, "enter")
            assert "by reviewer in R4, on review 1 of T2" in shown(app)
            await picture(pilot, "event")
            await press(pilot, "escape")
        await press(pilot, "b")
        await settle(pilot)
        past = the_past(app)
        assert "THE PAST · read only" in shown(app)
        row = past.board.list.row("task:2")
        assert row is not None
        assert row.cells[2] == ("review", "info"), "the verdict is written before the task moves"
        await picture(pilot, "past")

        # Nothing can be changed, whatever the key says in the room.
        before = await office.events()
        for key in ("a", "b", "r", "c", "exclamation_mark", "s", "dollar_sign"):
            await press(pilot, key)
            assert "nothing can be changed here" in past.message.says
        assert await office.events() == before
        assert app.screen is past

        # By decisions and by the log's filter, which are decisions here.
        await press(pilot, "left_square_bracket")
        assert past.event.kind == "TaskAssigned"
        await press(pilot, "right_curly_bracket")
        assert past.event.kind == "TaskReviewed"
        for _ in range(40):
            await press(pilot, "left_curly_bracket")
            if "There is no decision before" in past.message.says:
                break
        assert "There is no decision before" in past.message.says
        assert past.board.list.rows == []
        await press(pilot, "escape")
        assert app.screen is screen
        await press(pilot, "escape", "escape")
        await settle_screen(pilot, ControlScreen)


async def test_steps_without_a_filter_go_event_by_event_up_to_now(tmp_path: Path) -> None:
    async with the_history(tmp_path / "c") as (office, pilot, app, _):
        await press(pilot, "down", "down", "b")
        past = the_past(app)
        last = await office.events()
        assert past.event.id == last - 2
        await press(pilot, "right_square_bracket", "right_square_bracket")
        assert past.event.id == last
        assert past._view.tables.rows == app.room.view.tables.rows, "the board at the last event is the board now"
        await press(pilot, "right_square_bracket")
        assert "There is no event after this one" in past.message.says
        await press(pilot, "left_square_bracket")
        assert past.event.id == last - 1
        await press(pilot, "n")
        await settle_screen(pilot, ControlScreen)
        assert app.room.looking_back.screen is None


async def test_a_thing_has_its_history_and_an_event_leads_to_its_thing(tmp_path: Path) -> None:
    async with the_history(tmp_path / "c", key="y") as (_, pilot, app, screen):
        assert screen.field.value == "task:T3"
        assert {event.entity for event in screen._events.values()} == {"tasks", "runs", "comments"}
        # Words that mean nothing leave what shows, and say what can be written.
        await press(pilot, "slash")
        await write(pilot, " s:red")
        assert "There is no filter 's'" in shown(app)
        assert numbers(screen)
        await press(pilot, "escape")
        assert screen.field.value == ""
        await to_event(pilot, screen, "TaskReviewed")
        await press(pilot, "y")
        assert screen.field.value == "task:T2"
        await to_event(pilot, screen, "TaskReviewed")
        await press(pilot, "t")
        await settle_screen(pilot, ControlScreen)
        assert app.room.board.list.cursor_id == "task:2"
        assert app.focused is app.room.board.list
        await press(pilot, "y")
        screen = app.screen  # type: ignore[assignment]
        await to_event(pilot, screen, "RunQueued")
        await press(pilot, "t")
        await settle_screen(pilot, RunScreen)


async def test_pages_come_as_the_reader_goes_down_and_news_come_in_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAGE", 20)
    monkeypatch.setattr(module, "AHEAD", 5)
    async with the_history(tmp_path / "c") as (office, pilot, app, screen):
        last = await office.events()
        assert numbers(screen) == list(range(last, last - 20, -1))
        assert "more below" in shown(app)
        await press(pilot, "G")
        assert numbers(screen) == list(range(last, last - 40, -1))
        for _ in range(20):
            await press(pilot, "G")
        assert numbers(screen) == list(range(last, 0, -1))
        assert "more below" not in shown(app)
        screen.show_event(last - 3)
        await office.do("AddComment", goal=1, kind="observation", body="A word that comes later")
        app.room.flush()
        app.room.grow_older()
        await settle(pilot)
        assert numbers(screen)[0] == await office.events() > last
        assert screen.event is not None
        assert screen.event.id == last - 3, "who reads keeps the place"
        assert "A word that comes later" in screen.log_rows.rows[0].cells[5]


async def test_a_change_shows_before_and_after_and_text_of_agents_is_drawn_not_obeyed(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        await office.do("AddComment", goal=1, kind="observation", body=EVIL[0])
        await office.do("CancelTask", task=5, reason=f"{EVIL[0]} not needed")
        async with office.app().run_test(size=HOME) as pilot:
            app = await ready(pilot, office)
            await press(pilot, "L")
            screen = app.screen
            assert isinstance(screen, HistoryScreen)
            await to_event(pilot, screen, "TaskCancelled")
            text = " ".join(shown(app).split())
            assert "± was pending" in text
            assert "now cancelled" in text
            assert "\x1b" not in shown(app)
            await press(pilot, "b")
            assert "\x1b" not in shown(app)
            then = the_past(app)._view.tables.get(Task, 5)
            assert then is not None
            assert then.status == TaskStatus.CANCELLED


async def test_a_long_fold_is_told_and_can_be_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    from core.blackboard.past import Folding

    at_it, go_on = threading.Event(), threading.Event()

    class Slow(Folding):
        def step(self, by: int = 1) -> None:
            at_it.set()
            assert go_on.wait(30)
            super().step(by)

    monkeypatch.setattr("tui.screens.past.Folding", Slow)
    async with the_history(tmp_path / "c") as (_, pilot, app, screen):
        await pilot.press("down", "b")
        for _ in range(500):
            if at_it.is_set() and isinstance(app.screen, PastScreen):
                break
            await pilot.pause(0.01)
        past = the_past(app)
        past.show_head()
        await pilot.pause()
        assert "working it out: 0 of" in shown(app)
        await pilot.press("escape")
        go_on.set()
        await settle(pilot)
        assert app.screen is screen
        await press(pilot, "b")
        assert the_past(app)._view.loaded
