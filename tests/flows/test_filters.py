"""The filter in words is the same in every list: inbox, mail, prompts; esc shows everything and keeps the place."""

from pathlib import Path

import pytest

from tests.flows.conftest import Picture
from tests.flows.prompts_world import the_prompts
from tests.flows.world import HOME, SMALL, a_busy_board, a_goal_at_work, an_office, press, ready, shown, wait, write
from tui.screens.mail import MailScreen


@pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])
async def test_the_inbox_shows_what_fits_and_decides_only_that(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        await office.do("CreateGoal", title="Count the words", description="Of every page.")
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            inbox = app.room.inbox
            everything = [row.id for row in inbox.list.rows]
            assert len(everything) == 3
            await press(pilot, "g", "slash")
            await write(pilot, "kind:dispatch words")
            await press(pilot)
            assert [item.title for item in inbox.items] == ["Count the words"]
            assert app.room.situation.tag == "G3"
            await picture(pilot, "narrow")
            await press(pilot, "escape")
            assert (app.focused, inbox.list.cursor_id) == (inbox.list, everything[0])
            await press(pilot, "slash")
            await write(pilot, "goal:G3")
            await press(pilot, "enter")
            assert "esc" in shown(app)
            await wait(pilot, office, 1)
            await press(pilot, "d")
            await wait(pilot, office, 6)
            assert (await office.goal(3)).status == "planning"
            assert (await office.goal(2)).status == "draft"
            await office.do("CreateGoal", title="Another one", description="It does not fit.")
            await press(pilot)
            assert "Another one" not in [item.title for item in inbox.items]
            await press(pilot, "slash")
            await write(pilot, " mood:bad")
            await press(pilot)
            assert "There is no filter 'mood' here." in shown(app)
            assert "Another one" not in [item.title for item in inbox.items]
            await press(pilot, "escape")
            assert "Another one" in [item.title for item in inbox.items]


async def test_what_a_filter_of_the_inbox_hides_is_found_from_elsewhere(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "slash")
            await write(pilot, "is:window")
            await press(pilot, "enter")
            assert "Nothing fits the filter; esc shows everything." in shown(app)
            await press(pilot, "tab", "tab", "slash")
            await write(pilot, "links")
            await press(pilot, "enter", "i", "escape")
            assert (app.room.inbox.filter.is_narrow, app.room.board.filtered) == (False, True)
            await press(pilot, "slash")
            await write(pilot, "is:window")
            await press(pilot, "enter")
            item = app.room.view.inbox()[0]
            app.room.attaching.answer(item)
            await press(pilot)
            assert app.room.inbox.item == item


async def test_mail_is_filtered_by_who_wrote_it_and_what_still_waits(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        links = await office.agent("links", "mention", goal_id=1)
        for kind, body in (
            ("mail_request", "@coordinator does a link to a folder count?"),
            ("mail_inform", "@inventory the README is looked at."),
        ):
            await office.do("AddComment", links, task=3, kind=kind, body=body)
        await office.do("AddComment", task=2, kind="mail_request", body="@inventory which languages did you find?")
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "m")
            assert isinstance(app.screen, MailScreen)
            await press(pilot, "slash")
            await write(pilot, "is:waiting from:links")
            await press(pilot, "enter")
            assert "1 of 3" in shown(app)
            assert "does a link to a folder count?" in shown(app)
            assert "which languages" not in shown(app)
            await picture(pilot, "mail")
            await press(pilot, "escape")
            assert "which languages" in shown(app)
            await press(pilot, "slash")
            await write(pilot, "to:inventory -readme")
            await press(pilot)
            assert "1 of 3" in shown(app)
            await press(pilot, "escape", "escape")
            assert app.screen is app.room


async def test_prompts_are_filtered_and_the_marked_one_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.prompting.builder.draw_nonce.__code__", (lambda: "5f2c9a01").__code__)
    async with the_prompts(tmp_path / "c") as (_, pilot, app, screen):
        assert [row.id for row in screen.told.rows] == ["now:links:3", "run:4", "run:3"]
        await press(pilot, "space", "slash")
        await write(pilot, "agent:coordinator")
        await press(pilot, "enter")
        assert [row.id for row in screen.told.rows] == ["now:links:3", "run:4"]
        assert "Whose · 2 of 3" in shown(app)
        await press(pilot, "escape")
        assert len(screen.told.rows) == 3
        await press(pilot, "2", "slash")
        await write(pilot, "is:own")
        await press(pilot, "enter")
        assert "Nothing fits the filter" in shown(app)
        await press(pilot, "1")
        assert len(screen.told.rows) == 3
        await press(pilot, "2", "escape")
        assert len(screen.texts.rows) > 3
        await press(pilot, "escape")
        assert app.screen is app.room
