"""Looking around in the room: every size, every tab, the filter, the help, the dry run, the stop, without colour."""

import asyncio
from pathlib import Path

import pytest
from textual.pilot import Pilot

from core.domain.entities import Company
from tests.flows.conftest import Picture
from tests.flows.world import (
    HOME,
    SMALL,
    TINY,
    WIDE,
    a_busy_board,
    a_draft,
    a_goal_at_work,
    an_office,
    press,
    ready,
    settle,
    shown,
    wait,
    write,
)


@pytest.mark.parametrize(
    "size", [pytest.param(WIDE, marks=pytest.mark.soak), HOME, SMALL, TINY], ids=["200x50", "120x40", "80x24", "40x12"]
)
async def test_a_busy_board_at_every_size(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await picture(pilot, "inbox")
            app.room.board.list.focus()
            app.room.board.list.move_to("task:3")
            await press(pilot, "enter")
            await picture(pilot, "a-task")
            await press(pilot, "escape")
            assert app.focused is app.room.board.list


async def test_the_first_paint_waits_for_nothing(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_draft(office)
        app = office.app()
        held = asyncio.Event()
        snapshot = office.company.board.readers.snapshot

        async def slow_snapshot() -> object:
            await held.wait()
            return await snapshot()

        office.company.board.readers.snapshot = slow_snapshot  # type: ignore[method-assign,assignment]
        async with app.run_test(size=HOME) as pilot:
            await picture(pilot, "loading")
            await pilot.press("a", "d", "j", "1", "slash", "escape")
            held.set()
            await ready(pilot, office)
            assert "Audit the folder" in shown(app)


async def test_an_empty_company(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c", started=False) as office:
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await picture(pilot, "stopped")
            await press(pilot, "s")
            assert (await office.company.board.readers.entities(Company, "true"))[0].dispatching
            await picture(pilot, "started")


async def test_the_tabs_of_a_task(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to("task:2")
            for key, name in zip("12345", ("discussion", "outputs", "reviews", "runs", "history"), strict=True):
                await press(pilot, key)
                await picture(pilot, name)


async def test_what_is_shown_follows_the_board(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to("task:3")
            await press(pilot, "1")
            await office.do("AddComment", task=3, kind="note", body="Look at docs/ first")
            for _ in range(20):
                await press(pilot)
                await pilot.pause(0.05)
                if "Look at docs/ first" in shown(app):
                    break
            assert "Look at docs/ first" in shown(app)


async def test_the_filter(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "tab", "slash")
            await write(pilot, "status:working")
            await picture(pilot, "by-status")
            assert [row.id for row in app.room.board.list.rows] == ["goal:1", "round:1", "task:3"]
            app.room.board.field.value = "agent:inv -done"
            await press(pilot, "enter")
            assert [row.id for row in app.room.board.list.rows] == ["goal:1", "round:1", "task:4"]
            app.room.board.field.value = "agent:you"  # as its row says
            await pilot.pause()
            assert [row.id for row in app.room.board.list.rows] == ["goal:2"]
            app.room.board.field.value = "colour:red"
            await pilot.pause()
            assert "no filter 'colour'" in app.room.message.says
            await picture(pilot, "no-such-filter")
            app.room.board.field.value = "nothing like it"
            await pilot.pause()
            await picture(pilot, "nothing-fits")
            await press(pilot, "escape")
            assert len(app.room.board.list.rows) == 9


async def test_the_help_the_dry_run_and_the_palette(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "question_mark")
            await picture(pilot, "help")
            await press(pilot, "escape", "T")
            await picture(pilot, "dry-run")
            before = await office.events()
            await press(pilot, "escape")
            assert await office.events() == before
            await press(pilot, "colon")
            await pilot.pause(0.3)
            await picture(pilot, "palette")
            await write(pilot, "revi")
            await pilot.pause(0.3)
            await press(pilot, "escape")
            assert app.screen is app.room


@pytest.mark.parametrize("key", ["question_mark", "T"])
async def test_what_only_tells_fits_the_small_screen(tmp_path: Path, picture: Picture, key: str) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await press(pilot, key)
            await picture(pilot, "small")


async def test_help_and_dry_run_are_there_whole_at_every_width(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await press(pilot, "question_mark")
            await settle(pilot)
            assert "· T4 does not wait for that" in shown(app)
            await pilot.resize_terminal(*HOME)
            await settle(pilot)
            assert "T4 does not wait for that" in shown(app)
            assert "· T4 does not wait for that" not in shown(app)
            await press(pilot, "escape")
            await pilot.resize_terminal(*SMALL)
            await press(pilot, "T")
            await settle(pilot)
            assert "inventory on T5" in " ".join(shown(app).split())
            assert "…" not in shown(app).split("Dry run")[1]


async def test_stop_everything(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "exclamation_mark")
            await picture(pilot, "the-question")
            await wait(pilot, office, 1)
            await press(pilot, "enter")
            assert (await office.company.board.readers.entities(Company, "true"))[0].dispatching
            await press(pilot, "exclamation_mark")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            company = (await office.company.board.readers.entities(Company, "true"))[0]
            assert not company.dispatching
            assert (await office.task(3)).status == "pending"
            await picture(pilot, "stopped")


async def resized(pilot: Pilot[None], size: tuple[int, int]) -> None:
    """Another terminal size, once the room has laid itself out for it."""
    await pilot.resize_terminal(*size)
    app = pilot.app
    for _ in range(100):
        await press(pilot)
        if tuple(app.size) == size and tuple(app.screen.size) == size:
            return
        await pilot.pause(0.02)
    raise AssertionError(f"the room never took the size {size}")


async def test_a_resize_keeps_focus_cursor_and_place(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        for number in range(60):
            await office.do("CreateTask", goal=1, title=f"Look at part {number}", intent="look")
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            rows = app.room.board.list
            rows.focus()
            rows.move_to("task:40")
            await press(pilot)
            for size in (SMALL, TINY, HOME):
                await resized(pilot, size)
                assert app.focused is rows
                assert rows.cursor_id == "task:40"
                assert "T40" in shown(app), size
            await press(pilot, "enter", "down")
            for size in (SMALL, TINY, HOME):
                await resized(pilot, size)
                assert app.focused is app.room.detail.prose
                assert "Look at part 34" in shown(app), size
            await picture(pilot, "home-again")
            await press(pilot, "escape")
            assert app.focused is rows


async def test_folding(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            await press(pilot, "g", "left")
            assert [row.id for row in app.room.board.list.rows] == ["goal:1", "goal:2", "task:6"]
            await press(pilot, "right", "j", "left")
            assert [row.id for row in app.room.board.list.rows][:3] == ["goal:1", "round:1", "task:1"]


async def test_without_colour_words_and_signs_remain(
    tmp_path: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await picture(pilot, "no-colour")


@pytest.mark.parametrize(
    "theme",
    ["opsroom-light", *(pytest.param(name, marks=pytest.mark.soak) for name in ("high-contrast", "colour-blind-safe"))],
)
async def test_every_theme(tmp_path: Path, picture: Picture, theme: str) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app(theme=theme)
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await picture(pilot, "busy")


async def test_the_screen_has_few_widgets(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            assert len(app.room.query("*")) <= 60
