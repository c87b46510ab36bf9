"""The time that a run is at work stands still while it waits for a person, and its limit gets the time back."""

import asyncio

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
