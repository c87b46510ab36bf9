"""A run is watched live: followed, unfolded, filtered, spoken to, paused, ended; all that it says is literal."""

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from core.agents.transcript import Transcripts
from core.domain.actors import Agent
from core.domain.entities import Remark, Run
from tests.flows.conftest import Picture
from tests.flows.test_hostile_board import EVIL, OURS
from tests.flows.world import (
    HOME,
    SMALL,
    TINY,
    Office,
    a_goal_at_work,
    an_office,
    at_work,
    press,
    ready,
    settle,
    settle_screen,
    shown,
    write,
)
from tui.app import OpsroomApp
from tui.screens.agents import AgentsScreen
from tui.screens.confirm import Confirm
from tui.screens.control import ControlScreen
from tui.screens.run import RunScreen

CHAT = {"kind": "chat", "url": "http://127.0.0.1:1/v1", "model": "m"}
CLAUDE = {"kind": "command", "program": "claude", "command": ["./claude"]}
LINES: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("thought", {"text": "The task asks for the links of every Markdown file; I begin with the README."}),
    ("text", {"text": "I look at the Markdown files one after the other."}),
    ("read", {"query": "ReadTask", "arguments": {"task": 3}}),
    ("call", {"command": "AddComment", "arguments": {"task": 3, "body": "12 of 40"}, "answer": {"id": 7}}),
    ("tool", {"id": "1", "name": "shell", "arguments": "grep -rn '](' docs"}),
    ("result", {"id": "1", "text": "docs/a.md:3\ndocs/b.md:9", "failed": False}),
    ("refused", {"command": "SubmitTask", "error": "conflict: T3 has no output yet"}),
    ("notice", {"text": "the provider cools down; asked again in 20 s"}),
    ("usage", {"tokens_in": 5200, "tokens_out": 310, "cost": 12_300}),
    ("text", {"text": "Two links are dead. 两个链接失效了。"}),
)


def told(office: Office, run: int, *lines: tuple[str, Mapping[str, Any]]) -> None:
    """What a run has said."""
    writing = Transcripts(office.company.folder / "runs", office.clock)
    for kind, facts in lines:
        writing.opened(run)(kind, dict(facts))
        office.clock.forward(1)
    writing.stop()


async def a_run(office: Office, runner: Mapping[str, Any] = CHAT) -> Agent:
    """The links agent at work on T3."""
    await a_goal_at_work(office)
    await office.do("EditAgent", agent="links", runner=dict(runner))
    return await at_work(office, 3, "links")


async def opened(pilot: Pilot[None], office: Office, run: int) -> tuple[OpsroomApp, RunScreen]:
    app = await ready(pilot, office)
    app.room.attaching.open(f"run:{run}")
    await settle_screen(pilot, RunScreen)
    assert isinstance(app.screen, RunScreen)
    await settle(pilot)
    return app, app.screen


@asynccontextmanager
async def the_run(
    folder: Path, *lines: tuple[str, Mapping[str, Any]], runner: Mapping[str, Any] = CHAT, size: tuple[int, int] = HOME
) -> AsyncIterator[tuple[Office, Pilot[None], RunScreen, Agent]]:
    """The links agent at work on T3, what it has said, and its live view."""
    async with an_office(folder) as office:
        run = await a_run(office, runner)
        told(office, run.run_id, *lines)
        async with office.app().run_test(size=size) as pilot:
            _, screen = await opened(pilot, office, run.run_id)
            yield office, pilot, screen, run


async def seen(pilot: Pilot[None], screen: RunScreen, text: str) -> None:
    """Until the reader has brought it."""
    for _ in range(100):
        if text in shown(screen.app):
            return
        await pilot.pause(0.05)
    raise AssertionError(f"{text!r} is not on the screen:\n{shown(screen.app)}")


@pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])
async def test_a_run_at_work_is_read_and_unfolded(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with the_run(tmp_path / "c", *LINES, size=size) as (_, pilot, screen, _):
        await seen(pilot, screen, "Two links are dead")
        await picture(pilot, "live")
        await press(pilot, "e", "g")
        await picture(pilot, "unfolded")


@pytest.mark.soak
async def test_it_follows_until_one_scrolls_up_and_again_by_a_key(tmp_path: Path) -> None:
    lines = (("text", {"text": f"line {number}"}) for number in range(60))
    async with the_run(tmp_path / "c", *lines, size=SMALL) as (office, pilot, screen, run):
        await seen(pilot, screen, "line 59")
        told(office, run.run_id, ("text", {"text": "line 60"}))
        await seen(pilot, screen, "line 60")
        assert "following" in shown(screen.app)
        await press(pilot, "k", "k", "k")
        assert "G follows again" in shown(screen.app)
        before = screen.prose.scroll_offset.y
        told(office, run.run_id, *(("text", {"text": f"later {number}"}) for number in range(30)))
        for _ in range(20):
            await pilot.pause(0.05)
        assert screen.prose.scroll_offset.y == before
        await press(pilot, "G")
        await seen(pilot, screen, "later 29")


@pytest.mark.soak
async def test_a_filter_shows_only_what_fits(tmp_path: Path) -> None:
    async with the_run(tmp_path / "c", *LINES) as (_, pilot, screen, _):
        await seen(pilot, screen, "Two links")
        await press(pilot, "slash")
        await write(pilot, "links -two")
        await press(pilot, "enter")
        assert "begin with the README" in shown(screen.app)
        assert "Two links" not in shown(screen.app)
        await press(pilot, "escape")
        await seen(pilot, screen, "Two links")


async def test_words_are_said_into_it_and_it_is_paused_and_goes_on(tmp_path: Path, picture: Picture) -> None:
    async with the_run(tmp_path / "c", *LINES[:2], size=SMALL) as (office, pilot, screen, run):
        office.company.board.follow(office.company.dispatcher.hear)  # type: ignore[union-attr]
        app = screen.app
        await press(pilot, "s")
        await write(pilot, "[b]Skip[/] the archive")
        await press(pilot, "enter", "p")
        await seen(pilot, screen, "paused it")
        (remark,) = await office.company.board.readers.entities(Remark, "true")
        assert (remark.run_id, remark.body) == (run.run_id, "[b]Skip[/] the archive")
        assert (await runs(office))[-1].paused_at is not None
        await picture(pilot, "paused")
        await press(pilot, "escape", "A")
        assert isinstance(app.screen, AgentsScreen)
        assert "‖ paused" in shown(app)
        await press(pilot, "escape")
        app.room.attaching.open("task:3")
        await settle_screen(pilot, RunScreen)
        await press(pilot, "p")
        assert (await runs(office))[-1].paused_at is None


async def runs(office: Office) -> list[Run]:
    return await office.company.board.readers.entities(Run, "true ORDER BY id")


async def test_it_is_ended_only_after_a_question_and_what_was_not_heard_is_told(tmp_path: Path) -> None:
    async with the_run(tmp_path / "c", *LINES[:2]) as (office, pilot, screen, run):
        office.company.board.follow(office.company.dispatcher.hear)  # type: ignore[union-attr]
        await office.do("SpeakToRun", run=run.run_id, text="One more thing")
        await press(pilot, "x")
        assert isinstance(screen.app.screen, Confirm)
        assert "T3" in shown(screen.app)
        await press(pilot, "enter")
        assert (await runs(office))[-1].status == "running"
        await press(pilot, "x")
        office.clock.forward(1)
        await press(pilot, "right", "enter")
        assert (await runs(office))[-1].status == "killed"
        await seen(pilot, screen, "not heard: the run ended before")
        assert (await office.task(3)).status == "pending"


@pytest.mark.soak
async def test_a_program_that_cannot_hear_says_what_to_do_instead(tmp_path: Path) -> None:
    async with the_run(tmp_path / "c", runner=CLAUDE) as (_, pilot, screen, _):
        await press(pilot, "s")
        await write(pilot, "Hello")
        await press(pilot, "enter")
        assert "can neither hear nor pause" in screen.message.says
        assert "Comment on T3" in screen.message.says


async def test_a_plan_is_a_line_a_step_and_a_terminal_is_offered_only_where_there_is_one(tmp_path: Path) -> None:
    plan = "its plan:\n[x] read the README\n[>] check [bold]its[/bold] links\n[ ] write what is dead " + "long " * 60
    async with an_office(tmp_path / "c") as office:
        run = await a_run(office)
        told(office, run.run_id, ("notice", {"text": "one\ntwo"}), ("plan", {"text": plan}))
        await office.end(run, session="s-1")
        async with office.app().run_test(size=HOME) as pilot:
            _, screen = await opened(pilot, office, run.run_id)
            await seen(pilot, screen, "its plan:")
            lines = [line.strip(" │┃▏▕") for line in shown(screen.app).splitlines()]
            at = next(number for number, line in enumerate(lines) if line.endswith("its plan:"))
            assert "[x] read the README" in lines[at + 1]
            assert "[>] check [bold]its[/bold] links" in lines[at + 2]
            assert "[ ] write what is dead long" in lines[at + 3]
            assert "long long" not in lines[at + 4]
            assert any("one⏎two" in line for line in lines)
            assert "terminal" not in lines[-1]
            await press(pilot, "exclamation_mark")
            assert "There is no terminal to give: links works by a runner of the kind 'chat'" in screen.message.says
            await office.do("EditAgent", agent="links", runner=CLAUDE)
            await settle(pilot)
            screen.show_keys()
            await settle(pilot)
            assert "! terminal" in shown(screen.app)


async def test_going_on_is_offered_and_asked_for_only_where_there_is_a_session(tmp_path: Path) -> None:
    async with the_run(tmp_path / "c") as (office, pilot, screen, run):
        await office.end(run, session="s-1")
        await settle(pilot)
        assert "go on" not in shown(screen.app)
        await press(pilot, "c")
        assert not screen.composer.asks
        assert "There is no session to go on with: links works by a runner of the kind 'chat'" in screen.message.says
        await office.do("EditAgent", agent="links", runner=CLAUDE)
        await settle(pilot)
        screen.app.room.grow_older()
        await settle(pilot)
        assert "c go on" in shown(screen.app)
        screen.show_run((await runs(office))[0])
        await press(pilot, "c")
        assert "R1 did not work on a task (propose)" in screen.message.says
        assert not screen.composer.asks


@pytest.mark.soak
async def test_an_ended_session_goes_on_with_a_remark_and_the_new_run_is_next(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        run = await a_run(office, CLAUDE)
        await office.end(run, session="s-1")
        async with office.app().run_test(size=HOME) as pilot:
            _, screen = await opened(pilot, office, run.run_id)
            await press(pilot, "c")
            await write(pilot, "Use the other feed")
            await press(pilot, "enter", "right_square_bracket")
            newest = (await runs(office))[-1]
            assert newest.brief["remark"] == "Use the other feed"
            assert screen.run_now.id == newest.id
            await press(pilot, "left_square_bracket")
            assert screen.run_now.id == run.run_id


@pytest.mark.soak
async def test_any_run_is_reached_from_the_room_the_agents_and_by_its_number(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        run = await a_run(office)
        told(office, run.run_id, *LINES)
        async with office.app().run_test(size=HOME) as pilot:
            app = await ready(pilot, office)
            await press(pilot, "i", "tab")
            app.room.board.list.focus()
            app.room.board.list.move_to("task:3")
            await press(pilot, "w")
            await settle_screen(pilot, RunScreen)
            await press(pilot, "w")
            await write(pilot, "R1")
            await press(pilot, "enter")
            assert app.screen.run_now.id == 1  # type: ignore[attr-defined]
            await press(pilot, "w")
            await write(pilot, "r999")
            await press(pilot, "enter")
            assert "There is no R999" in shown(app)
            await press(pilot, "escape")
            assert isinstance(app.screen, ControlScreen)
            await press(pilot, "A")
            app.screen.roster.move_to("agent:4")  # type: ignore[attr-defined]
            await press(pilot, "w")
            await settle_screen(pilot, RunScreen)
            await press(pilot, "escape")
            assert isinstance(app.screen, AgentsScreen)


@pytest.mark.soak
async def test_whatever_a_run_says_is_shown_and_nothing_of_it_acts(tmp_path: Path, wire: list[str]) -> None:
    async with an_office(tmp_path / "c") as office:
        run = await a_run(office)
        evil = " ".join(EVIL)
        kinds = [
            ("text", "text"), ("thought", "text"), ("notice", "text"), ("plan", "text"), ("tool", "arguments"),
            ("call", "command"), ("refused", "error"), ("session", "id"), ("permission", "wants"), ("remark", "text"),
            ("result", "text"),
            ("outcome", "detail"), (evil, "text"), ("usage", "cost"), ("read", "query"),
        ]  # fmt: skip
        told(office, run.run_id, *((kind, {name: evil, "name": evil}) for kind, name in kinds))
        with (office.company.folder / "runs" / f"{run.run_id}.jsonl").open("ab") as file:
            file.write(b"\x1b]52;c;AAAA\x07 no json\n")
            file.write(json.dumps({"at": 1, "kind": "text", "text": "x" * 1_000_000}).encode() + b"\n")
        async with office.app().run_test(size=TINY) as pilot:
            app, screen = await opened(pilot, office, run.run_id)
            for key in ("e", "g", *["pagedown"] * 12, "e", "G", "slash"):
                await press(pilot, key)
            await write(pilot, "[/x]")
            await press(pilot, "enter", "escape")
            assert app._exception is None
            assert screen._kept.entries
        sent = OURS.sub("", "".join(wire))
        assert not {char for char in sent if ord(char) < 32 and char not in "\r\n"}
        assert not re.search("[\x80-\x9f\u202a-\u202e\u2066-\u2069\u200b]", sent)


async def test_all_of_it_is_opened_in_the_pager_and_the_room_comes_back(
    tmp_path: Path, terminal: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = tmp_path / "reader"
    reader.write_text(f'#!/bin/sh\ncp "$1" {tmp_path}/read.txt\n')
    reader.chmod(0o700)
    monkeypatch.setenv("PAGER", str(reader))
    async with the_run(tmp_path / "c", *LINES, ("text", {"text": "\n".join(EVIL)})) as (_, pilot, _, _):
        await press(pilot, "o")
        assert terminal == ["given", "taken back"]
    text = (tmp_path / "read.txt").read_text()
    assert "docs/b.md:9" in text
    assert "\x1b" not in text


async def test_the_terminal_is_given_to_the_program_once_its_run_is_over(
    tmp_path: Path, terminal: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with an_office(tmp_path / "c") as office:
        run = await a_run(office, CLAUDE)
        program = office.company.folder / "claude"
        program.write_text(f'#!/bin/sh\necho "$@" "$PWD" "$SECRET_OF_OURS" > {tmp_path}/told\nexit 3\n')
        program.chmod(0o700)
        monkeypatch.setenv("SECRET_OF_OURS", "no")
        async with office.app().run_test(size=HOME) as pilot:
            _, screen = await opened(pilot, office, run.run_id)
            await press(pilot, "exclamation_mark")
            assert "two would write in one session" in screen.message.says
            assert terminal == []
            await office.end(run, session="s-1")
            await settle(pilot)
            await press(pilot, "exclamation_mark")
            assert terminal == ["given", "taken back"]
            assert "exit code 3" in screen.message.says
        where = office.company.folder / "work" / "links"
        assert (tmp_path / "told").read_text().split() == ["--resume", "s-1", str(where)]
