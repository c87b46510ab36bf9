"""A goal is found out in a talk: begun, answered, edited in place, left and taken up again, and said to be ready."""

import asyncio
import re
from pathlib import Path

import pytest
from textual.pilot import Pilot

from core.domain.actors import System
from core.domain.entities import Comment
from core.domain.goals import is_reviewed
from tests.flows.conftest import Picture
from tests.flows.test_hostile_board import EVIL, OURS
from tests.flows.world import (
    HOME,
    SMALL,
    TINY,
    Office,
    a_draft,
    an_office,
    press,
    ready,
    settle,
    settle_screen,
    shown,
    wait,
    write,
)
from tui.screens.control import ControlScreen
from tui.screens.exploring import Exploring
from tui.screens.goal_form import GoalForm

QUESTION = "Which folders belong to it, and who is to read the result?"
MUSTS = [
    {"text": "Files, lines and bytes of each language", "verify": "count three languages again by hand"},
    {"text": "Every dead relative link"},
]


async def the_coordinator_asks(office: Office, goal: int, question: str = QUESTION, **edit: object) -> None:
    """A run of the coordinator: it edits the goal, if it has something to add, and asks its one question."""
    coordinator = await office.agent("coordinator", "explore", goal_id=goal)
    if edit:
        await office.do("EditGoal", coordinator, goal=goal, **edit)
    await office.do("AddComment", coordinator, goal=goal, kind="dialogue", body=question)
    await office.end(coordinator)
    office.clock.forward(8)


async def said(office: Office, goal: int = 1) -> list[tuple[str, str, str]]:
    where = "goal_id = :id AND task_id IS NULL ORDER BY id"
    comments = await office.company.board.readers.entities(Comment, where, id=goal)
    return [(comment.author, comment.kind, comment.body) for comment in comments]


