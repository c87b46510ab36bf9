"""The inbox as a whole: marks and one answer to them, numbers, what is put off, what others decided, reasons again."""

from pathlib import Path

import pytest
from textual.widgets import Static

from tests.flows.conftest import Picture
from tests.flows.situations import a_plan
from tests.flows.world import (
    HOME,
    NOON,
    SMALL,
    Office,
    a_draft,
    a_goal_at_work,
    an_office,
    an_office_again,
    at_work,
    press,
    ready,
    shown,
    wait,
    write,
)
from tui.app import OpsroomApp
from tui.personal import Personal
from tui.remembered import Memory
from tui.screens.confirm import Confirm
from tui.screens.snoozing import HowLongScreen

SIZES = [HOME, pytest.param(SMALL, marks=pytest.mark.soak)]


async def some_wait(office: Office) -> None:
    """Q1 at a red line, T3 and T4 blocked, T5 waits for an answer, and the draft of a CEO."""
    await a_goal_at_work(office)
    asking = await at_work(office, 2, "inventory")
    await office.do(
        "AskOperator", asking, task=2, kind="red_line", title="May I delete the 14 equal files?",
        payload={"act": "delete", "files": 14},
    )  # fmt: skip
    await office.end(asking)
    for task, slug, reason in ((3, "links", "No agent may use the network."), (4, "inventory", "Which file is meant?")):
        stuck = await at_work(office, task, slug)
        await office.do("BlockTask", stuck, task=task, block_kind="needs_input", reason=reason)
        await office.end(stuck)
        office.clock.forward(20)
    ceo = await office.agent("ceo", "heartbeat")
    await office.do(
        "CreateGoal", ceo, title="Write a contributor's guide", split=False, description="For newcomers.",
        must_haves=["How to begin"],
    )  # fmt: skip
    await office.end(ceo)


def inbox_of(app: OpsroomApp) -> list[str]:
    """The lines of the inbox, by the items' ids."""
    return [row.id for row in app.room.inbox.list.rows]


async def mark(pilot: object, app: OpsroomApp, *items: str) -> None:
    """Put the cursor on each and press space."""
    for item in items:
        assert app.room.inbox.list.move_to(item), inbox_of(app)
        await press(pilot, "space")  # type: ignore[arg-type]


