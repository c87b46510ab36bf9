"""What a run's program wants to do is read before it is allowed: its command, its difference, its red line."""

from pathlib import Path
from typing import Any

import pytest

from core.commands.registry import parse
from core.domain.actors import Agent, System
from core.domain.entities import Approval
from core.domain.permissions import Change, Wish, asked
from tests.flows.conftest import Picture
from tests.flows.world import (
    HOME,
    SMALL,
    Office,
    a_goal_at_work,
    an_office,
    at_work,
    press,
    ready,
    settle_screen,
    shown,
    wait,
    write,
)
from tui.screens.confirm import Confirm
from tui.screens.run import RunScreen

FOLDER = "/srv/site"
TESTS = Wish("Run the tests of the links", "command", FOLDER, command="pytest -q tests/links")
EDIT = Wish(
    "Mend the base address", "edit", FOLDER,
    changes=(
        Change("src/base.py", "HOST = 'a'\nPORT = 80\nPATH = '/'\n", "HOST = 'a'\nPORT = 443\nPATH = '/'\n"),
        Change("src/new.py", None, "def base():\n    return HOST\n"),
    ),
    details="The links go to the wrong port.",
)  # fmt: skip
HIDDEN = Wish("List \x1b[31mfiles", "command", FOLDER, command="ls [bold]docs[/bold] \u202egnp.exe\u202c # ;\x1b[2K")
DELETES = Wish("Clean up", "command", FOLDER, command="rm -rf data/customers")
SIZES = pytest.mark.parametrize("size", [HOME, SMALL], ids=["home", "small"])


async def wants(office: Office, run: Agent, wish: Wish, wait_s: int | None = None) -> dict[str, Any]:
    """As the run's program asks."""
    waits = {} if wait_s is None else {"wait_ms": wait_s * 1000}
    return await office.company.execute(parse("AskPermission", {**asked(wish), **waits}), actor=run)


async def run_that_asks(office: Office, wish: Wish, wait_s: int | None = None) -> Agent:
    await a_goal_at_work(office)
    run = await at_work(office, 3, "links")
    await wants(office, run, wish, wait_s)
    office.clock.forward(20)
    return run


async def the(office: Office, number: int = 1) -> Approval:
    return await office.approval(number)


