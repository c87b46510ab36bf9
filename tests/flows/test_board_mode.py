"""The board mode: the whole board as table and tree, by columns, order and groups, and what waits for what."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from core.domain.entities import Approval, Comment, Task
from tests.flows.conftest import Picture
from tests.flows.test_frame import a_person
from tests.flows.world import (
    HOME,
    SMALL,
    Office,
    a_busy_board,
    agree,
    an_office,
    an_office_again,
    press,
    ready,
    settle_screen,
    shown,
    wait,
    write,
)
from tui.app import OpsroomApp
from tui.screens.board_columns import BoardColumns
from tui.screens.board_mode import BoardScreen
from tui.screens.control import ControlScreen

SIZES = pytest.mark.parametrize("size", [HOME, SMALL], ids=["home", "small"])


async def opened(pilot: Pilot[None], office: Office) -> BoardScreen:
    await ready(pilot, office)
    return await opened_again(pilot)


async def opened_again(pilot: Pilot[None]) -> BoardScreen:
    await press(pilot, "O")
    await settle_screen(pilot, BoardScreen)
    screen = pilot.app.screen
    assert isinstance(screen, BoardScreen)
    return screen


def lines(screen: BoardScreen) -> list[str]:
    return [row.id for row in screen.table.list.rows]


def tasks(screen: BoardScreen) -> list[str]:
    return [each for each in lines(screen) if each.startswith("task:")]


@SIZES
async def test_the_whole_board_is_ordered_grouped_and_its_look_is_remembered(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=size) as pilot:
            screen = await opened(pilot, office)
            assert sorted(tasks(screen)) == [f"task:{number}" for number in range(1, 7)]
            await picture(pilot, "by-goal")
            await press(pilot, "p")  # in one list
            assert lines(screen) == tasks(screen), "no heading parts them"
            await press(pilot, "U")
            assert tasks(screen)[0] == "task:6"
            await press(pilot, "right_square_bracket", "p")
            await picture(pilot, "by-status")
            await press(pilot, "p", "p", "X", "X")
            await pilot.pause()
            open_ones = set(tasks(screen))
            assert open_ones == {"task:3", "task:4", "task:5", "task:6"}, "the others are over"
            await press(pilot, "o")
            await picture(pilot, "tree")
            await press(pilot, "W")
            await settle_screen(pilot, BoardColumns)
            await picture(pilot, "columns")
            await press(pilot, "escape")
            await app.personal.memory.settle()
    async with an_office_again(tmp_path / "c") as office:
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await settle_screen(pilot, BoardScreen)
            again = app.screen
            assert isinstance(again, BoardScreen)
            assert set(tasks(again)) == open_ones
            await press(pilot, "q")
            await settle_screen(pilot, ControlScreen)


@SIZES
async def test_the_keys_of_the_room_act_on_what_is_selected_in_it(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            screen = await opened(pilot, office)
            screen.table.list.move_to("task:4")
            await press(pilot, "enter")
            assert screen.in_detail
            await picture(pilot, "a-question")
            await press(pilot, "c")
            await write(pilot, "Not those of today")
            await press(pilot, "enter")
            await wait(pilot, office, 1)
            said = await office.company.board.readers.entities(Comment, "task_id = 4 ORDER BY id")
            assert said[-1].body == "Not those of today"
            await press(pilot, "escape")
            screen.table.list.move_to("task:4")
            await press(pilot, "b")
            await write(pilot, "Keep them all")
            await press(pilot, "enter")
            await agree(pilot, office)
            await wait(pilot, office, 6)
            (asked,) = await office.company.board.readers.entities(Approval, "id = 1")
            assert (asked.status, asked.decided_by, asked.note) == ("rejected", "human", "Keep them all")
            (task,) = await office.company.board.readers.entities(Task, "id = 4")
            assert task.status == "cancelled"


async def test_a_filter_narrows_it_and_a_wrong_one_is_told(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            screen = await opened(pilot, office)
            await press(pilot, "slash")
            await write(pilot, "must:M2")
            await press(pilot, "enter")
            assert tasks(screen) == ["task:3"]
            assert "/ must:M2" in shown(app)
            await press(pilot, "slash")
            screen.table.field.value = "colour:red"
            await pilot.pause()
            assert "no filter 'colour'" in shown(app)
            assert tasks(screen) == ["task:3"], "what showed before still shows"
            await picture(pilot, "no-such-filter")
            await press(pilot, "escape")
            assert len(tasks(screen)) == 6


@pytest.mark.parametrize(
    ("size", "theme"),
    [(HOME, "high-contrast"), pytest.param(SMALL, "", marks=pytest.mark.soak)],
    ids=["contrast", "small"],
)
async def test_what_waits_for_what_is_a_tree(
    tmp_path: Path, picture: Picture, size: tuple[int, int], theme: str
) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app: OpsroomApp = office.app(theme=theme)
        async with app.run_test(size=size) as pilot:
            screen = await opened(pilot, office)
            screen.table.list.move_to("task:5")
            await press(pilot, "x")
            assert screen.table.root == 5
            assert "waits for" in shown(app)
            await picture(pilot, "dependencies")
            await press(pilot, "j", "j")  # past the heading
            other = screen.ref
            assert other == "task:2"
            await press(pilot, "escape")
            assert screen.table.root == 0
            assert screen.ref == other, "the cursor stays with what was looked at"


async def test_after_a_jump_to_what_is_not_listed_the_keys_act_on_the_row_of_the_board_mode(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        await office.do("CancelGoal", goal=2, reason="not now")
        await office.do("ArchiveGoal", goal=2)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "J")
            await write(pilot, "G2")
            await press(pilot, "enter")
            assert app.room.jumping.pinned == "goal:2"
            screen = await opened_again(pilot)
            screen.table.list.move_to("task:4")
            await pilot.pause()
            assert app.room.situation.ref == "task:4"
            await press(pilot, "b")
            await write(pilot, "Keep them all")
            await press(pilot, "enter")
            await agree(pilot, office)
            await wait(pilot, office, 6)
            assert (await office.approval(1)).status == "rejected"
