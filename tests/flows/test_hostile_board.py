"""Text of agents that would like to act: in titles, comments, outputs, reviews and questions, down to the driver."""

import re
from pathlib import Path

import pytest

from tests.flows.conftest import Picture
from tests.flows.test_rows import HOSTILE
from tests.flows.world import (
    HOME,
    SMALL,
    Office,
    a_draft,
    a_goal_at_work,
    an_office,
    at_work,
    press,
    ready,
    wait,
    write,
)

EVIL = (
    "[/foo] [@click=app.exit]x[/] [red]R",
    "osc \x1b]52;c;cHduZWQ=\x07\x1b]0;pwned\x1b\\",
    "csi \x1b[2J\x1b[31;7;41mred \x9b2J",
    "bidi \u202egnp.exe\u2066 zero\u200bwidth",
    "宽字符任务需要一个人来决定 👩‍🚒 emoji",
)
OURS = re.compile(
    r"\x1b\[[0-9;?$:<=>]*[a-zA-Z]"  # colours, the cursor, modes
    r"|\x1b\]22;default\x07"  # the shape of the pointer
)


async def a_hostile_board(office: Office) -> None:
    goal = await a_goal_at_work(office)
    for text in EVIL:
        await office.do("CreateTask", goal=goal, title=text[:180], intent="\n".join(HOSTILE), end_state=text)
    agent = await at_work(office, 3, "links")
    for text in HOSTILE:
        await office.do("AddComment", agent, task=3, kind="note", body=text)
    await office.do("AddComment", agent, task=3, kind="mail_inform", body=f"@inventory {EVIL[0]} {EVIL[1]} @{EVIL[3]}")
    await office.do(
        "AddOutput", agent, task=3, type="document", title=EVIL[1], summary=EVIL[0], content="\n".join(HOSTILE)
    )
    await office.do("AskOperator", agent, task=3, kind="red_line", title=EVIL[0] + EVIL[1], payload={"[/x]": EVIL[2]})
    await office.end(agent, detail=EVIL[2])


@pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])
async def test_hostile_text_is_drawn(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_hostile_board(office)
        app = office.app()
        async with app.run_test(size=size, notifications=True) as pilot:
            await ready(pilot, office)
            await picture(pilot, "inbox")
            await press(pilot, "enter", "2")
            await picture(pilot, "outputs")


async def test_nothing_of_theirs_leaves_for_the_terminal(tmp_path: Path, wire: list[str]) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_hostile_board(office)
        app = office.app()
        async with app.run_test(size=HOME, notifications=True) as pilot:
            await ready(pilot, office)
            for key in (*"123456m", "escape", "c", "escape", "T", "escape", "a", "escape", "tab"):
                await press(pilot, key)
            for _ in range(12):
                await press(pilot, "j")
            await press(pilot, "b")
            await write(pilot, "no")
            await press(pilot, "enter")
            await wait(pilot, office, 1)
            await press(pilot, "escape", "d")
            await wait(pilot, office, 1)
        sent = OURS.sub("", "".join(wire))
        assert not {char for char in sent if ord(char) < 32 and char not in "\r\n"}
        assert not re.search("[\x80-\x9f\u202a-\u202e\u2066-\u2069\u200b]", sent)


async def test_a_hostile_draft_cannot_approve_itself(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office, title="[@click=app.room.decisions.decide('a')]Read me[/]")
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            for y in range(7, 38):
                await pilot.click(offset=(90, y))
                await pilot.click(offset=(20, y))
            await wait(pilot, office, 10)
            assert (await office.goal(goal)).reviewed_by is None
            assert "[@click" in "".join(row.cells[1] for row in app.room.inbox.list.rows)  # type: ignore[misc]
