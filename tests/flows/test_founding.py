"""`opsroom init` in a terminal: a form whose plan is looked over, and made only when the person agrees."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Static

from core.founding.found import Plan
from core.founding.ground import Ground
from tests.flows.conftest import Picture
from tests.flows.world import HOME, SMALL, TINY
from tui.founding_app import FoundingApp
from tui.screens.found import FoundScreen, Review

CLAUDE = Ground("claude", "Claude Code 2.1.0", {"kind": "command", "program": "claude"})
LOCAL = Ground("ollama", "[bold]qwen3[/] on Ollama, this machine", {"kind": "chat", "url": "http://127.0.0.1:11434/v1",
                                                                 "model": "qwen3"})  # fmt: skip


class Clock:
    """Seconds that pass at each look."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


async def press(pilot: Pilot[Plan], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


async def settle(pilot: Pilot[Plan]) -> None:
    """Until what is here was looked for, and the screen shows it."""
    await pilot.app.workers.wait_for_complete()
    for _ in range(3):
        await pilot.pause()


def told(app: FoundingApp) -> str:
    """What the form says is wrong."""
    return str(app.form.problem.content)


def an_app(*found: Ground) -> FoundingApp:
    async def look() -> Sequence[Ground]:
        return found

    return FoundingApp(Path("/srv/acme"), "acme", look=look, monotonic=Clock())


@pytest.mark.parametrize(
    "size",
    [HOME, pytest.param(SMALL, marks=pytest.mark.soak), pytest.param(TINY, marks=pytest.mark.soak)],
    ids=["home", "small", "tiny"],
)
async def test_a_company_is_planned_key_by_key(picture: Picture, size: tuple[int, int]) -> None:
    app = an_app(CLAUDE, LOCAL)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        assert isinstance(app.screen, FoundScreen)
        app.form.mission.value = "Help people find their way"
        await picture(pilot, "the-form")
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, Review)
        await picture(pilot, "looked-over")
        await press(pilot, "escape")
        assert isinstance(app.screen, FoundScreen)
        await press(pilot, "ctrl+s", "right")
        while app.return_value is None:
            await press(pilot, "enter")  # reads on until the end was shown
        plan = app.return_value
    assert plan is not None
    assert (plan.name, plan.mission, plan.template.title) == ("acme", "Help people find their way", "Software team")
    assert plan.runner == CLAUDE.runner
    assert (plan.runs_at_once, plan.budget_micros) == (3, 10_000_000)


async def test_what_was_typed_right_before_the_key_is_what_is_looked_over() -> None:
    app = an_app(CLAUDE)
    async with app.run_test(size=HOME) as pilot:
        await settle(pilot)
        app.form.mission.focus()
        await pilot.pause()
        for key in (*"Help people", "ctrl+s"):  # as from a paste: all of them before the first is heard
            app.post_message(events.Key("space" if key == " " else key, key if len(key) == 1 else None))
        await settle(pilot)
        assert isinstance(app.screen, Review)
        assert any("Mission: Help people" in str(each.content) for each in app.screen.query(Static))


async def test_what_is_chosen_and_changed_is_planned(picture: Picture) -> None:
    app = an_app(CLAUDE, LOCAL)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        form = app.form
        form.language.value, form.template.value, form.ground.value = "zh", "research-desk", "1"
        await settle(pilot)
        form.runs.value, form.budget.value = "2", "0"
        await picture(pilot, "research")
        await press(pilot, "ctrl+s")
        assert any("no limit of money" in str(each.content) for each in app.screen.query(Static))
        await press(pilot, "right", "enter")
    assert app.return_value is not None
    assert (app.return_value.locale, app.return_value.runner["model"]) == ("zh", "qwen3")


async def test_where_nothing_is_found_it_says_what_to_do_and_takes_settings(picture: Picture) -> None:
    app = an_app()
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        assert app.form.ground.value == "settings"
        await picture(pilot, "nothing-found")
        await press(pilot, "ctrl+s")
        assert "Say what the agents run on" in told(app)
        assert "--runner" not in told(app), "the form has no options"
        app.form.settings.value = '{"kind": "chat"}'
        await settle(pilot)
        await press(pilot, "ctrl+s")
        assert "model: it is needed" in told(app)
        app.form.settings.value = '{"kind": "chat", "url": "http://127.0.0.1:1/v1", "model": "m", "key": "sk-abcdefgh"}'
        await settle(pilot)
        await press(pilot, "ctrl+s")
        assert "A key stands in no setting" in told(app)
        app.form.template.value = "empty"
        await settle(pilot)
        app.form.company_name.value = ""
        await settle(pilot)
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, FoundScreen), "a company has a name"
        app.form.company_name.value = "Acme"
        await settle(pilot)
        await press(pilot, "ctrl+s", "right", "enter")
    assert app.return_value is not None
    assert app.return_value.template.agents == ()


async def test_whoever_leaves_makes_nothing() -> None:
    app = an_app(CLAUDE)
    async with app.run_test(size=SMALL) as pilot:
        await press(pilot, "escape")
    assert app.return_value is None
