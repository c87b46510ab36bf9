"""How the room tells what happened while one looks elsewhere, key by key, and what of it reaches the terminal."""

import re
from pathlib import Path

import pytest

from core.domain.entities import Goal
from tests.flows.conftest import Picture
from tests.flows.test_frame import a_person
from tests.flows.world import HOME, SMALL, Office, a_draft, an_office, an_office_again, press, ready, wait
from tests.unit.test_webhook import a_server
from tui.app import OpsroomApp
from tui.screens.mail import MailScreen

OSC9 = "[notify]\nterminal = 'osc9'\n"
OSC777 = "[notify]\nterminal = 'osc777'\ntoasts = false\nbell = false\n"
ATTACK = "x\x07\x1b]52;c;eA==\x07\x1b[2J\x9d9;owned\x9c;4;1;[/] \u202eend"


async def many_tasks(office: Office, count: int) -> None:
    """A goal in its first round with so many tasks, T2 and on."""
    goal = await a_draft(office)
    await office.do("ReviewGoal", goal=goal)
    await office.do("DispatchGoal", goal=goal)
    coordinator = await office.agent("coordinator", "plan", goal_id=goal)
    await office.do("CancelTask", task=1, reason="split into smaller ones")
    for number in range(2, 2 + count):
        await office.do(
            "CreateTask", coordinator, goal=goal, title=f"Part {number}", intent="For the report.",
            end_state="Every figure can be recomputed.", must_haves=["M1", "M2"],
        )  # fmt: skip
    await office.do("ActivateGoal", coordinator, goal=goal)
    await office.end(coordinator)


async def asks(office: Office, *tasks: int, title: str = "May I delete what is there twice?") -> None:
    """The agents of these tasks ask the operator, all at about the same time."""
    for task in tasks:
        await office.do("AssignTask", task=task, agent="inventory")
        agent = await office.agent("inventory", "execute", key=f"asks:{task}", task_id=task)
        await office.do("StartTask", agent, task=task)
        await office.do("AskOperator", agent, task=task, kind="question", title=title, payload={"task": task})
        await office.end(agent)


def toasts(app: OpsroomApp) -> list[tuple[str, str]]:
    return [(each.title, each.message) for each in app._notifications]


async def test_what_comes_is_told_once_wherever_one_looks_and_a_burst_is_one_toast(
    tmp_path: Path, picture: Picture
) -> None:
    async with an_office(tmp_path / "c") as office:
        await many_tasks(office, 10)
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=HOME, notifications=True) as pilot:
            await ready(pilot, office)
            assert toasts(app) == []
            await press(pilot, "m")
            assert isinstance(app.screen, MailScreen)
            await asks(office, 2)
            await wait(pilot, office, 1)
            assert [title for title, _ in toasts(app)] == ["T2 waits for you"]
            await picture(pilot, "one-came")
            await press(pilot, "escape")
            await asks(office, *range(3, 10))
            await press(pilot)
            await wait(pilot, office, 6)
            assert [title for title, _ in toasts(app)][1:] == ["7 things at once"]
            assert "7 wait for you (T3, T4, T5, T6, T7 …)" in toasts(app)[1][1]
            for _ in range(3):
                await wait(pilot, office, 60)
            assert len(toasts(app)) == 2
            # the operator's own act leads to another item: they know
            await press(pilot, "a")
            await wait(pilot, office, 10)
            assert len(toasts(app)) == 2
            await picture(pilot, "a-burst")
            await app.personal.memory.settle()
    # what was told is not told again, what came meanwhile is told as one
    async with an_office_again(tmp_path / "c") as office:
        office.clock.forward(600)
        await asks(office, 10)
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=SMALL, notifications=True) as pilot:
            await ready(pilot, office)
            assert toasts(app) == [("While you were away: 1 thing", "1 waits for you (T10)")]
            await picture(pilot, "while-away")


async def test_do_not_disturb_holds_all_says_so_and_tells_it_as_one(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await many_tasks(office, 10)
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=SMALL, notifications=True) as pilot:
            await ready(pilot, office)
            await press(pilot, "D")
            assert "Do not disturb" in app.room.message.says
            await asks(office, 2, 3)
            await wait(pilot, office, 30)
            assert toasts(app) == []
            await picture(pilot, "held")
            await app.personal.memory.settle()
    async with an_office_again(tmp_path / "c") as office:
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=HOME, notifications=True) as pilot:
            await ready(pilot, office)
            assert toasts(app) == []
            assert app.personal.memory.now.quiet
            await press(pilot, "D")
            await wait(pilot, office, 6)
            assert [title for title, _ in toasts(app)] == ["While you were away: 2 things"]


