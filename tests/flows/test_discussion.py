"""Watching the discussion of a goal, turn by turn: one that converges, one that does not, and one that you end."""

from pathlib import Path
from typing import Any

import pytest

from core.domain.actors import System
from core.domain.entities import AgentRecord, Turn
from tests.flows.conftest import Picture
from tests.flows.world import (
    HOME,
    SMALL,
    Office,
    a_draft,
    an_office,
    press,
    ready,
    settle,
    shown,
    wait,
)

Acts = list[tuple[str, dict[str, Any]]]
SEATS = ("inventory", "links")


async def a_goal_in_discussion(office: Office) -> int:
    goal = await a_draft(office)
    await office.do("ReviewGoal", goal=goal)
    await office.do("DispatchGoal", goal=goal)
    return goal


async def a_turn(office: Office, goal: int) -> int:
    found = await office.company.board.readers.entities(AgentRecord, "role = 'executor' ORDER BY id")
    opened = await office.do("OpenTurn", System(), goal=goal, agents=[agent.id for agent in found])
    office.clock.forward(5)
    return int(opened["id"])


async def speaks(office: Office, goal: int, turn: int, slug: str, acts: Acts = []) -> None:  # noqa: B006
    """An agent's run of a turn, from its beginning to its end."""
    found = await office.company.board.readers.entities(AgentRecord, "slug = :slug", slug=slug)
    agent = await office.agent(slug, "discuss", key=f"discuss:{turn}:{found[0].id}#1", goal_id=goal)
    for command, arguments in acts:
        await office.do(command, agent, **arguments)
    await office.end(agent)
    office.clock.forward(5)


def a_task(goal: int, must: str, title: str) -> tuple[str, dict[str, Any]]:
    return "CreateTask", {
        "goal": goal, "title": title, "intent": f"{title}.", "end_state": "It can be recomputed.", "must_haves": [must],
    }  # fmt: skip


def a_word(goal: int, kind: str, body: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "AddComment", {"goal": goal, "kind": kind, "body": body, **more}


async def outcomes(office: Office) -> list[str]:
    return [str(turn.outcome) for turn in await office.company.board.readers.entities(Turn, "true ORDER BY id")]


@pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])
async def test_a_discussion_converges(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_goal_in_discussion(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to(f"goal:{goal}")
            await press(pilot, "enter")

            first = await a_turn(office, goal)
            question = a_word(goal, "question", "@links do images count as links? @scot may know")
            await speaks(office, goal, first, "inventory", [a_task(goal, "M1", "Count every language"), question])
            app.room.grow_older()  # ages as of now, however busy the machine is
            await settle(pilot)
            await press(pilot, "home")
            assert "turn 1 of 5: 1 of 2 have spoken" in one_text(shown(app))
            assert "turn 1 waits for links" in shown(app)
            await picture(pilot, "the-first-turn")

            asked = await office.company.board.readers.value("SELECT max(id) FROM comments")
            answer = a_word(goal, "observation", "Yes, images too, @inventory", reply_to=asked)
            await speaks(office, goal, first, "links", [answer, a_task(goal, "M2", "Check the links")])
            await office.do("CloseTurn", System(), turn=first)
            second = await a_turn(office, goal)
            app.room.grow_older()  # ages as of now, however busy the machine is
            await settle(pilot)
            await press(pilot, "home")
            assert "turn 2 of 5: 0 of 2 have spoken; turn 1 brought 2 tasks, 1 question" in one_text(shown(app))
            await press(pilot, "end")
            await picture(pilot, "an-answer")

            for slug in SEATS:
                await speaks(office, goal, second, slug)
            await office.do("CloseTurn", System(), turn=second)
            assert await outcomes(office) == ["goes_on", "converged"]
            app.room.grow_older()  # ages as of now, however busy the machine is
            await settle(pilot)
            await press(pilot, "home")
            assert "it converged in turn 2: that brought nothing new" in one_text(shown(app))
            assert (await office.goal(goal)).status == "active"
            await picture(pilot, "converged")


async def test_a_discussion_does_not_converge(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_goal_in_discussion(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to(f"goal:{goal}")
            for number in range(1, 6):
                turn = await a_turn(office, goal)
                objection = a_word(goal, "objection", f"M{number} cannot be verified like this.")
                for slug in SEATS:
                    await speaks(office, goal, turn, slug, [objection])
                await office.do("CloseTurn", System(), turn=turn)
            assert await outcomes(office) == ["goes_on"] * 4 + ["not_converged"]
            app.room.grow_older()  # ages as of now, however busy the machine is
            await settle(pilot)
            app.room.detail.prose.action_scroll_home()
            app.room.grow_older()  # ages as of now, however busy the machine is
            await settle(pilot)
            assert "turn 5 ended without agreement: the coordinator rules" in one_text(shown(app))
            assert (await office.goal(goal)).status == "planning"
            assert "end talk" not in shown(app)
            await picture(pilot, "no-agreement")
            await press(pilot, "E")
            assert app.room.message.says == "The discussion is over already: the coordinator rules."


async def test_the_operator_ends_a_discussion(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_goal_in_discussion(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to(f"goal:{goal}")
            turn = await a_turn(office, goal)
            tasks = [a_task(goal, "M1", "Count every language"), a_task(goal, "M2", "Check the links")]
            await speaks(office, goal, turn, "inventory", tasks)
            await press(pilot, "E")
            assert await outcomes(office) == ["ended"], "at once: it would be over by itself before a held one is sent"
            assert (await office.goal(goal)).status == "active"
            assert app.room.message.says == "✓ The discussion of G1 is over: work has begun."
            await wait(pilot, office, 6)
            await picture(pilot, "ended")
            await press(pilot, "E")
            assert app.room.message.says == "The discussion is over already: work has begun."


async def test_a_discussion_that_ends_under_the_key_is_told_without_names_of_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_goal_in_discussion(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to(f"goal:{goal}")
            turn = await a_turn(office, goal)
            tasks = [a_task(goal, "M1", "Count every language"), a_task(goal, "M2", "Check the links")]
            await speaks(office, goal, turn, "inventory", tasks)
            await settle(pilot)
            # the room has not heard of it yet when the key comes
            with monkeypatch.context() as deaf:
                deaf.setattr(app.room.view, "apply", lambda happened: heard.extend(happened))
                heard: list[Any] = []
                await office.do("EndDiscussion", goal=goal)
                assert app.room.writing.discussed(app.room.situation.thing)
                deaf.setattr(app.room, "flush", lambda: app.room.view.__class__.apply(app.room.view, heard))
                app.room.writing.end_discussion()
                await app.workers.wait_for_complete()
            assert app.room.message.says == "The discussion is over already: work has begun."


async def test_nothing_else_is_a_discussion_that_ends(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_draft(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            before = await office.events()
            await press(pilot, "E")
            assert "Only a goal that is being discussed" in app.room.message.says
            await wait(pilot, office, 6)
            assert await office.events() == before


def one_text(told: str) -> str:
    """The right half of a home screen, or the whole of a small one, as one line of words."""
    lines = [line[60:] if len(line) > 100 else line for line in told.splitlines()]
    return " ".join(" ".join(lines).replace("│", " ").split())