@pytest.mark.parametrize("size", SIZES, ids=["home", "small"])
async def test_what_is_marked_is_decided_by_one_answer(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        await some_wait(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await mark(pilot, app, "approval:1", "wait:task:3", "wait:task:4", "review:goal:2")
            assert "4 marked" in app.room.message.says
            await picture(pilot, "marked")

            before = await office.events()
            await press(pilot, "a")
            await picture(pilot, "one-question")
            question = shown(app)
            assert "T3" in question
            assert "a red line is read and allowed alone" in question
            assert ("it was not on your screen yet" in question) == (size == SMALL)
            await press(pilot, "escape")
            assert "Nothing was done" in app.room.message.says

            await press(pilot, "b")
            await write(pilot, "Not this week")
            await press(pilot, "enter")
            await picture(pilot, "one-reason")
            await press(pilot, "right", "enter")
            assert isinstance(app.screen, Confirm), "keys are deaf until it can have been read"
            await press(pilot, "pagedown", "pagedown", "pagedown")
            office.clock.forward(1)
            await press(pilot, "enter")
            assert app.screen is app.room
            await wait(pilot, office, 0)
            await picture(pilot, "held-together")
            assert "in 5s" in app.room.message.says
            assert await office.events() == before
            await press(pilot, "u")
            assert "taken back" in app.room.message.says
            await wait(pilot, office, 10)
            assert await office.events() == before, "one key takes all of it back"
            assert (await office.task(3)).status == "blocked"


async def test_what_changes_while_it_is_held_is_skipped_and_said(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await some_wait(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await mark(pilot, app, "wait:task:3", "wait:task:4", "review:goal:2")
            ceo = await office.agent("ceo", "mention", goal_id=2)
            await office.do("EditGoal", ceo, goal=2, title="Delete the guide")
            await press(pilot)
            assert "G2 changed: no mark is left there" in app.room.message.says
            await wait(pilot, office, 1)
            await press(pilot, "a")
            lines = str(app.screen.query_one("#what Static", Static).content)
            assert "T3" in lines
            assert "G2" not in lines
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            await office.do("UnblockTask", task=4)
            stuck = await at_work(office, 4, "inventory")
            await office.do("BlockTask", stuck, task=4, block_kind="needs_input", reason="Now it is another question.")
            await wait(pilot, office, 6)
            assert "T3: decided" in app.room.message.says
            assert "T4: it changed since you were asked" in app.room.message.says
            assert (await office.task(3)).status == "pending"
            assert (await office.task(4)).status == "blocked"
            assert (await office.goal(2)).reviewed_at is None


@pytest.mark.parametrize("size", SIZES, ids=["home", "small"])
async def test_what_is_put_off_comes_back_by_time_or_change_also_after_a_restart(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    state = tmp_path / "state.json"
    async with an_office(tmp_path / "c") as office:
        await some_wait(office)
        app = office.app(personal=Personal(memory=Memory.read(state)))
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await press(pilot, "g", "S")
            await wait(pilot, office, 1)
            await press(pilot, "1", "2", "3")
            assert isinstance(app.screen, HowLongScreen)
            assert "a red line is not put off" in shown(app)
            await press(pilot, "escape")

            await mark(pilot, app, "wait:task:3")
            await press(pilot, "S", "1")
            assert isinstance(app.screen, HowLongScreen), "keys are deaf until it can have been read"
            await picture(pilot, "for-how-long")
            await wait(pilot, office, 1)
            await press(pilot, "1")
            app.room.inbox.list.move_to("wait:task:4")
            await press(pilot, "S")
            await wait(pilot, office, 1)
            await press(pilot, "down", "down", "enter")
            assert inbox_of(app) == ["approval:1", "review:goal:2"]
            await press(pilot, "I")
            assert inbox_of(app) == ["approval:1", "review:goal:2", "wait:task:3", "wait:task:4"]
            await picture(pilot, "what-is-put-off")
        await app.personal.memory.settle()
        assert "network" not in state.read_text(), "not a word of an agent is kept"

    async with an_office_again(tmp_path / "c") as office:
        office.clock.ms, office._runs = NOON + 600_000, 100
        app = office.app(personal=Personal(memory=Memory.read(state)))
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            assert inbox_of(app) == ["approval:1", "review:goal:2"]
            assert "2 put off" in shown(app)
            await wait(pilot, office, 3_600)
            assert "T3 is back: its time is up" in app.room.message.says
            assert "wait:task:3" in inbox_of(app)
            await office.do("UnblockTask", task=4)
            stuck = await at_work(office, 4, "inventory")
            await office.do("BlockTask", stuck, task=4, block_kind="needs_input", reason="Or the second one?")
            await wait(pilot, office, 1)
            assert "T4 is back: it changed" in app.room.message.says
            assert "wait:task:4" in inbox_of(app)
            await press(pilot)
            assert "put off" not in shown(app)


@pytest.mark.parametrize("theme", ["", pytest.param("high-contrast", marks=pytest.mark.soak)], ids=["dark", "contrast"])
async def test_a_window_for_objections_counts_down_and_is_not_put_off(
    tmp_path: Path, picture: Picture, theme: str
) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        await a_plan(office)
        app = office.app(theme=theme)
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "i", "g", "S")
            await wait(pilot, office, 1)
            await picture(pilot, "a-window-ends-sooner")
            await press(pilot, "1", "2", "3", "escape")
            before = app.room.inbox.list.rows[0].cells[0][0]
            await wait(pilot, office, 61)
            after = app.room.inbox.list.rows[0].cells[0][0]
            assert before.startswith("◷ plan 4:")
            assert after.startswith("◷ plan 3:")


async def test_an_item_is_gone_to_by_its_number(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await some_wait(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            await press(pilot, "number_sign", "3")
            await picture(pilot, "by-number")
            third = inbox_of(app)[2]
            await press(pilot, "enter")
            assert app.focused is app.room.inbox.list
            assert app.room.inbox.list.cursor_id == third
            assert " 3  " not in shown(app), "the numbers went with their question"
            await press(pilot, "number_sign", "9", "enter")
            assert "There is no item '9'" in app.room.composer.foretells
            await press(pilot, "escape")
            assert app.room.inbox.list.cursor_id == third


@pytest.mark.parametrize("size", SIZES, ids=["home", "small"])
async def test_what_somebody_else_decided_is_told_under_the_cursor(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        await some_wait(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            assert app.room.inbox.list.cursor_id == "approval:1"
            asked = await office.approval()
            await office.do(
                "DecideApproval", approval=1, decision="rejected", note="Keep them", payload_hash=asked.payload_hash
            )
            await press(pilot)
            assert "rejected by you, elsewhere, at 12:0" in app.room.message.says
            await picture(pilot, "decided-meanwhile")
            assert app.room.inbox.list.cursor_id == "approval:1"
            await wait(pilot, office, 1)
            before = await office.events()
            await press(pilot, "a")
            assert app.screen is app.room
            assert "nothing is left to decide" in app.room.message.says
            assert await office.events() == before
            await press(pilot, "j")
            assert "approval:1" not in inbox_of(app)

            app.room.inbox.list.move_to("wait:task:3")
            await press(pilot, "enter")
            assert app.room.situation.in_detail
            coordinator = await office.agent("coordinator", "mention", goal_id=1)
            await office.do("CancelTask", coordinator, task=3, reason="not needed")
            await press(pilot)
            assert "task cancelled by coordinator at 12:0" in app.room.message.says
            await wait(pilot, office, 1)
            await press(pilot, "b")
            assert not app.room.composer.asks


async def test_reasons_come_again_by_key_also_after_a_restart(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    for start, open_ in ((1, an_office), (2, an_office_again)):
        async with open_(tmp_path / "c") as office:
            if start == 1:
                await some_wait(office)
            app = office.app(personal=Personal(memory=Memory.read(state)))
            async with app.run_test(size=HOME) as pilot:
                await ready(pilot, office)
                app.room.inbox.list.move_to("wait:task:4")
                if start == 1:
                    for task, reason in ((3, "Not this week"), (4, "[b]Too[/b] early")):
                        app.room.inbox.list.move_to(f"wait:task:{task}")
                        await press(pilot, "b")
                        await write(pilot, reason)
                        await press(pilot, "enter")
                        await wait(pilot, office, 1)
                        await press(pilot, "escape")
                else:
                    await press(pilot, "b")
                    assert "↑/↓" in shown(app).splitlines()[-1]
                    await write(pilot, "half")
                    await press(pilot, "up")
                    assert app.room.composer.field.value == "[b]Too[/b] early"
                    await press(pilot, "up")
                    assert app.room.composer.field.value == "Not this week"
                    await press(pilot, "down", "down")
                    assert app.room.composer.field.value == "half"
            await app.personal.memory.settle()


@pytest.mark.parametrize("size", SIZES, ids=["home", "small"])
async def test_a_draft_that_was_sent_back_comes_with_all_its_versions(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        await office.do("SetBudget", scope="company", limit_micros=5_000_000, period="day")
        paid = {"kind": "chat", "url": "http://127.0.0.1:9/v1", "model": "some"}
        await office.do("EditAgent", agent="inventory", runner=paid)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await press(pilot, "enter")
            await picture(pilot, "what-follows")
            follows = app.room.detail.prose.blocks[0].drawing
            assert follows is not None
            told = {line[0][0].strip(): line[1][0] for line in follows.lines(400)}
            assert told["costs"].startswith("at most 4.9958 USD, what is left of the company's budget today")
            for nth, (note, change) in enumerate(
                (("Leave [the] links out", {"must_haves": ["Files and bytes"]}), ("Shorter", {"title": "Count it"})), 2
            ):
                await press(pilot, "escape", "r")
                await write(pilot, note)
                await press(pilot, "enter")
                await wait(pilot, office, 6)
                woken = await office.company.board.readers.all("SELECT status FROM mentions")
                assert [row["status"] for row in woken] == ["pending"], "its author is woken with the note"
                ceo = await office.agent("ceo", "mention", goal_id=goal)
                await office.do("EditGoal", ceo, goal=goal, **change)
                await office.end(ceo)
                await wait(pilot, office, 60)
                await wait(pilot, office, 1)
                assert f"back, v{nth}" in str(app.room.inbox.list.rows[0].cells[0])
            await press(pilot, "enter", "G")
            versions = [block for block in app.room.detail.prose.blocks if "Version" in str(block.heading[0])]
            assert [block.heading[0] for block in versions] == [(f"Version {n}", "strong") for n in (3, 2, 1)]
            assert "Leave [the] links out" in versions[2].body
            assert "Shorter" in versions[1].body
            assert "after your note: Shorter" in versions[0].body
            await press(pilot, "g", *(["pagedown"] if size == SMALL else []))
            await picture(pilot, "its-versions")


async def test_an_edited_question_comes_again_with_what_differs(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        for act, files in (("delete", 14), ("delete", 3)):
            asking = await at_work(office, 2, "inventory")
            await office.do(
                "AskOperator", asking, task=2, kind="red_line", title=f"May I {act} {files} files?",
                payload={"act": act, "files": files},
            )  # fmt: skip
            await office.end(asking)
            if files == 14:
                await office.do("DecideApproval", approval=1, decision="revision_requested", note="Fewer of them")
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            blocks = app.room.detail.prose.blocks
            versions = [block for block in blocks if "Version" in str(block.heading[0])]
            assert len(versions) == 2
            drawn = "\n".join("".join(text for text, _ in line) for line in versions[0].drawing.lines(100))
            assert "± 14" in drawn
            assert "± 3" in drawn
            assert "Fewer of them" in versions[1].body


OPENS = {"red line": ("approval:1", "a"), "draft": ("review:goal:2", "b"), "blocked": ("wait:task:3", "b")}


@pytest.mark.parametrize("kind", OPENS)
async def test_no_key_counts_before_a_question_can_have_been_read(tmp_path: Path, kind: str) -> None:
    async with an_office(tmp_path / "c") as office:
        await some_wait(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            item, key = OPENS[kind]
            app.room.inbox.list.move_to(item)
            before = await office.events()
            await press(pilot, key)
            if app.room.composer.asks:
                await write(pilot, "Not this week")
                await press(pilot, "enter")
            question = app.screen
            assert isinstance(question, Confirm)
            await press(pilot, "right")
            for _ in range(3):
                office.clock.forward(0.13)
                await press(pilot, "enter")
                assert app.screen is question
            office.clock.forward(0.1)
            while app.screen is question:
                await press(pilot, "enter")
                office.clock.forward(1)
            assert len(app.room.decisions.holding) == 1
            assert await office.events() == before


async def test_nothing_opens_over_typing_whatever_comes(tmp_path: Path) -> None:
    """Questions of every kind come while a reason is written: it is written to its end, and nothing of it decides."""
    async with an_office(tmp_path / "c") as office:
        await some_wait(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.inbox.list.move_to("wait:task:3")
            await press(pilot, "b")
            await write(pilot, "bad ")
            field = app.room.composer.field
            ceo = await office.agent("ceo", "heartbeat")
            coordinator = await office.agent("coordinator", "mention", goal_id=1)
            for act, actor, more in (
                ("UnblockTask", None, {"task": 3}),
                ("ProposeHire", ceo, HIRE),
                ("ProposeOrganisation", ceo, CHART),
                ("RequestApproval", coordinator, {"kind": "question", "entity": "goal:1", "title": "On?"}),
                ("RequestApproval", coordinator, {"kind": "goal_failure", "entity": "goal:1", "title": "Give up?"}),
                ("AddComment", coordinator, {"goal": 1, "kind": "question", "body": "@operator which one?"}),
                ("StopCompany", None, {}),
            ):
                await office.do(act, actor, **more)  # type: ignore[arg-type]
                await write(pilot, "abrdeuyS#I ")
                await press(pilot)
                assert app.screen is app.room, act
                assert app.focused is field, act
            assert field.value == "bad " + "abrdeuyS#I " * 7
            kinds = {str(item.kind) for item in app.room.view.inbox()}
            assert kinds >= {
                "red_line", "blocked", "draft", "hire_agent", "org_change", "question", "goal_failure", "mail",
                "stopped",
            }  # fmt: skip
            assert not len(app.room.decisions.holding)
            await press(pilot, "escape")
            assert app.screen is app.room


HIRE = {
    "slug": "scout", "name": "Scout", "role": "executor", "manager": "coordinator", "capabilities": ["links"],
    "why": "Nobody checks links.",
}  # fmt: skip
CHART = {"changes": [{"agent": "links", "manager": "ceo"}], "why": "It reports about every goal."}