@SIZES
async def test_a_command_is_allowed_once(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        await run_that_asks(office, TESTS)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            if size == SMALL:  # there is no room for the command: the question shows it
                await press(pilot, "a")
                assert isinstance(app.screen, Confirm)
                await wait(pilot, office, 1)
            assert "$ pytest -q tests/links" in shown(app)
            await picture(pilot, "a-command")
            await press(pilot, *(("right", "enter") if size == SMALL else ("a",)))
            await wait(pilot, office, 4)
            assert (await the(office)).status == "pending", "it is held for five seconds"
            await wait(pilot, office, 2)
            assert (await the(office)).status == "consumed"


@SIZES
async def test_a_difference_is_read_and_allowed_for_the_run(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        run = await run_that_asks(office, EDIT, wait_s=300)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await press(pilot, "enter")
            await picture(pilot, "a-difference")
            lines = app.room.detail.prose.blocks[0].drawing
            assert lines is not None
            drawn = [parts[0] for parts in lines.lines(100)]
            assert ("  -PORT = 80", "bad") in drawn
            assert ("  +PORT = 443", "good") in drawn
            await press(pilot, "f")
            await wait(pilot, office, 6)
            assert (await the(office)).status == "approved"
            assert (await wants(office, run, EDIT))["permit"] == "run"
            await office.do("FinishRun", System(), run=run.run_id, status="succeeded")
            assert (await the(office)).status == "consumed"


async def test_the_next_question_of_a_run_does_not_move_in_under_the_keys_of_a_page(
    tmp_path: Path, picture: Picture
) -> None:
    async with an_office(tmp_path / "c") as office:
        run = await run_that_asks(office, TESTS)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "enter", "b")
            await write(pilot, "Not these")
            await press(pilot, "enter")
            await wait(pilot, office, 6)
            assert (await the(office)).status == "rejected"
            await wants(office, run, EDIT)
            await wait(pilot, office, 1)
            assert "★ R3 waits for your decision" in shown(app)
            assert "refused by you" in shown(app)
            await picture(pilot, "answered")
            await press(pilot, "a", "f")
            await wait(pilot, office, 6)
            assert (await the(office, 2)).status == "pending"
            await press(pilot, "escape", "a")
            await wait(pilot, office, 6)
            assert (await the(office, 2)).status == "consumed"


async def test_it_is_refused_with_a_reason(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await run_that_asks(office, TESTS)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "b")
            await write(pilot, "Not on this machine")
            await press(pilot, "enter")
            await wait(pilot, office, 6)
            refused = await the(office)
            assert (refused.status, refused.note) == ("rejected", "Not on this machine")


async def test_a_red_line_asks_each_time_and_asks_twice(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await run_that_asks(office, DELETES)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            assert "at the red line data_deletion" in shown(app)
            assert "! asks" in shown(app)
            await press(pilot, "f")
            assert "Q1 cannot be allowed for its whole run: such an act asks each time." in shown(app)
            assert (await the(office)).status == "pending"
            await press(pilot, "a")
            assert isinstance(app.screen, Confirm)
            assert "rm -rf data/customers" in shown(app)
            await picture(pilot, "at-a-red-line")
            await press(pilot, "enter")  # cancel has the focus
            await wait(pilot, office, 10)
            assert (await the(office)).status == "pending"
            await press(pilot, "a")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            await wait(pilot, office, 6)
            assert (await the(office)).status == "consumed"


async def test_what_does_not_fit_is_read_to_its_end_before_a_yes_counts(tmp_path: Path) -> None:
    long = Wish("Clean up", "command", FOLDER, command="\n".join(f"rm -rf data/{each}" for each in range(30)))
    async with an_office(tmp_path / "c") as office:
        await run_that_asks(office, long)
        app = office.app()
        async with app.run_test(size=SMALL) as pilot:
            await ready(pilot, office)
            await press(pilot, "a")
            assert isinstance(question := app.screen, Confirm)
            assert "pgdn reads on" in shown(app)
            await press(pilot, "right")
            seen = shown(app)
            while "data/29" not in seen or "content sha256" not in seen:
                await wait(pilot, office, 1)
                await press(pilot, "enter")
                assert app.screen is question
                assert shown(app) != seen, "enter shows more"
                seen = shown(app)
            await press(pilot, "enter")
            assert app.screen is question, "what came just now is not read yet"
            await wait(pilot, office, 1)
            await press(pilot, "enter")
            await wait(pilot, office, 6)
            assert (await the(office)).status == "consumed"


async def test_what_a_command_hides_is_seen(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await run_that_asks(office, HIDDEN)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            text = shown(app)
            assert "\u202e" not in text
            assert "\x1b" not in text
            assert "[bold]docs[/bold]" in text
            assert "the command holds 3 hidden characters" in text
            await picture(pilot, "hidden-characters")
            await press(pilot, "a")
            assert isinstance(app.screen, Confirm)


async def test_a_key_that_meets_another_question_is_not_heard(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        run = await run_that_asks(office, TESTS)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await office.do("WithdrawPermission", run, approval=1)
            await wants(office, run, EDIT)
            await press(pilot, "a")
            assert not app.room.decisions.holding
            assert (await the(office, 2)).status == "pending"
            assert "came under the cursor" in shown(app)


async def test_an_agent_that_waits_for_a_permission_says_so(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        run = await run_that_asks(office, TESTS)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            explanation = app.room.view.why("task:3", office.clock())
            assert "its program waits for your word on Q1" in explanation.why + explanation.next
            agent = next(each for each in app.room.view.live_runs if each.id == run.run_id).agent_id
            assert (
                f"agent:{agent}" in app.room.view.why(f"agent:{agent}", 0).why
                or "asks" in app.room.view.why(f"agent:{agent}", 0).why
            )
            await press(pilot, "A")
            await picture(pilot, "an-agent-asks")


async def test_a_decision_on_an_ended_run_is_refused_in_words(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        run = await run_that_asks(office, TESTS)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "a")
            await office.do("KillRun", run=run.run_id)
            await wait(pilot, office, 6)
            assert "Nothing was allowed" in " ".join(shown(app).split())
            assert (await the(office)).status == "cancelled"


@pytest.mark.parametrize("below", [(), ("A",), ("L", "b")], ids=["room", "agents", "past"])
async def test_a_question_is_seen_in_the_live_view_and_its_key_leads_to_it(
    tmp_path: Path, below: tuple[str, ...]
) -> None:
    async with an_office(tmp_path / "c") as office:
        run = await run_that_asks(office, TESTS)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, *below)
            app.room.attaching.open(f"run:{run.run_id}")
            await settle_screen(pilot, RunScreen)
            assert "asks Q1" in shown(app)
            await press(pilot, "a")
            assert app.screen is app.room
            assert app.room.inbox.item is not None
            assert app.room.inbox.item.id == "approval:1"
            await wait(pilot, office, 1)
            await press(pilot, "a")
            await wait(pilot, office, 6)
            assert (await the(office)).status == "consumed"
