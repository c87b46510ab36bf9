"""The frame of the room: keys by wish, modes, the place of panes, themes; and what of it is there at the next start."""

from pathlib import Path

import pytest

from core.domain.states import GoalStatus
from tests.command_line import ROOT
from tests.flows.conftest import Picture
from tests.flows.world import (
    HOME,
    SMALL,
    a_busy_board,
    a_draft,
    an_office,
    an_office_again,
    press,
    ready,
    settle,
    settle_screen,
    shown,
    wait,
)
from tui.app import OpsroomApp
from tui.personal import Personal
from tui.screens.agents import AgentsScreen
from tui.screens.control import ControlScreen
from tui.screens.history import HistoryScreen
from tui.screens.mail import MailScreen
from tui.screens.past import PastScreen
from tui.screens.prompts import PromptsScreen
from tui.screens.reading import Reading


def a_person(place: Path, settings: str = "", **themes: str) -> Personal:
    """Somebody's own settings and themes, in real files; called again it is the next start."""
    folder = place / "config"
    (folder / "themes").mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(settings)
    for name, text in themes.items():
        (folder / "themes" / f"{name}.toml").write_text(text)
    return Personal.read(folder, place / "state" / "state.json")


async def test_keys_by_wish_are_heard_and_shown(tmp_path: Path, picture: Picture) -> None:
    wish = "[keys.room]\napprove = ['f6', 'ctrl+y']\nblock = 'a'\nhelp = 'f1'\n[keys.lists]\ndown = 'ö'\n"
    wish += "[keys.agents]\npause = '-'\n"
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        app = office.app(personal=a_person(tmp_path, wish))
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await picture(pilot, "footer")
            await press(pilot, "question_mark")
            assert not isinstance(app.screen, Reading)
            await press(pilot, "f1")
            await settle_screen(pilot, Reading)
            await picture(pilot, "help")
            await press(pilot, "escape", "f6")
            await wait(pilot, office, 6)
            assert (await office.goal(goal)).content_hash == (await office.goal(goal)).reviewed_hash
            await press(pilot, "A")
            await settle_screen(pilot, AgentsScreen)
            assert "- pause" in shown(app)
            await press(pilot, "p")
            assert "why" not in shown(app)
            await press(pilot, "minus")
            assert isinstance(app.screen, AgentsScreen)
            assert app.screen.composer.asks
            await press(pilot, "escape", "escape")
            await wait(pilot, office, 1)
            await press(pilot, "a")
            assert app.room.composer.asks
            assert (await office.goal(goal)).status == GoalStatus.DRAFT


async def test_modes_have_one_key_each_and_the_last_one_is_there_at_the_next_start(
    tmp_path: Path, picture: Picture
) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await press(pilot, "A")
            await settle_screen(pilot, AgentsScreen)
            assert "Control › Agents" in shown(app)
            await press(pilot, "P")
            await settle_screen(pilot, PromptsScreen)
            assert "Control › Agents › Prompts" in shown(app)
            await press(pilot, "escape")
            await settle_screen(pilot, AgentsScreen)
            await press(pilot, "C")
            await settle_screen(pilot, ControlScreen)
            await press(pilot, "m")
            await settle_screen(pilot, MailScreen)
            await press(pilot, "A")
            await settle_screen(pilot, AgentsScreen)
            # what is being written is not lost to a key of a mode, whatever that key is
            await press(pilot, "p", "C", "m")
            assert isinstance(app.screen, AgentsScreen)
            assert app.screen.composer.field.value == "Cm"
            app.action_mode("mail")
            await press(pilot)
            assert isinstance(app.screen, AgentsScreen)
            await press(pilot, "escape")
            await app.personal.memory.settle()
    async with an_office_again(tmp_path / "c") as office:
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await settle_screen(pilot, AgentsScreen)
            await picture(pilot, "as-it-was-left")
            await press(pilot, "escape")
            await settle_screen(pilot, ControlScreen)
            assert "Control ›" not in shown(app)


