"""What an agent runs on, in its form: checked before it is sent, refused with the reason, tried by one real call."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from core.domain.entities import AgentRecord
from tests.flows.conftest import Picture
from tests.flows.world import HOME, SMALL, Office, an_office, press, ready, settle, settle_screen, shown
from tests.models.script import Turn
from tests.models.server import ModelServer
from tui.screens.agents import AgentsScreen
from tui.screens.confirm import Confirm
from tui.screens.lines_form import LinesForm

KINDS = frozenset({"chat", "command"})
CHAT = {"kind": "chat", "url": "http://127.0.0.1:8080/v1", "model": "qwen3", "turns": 20, "key": "env:PROVIDER_KEY"}
KEY = "sk-test-not-a-key-0123456789"


async def runner(office: Office) -> dict[str, Any]:
    found = await office.company.board.readers.entities(AgentRecord, "slug = 'links'")
    return dict(found[0].runner)


async def opened(pilot: Pilot[None], office: Office) -> AgentsScreen:
    app = await ready(pilot, office)
    await press(pilot, "A")
    screen = app.screen
    assert isinstance(screen, AgentsScreen)
    found = next(each for each in screen.leading.view.tables.all(AgentRecord) if each.slug == "links")
    screen.roster.move_to(f"agent:{found.id}")
    await settle(pilot)
    return screen


async def written(pilot: Pilot[None], text: str) -> LinesForm:
    """Write this into the form, and save."""
    form = pilot.app.screen
    assert isinstance(form, LinesForm)
    form.text.load_text(text)
    await settle(pilot)
    await press(pilot, "ctrl+s")
    return form


@pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])
async def test_a_runner_is_edited_and_what_no_run_could_use_is_refused(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        await office.do("EditAgent", agent="links", runner=CHAT)
        app = office.app(runner_kinds=KINDS)
        async with app.run_test(size=size) as pilot:
            screen = await opened(pilot, office)
            await press(pilot, "r")
            await settle_screen(pilot, LinesForm)
            await picture(pilot, "the-form")
            for wrong, why in (
                ("kind: chta", "which this company does not have"),
                ("kind: chat\nmodel: m", "url: it is needed"),
                ("kind: chat\nurl: http://127.0.0.1:1/v1\nmodel: m\ncolour: red", "colour"),
                (f"kind: chat\nurl: http://127.0.0.1:1/v1\nmodel: m\nprovider: {KEY}", "A key stands in no setting"),
                ("kind: command\nprogram: clod", "no program 'clod' in the catalogue"),
                ("kind chat", "line 1"),
                ('{"kind": ', "no JSON object"),
            ):
                form = await written(pilot, wrong)
                assert why in str(form.problem.content), wrong
                assert KEY not in str(form.problem.content)
            assert await runner(office) == CHAT
            await written(pilot, 'kind: command\nprogram: claude\nmodel: sonnet\nenv: ["ANTHROPIC_API_KEY"]\n')
            await settle_screen(pilot, AgentsScreen)
            assert await runner(office) == {
                "kind": "command", "program": "claude", "model": "sonnet", "env": ["ANTHROPIC_API_KEY"],
            }  # fmt: skip
            assert "another runner from its next run on" in shown(app)
            assert screen is app.screen


async def test_one_real_call_is_made_after_a_question(tmp_path: Path, picture: Picture) -> None:
    with ModelServer(Turn("OK")) as server:
        async with an_office(tmp_path / "c") as office:
            runs_on = {"kind": "chat", "url": f"{server.url}/v1", "model": "scripted"}
            await office.do("EditAgent", agent="links", runner=runs_on)
            before = await office.events()
            app = office.app(runner_kinds=KINDS)
            async with app.run_test(size=SMALL) as pilot:
                await opened(pilot, office)
                await press(pilot, "t")
                await settle_screen(pilot, Confirm)
                await press(pilot, "escape")
                assert server.requests == []
                await press(pilot, "t")
                await settle_screen(pilot, Confirm)
                office.clock.forward(1)
                await press(pilot, "right", "enter")
                await settle_screen(pilot, AgentsScreen)
                assert "links answered: OK (100 tokens in, 10 out, cost unknown" in shown(app)
                assert await office.events() == before
            assert len(server.requests) == 1