async def test_quiet_hours_are_by_the_clock_here(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await many_tasks(office, 10)
        app = office.app(personal=a_person(tmp_path, "[notify]\nquiet_hours = ['11:00-12:30']\n"))
        async with app.run_test(size=HOME, notifications=True) as pilot:
            await ready(pilot, office)
            await asks(office, 2)
            await wait(pilot, office, 30)
            assert toasts(app) == []
            await wait(pilot, office, 30 * 60)
            assert [title for title, _ in toasts(app)] == ["While you were not to be disturbed: 1 thing"]


@pytest.mark.parametrize("settings", [OSC9, OSC777])
async def test_a_title_ends_no_sequence_and_begins_none(tmp_path: Path, wire: list[str], settings: str) -> None:
    async with an_office(tmp_path / "c") as office:
        await many_tasks(office, 10)
        app = office.app(personal=a_person(tmp_path, settings))
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            wire.clear()
            await asks(office, 2, title=ATTACK)
            await wait(pilot, office, 1)
            written = "".join(wire)
    told = re.findall(r"\x1b\](?:9|777);[^\x07\x1b]*\x07", written)
    assert len(told) == 1
    body = told[0][2:-1]
    assert body.isprintable()
    assert body.startswith("9;Opsroom: T2 waits" if settings == OSC9 else "777;notify;T2 waits for you;")
    assert settings == OSC9 or body.count(";") == 3  # a fourth would begin another field
    assert "\x1b]52" not in written
    assert "\x9d" not in written
    assert written.count("\x07") == (2 if settings == OSC9 else 1)  # the bell, and the end of the sequence


async def test_a_known_terminal_is_told_by_itself_and_any_other_is_not(
    tmp_path: Path, wire: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with an_office(tmp_path / "c") as office:
        await many_tasks(office, 10)
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            wire.clear()
            await asks(office, 2)
            await wait(pilot, office, 1)
            assert "\x1b]9;" not in "".join(wire)
            assert "\x1b]777;" not in "".join(wire)
            monkeypatch.setenv("TERM", "foot")
            await asks(office, 3)
            await wait(pilot, office, 10)
            assert "\x1b]777;notify;T3 waits for you;" in "".join(wire)


async def test_nothing_is_told_while_another_program_has_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with an_office(tmp_path / "c") as office:
        await many_tasks(office, 10)
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=HOME, notifications=True) as pilot:
            await ready(pilot, office)
            given = True
            monkeypatch.setattr("tui.screens.disturbing.is_given_away", lambda _driver: given)
            await asks(office, 2)
            await wait(pilot, office, 10)
            assert toasts(app) == []
            given = False
            await wait(pilot, office, 1)
            assert [title for title, _ in toasts(app)] == ["T2 waits for you"]


async def test_a_closed_terminal_is_told_at_the_next_start_and_the_webhook_hears_each_thing_once(
    tmp_path: Path,
) -> None:
    async with a_server() as server:
        wish = f"[notify]\nwebhook = '{server.url}'\n"
        async with an_office(tmp_path / "c") as office:
            await many_tasks(office, 4)
            app = office.app(personal=a_person(tmp_path, wish))
            async with app.run_test(size=HOME) as pilot:
                await ready(pilot, office)
                await asks(office, 2)
                await wait(pilot, office, 1)
                app.hang_up(129)
                app.hang_up(129, go_on=True)
                await pilot.pause()
        async with an_office_again(tmp_path / "c") as office:
            office.clock.forward(900)
            await asks(office, 3)
            app = office.app(personal=a_person(tmp_path, wish))
            async with app.run_test(size=HOME) as pilot:
                await ready(pilot, office)
                assert "was closed at 12:0" in app.room.message.says
                await wait(pilot, office, 30)
    assert [[each["about"] for each in body["things"]] for body in server.bodies] == [["T2"], ["T3"]]


async def test_a_company_goes_on_only_where_it_is_at_work_and_then_stays_open(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c", started=False) as office:
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.hang_up(129, go_on=True)
        assert not app.company_goes_on
    async with an_office(tmp_path / "d") as office:
        app = office.app(personal=a_person(tmp_path))
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.hang_up(129, go_on=True)
        assert app.company_goes_on
        await office.do("CreateGoal", title="Without a room", description="It goes on.")
        assert [goal.title for goal in app.room.view.tables.all(Goal)] == ["Without a room"]