@pytest.mark.parametrize(
    "size",
    [HOME, *(pytest.param(size, marks=pytest.mark.soak) for size in (SMALL, TINY))],
    ids=["home", "small", "tiny"],
)
async def test_a_goal_is_explored_until_it_is_ready(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await press(pilot, "n")
            await write(pilot, "Audit the folder")
            await press(pilot, "enter")
            await settle_screen(pilot, Exploring)
            goal = await office.goal()
            assert (goal.title, goal.exploring, goal.status) == ("Audit the folder", True, "draft")
            await picture(pilot, "begun")

            await press(pilot, "ctrl+r")
            assert "names nothing that must be delivered" in app.screen.message.says
            assert (await office.goal()).exploring

            await the_coordinator_asks(
                office, goal.id, must_haves=MUSTS, description="What lies in the folder, for a newcomer.",
                out_of_scope=["Changing anything"],
            )  # fmt: skip
            await settle(pilot)
            assert app.screen.message.says == "", "the refusal was about a goal that is no more"
            await write(pilot, "Only docs and core")
            await picture(pilot, "asked")
            await press(pilot, "enter")
            assert (await said(office))[-1] == ("human", "dialogue", "Only docs and core")

            await press(pilot, "ctrl+r")
            assert "does not say how to verify M2" in app.screen.message.says
            await picture(pilot, "not-ready")

            await press(pilot, "ctrl+e")
            await settle_screen(pilot, GoalForm)
            form = app.screen
            form.text.text = form.text.text.replace(
                "M2 Every dead relative link", "M2 Every dead relative link — follow five of them"
            )
            await picture(pilot, "the-form")
            await press(pilot, "ctrl+s")
            await settle_screen(pilot, Exploring)
            assert [must.get("verify") for must in (await office.goal()).must_haves] == [
                "count three languages again by hand", "follow five of them",
            ]  # fmt: skip
            await press(pilot, "tab")
            await press(pilot, "tab")
            await picture(pilot, "grown")

            await press(pilot, "ctrl+r")
            await settle_screen(pilot, ControlScreen)
            goal = await office.goal()
            assert not goal.exploring
            assert is_reviewed(goal)
            assert "G1 is ready" in app.room.message.says
            await picture(pilot, "ready")
            await wait(pilot, office, 1)
            await press(pilot, "d")
            await wait(pilot, office, 6)
            assert (await office.goal()).status == "planning"


async def test_a_talk_is_left_and_taken_up_again(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = (await office.do("CreateGoal", title="Audit the folder", explore=True))["id"]
        await the_coordinator_asks(office, goal)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "i", "enter")
            await settle_screen(pilot, Exploring)
            assert "Which folders belong to it" in shown(app)
            await write(pilot, "Half an ans")
            await press(pilot, "escape")
            await settle_screen(pilot, ControlScreen)
            assert await said(office) == [("coordinator", "dialogue", QUESTION)]
            assert (await office.goal()).exploring

            await the_coordinator_asks_again(office, goal)
            await press(pilot, "e")
            await settle_screen(pilot, Exploring)
            assert "Is the wiki part of it?" in shown(app)
            await press(pilot, "up")
            await write(pilot, "wer")
            await picture(pilot, "taken-up-again")
            await press(pilot, "enter")
            assert (await said(office))[-1] == ("human", "dialogue", "Half an answer")


async def the_coordinator_asks_again(office: Office, goal: int) -> None:
    await office.do("AddComment", goal=goal, kind="dialogue", body="Docs and core.")
    await the_coordinator_asks(office, goal, "Is the wiki part of it? @scot may know.", must_haves=MUSTS)


async def test_whose_turn_it_is_is_told(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c", started=False) as office:
        goal = (await office.do("CreateGoal", title="Audit the folder", explore=True))["id"]
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "enter")
            await settle_screen(pilot, Exploring)
            assert "the company is stopped" in shown(app)
            await office.do("StartCompany")
            await settle(pilot)
            assert "the coordinator is called at the next tick" in shown(app)

            agents = await office.company.board.readers.all("SELECT id FROM agents WHERE slug = 'coordinator'")
            about = {"kind": "explore", "agent_id": agents[0]["id"], "goal_id": goal, "key": f"explore:{goal}:0#1"}
            queued = await office.do("QueueRun", System(), **about)
            await settle(pilot)
            assert f"coordinator is called (R{queued['id']}): about to start" in shown(app)
            await office.do("StartRun", System(), run=queued["id"], owner=office.company.token, runs_at_once=9)
            await office.do("ConfirmRun", System(), run=queued["id"])
            office.clock.forward(12)
            app.room.grow_older()
            await settle(pilot)
            assert f"coordinator is thinking (R{queued['id']}, 12s)" in shown(app)
            await office.do("FinishRun", System(), run=queued["id"], status="succeeded", exit_kind="done")

            await office.do("AddComment", await office.agent("coordinator", "explore", goal_id=goal), goal=goal,
                            kind="dialogue", body=QUESTION)  # fmt: skip
            await settle(pilot)
            assert "your turn" not in shown(app)  # that run still thinks
            await office.do("FinishRun", System(), run=queued["id"] + 1, status="succeeded", exit_kind="done")
            await settle(pilot)
            assert "your turn" in shown(app)


async def test_the_ceos_draft_is_explored_with_the_same_key(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        app = office.app()
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await press(pilot, "e")
            await settle_screen(pilot, Exploring)
            assert (await office.goal(goal)).exploring
            await press(pilot, "escape")
            await settle_screen(pilot, ControlScreen)
            assert app.room.inbox.item is not None
            assert app.room.inbox.item.kind == "exploring"


async def test_what_is_wrong_in_the_text_is_named_by_its_line_and_nothing_is_lost(
    tmp_path: Path, picture: Picture
) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = (await office.do("CreateGoal", title="Audit the folder", must_haves=MUSTS, explore=True))["id"]
        app = office.app()
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await press(pilot, "enter")
            await settle_screen(pilot, Exploring)
            await press(pilot, "ctrl+e")
            await settle_screen(pilot, GoalForm)
            form = app.screen
            form.text.text = form.text.text.replace("M2 Every", "M7 Every")
            await press(pilot, "ctrl+s")
            assert "line 7: the goal has no M7" in shown(app)
            await picture(pilot, "a-wrong-line")
            await press(pilot, "escape")
            await settle_screen(pilot, Exploring)
            assert (await office.goal(goal)).must_haves[1]["text"] == "Every dead relative link"

            await the_coordinator_asks(
                office, goal, must_haves=[*MUSTS, {"text": "Equal files", "verify": "hash them"}]
            )
            await press(pilot, "ctrl+e")
            await settle_screen(pilot, GoalForm)
            form = app.screen
            assert "M7 Every" in form.text.text
            form.text.text = form.text.text.replace("M7 Every", "M2 Each and every").replace(
                "constraints:", "constraints:\nRead only"
            )
            await press(pilot, "ctrl+s")
            assert "The must-haves changed meanwhile" in shown(app)
            assert len((await office.goal(goal)).must_haves) == 3
            await press(pilot, "ctrl+s")
            await settle_screen(pilot, Exploring)
            saved = await office.goal(goal)
            assert [(must["id"], must["text"]) for must in saved.must_haves] == [
                ("M1", MUSTS[0]["text"]), ("M2", "Each and every dead relative link"),
            ]  # fmt: skip
            assert saved.constraints == ("Read only",)


DONE = [{**must, "verify": must.get("verify", "follow five")} for must in MUSTS]


async def a_limit_is_written(pilot: Pilot[None], office: Office) -> None:
    """A limit stands in the form of the goal that is talked about, not saved yet."""
    await ready(pilot, office)
    await press(pilot, "enter", "ctrl+e")
    await settle_screen(pilot, GoalForm)
    form = pilot.app.screen
    assert isinstance(form, GoalForm)
    form.text.text = form.text.text.replace("constraints:", "constraints:\nRead only")


@pytest.mark.soak
async def test_an_edit_of_a_talk_that_ended_meanwhile_is_asked_about_once(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = (await office.do("CreateGoal", title="Audit the folder", must_haves=DONE, explore=True))["id"]
        app = office.app()
        async with app.run_test(size=SMALL) as pilot:
            await a_limit_is_written(pilot, office)
            assert "the talk is over" not in shown(app)
            await office.do("ReadyGoal", goal=goal)
            await settle(pilot)
            assert "the talk is over" in shown(app), "it is told before anything is saved"
            await press(pilot, "ctrl+s")
            assert "The talk is over; save all the same?" in shown(app)
            assert (await office.goal(goal)).constraints == ()
            await press(pilot, "escape")
            await settle_screen(pilot, Exploring)
            await press(pilot, "escape")
            await settle_screen(pilot, ControlScreen)
            assert "The talk is over; e on the goal takes it up again. Your edit was not saved" in app.room.message.says

            await press(pilot, "e")
            await settle_screen(pilot, Exploring)
            await office.do("ReadyGoal", goal=goal)
            await press(pilot, "ctrl+e")
            await settle_screen(pilot, GoalForm)
            assert "Read only" in app.screen.text.text, "also after the talk was left"
            await press(pilot, "ctrl+s", "ctrl+s")
            await settle_screen(pilot, Exploring)
            assert (await office.goal(goal)).constraints == ("Read only",)


@pytest.mark.soak
async def test_what_changed_in_another_part_is_asked_about_too_and_stays(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = (await office.do("CreateGoal", title="Audit the folder", must_haves=DONE, explore=True))["id"]
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await a_limit_is_written(pilot, office)
            await office.do("EditGoal", goal=goal, description="For a newcomer.")
            await press(pilot, "ctrl+s")
            assert "The description changed meanwhile and stay" in shown(app)
            assert (await office.goal(goal)).constraints == ()
            await press(pilot, "ctrl+s")
            await settle_screen(pilot, Exploring)
            saved = await office.goal(goal)
            assert (saved.constraints, saved.description) == (("Read only",), "For a newcomer.")


async def test_saving_twice_at_once_saves_once_and_the_talk_stays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = (await office.do("CreateGoal", title="Audit the folder", must_haves=DONE, explore=True))["id"]
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await a_limit_is_written(pilot, office)
            sent, goes_on, execute = [], asyncio.Event(), office.company.execute

            async def slow(command: object, **more: object) -> object:
                sent.append(command)
                await goes_on.wait()
                return await execute(command, **more)

            monkeypatch.setattr(office.company, "execute", slow)
            await pilot.press("ctrl+s", "ctrl+s")
            goes_on.set()
            await settle(pilot)
            await settle_screen(pilot, Exploring)
            assert len(sent) == 1
            assert (await office.goal(goal)).constraints == ("Read only",)
            await press(pilot, "ctrl+e")
            await settle_screen(pilot, GoalForm)


async def test_an_edit_of_a_goal_at_work_is_refused_and_what_was_written_is_there_again(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = (await office.do("CreateGoal", title="Audit the folder", must_haves=DONE, explore=True))["id"]
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await a_limit_is_written(pilot, office)
            await office.do("ReadyGoal", goal=goal)
            await office.do("DispatchGoal", goal=goal)
            await press(pilot, "ctrl+s")
            assert "only a draft can be edited" in shown(app)
            await press(pilot, "escape")
            await settle_screen(pilot, Exploring)
            assert "G1 is planning: it takes no edit now" in app.screen.message.says
            await press(pilot, "ctrl+e")
            await settle_screen(pilot, GoalForm)
            assert "Read only" in app.screen.text.text
            await press(pilot, "escape", "escape")
            await settle_screen(pilot, ControlScreen)
            assert "The talk is over: G1 is planning. Your edit was not saved." in app.room.message.says


async def test_what_is_written_in_a_talk_cannot_act(tmp_path: Path, wire: list[str]) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = (await office.do("CreateGoal", title=EVIL[0], explore=True))["id"]
        evil = "\n".join(EVIL)
        await the_coordinator_asks(
            office, goal, evil, description=evil, constraints=list(EVIL), out_of_scope=[evil],
            must_haves=[{"text": text, "verify": evil} for text in EVIL],
        )  # fmt: skip
        app = office.app()
        async with app.run_test(size=HOME, notifications=True) as pilot:
            await ready(pilot, office)
            await press(pilot, "enter")
            await settle_screen(pilot, Exploring)
            for key in ("tab", "end", "escape", "ctrl+e", "down", "down", "end", "ctrl+s"):
                await press(pilot, key)
            assert app.is_running
            await settle_screen(pilot, Exploring)
            assert (await office.goal()).must_haves[1]["text"] == EVIL[1]
        sent = OURS.sub("", "".join(wire))
        assert not {char for char in sent if ord(char) < 32 and char not in "\r\n"}
        assert not re.search("[\x80-\x9f\u202a-\u202e\u2066-\u2069\u200b]", sent)