async def test_the_history_is_a_mode_and_its_past_is_left_by_the_key_of_another(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await press(pilot, "A", "L")
            await settle_screen(pilot, HistoryScreen)
            await press(pilot, "b")
            await settle_screen(pilot, PastScreen)
            await press(pilot, "A")
            await settle_screen(pilot, AgentsScreen)
            assert app.room.looking_back.screen is None
            await press(pilot, "L", "b")
            await settle_screen(pilot, PastScreen)
            await press(pilot, "L")
            await settle_screen(pilot, HistoryScreen)
            await app.personal.memory.settle()
    async with an_office_again(tmp_path / "c") as office:
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await settle_screen(pilot, HistoryScreen)


def _widths(app: OpsroomApp) -> tuple[int, int]:
    return app.room.query_one("#left").region.width, app.room.detail.region.width


async def test_panes_are_moved_hidden_and_zoomed_and_stay_so(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            assert _widths(app) == (60, 60)
            await press(pilot, "greater_than_sign", "greater_than_sign", "plus")
            assert _widths(app) == (72, 48)
            assert app.room.inbox.region.height > 8
            await press(pilot, *["less_than_sign"] * 30)
            assert _widths(app) == (24, 96)
            # by the mouse: the border between the sides, and the one between inbox and board
            await pilot.mouse_down(offset=(24, 20))
            await pilot.hover(offset=(80, 20))
            await pilot.mouse_up(offset=(80, 20))
            assert _widths(app)[0] in (80, 81)
            border = app.room.inbox.region.bottom - 1
            await pilot.mouse_down(offset=(10, border))
            await pilot.hover(offset=(10, 25))
            await pilot.mouse_up(offset=(10, 25))
            assert app.room.inbox.region.bottom in (25, 26)
            await pilot.hover(offset=(10, 12))
            assert app.room.inbox.region.bottom in (25, 26)
            await press(pilot, "z")
            assert app.room.inbox.region.width == 120
            assert not app.room.board.display
            await press(pilot, "tab")
            assert app.focused is app.room.board.list
            assert app.room.board.region.width == 120
            await picture(pilot, "zoomed")
            await press(pilot, "z", "Z")
            assert not app.room.board.display
            assert "= shows every pane again" in shown(app)
            await picture(pilot, "hidden")
            await app.personal.memory.settle()
    async with an_office_again(tmp_path / "c") as office:
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            assert _widths(app)[0] in (79, 80, 81)
            assert not app.room.board.display
            # a decision is never out of reach: its pane comes back when it is asked for
            await press(pilot, "i", "Z")
            assert not app.room.inbox.display
            await press(pilot, "Z")
            assert "last pane" in shown(app)
            await press(pilot, "i")
            assert app.focused is app.room.inbox.list
            assert app.room.inbox.display
            await press(pilot, "equals_sign")
            assert _widths(app) == (60, 60)
            assert app.room.board.display


async def test_on_a_small_screen_each_pane_is_reached_and_zoomed(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            seen = []
            for _ in range(3):
                seen.append(app.focused)
                assert app.focused is not None
                assert app.focused.region.height > 2
                await press(pilot, "z")
                assert app.focused.region.width >= 76
                assert app.focused.region.height >= 10
                await press(pilot, "z", "tab")
            assert seen == [app.room.inbox.list, app.room.board.list, app.room.detail.prose]
            await press(pilot, "greater_than_sign")
            assert "from 100 columns on" in shown(app)


THEME = (ROOT / "themes" / "opsroom-dark.toml").read_text().replace("opsroom-dark", "mine")


async def test_own_themes_are_switched_live_and_stay(
    tmp_path: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch, wire: list[str]
) -> None:
    bad = THEME.replace("mine", "\\u001b]52;c;eA==\\u0007")
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app(personal=a_person(tmp_path, mine=THEME, bad=bad))
        async with app.run_test(size=SMALL, notifications=True) as pilot:
            await ready(pilot, office)
            assert "bad.toml: name" in shown(app)
            assert "]52;c;eA==\x07" not in "".join(wire)
            await press(pilot, "colon")
            await pilot.press(*"thememine", "enter", "enter")
            await settle(pilot)
            assert app.theme == "mine"
            app.choose_theme("terminal")
            await press(pilot, "down")
            await app.personal.memory.settle()
    async with an_office_again(tmp_path / "c") as office:
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            assert app.theme == "terminal"
            await picture(pilot, "the-terminals-colours")
        monkeypatch.setenv("NO_COLOR", "1")
    async with an_office_again(tmp_path / "c") as office:
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=SMALL, notifications=True) as pilot:
            await ready(pilot, office)
            assert app.theme == "opsroom-dark"
            assert "NO_COLOR is set" in shown(app)
