"""Pictures of the screen, the same on every machine.

`picture` compares what the screen shows now with an accepted SVG beside the tests; one flow may take several.
`make snapshots` accepts new ones. A flow that wants toasts says `run_test(notifications=True)`.
"""

import os
import time
from collections.abc import Awaitable, Callable
from functools import partialmethod
from pathlib import Path

import pytest
from pytest_textual_snapshot import SVGImageExtension, normalize_svg
from rich.console import Console
from syrupy.assertion import SnapshotAssertion
from textual._compositor import LayoutUpdate
from textual.app import App
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation
from textual.drivers.headless_driver import HeadlessDriver
from textual.geometry import Size
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip
from textual.widgets import Input, TextArea

from tests.flows.painting import paint_later

# Rules are told apart by what they are, thousands of times a screen: Python's own hash says the same, and is quicker.
RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]

Picture = Callable[[Pilot[object], str], Awaitable[None]]

KEPT = ("PATH", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "VIRTUAL_ENV")
KEPT_PREFIXES = ("PYTEST_", "COV", "PYTHON")
SCREEN = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "TZ": "UTC"}
MOST_FRAMES = 50
PATIENCE_S = 5.0


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leave of the environment only what Python needs: no colours, no home and no names of this machine."""
    for name in list(os.environ):
        if name not in KEPT and not name.startswith(KEPT_PREFIXES):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    for name, value in {**SCREEN, "HOME": str(home)}.items():
        monkeypatch.setenv(name, value)
    time.tzset()


@pytest.fixture(autouse=True)
def still_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing moves by itself: no animations, no blinking cursors."""
    # read once at import, so the variable TEXTUAL_ANIMATIONS would come too late
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
    for widget in (Input, TextArea):
        monkeypatch.setattr(widget.cursor_blink, "_default", False)


@pytest.fixture(autouse=True)
def styles_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every app of a process has the same style sheets: parsing them anew for each was a good part of its start."""
    monkeypatch.setattr(Stylesheet, "_parse_rules", _known_rules)


# What was parsed, by everything that it depends on: text, place, precedence and the theme's variables.
_RULES: dict[tuple[object, ...], list[RuleSet]] = {}
_PARSE = Stylesheet._parse_rules


def _known_rules(
    sheet: Stylesheet,
    css: str,
    read_from: CSSLocation,
    is_default_rules: bool = False,
    tie_breaker: int = 0,
    scope: str = "",
) -> list[RuleSet]:
    given = (css, read_from, is_default_rules, tie_breaker, scope)
    key = (*given, *sheet._variables.items())
    if key not in _RULES:
        _RULES[key] = _PARSE(sheet, *given)
    return _RULES[key]


@pytest.fixture(autouse=True)
def painted_at_rest(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A screen is painted when it has come to rest, unless the test is about painting."""
    if not {"wire", "each_paint"}.intersection(request.fixturenames):
        monkeypatch.setattr(Screen, "_compositor_refresh", paint_later)


@pytest.fixture
def each_paint() -> None:
    """For tests that look at what is painted, and when."""


@pytest.fixture(autouse=True)
def pictures_without_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each picture would get a number, made of all that it shows, which `normalize_svg` takes out again."""
    monkeypatch.setattr(Console, "export_svg", partialmethod(Console.export_svg, unique_id="terminal-0"))


@pytest.fixture
def snap_compare() -> None:
    """Refuse the plugin's own fixture: it accepts a crashed app and its report holds the environment."""
    pytest.fail("use the picture fixture")


@pytest.fixture
def picture(snapshot: SnapshotAssertion, tmp_path: Path) -> Picture:
    """Compare the screen of a running app with the accepted picture of this name."""
    accepted = snapshot.use_extension(SVGImageExtension)

    async def take(pilot: Pilot[object], name: str) -> None:
        give_up = time.monotonic() + PATIENCE_S
        await _nothing_at_work(pilot, give_up)
        svg = await _at_rest(pilot, name)
        while not (same := accepted(name=name) == svg) and time.monotonic() < give_up:
            # on a busy machine a reader may bring what the picture shows only now
            await pilot.pause(0.1)
            svg = await _at_rest(pilot, name)
        if not same:
            seen = tmp_path / f"{name}.svg"
            seen.write_text(svg, encoding="utf-8")
            pytest.fail(f"the screen differs from the picture {name!r}; it was {seen}")

    return take


async def _nothing_at_work(pilot: Pilot[object], give_up: float) -> None:
    """Until no worker is left that brings something to the screen."""
    while time.monotonic() < give_up and any(not worker.is_finished for worker in pilot.app.workers):
        await pilot.pause(0.02)


async def _at_rest(pilot: Pilot[object], name: str) -> str:
    """Return the screen once three looks in a row show the same: two can come before a change that waits its turn."""
    before, equal = None, 0
    for _ in range(MOST_FRAMES):
        await pilot.pause()
        await pilot.wait_for_scheduled_animations()
        _assert_alive(pilot.app)
        now = _lines(pilot.app)
        equal = equal + 1 if now == before else 0
        if equal == 2:
            return normalize_svg(pilot.app.export_screenshot(title=name))
        before = now
    pytest.fail(f"the screen never came to rest for the picture {name!r}")


def _lines(app: App[object]) -> tuple[Size, list[list[Strip]]]:
    """What a picture would show, without the cost of drawing it."""
    shown = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    assert isinstance(shown, LayoutUpdate)
    return app.size, [list(strips) for strips in shown.strips]


def _assert_alive(app: App[object]) -> None:
    # the only way to learn of a crash before the app's context ends
    crash = app._exception
    assert crash is None, f"the app has crashed: {crash!r}"


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What really leaves for the terminal: the test driver writes like a real one, into this list."""
    written: list[str] = []
    monkeypatch.setattr(HeadlessDriver, "is_headless", False)
    monkeypatch.setattr(HeadlessDriver, "write", lambda _self, data: written.append(data))
    return written


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A terminal that can be given to another program; what happened to it."""
    happened: list[str] = []
    monkeypatch.setattr(HeadlessDriver, "can_suspend", True)
    monkeypatch.setattr(HeadlessDriver, "suspend_application_mode", lambda _self: happened.append("given"))
    monkeypatch.setattr(HeadlessDriver, "resume_application_mode", lambda _self: happened.append("taken back"))
    return happened
