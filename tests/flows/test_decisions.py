"""What a person decides in the room: each flow presses the keys and looks at the picture and at the board."""

from pathlib import Path

import pytest

from core.domain.goals import is_reviewed
from tests.flows.conftest import Picture
from tests.flows.world import (
    HOME,
    SMALL,
    a_busy_board,
    a_draft,
    a_goal_at_work,
    an_office,
    an_office_again,
    approved,
    at_work,
    handed_in,
    press,
    press_back_to_back,
    ready,
    settle,
    settle_screen,
    shown,
    wait,
    write,
)
from tui.screens.confirm import Confirm
from tui.screens.control import ControlScreen


@pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])
async def test_a_draft_is_read_approved_and_dispatched(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await picture(pilot, "the-draft-waits")
            if size == SMALL:
                await press(pilot, "enter")
                await picture(pilot, "it-is-read")
                await press(pilot, "escape")

            await press(pilot, "a")
            await picture(pilot, "approval-is-held")
            await press(pilot, "u")
            assert "taken back" in app.room.message.says
            await wait(pilot, office, 10)
            assert not is_reviewed(await office.goal(goal))

            await press(pilot, "a")
            await wait(pilot, office, 4)
            assert not is_reviewed(await office.goal(goal))
            await wait(pilot, office, 2)
            assert is_reviewed(await office.goal(goal))
            await picture(pilot, "reviewed-and-ready")

            await wait(pilot, office, 1)
            await press(pilot, "d")
            await wait(pilot, office, 6)
            assert (await office.goal(goal)).status == "planning"
            await picture(pilot, "dispatched")


async def test_what_the_board_refuses_is_told_in_its_own_words(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        app = office.app()
        async with app.run_test(size=HOME, notifications=True) as pilot:
            await ready(pilot, office)
            before = await office.events()
            await press(pilot, "d")
            assert "no person has reviewed exactly this" in app.room.message.says
            await picture(pilot, "refused")
            assert await office.events() == before
            assert (await office.goal(goal)).status == "draft"
            await press(pilot, "tab")
            assert app.room.message.says == ""


async def test_a_reason_is_not_asked_for_in_vain(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to("task:1")
            await press(pilot, "b")
            assert not app.room.composer.asks
            assert "T1 waits for nothing" in app.room.message.says


async def test_the_next_item_does_not_move_in_under_the_keys_of_a_page(tmp_path: Path) -> None:
    """Who reads a page and decides stays on it: a second key must not decide about what came up in the list."""
    async with an_office(tmp_path / "c") as office:
        first, second = [
            (await office.do("CreateGoal", title=title, description="What visitors ask for"))["id"]
            for title in ("Greet the visitors", "Mend the gate")
        ]
        app = office.app()
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await press(pilot, "enter")
            read = app.room.situation.ref
            decided, other = (first, second) if read == f"goal:{first}" else (second, first)
            await press(pilot, "b")
            await write(pilot, "We did that last week")
            await press(pilot, "enter")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            await wait(pilot, office, 6)
            assert (await office.goal(decided)).status == "cancelled"

            assert app.room.situation.ref == read
            await wait(pilot, office, 1)
            await press(pilot, "b", "a")
            assert app.screen is app.room
            await wait(pilot, office, 10)
            assert (await office.goal(other)).status == "draft"
            await press(pilot, "escape")
            assert app.room.situation.ref == f"goal:{other}"


async def test_a_draft_is_rejected_with_a_reason_after_a_question(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "b")
            await write(pilot, "We did that last week")
            await picture(pilot, "the-reason")
            await press(pilot, "enter")
            await picture(pilot, "the-question")

            await press(pilot, "right", "enter")  # too soon: nobody can have read it
            await wait(pilot, office, 1)
            assert (await office.goal(goal)).status == "draft"
            await press(pilot, "left", "enter")
            await wait(pilot, office, 10)
            assert (await office.goal(goal)).status == "draft"

            await press(pilot, "b")
            await write(pilot, "We did that last week")
            await press(pilot, "enter")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            await wait(pilot, office, 6)
            ended = await office.goal(goal)
            assert (ended.status, ended.reason) == ("cancelled", "We did that last week")
            await picture(pilot, "rejected")


@pytest.mark.soak
async def test_a_draft_goes_back_to_its_author_with_a_note(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        app = office.app()
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await press(pilot, "r")
            await write(pilot, "Name the [languages] that count")
            await picture(pilot, "the-note")
            await press(pilot, "enter")
            await wait(pilot, office, 6)
            rows = await office.company.board.readers.all("SELECT body FROM comments WHERE author = 'human'")
            assert [row["body"] for row in rows] == ["Name the [languages] that count"]
            woken = await office.company.board.readers.value("SELECT count(*) FROM mentions WHERE status = 'pending'")
            assert woken == 1
            assert (await office.goal(goal)).status == "draft"
            await press(pilot, "enter", "end")
            await picture(pilot, "the-note-is-on-the-board")


@pytest.mark.soak
async def test_a_red_line_is_asked_twice_and_decided_once(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await picture(pilot, "a-red-line")
            await press(pilot, "a")
            await picture(pilot, "exactly-this")
            await press(pilot, "enter")
            await wait(pilot, office, 10)
            assert (await office.approval()).status == "pending"

            await press(pilot, "a")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            await wait(pilot, office, 6)
            assert (await office.approval()).status == "approved"
            assert (await office.task(4)).status == "pending"
            await picture(pilot, "decided")


async def test_the_report_is_accepted(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_goal_at_work(office)
        await handed_in(office, 2, "inventory")
        await approved(office, 2)
        await handed_in(office, 3, "links")
        await approved(office, 3, output=2)
        for task in (4, 5):
            await office.do("CancelTask", task=task, reason="not needed")
        coordinator = await office.agent("coordinator", "round_review", goal_id=goal, round_id=1)
        await office.do(
            "ReviewRound", coordinator, round=1, goal_clear="yes", covered="M1 and M2 are", next_step="the report",
            decision="report",
        )  # fmt: skip
        await office.do("ReportGoal", coordinator, goal=goal, summary="Nine languages, no dead link.")
        await office.end(coordinator)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "2")
            await picture(pilot, "the-report-waits")
            await press(pilot, "a")
            await wait(pilot, office, 6)
            assert (await office.goal(goal)).status == "done"
            await press(pilot, "3")
            await picture(pilot, "accepted")


@pytest.mark.soak
async def test_a_second_decision_takes_the_place_of_the_first(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "a")
            await press(pilot, "a")
            assert "on its way already" in app.room.message.says
            await press(pilot, "r")
            await write(pilot, "Not yet")
            await press(pilot, "enter")
            await wait(pilot, office, 6)
            assert not is_reviewed(await office.goal(goal))
            assert await office.company.board.readers.value("SELECT count(*) FROM mentions") == 1


async def test_keys_do_not_hear_when_something_else_comes_under_the_cursor(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        waiting = await at_work(office, 3, "links")
        await office.do("BlockTask", waiting, task=3, block_kind="needs_input", reason="which links?")
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.inbox.list.focus()
            await pilot.pause()
            await office.end(waiting)
            await office.do("UnblockTask", task=3)
            asking = await at_work(office, 3, "links")
            await office.do(
                "AskOperator", asking, task=3, kind="question", title="May I send it?", payload={"to": "all"}
            )
            await press(pilot, "a")
            assert "just now" in app.room.message.says
            await wait(pilot, office, 6)
            assert (await office.approval()).status == "pending"
            await press(pilot, "a")
            await wait(pilot, office, 6)
            assert (await office.approval()).status == "consumed"


async def test_a_draft_that_changed_while_its_approval_was_held_is_not_approved(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "a")
            ceo = await office.agent("ceo", "mention", goal_id=goal)
            await office.do("EditGoal", ceo, goal=goal, title="Delete the folder")
            await wait(pilot, office, 6)
            assert "changed since you read it" in app.room.message.says
            assert not is_reviewed(await office.goal(goal))


async def test_what_is_held_when_the_room_is_left_is_sent(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "a")
            await pilot.press("q")
            await pilot.pause(0.5)
        assert not app.is_running
        assert not (tmp_path / "c" / "board.db-wal").exists()
    async with an_office_again(tmp_path / "c") as office:
        assert is_reviewed(await office.goal(goal))


async def test_leaving_asks_while_runs_are_live(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await press(pilot, "q")
            await picture(pilot, "a-run-would-end")
            await press(pilot, "escape")
            assert app.is_running
            assert "needs you" in shown(app)


@pytest.mark.soak
async def test_no_click_decides(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_draft(office)
        app = office.app()
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            before = await office.events()
            for y in range(SMALL[1]):
                for x in range(3, SMALL[0], 19):
                    await pilot.click(offset=(x, y))
            await wait(pilot, office, 10)
            assert app.screen is app.room
            assert not len(app.room.decisions.holding)
            assert await office.events() == before


OVERLAYS = {
    "help": ("question_mark", "escape"),
    "dry run": ("T", "b", "escape"),
    "palette": ("colon", "escape"),
    "composer": ("i", "b", "n", "o", "escape"),
    "dialog": ("i", "a", "escape"),
}


@pytest.mark.parametrize(
    "keys",
    [keys if name == "composer" else pytest.param(keys, marks=pytest.mark.soak) for name, keys in OVERLAYS.items()],
    ids=list(OVERLAYS),
)
@pytest.mark.parametrize("at_once", [pytest.param(False, marks=pytest.mark.soak), True], ids=["pressed", "at-once"])
async def test_a_key_after_an_overlay_acts_on_what_has_the_focus(
    tmp_path: Path, keys: tuple[str, ...], at_once: bool
) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            await press(pilot, "g")
            before = await office.goal(1)
            await press_back_to_back(pilot, *keys, "i", "tab", "shift+tab", "a", at_once=at_once)
            await settle_screen(pilot, Confirm)
            await wait(pilot, office, 1)
            await press_back_to_back(pilot, "right", "enter", at_once=at_once)
            await settle_screen(pilot, ControlScreen)
            await wait(pilot, office, 6)
            assert (await office.approval()).status == "approved"
            assert await office.goal(1) == before


async def test_a_key_on_what_waits_for_nothing_says_where_the_decision_is(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            await press(pilot, "g")
            before = await office.events()
            for key in "abdr":
                await press(pilot, key)
                assert "G1 waits for nothing. The inbox has 2: i goes there." in app.room.message.says
            assert await office.events() == before
            assert app.screen is app.room
            assert not app.room.composer.asks


async def test_a_decision_that_comes_is_told_and_i_goes_there(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            assert app.focused is app.room.board.list
            await press(pilot, "3")
            await settle(pilot)
            assert "No reviews yet." in shown(app)
            asking = await at_work(office, 2, "inventory")
            await office.do("AskOperator", asking, task=2, kind="red_line", title="May I send it?", payload={"to": "x"})
            await settle(pilot)
            assert "★ T2 waits for your decision" in app.room.message.says
            assert app.focused is app.room.board.list
            await press(pilot, "i")
            assert app.focused is app.room.inbox.list
            assert app.room.detail.tabs.open == 1
            assert "May I send it?" in shown(app)
            await press(pilot, "b")
            assert shown(app).splitlines()[-1].split() == ["enter", "send", "esc", "cancel"]
            await press(pilot, "escape", "a")
            assert "←/→ choose · enter · esc cancels" in shown(app)
            await press(pilot, "escape")
            assert "approve" in shown(app).splitlines()[-1]
