"""The company of which prompts were kept, and the prompts' screen of its room: for the flows of its pages."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.flows.world import HOME, SMALL, Office, a_goal_at_work, an_office, at_work, press, ready, settle
from tests.unit.test_cli_prompts import keep
from tui.app import OpsroomApp
from tui.screens.prompts import PromptsScreen

SIZES = pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])


async def a_told_company(office: Office) -> int:
    """Two runs on T3 of which the prompts were kept, with a comment between them; returns the task."""
    await a_goal_at_work(office)
    first = await at_work(office, 3, "links")
    await keep(office.company, first.run_id)
    body = "12 of 40 Markdown files are looked at.\n- README.md has a link to docs/old.md, which is gone."
    await office.do("AddComment", first, task=3, kind="observation", body=body)
    asked = await office.agent("coordinator", "mention", task_id=3)
    await keep(office.company, asked.run_id)
    await office.end(asked)
    office.clock.forward(75)
    return 3


async def opened(pilot: Pilot[None], office: Office, ref: str = "task:3") -> tuple[OpsroomApp, PromptsScreen]:
    """The screen by its key, from the row of the board."""
    app = await ready(pilot, office)
    app.room.board.list.focus()
    app.room.board.list.move_to(ref)
    await settle(pilot)
    await press(pilot, "P")
    assert isinstance(app.screen, PromptsScreen)
    return app, app.screen


@asynccontextmanager
async def the_prompts(
    folder: Path, ref: str = "task:3", size: tuple[int, int] = HOME
) -> AsyncIterator[tuple[Office, Pilot[None], OpsroomApp, PromptsScreen]]:
    """A told company, and the screen opened by its key."""
    async with an_office(folder) as office:
        await a_told_company(office)
        async with office.app().run_test(size=size) as pilot:
            yield office, pilot, *await opened(pilot, office, ref)


def text(screen: PromptsScreen) -> str:
    """All that is in the frame of the text, also what is scrolled out of sight."""
    prose = screen.prose
    return "\n".join("".join(part for part, _ in prose.drawn_line(line)) for line in range(prose.virtual_size.height))


def an_editor(tmp_path: Path, does: str) -> Path:
    script = tmp_path / "an editor"
    script.write_text(f"#!/bin/sh\n{does}\n")
    script.chmod(0o700)
    return script
