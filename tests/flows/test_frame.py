"""The frame of the room: keys by wish, modes, the place of panes, themes; and what of it is there at the next start."""

from pathlib import Path

from core.domain.states import GoalStatus
from tests.flows.conftest import Picture
from tests.flows.world import HOME, a_draft, an_office, press, ready, settle_screen, shown, wait
from tui.personal import Personal
from tui.screens.agents import AgentsScreen
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
    wish = "[keys.room]\napprove = ['y', 'ctrl+y']\nblock = 'a'\nhelp = 'f1'\n[keys.lists]\ndown = 'ö'\n"
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
            await press(pilot, "escape", "y")
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
