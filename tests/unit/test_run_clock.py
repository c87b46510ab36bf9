"""The time that a run is at work stands still while it waits for a person, and its limit gets the time back."""

import asyncio

import pytest

from core.agents.clock import RunClock


class Time:
    """Seconds that go on when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_stops_may_overlap_and_count_once() -> None:
    time = Time()
    clock = RunClock(time)
    time.now += 5
    async with clock.stopped():
        time.now += 10
        async with clock.stopped():
            time.now += 20
            assert (clock.worked_s(), clock.is_stopped) == (5, True)
        time.now += 40
        assert clock.worked_s() == 5
    assert not clock.is_stopped
    time.now += 2
    assert clock.worked_s() == 7


async def test_a_limit_does_not_expire_meanwhile_and_goes_on_with_what_was_left() -> None:
    clock = RunClock()
    async with asyncio.timeout(30) as limit:
        clock.limit = limit
        async with clock.stopped():
            assert limit.when() is None
        left = limit.when()
    assert left is not None
    assert left > asyncio.get_running_loop().time() + 20


async def test_a_stop_that_ends_after_its_run_troubles_nobody() -> None:
    clock = RunClock()
    stopped = clock.stopped()
    async with asyncio.timeout(30) as limit:
        clock.limit = limit
        await stopped.__aenter__()
    await stopped.__aexit__(None, None, None)
    assert not clock.is_stopped


async def test_what_is_heard_of_a_run_that_waits_is_work_but_not_the_silence_before_it() -> None:
    time = Time()
    clock = RunClock(time)
    async with clock.stopped():
        for _ in range(10):
            time.now += 1
            clock.heard()
        assert clock.worked_s() == 10
        time.now += 3600
        assert clock.worked_s() == 10, "who is silent waits"
        clock.heard()
        assert clock.worked_s() == 15
    time.now += 2
    clock.heard()
    assert clock.worked_s() == 17


async def test_a_run_that_works_on_while_it_waits_reaches_its_limit() -> None:
    time = Time()
    clock = RunClock(time)

    async def work() -> None:
        async with asyncio.timeout(30) as limit:
            clock.limit = limit
            async with clock.stopped():
                while clock.worked_s() < 60:
                    time.now += 4
                    clock.heard()
                    await asyncio.sleep(0)

    with pytest.raises(TimeoutError):
        await work()
    assert clock.worked_s() < 60
