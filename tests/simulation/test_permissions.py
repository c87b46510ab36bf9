"""A run's program asks before it acts: the operator's word reaches it, and nothing else is a yes (S4-08)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from core.agents.runner import Assignment, Change, Desk, Outcome, Permission, Permit, Wish
from core.commands.registry import parse
from core.commands.ticks import ExpireApproval
from core.dispatcher import Caps
from core.domain.actors import System
from core.domain.entities import Approval, Run
from core.domain.errors import BoardError, Conflict
from core.domain.permissions import COMMAND_MAX
from core.domain.states import ApprovalStatus, RunStatus
from core.simulation.simulator import Simulation, a_simulation

TESTS = Wish("Run the tests", "command", "/src/site", command="npm test")
OTHER = Wish("Install", "command", "/src/site", command="npm install left-pad")
ADA = 5


class Asks:
    """A runner that asks for these wishes one after the other, or `at_once`, and notes the answers."""

    def __init__(self, *wishes: Wish, at_once: bool = False) -> None:
        self.wishes = wishes
        self.at_once = at_once
        self.answers: list[Permission] = []
        self.was_cancelled = False

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        try:
            if self.at_once:
                self.answers += await asyncio.gather(*map(desk.ask_permission, self.wishes))
                return Outcome()
            for wish in self.wishes:
                self.answers.append(await desk.ask_permission(wish))
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        return Outcome()

    @property
    def permits(self) -> list[Permit]:
        return [answer.permit for answer in self.answers]


@pytest.fixture
async def simulation(tmp_path: Path) -> AsyncIterator[Simulation]:
    async with a_simulation(tmp_path) as made:
        made.dispatcher._retry_s = 0.01
        yield made


async def begin(simulation: Simulation, runner: Any, key: str = "x") -> int:
    simulation.dispatcher._runners = {"rehearsal": runner}
    queued = parse("QueueRun", {"kind": "mention", "agent_id": ADA, "key": key})
    number = int((await simulation.door.execute(System(), queued))["id"])
    assert await simulation.dispatcher.start_queued() == 1
    return number


async def until(condition: Callable[[], Awaitable[Any]]) -> Any:
    for _ in range(5000):
        if found := await condition():
            return found
        await asyncio.sleep(0.002)
    raise AssertionError("it never came to that")


async def question(simulation: Simulation, after: int = 0) -> Approval:
    """The permission that waits for the operator, once there is one."""

    async def waiting() -> list[Approval]:
        where = "kind = 'permission' AND status = 'pending' AND id > :after"
        return await simulation.board.readers.entities(Approval, where, after=after)

    found: list[Approval] = await until(waiting)
    assert len(found) == 1
    return found[0]


async def answer(simulation: Simulation, permit: str, note: str = "", after: int = 0) -> Approval:
    asked = await question(simulation, after)
    await simulation.operator(
        "AnswerPermission", approval=asked.id, permit=permit, note=note, payload_hash=asked.payload_hash
    )  # fmt: skip
    return asked


async def over(simulation: Simulation) -> Run:
    async with asyncio.timeout(10):
        await simulation.dispatcher.idle()
    return (await simulation.board.readers.entities(Run, "true ORDER BY id DESC LIMIT 1"))[0]


async def questions(simulation: Simulation) -> list[Approval]:
    return await simulation.board.readers.entities(Approval, "kind = 'permission' ORDER BY id")


async def test_allowed_once_is_for_this_act_alone(simulation: Simulation) -> None:
    asks = Asks(TESTS, TESTS)
    await begin(simulation, asks)
    first = await answer(simulation, "once")
    await answer(simulation, "refused", "twice is enough", after=first.id)
    assert (await over(simulation)).status == RunStatus.SUCCEEDED
    assert asks.permits == [Permit.ONCE, Permit.REFUSED]
    assert asks.answers[1].note == "twice is enough"
    assert asks.answers[0].is_allowed
    assert not asks.answers[1].is_allowed


async def test_allowed_for_the_run_covers_the_same_program_and_ends_with_the_run(simulation: Simulation) -> None:
    again = Wish("Once more", "command", "/src/site", command="npm test -- links")
    asks = Asks(TESTS, again, OTHER)
    await begin(simulation, asks)
    first = await answer(simulation, "run")
    second = await answer(simulation, "refused", "no", after=first.id)
    await over(simulation)
    assert asks.permits == [Permit.RUN, Permit.RUN, Permit.REFUSED]
    assert first.name_tag in asks.answers[1].note
    assert second.payload["command"] == OTHER.command
    assert [one.status for one in await questions(simulation)] == [ApprovalStatus.CONSUMED, ApprovalStatus.REJECTED]

    later = Asks(TESTS)
    await begin(simulation, later, "y")
    await answer(simulation, "refused", "anew", after=second.id)
    await over(simulation)
    assert later.permits == [Permit.REFUSED]


async def test_what_was_refused_is_not_put_to_a_person_again_in_the_run(simulation: Simulation) -> None:
    asks = Asks(TESTS, TESTS, TESTS)
    await begin(simulation, asks)
    await answer(simulation, "refused", "not now")
    await over(simulation)
    assert asks.permits == [Permit.REFUSED] * 3
    assert "not now" in asks.answers[2].note
    assert len(await questions(simulation)) == 1


async def test_nobody_answers_in_time(simulation: Simulation) -> None:
    simulation.dispatcher._permission_wait_s = 60
    asks = Asks(TESTS)
    await begin(simulation, asks)
    asked = await question(simulation)
    assert asked.expires_at == asked.created_at + 60_000
    simulation.clock.now += 59_000
    await asyncio.sleep(0.05)
    assert asks.answers == []
    simulation.clock.now += 2_000
    await over(simulation)
    assert asks.permits == [Permit.REFUSED]
    assert "its time was over" in asks.answers[0].note
    with pytest.raises(Conflict, match="its time was over"):
        await simulation.operator("AnswerPermission", approval=asked.id, permit="once")


async def test_a_question_whose_end_cannot_be_written_is_tried_again_now_and_then(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulation.dispatcher._permission_wait_s = 60
    simulation.dispatcher._retry_s = 0.2
    tries: list[object] = []
    execute = simulation.door.execute

    async def full(actor: Any, command: Any) -> Any:
        if isinstance(command, ExpireApproval) and len(tries) < 2:
            tries.append(command)
            raise BoardError("The disk is full.", "Make room.")
        return await execute(actor, command)

    monkeypatch.setattr(simulation.door, "execute", full)
    asks = Asks(TESTS)
    await begin(simulation, asks)
    await question(simulation)
    simulation.clock.now += 61_000
    while len(tries) < 1:  # noqa: ASYNC110 - the run tries it
        await asyncio.sleep(0.01)
    for _ in range(50):
        await simulation.board.readers.entities(Run, "true LIMIT 1")
    assert len(tries) == 1, "it does not try without a rest"
    await over(simulation)
    assert asks.permits == [Permit.REFUSED]
    assert len(tries) == 2


async def test_a_run_that_is_killed_takes_its_question_with_it(simulation: Simulation) -> None:
    asks = Asks(TESTS)
    number = await begin(simulation, asks)
    asked = await question(simulation)
    await simulation.operator("KillRun", run=number)
    assert (await over(simulation)).status == RunStatus.KILLED
    assert (asks.was_cancelled, asks.answers) == (True, [])
    assert (await questions(simulation))[0].status == ApprovalStatus.CANCELLED
    for permit in ("once", "run", "refused"):
        with pytest.raises(Conflict, match=f"R{number} was ended"):
            await simulation.operator("AnswerPermission", approval=asked.id, permit=permit, note="so")


async def test_the_room_is_closed_while_a_question_waits(simulation: Simulation) -> None:
    asks = Asks(TESTS)
    await begin(simulation, asks)
    asked = await question(simulation)
    await simulation.dispatcher._end_all()
    assert asks.answers == []
    with pytest.raises(Conflict, match="Nothing was allowed"):
        await simulation.operator("AnswerPermission", approval=asked.id, permit="once")


async def test_a_run_that_is_lost_takes_its_question_with_it(simulation: Simulation) -> None:
    number = await begin(simulation, Asks(TESTS))
    asked = await question(simulation)
    await simulation.door.execute(System(), parse("LoseRun", {"run": number, "why": "its owner is gone"}))
    with pytest.raises(Conflict, match="was lost"):
        await simulation.operator("AnswerPermission", approval=asked.id, permit="run")


async def test_a_slow_operator_costs_no_run(simulation: Simulation) -> None:
    worked: list[float] = []

    class Slow(Asks):
        async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
            outcome = await super().run(assignment, desk)
            worked.append(desk.worked_s())
            return outcome

    simulation.dispatcher._caps = Caps(run_seconds=0.5)
    asks = Slow(TESTS)
    await begin(simulation, asks)
    await question(simulation)
    await asyncio.sleep(0.8)
    await answer(simulation, "once")
    assert (await over(simulation)).status == RunStatus.SUCCEEDED
    assert asks.permits == [Permit.ONCE]
    assert worked[0] < 0.8


async def test_after_the_answer_the_clock_goes_on(simulation: Simulation) -> None:
    class Stays(Asks):
        async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
            await super().run(assignment, desk)
            await asyncio.Event().wait()
            return Outcome()

    simulation.dispatcher._caps = Caps(run_seconds=0.1)
    await begin(simulation, Stays(TESTS))
    await answer(simulation, "once")
    assert (await over(simulation)).exit_kind == "wall_time"


async def test_of_many_wishes_at_once_one_is_before_the_operator(simulation: Simulation) -> None:
    wishes = [Wish(f"Test {n}", "command", "/src", command=f"npm test -- {n}") for n in range(25)]
    asks = Asks(*wishes, at_once=True)
    await begin(simulation, asks)
    await answer(simulation, "run")
    await over(simulation)
    assert asks.permits.count(Permit.RUN) == 20
    assert [said.note for said in asks.answers if not said.is_allowed] == [
        "20 questions of this run wait already; ask less at once"
    ] * 5
    assert len(await questions(simulation)) == 1


async def test_a_program_that_no_longer_wants_it_takes_its_question_back(simulation: Simulation) -> None:
    class Gives(Asks):
        async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
            asking = asyncio.create_task(desk.ask_permission(TESTS))
            await question(simulation)
            asking.cancel()
            await asyncio.wait([asking])
            self.answers.append(await desk.ask_permission(OTHER))
            return Outcome()

    asks = Gives()
    await begin(simulation, asks)

    async def both() -> bool:
        return len(await questions(simulation)) == 2

    await until(both)
    await answer(simulation, "once")
    await over(simulation)
    assert [one.status for one in await questions(simulation)] == [ApprovalStatus.CANCELLED, ApprovalStatus.CONSUMED]
    assert asks.permits == [Permit.ONCE]


async def test_a_question_that_its_program_put_by_itself_is_answered_first(simulation: Simulation) -> None:
    class Twice(Asks):
        async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
            await desk.call("AskPermission", title="By HTTP", kind="other")
            return await super().run(assignment, desk)

    asks = Twice(TESTS)
    await begin(simulation, asks)
    assert (await over(simulation)).status == RunStatus.SUCCEEDED
    assert asks.permits == [Permit.REFUSED]
    assert "already asks this" in asks.answers[0].note


async def test_a_wish_of_any_size_is_asked_and_its_hash_is_of_the_whole(simulation: Simulation) -> None:
    def huge(last: str) -> Wish:
        long = "echo " + "a" * 1_000_000 + last
        return Wish("\x1b[31mRun\n" * 1000, "magic", "/src", command=long, changes=(Change("a.txt", None, long * 2),))

    asks = Asks(huge("b"), huge("c"))
    await begin(simulation, asks)
    first = await question(simulation)
    assert len(first.payload["command"]) == COMMAND_MAX
    assert set(first.payload["cut"]) == {"command", "a.txt"}
    assert (first.payload["kind"], first.payload["checked"], first.payload["for_run"]) == ("other", False, "")
    with pytest.raises(Conflict, match="could not be checked whole"):
        await simulation.operator("AnswerPermission", approval=first.id, permit="run")
    await answer(simulation, "once")
    second = await answer(simulation, "once", after=first.id)
    await over(simulation)
    assert first.payload["command"] == second.payload["command"]
    assert first.payload["sha256"] != second.payload["sha256"]
    assert first.payload_hash != second.payload_hash


async def test_a_company_that_is_opened_again_asks_nobody_for_a_dead_run(tmp_path: Path) -> None:
    async with a_simulation(tmp_path) as simulation:
        await begin(simulation, Asks(TESTS))
        asked = await question(simulation)
        for task in simulation.dispatcher._tasks.values():  # a crash: nothing of its end is written
            task.cancel()
        simulation.dispatcher._tasks.clear()
        await simulation.ticker.tick()
        found = (await questions(simulation))[0]
        assert (found.id, found.status) == (asked.id, ApprovalStatus.CANCELLED)
