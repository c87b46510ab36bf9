"""The first screen: what one can begin with, what was opened before, and what is here to run on."""

import asyncio
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from core.blackboard.checks import Check
from core.config import CONFIG, Config, RehearsalConfig, write_config
from core.founding.ground import Ground
from tests.flows.conftest import Picture
from tests.flows.world import HOME, SMALL
from tui.personal import Personal
from tui.remembered import Memory
from tui.screens.found import FoundScreen
from tui.screens.welcome import Chosen, Here, WelcomeScreen
from tui.themes import DEFAULT_THEME
from tui.welcome_app import Begun, WelcomeApp

FOUND = Here(
    (
        Check("program", "ok", "Claude Code 2.1.0 at /usr/bin/claude."),
        Check("server", "warn", "Ollama's port, http://127.0.0.1:11434/v1: loading; it loads [bold]qwen3[/]. Ask"
              " again in a minute."),
        Check("key", "ok", "ANTHROPIC_API_KEY is not set."),
        Check("memory", "ok", "8192 MB are free: 21 to 37 agent programs fit at once."),
        Check("git", "fail", "git is not found: a demo cannot leave out what git ignores. Install git."),
    ),
    "",
    (Ground("claude", "Claude Code 2.1.0", {"kind": "command", "program": "claude"}),),
)  # fmt: skip
NOTHING = Here(
    (Check("program", "ok", "No agent program is on the PATH."),),
    "Agents have nothing to run on here: install a program. The demo needs none: opsroom demo",
    (),
)


class Clock:
    """Seconds that pass at each look."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder to stand in, at home, with a company, a rehearsal, a broken one, and an empty folder."""
    home = Path(tmp_path / "home")
    for name, config in (
        ("acme", Config(name="Acme [b]Maps[/b] 地图")),
        ("audit", Config(name="Audit of src", rehearsal=RehearsalConfig(folder=str(home / "src")))),
    ):
        (home / name).mkdir()
        write_config(home / name, config)
    (home / "broken").mkdir()
    (home / "broken" / CONFIG).write_text("name = \n")
    (home / "empty").mkdir()
    monkeypatch.chdir(home / "empty")
    return home


def an_app(here: Path, *recent: str, found: Here = FOUND, theme: str = DEFAULT_THEME, problem: str = "") -> WelcomeApp:
    async def look() -> Here:
        return found

    memory = Memory(here / "state.json")
    memory.now = memory.now.model_copy(update={"recent": tuple(str(here / name) for name in recent), "theme": theme})
    return WelcomeApp(Personal(memory=memory), look, problem=problem, new_folder=here / "new", monotonic=Clock())


async def settle(pilot: Pilot[Begun]) -> None:
    for _ in range(3):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


async def press(pilot: Pilot[Begun], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def told(app: WelcomeApp) -> str:
    return str(app.welcome.problem.content)


def typed(app: WelcomeApp, text: str) -> None:
    app.welcome.path.value = text


@pytest.mark.parametrize("size", [HOME, SMALL], ids=["home", "small"])
async def test_a_company_is_opened_again_and_what_vanished_is_forgotten(
    picture: Picture, here: Path, size: tuple[int, int]
) -> None:
    app = an_app(here, "acme", "gone", "broken", "audit")
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await picture(pilot, "begin")
        await press(pilot, "tab", "j", "enter")
        assert "~/gone cannot be opened: the folder is gone" in told(app)
        assert "x takes it off the list" in told(app)
        await picture(pilot, "gone")
        await press(pilot, "x")
        assert app.welcome.recent.cursor_id == str(here / "broken")
        await press(pilot, "enter")
        assert "not valid TOML" in told(app)
        await press(pilot, "j", "enter")
    assert app.return_value == Begun(Chosen("open", here / "audit"))
    left = Memory.read(here / "state.json").now.recent
    assert left == tuple(str(here / name) for name in ("acme", "broken", "audit"))
    assert (here / "broken" / CONFIG).exists(), "nothing else is touched"


async def test_a_path_is_typed_completed_and_looked_at(picture: Picture, here: Path) -> None:
    app = an_app(here, found=NOTHING)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await press(pilot, "o", "enter")
        assert "name is empty" in told(app)
        typed(app, "~/nowhere")
        await press(pilot, "enter")
        assert "is no folder" in told(app)
        typed(app, "~/empty")
        await press(pilot, "enter")
        assert "holds no company" in told(app)
        await picture(pilot, "no-company-there")
        await press(pilot, "escape")
        assert (told(app), app.welcome.ways.has_focus) == ("", True)
        await press(pilot, "o", *"~/ac")
        await asyncio.sleep(0.05)
        await settle(pilot)
        await press(pilot, "right", "enter")
    assert app.return_value == Begun(Chosen("open", here / "acme"))


async def test_a_company_is_made_by_the_form_and_leaving_it_comes_back(picture: Picture, here: Path) -> None:
    app = an_app(here)
    async with app.run_test(size=HOME) as pilot:
        await settle(pilot)
        await press(pilot, "j", "enter")
        assert app.welcome.path.value == "~/new"
        typed(app, "~/acme")
        await press(pilot, "enter")
        assert "holds a company already" in told(app)
        typed(app, "~/Lighthouse")
        await press(pilot, "enter")
        assert isinstance(app.screen, FoundScreen)
        await press(pilot, "escape")
        assert isinstance(app.screen, WelcomeScreen)
        await press(pilot, "n")
        typed(app, "~/Lighthouse")
        await press(pilot, "enter")
        assert isinstance(app.screen, FoundScreen)
        app.screen.query_one("#found-mission", Input).value = "Help people find their way"
        await press(pilot, "ctrl+s", "right")
        while app.return_value is None:
            await press(pilot, "enter")
    begun = app.return_value
    assert begun.chosen == Chosen("make", here / "Lighthouse")
    assert begun.plan is not None
    assert (begun.plan.name, begun.plan.mission) == ("Lighthouse", "Help people find their way")
    assert begun.plan.runner == FOUND.grounds[0].runner
    assert not (here / "Lighthouse").exists(), "whoever called it makes it"


async def test_the_rehearsal_is_tried_on_this_folder_and_q_begins_nothing(picture: Picture, here: Path) -> None:
    app = an_app(here, theme="high-contrast", problem="The company would audit itself.")
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await picture(pilot, "high-contrast")
        await press(pilot, "t")
        await picture(pilot, "folder-to-audit")
        await press(pilot, "enter")
    assert app.return_value == Begun(Chosen("rehearse", here / "empty"))
    app = an_app(here)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await press(pilot, "q")
    assert app.return_value is None
