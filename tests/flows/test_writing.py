"""The operator writes below a task or goal: whom it will wake is told while they type, and what became of it after."""

from pathlib import Path

import pytest
from textual.events import Paste

from core.domain.entities import Comment
from tests.flows.conftest import Picture
from tests.flows.world import (
    HOME,
    SMALL,
    TINY,
    Office,
    a_busy_board,
    a_goal_at_work,
    an_office,
    at_work,
    press,
    ready,
    settle,
    shown,
    wait,
    write,
)


async def written(office: Office, where: str = "author = 'human'") -> list[tuple[str, str]]:
    comments = await office.company.board.readers.entities(Comment, f"{where} ORDER BY id")
    return [(comment.kind, comment.body) for comment in comments]


async def woken(office: Office) -> list[str]:
    sql = (
        "SELECT slug FROM mentions JOIN agents ON agents.id = agent_id WHERE mentions.status = 'pending' ORDER BY slug"
    )
    return [row["slug"] for row in await office.company.board.readers.all(sql)]


@pytest.mark.parametrize(
    "size",
    [HOME, *(pytest.param(size, marks=pytest.mark.soak) for size in (SMALL, TINY))],
    ids=["home", "small", "tiny"],
)
async def test_whom_a_comment_wakes_is_told_before_it_is_sent(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to("task:3")
            await press(pilot, "c")
            composer = app.room.composer
            assert "@name wakes an agent" in composer.foretells
            await write(pilot, "Look at docs first @inv")
            assert composer.foretells == "wakes nobody · unknown @inv — did you mean @inventory?"
            await press(pilot, "tab")
            assert composer.field.value == "Look at docs first @inventory "
            await write(pilot, "and @linkz")
            assert composer.foretells == "wakes: inventory · unknown @linkz — did you mean @links?"
            await picture(pilot, "while-typing")
            before = await office.events()
            await press(pilot, "enter")
            assert await office.events() > before
            assert await written(office) == [("dialogue", "Look at docs first @inventory and @linkz")]
            assert await woken(office) == ["inventory"]
            assert "woke inventory · unknown @linkz — did you mean @links?" in app.room.message.says
            assert app.focused is app.room.board.list
            if size == SMALL:
                await press(pilot, "enter", "end")
            if size != TINY:
                await picture(pilot, "sent")


# Each wakes somebody else: what waits for an agent is one call, however often it is named.
FIRST_WORDS = (
    ("/note for @links later", "/note wakes nobody", "note", []),
    ("/ask which ones, @links?", "wakes: links · a question", "question", ["links"]),
    ("/mail @inventory how far are you?", "wakes: inventory · mail that waits", "mail_request", ["inventory"]),
    ("/inform @reviewer the wiki is out", "wakes: reviewer · mail that needs no", "mail_inform", ["reviewer"]),
    ("/object only docs count @coordinator", "wakes: coordinator · an objection", "objection", ["coordinator"]),
    ("/decide docs and core", "wakes nobody · a decision", "decision", []),
)


async def test_the_first_word_chooses_the_kind(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_goal_at_work(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to(f"goal:{goal}")
            said: list[tuple[str, str]] = []
            heard: list[str] = []
            for typed, foretold, kind, wakes in FIRST_WORDS:
                await press(pilot, "c")
                app.room.composer.field.value = typed
                await press(pilot)
                assert foretold in app.room.composer.foretells
                await press(pilot, "enter")
                said.append((kind, typed.partition(" ")[2]))
                heard += wakes
                assert await written(office) == said
                assert await woken(office) == sorted(heard)
                decisions = await office.company.board.readers.value("SELECT count(*) FROM decisions")
                assert decisions == (kind == "decision")


async def test_what_cannot_be_sent_stays(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            await press(pilot, "g", "c")
            before = await office.events()
            composer = app.room.composer
            for typed, why in (
                ("/mial @links hello", "There is no /mial."),
                ("/mail hello", "Mail needs somebody"),
                ("/note", "no text"),
            ):
                composer.field.value = typed
                await press(pilot, "enter")
                assert why in composer.foretells
                assert composer.asks
                assert composer.field.value == typed
            assert await office.events() == before
            composer.field.value = " /mial is a path"
            await press(pilot, "enter")
            assert await written(office) == [("dialogue", "/mial is a path")]


async def test_what_was_written_comes_back(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            await press(pilot, "g", "c")
            await write(pilot, "first")
            await press(pilot, "enter", "c")
            await write(pilot, "second, not sent")
            await press(pilot, "escape", "c")
            await write(pilot, "third")
            field = app.room.composer.field
            for key, value in (
                ("up", "second, not sent"), ("up", "first"), ("up", "first"), ("down", "second, not sent"),
                ("down", "third"), ("down", "third"),
            ):  # fmt: skip
                await press(pilot, key)
                assert field.value == value
            assert await written(office) == [("dialogue", "first")]


async def test_a_refused_comment_says_why_and_can_be_written_on(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to("task:3")
            await press(pilot, "c")
            app.room.composer.field.value = "x" * 20_000 + "y"
            await press(pilot, "enter")
            assert await written(office) == []
            assert "brings your text back" in app.room.message.says


async def test_lines_that_are_pasted_stay_lines(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            await press(pilot, "g", "c")
            app.room.composer.field.post_message(Paste("one\rtwo\n\nthree \x1b[2J"))
            await press(pilot)
            assert app.room.composer.field.value == "one⏎two⏎⏎three ␛[2J"
            await press(pilot, "ctrl+j")
            await write(pilot, "four")
            await press(pilot, "enter")
            assert await written(office) == [("dialogue", "one\ntwo\n\nthree ␛[2J\nfour")]


@pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])
async def test_mail_is_gathered_and_what_waits_is_marked(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        links = await at_work(office, 3, "links")
        await office.do("AddComment", links, task=3, kind="mail_inform", body="@inventory your count has a gap")
        office.clock.forward(60)
        await office.do("AddComment", task=3, kind="mail_request", body="@links when will it be there?")
        office.clock.forward(60)
        await office.do("AddComment", task=2, kind="mail_request", body="@inventory which languages are left?")
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await press(pilot, "m")
            told = shown(app)
            assert told.count("waits for an answer") == 2
            assert told.index("which languages") < told.index("when will it") < told.index("has a gap")
            await picture(pilot, "all-mail")
            await press(pilot, "escape")

            app.room.board.list.focus()
            app.room.board.list.move_to("task:3")
            await press(pilot, "enter", "6")
            assert "which languages" not in shown(app)
            assert "waits for an answer" in shown(app)
            office.clock.forward(60)
            await office.do("AddComment", links, task=3, kind="observation", body="In an hour")
            await wait(pilot, office, 1)
            await settle(pilot)
            assert "✓ answered" in shown(app)
            assert shown(app).index("when will it be there?") < shown(app).index("↳ links answers")
            assert "In an hour" in shown(app)
            assert "waits for an answer" not in shown(app)
            await picture(pilot, "mail-of-a-task")
