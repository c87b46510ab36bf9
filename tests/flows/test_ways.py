"""The ways that are the same everywhere: palette, commands in forms, jumps, targets in texts, copies, pager, editor."""

import asyncio
import base64
from pathlib import Path

import pytest

from core.domain.entities import Budget, Comment
from tests.flows.conftest import Picture
from tests.flows.world import (
    HOME,
    SMALL,
    a_busy_board,
    agree,
    an_office,
    press,
    ready,
    settle,
    settle_screen,
    shown,
    wait,
    write,
)
from tui.screens.agents import AgentsScreen
from tui.screens.choosing import Choosing
from tui.screens.command_form import CommandForm
from tui.screens.confirm import Confirm
from tui.screens.palette import Palette
from tui.screens.run import RunScreen


async def test_the_palette_has_everything_and_says_what_does_not_apply(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await press(pilot, "colon")
            await settle_screen(pilot, Palette)
            await picture(pilot, "small")
            await write(pilot, "theme: opsroom-dark")
            assert "not now: it is shown already" in shown(app)
            await press(pilot, "enter")
            # what does not apply does nothing, and the palette stays
            assert isinstance(app.screen, Palette)
            await press(pilot, "escape", "ctrl+p")
            await settle_screen(pilot, Palette)
            await write(pilot, "agts")
            await press(pilot, "enter")
            await settle_screen(pilot, AgentsScreen)
            await press(pilot, "colon")
            await settle_screen(pilot, Palette)
            assert "on this screen (agents)" in shown(app)
            await write(pilot, "budget")
            await press(pilot, "enter")
            assert isinstance(app.screen, AgentsScreen)
            assert app.screen.composer.asks


async def test_a_command_without_a_key_is_a_form_a_question_and_then_an_act(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            before = await office.events()
            await press(pilot, "colon")
            await settle_screen(pilot, Palette)
            await write(pilot, "set budget")
            await picture(pilot, "found")
            await press(pilot, "enter")
            await settle_screen(pilot, CommandForm)
            await write(pilot, "galaxy")
            await press(pilot, "ctrl+s")
            assert "one of company" in shown(app)
            await picture(pilot, "wrong")
            assert isinstance(app.screen, CommandForm)
            for name, text in (("scope", "company"), ("limit_micros", "12.50"), ("period", "week")):
                app.screen.lines[name].value = text
            await press(pilot, "ctrl+s")
            await settle_screen(pilot, Confirm)
            await picture(pilot, "question")
            assert await office.events() == before
            await agree(pilot, office)
            await settle(pilot)
            budgets = await office.company.board.readers.entities(Budget, "scope = 'company' AND period = 'week'")
            assert [each.limit_micros for each in budgets] == [12_500_000]


async def test_the_palette_and_a_form_in_high_contrast_on_the_small_screen(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app(theme="high-contrast")
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await press(pilot, "colon")
            await settle_screen(pilot, Palette)
            await write(pilot, "hire agent")
            await picture(pilot, "palette")
            await press(pilot, "enter")
            await settle_screen(pilot, CommandForm)
            await press(pilot, "ctrl+s")
            await picture(pilot, "form")
            await press(pilot, "escape")
            assert app.screen is app.room


async def test_a_jump_goes_to_the_thing_whatever_hides_it_and_back(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        await office.do("CancelGoal", goal=2, reason="not now")
        await office.do("ArchiveGoal", goal=2)
        await office.do("RetireAgent", agent="reviewer", reason="nothing to review")
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            start = app.room.situation.ref
            await press(pilot, "J")
            await write(pilot, "T3")
            await picture(pilot, "go-to")
            await press(pilot, "enter")
            assert app.room.situation.ref == "task:3"
            await press(pilot, "colon")
            await write(pilot, "g2")
            await press(pilot, "enter")
            await settle(pilot)
            assert app.room.situation.ref == "goal:2"
            assert app.focused is app.room.detail.prose
            assert "G2 is not listed" in shown(app)
            await picture(pilot, "archived")
            await press(pilot, "J")
            await write(pilot, "links")
            await press(pilot, "enter")
            await settle_screen(pilot, AgentsScreen)
            assert isinstance(app.screen, AgentsScreen)
            assert app.screen.agent is not None
            assert app.screen.agent.slug == "links"
            await press(pilot, "backspace")
            assert app.room.situation.ref == "goal:2"
            await press(pilot, "backspace")
            assert app.room.situation.ref == "task:3"
            await press(pilot, "backspace")
            assert app.room.situation.ref == start
            await press(pilot, "backspace")
            assert "no place to go back to" in shown(app)
            # the retired are folded away, the whole board is another mode: a jump finds its way from there
            await press(pilot, "O", "J")
            await write(pilot, "reviewer")
            await press(pilot, "enter")
            await settle_screen(pilot, AgentsScreen)
            assert app.screen.agent is not None
            assert app.screen.agent.slug == "reviewer"
            await press(pilot, "backspace")
            await settle(pilot)
            assert app.modes.now == "board"
            await press(pilot, "C", "J")
            await write(pilot, "T99")
            assert "There is no T99 on this board" in shown(app)
            await press(pilot, "enter")
            assert isinstance(app.screen, Palette)


async def test_ids_and_names_in_a_text_are_followed_by_key_and_by_mouse(tmp_path: Path, picture: Picture) -> None:
    body = "After T2 and T99 comes [@click=app.quit]T4[/], says @links to @nobody; see R1."
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        await office.do("AddComment", task=3, kind="note", body=body)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to("task:3")
            await press(pilot, "enter")
            app.room.detail.prose.action_scroll_end()
            refs = [each.ref for each in app.ways.targets_in(body)]
            assert refs == ["task:2", "task:4", "agent:4", "run:1"]
            await press(pilot, "comma")
            while "T4" not in app.room.message.says:
                await press(pilot, "comma")
            await picture(pilot, "chosen")
            await press(pilot, "enter")
            assert app.room.situation.ref == "task:4"
            await press(pilot, "backspace")
            await settle(pilot)
            assert app.room.situation.ref == "task:3"
            assert app.focused is app.room.detail.prose
            lines = shown(app).split("\n")
            row = next(number for number, line in enumerate(lines) if "@links to" in line)
            await pilot.click(offset=(lines[row].index("@links") + 2, row))
            await settle_screen(pilot, AgentsScreen)
            await press(pilot, "backspace")
            await settle(pilot)
            lines = shown(app).split("\n")
            row = next(number for number, line in enumerate(lines) if "see R1" in line)
            await pilot.click(offset=(lines[row].index("see R1") + 5, row))
            await settle_screen(pilot, RunScreen)
            assert app.is_running


async def test_a_chosen_form_is_copied_and_said(tmp_path: Path, picture: Picture, wire: list[str]) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to("goal:1")
            await wait(pilot, office, 1)
            await press(pilot, "Y")
            await settle_screen(pilot, Choosing)
            await picture(pilot, "forms")
            await press(pilot, "2")
            assert app.clipboard == "G1 Audit the folder"
            assert base64.b64encode(b"G1 Audit the folder").decode() in "".join(wire)
            assert "19 characters copied" in app.room.message.says
            await press(pilot, "Y")
            names = [row.cells[1][0] for row in app.screen.list.rows]  # type: ignore[attr-defined]
            await press(pilot, str(names.index("hash") + 1))
            assert app.clipboard == (await office.goal()).content_hash
            await press(pilot, "Y", str(names.index("Markdown") + 1))
            assert app.clipboard.startswith("# G1 Audit the folder\n\n- status: active\n")
            await press(pilot, "A")
            await settle_screen(pilot, AgentsScreen)
            await press(pilot, "Y")
            await settle_screen(pilot, Choosing)
            await press(pilot, "1")
            assert app.clipboard == "ceo"


def a_program(place: Path, body: str) -> str:
    """An editor or pager of our own."""
    place.write_text(f"#!/bin/sh\n{body}\n")
    place.chmod(0o700)
    return str(place)


async def test_the_pager_shows_a_private_copy_and_the_company_goes_on(
    tmp_path: Path, terminal: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    saw, go = tmp_path / "saw", tmp_path / "go"
    body = f'ls -l "$1" > {saw}; cat "$1" >> {saw}; echo "$1" >> {saw}; while [ ! -e {go} ]; do sleep 0.02; done'
    monkeypatch.setenv("PAGER", a_program(tmp_path / "pager", body))
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to("task:3")
            await settle(pilot)
            await pilot.press("v")
            for _ in range(500):
                if saw.exists() and saw.read_text().endswith(".md\n"):
                    break
                await asyncio.sleep(0.01)
            assert terminal == ["given"]
            # on the loop that the app stands aside on, the board is written and the room's memory follows
            await office.do("AddComment", task=3, kind="note", body="while you read")
            assert app.room.view.last_event == await office.events()
            go.touch()
            await settle(pilot)
            text = saw.read_text()
            assert text.startswith("-r--------")
            assert "# T3 Check the relative links of every Markdown file" in text
            assert "12 of 40 Markdown files are looked at." in text
            assert not await asyncio.to_thread(Path(text.splitlines()[-1]).exists)
            assert terminal == ["given", "taken back"]
            assert "The company went on" in app.room.message.says


async def test_what_one_writes_goes_to_the_editor_and_comes_back(
    tmp_path: Path, terminal: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", a_program(tmp_path / "editor", 'printf "%s\\nsecond line" "$(cat "$1")" > "$1"'))
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to("task:3")
            await press(pilot, "c")
            await write(pilot, "look again")
            await press(pilot, "ctrl+o")
            assert app.room.composer.field.value == "look again⏎second line"
            await press(pilot, "enter")
            comments = await office.company.board.readers.entities(Comment, "author = 'human'")
            assert comments[-1].body == "look again\nsecond line"
            monkeypatch.setenv("EDITOR", a_program(tmp_path / "editor", "exit 3"))
            await press(pilot, "c")
            await write(pilot, "kept")
            await press(pilot, "ctrl+o")
            assert "exit code 3: nothing was taken" in shown(app)
            assert app.room.composer.field.value == "kept"
            await press(pilot, "escape")
            monkeypatch.setenv("EDITOR", a_program(tmp_path / "editor", 'echo "Duties: none" >> "$1"'))
            before = await office.events()
            await press(pilot, "V")
            assert "what you changed there changes nothing here" in app.room.message.says
            assert await office.events() == before
