"""The mouse on every pane: a click selects, a double click opens, the wheel scrolls; tabs, keys and the way click."""

from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widget import Widget

from core.domain.states import TaskStatus
from tests.flows.world import (
    HOME,
    SMALL,
    Office,
    a_busy_board,
    agree,
    an_office,
    press,
    ready,
    settle,
    settle_screen,
    shown,
    wait,
)
from tui.app import OpsroomApp
from tui.screens.agents import AgentsScreen
from tui.screens.control import ControlScreen
from tui.screens.history import HistoryScreen
from tui.screens.mail import MailScreen
from tui.screens.palette import Palette
from tui.screens.prompts import PromptsScreen
from tui.screens.reading import Reading
from tui.widgets.prose import Prose
from tui.widgets.rows import Rows


async def click_on(pilot: Pilot[None], text: str, *, times: int = 1, skip: int = 0, at: int | None = None) -> None:
    """Click the middle of a text on the screen, or its letter `at`."""
    app = pilot.app
    assert isinstance(app, OpsroomApp)
    for y, line in enumerate(shown(app).split("\n")):
        if text in line:
            if skip:
                skip -= 1
                continue
            await pilot.click(offset=(line.index(text) + (len(text) // 2 if at is None else at), y), times=times)
            await settle(pilot)
            return
    pytest.fail(f"{text!r} is not on the screen:\n{shown(app)}")


async def wheel(pilot: Pilot[None], widget: Widget, down: int) -> None:
    """Turn the wheel over a widget."""
    region = widget.content_region
    x, y = region.x + 2, region.y + 1
    kind = events.MouseScrollDown if down > 0 else events.MouseScrollUp
    for _ in range(abs(down)):
        pilot.app.screen._forward_event(kind(widget, x, y, 0, 0, 0, False, False, False, x, y))
    await settle(pilot)


async def test_the_room_by_mouse_alone(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        for number in range(30):
            await office.do("AddComment", task=3, kind="note", body=f"line {number}\nand more\nand more")
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            room = app.room
            await click_on(pilot, "T3 Check")
            assert app.focused is room.board.list
            assert room.situation.ref == "task:3"
            await click_on(pilot, "T3 Check", times=2)
            assert app.focused is room.detail.prose
            before = room.detail.prose.scroll_offset.y
            await wheel(pilot, room.detail.prose, 3)
            assert room.detail.prose.scroll_offset.y > before
            await click_on(pilot, "4 Runs")
            assert room.detail.tabs.open == 4
            # a fold sign folds, and unfolds
            rows = len(room.board.list.rows)
            await click_on(pilot, "▾ Round 1", at=0)
            assert len(room.board.list.rows) == rows - 4
            await click_on(pilot, "red line")
            assert room.situation.ref == "task:4"
            assert app.focused is room.inbox.list


async def test_keys_in_the_footer_click_and_a_decision_takes_two(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await click_on(pilot, "? help")
            await settle_screen(pilot, Reading)
            await pilot.click(offset=(2, 2))  # beside the dialog
            await settle_screen(pilot, ControlScreen)
            await click_on(pilot, "b reject", skip=_above(app))
            assert not app.room.composer.asks
            assert "one click decides nothing" in app.room.message.says
            await click_on(pilot, "b reject", skip=_above(app), times=2)
            assert app.room.composer.asks
            await press(pilot, "n", "o", "enter")
            await _decided(pilot, office)
            assert (await office.task(4)).status != TaskStatus.WAITING_HUMAN


def _above(app: OpsroomApp) -> int:
    """How often the words stand above the footer."""
    return sum("b reject" in line for line in shown(app).split("\n")[:-1])


async def _decided(pilot: Pilot[None], office: Office) -> None:
    if not isinstance(pilot.app.screen, ControlScreen):
        await agree(pilot, office)
    await wait(pilot, office, 6)


async def test_each_other_screen_by_mouse(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            for key, kind in (("A", AgentsScreen), ("P", PromptsScreen), ("L", HistoryScreen)):
                await press(pilot, key)
                await settle_screen(pilot, kind)
                lists = [each for each in app.screen.query(Rows) if each.region.height > 3 and len(each.rows) > 2]
                assert lists, kind
                for rows in lists:
                    place = rows._header + 1
                    region = rows.content_region
                    await pilot.click(offset=(region.x + 6, region.y + place))
                    await settle(pilot)
                    assert app.focused is rows
                    assert rows.cursor_id == rows.rows[rows.scroll_offset.y + 1].id
                    await wheel(pilot, rows, 2)
                texts = [each for each in app.screen.query(Prose) if each.region.height > 2]
                assert texts, kind
                await pilot.click(offset=(texts[0].region.right - 2, texts[0].region.bottom - 1))
                await settle(pilot)
                assert app.focused is texts[0]
            # the way that the line above the keys tells is clicked back
            await click_on(pilot, "Control ›")
            await settle_screen(pilot, ControlScreen)
            await press(pilot, "m")
            await settle_screen(pilot, MailScreen)
            await pilot.click(offset=(1, 1))
            await settle_screen(pilot, ControlScreen)


async def test_the_palette_by_mouse(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await press(pilot, "colon")
            await settle_screen(pilot, Palette)
            await press(pilot, *"mode", "space", *"agents")
            await click_on(pilot, "mode: Agents", times=2)
            await settle_screen(pilot, AgentsScreen)
            await press(pilot, "P")
            await settle_screen(pilot, PromptsScreen)
            await click_on(pilot, "› Agents ›")
            await settle_screen(pilot, AgentsScreen)
            await press(pilot, "question_mark")
            await settle_screen(pilot, Reading)
            assert "Here: the agents" in shown(app)


async def test_half_pages_and_ends_by_keys(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await press(pilot, "L")
            await settle_screen(pilot, HistoryScreen)
            assert isinstance(app.screen, HistoryScreen)
            rows = app.screen.log_rows
            seen = []
            for key in ("ctrl+d", "ctrl+d", "ctrl+u", "pagedown", "G", "g", "j", "k"):
                await press(pilot, key)
                seen.append(next(place for place, row in enumerate(rows.rows) if row.id == rows.cursor_id))
            first, second, back, page, last, top, down, up = seen
            assert 1 < first < second == 2 * first
            assert back == first
            assert page > back + first
            assert last == len(rows.rows) - 1
            assert (top, down, up) == (0, 1, 0)
