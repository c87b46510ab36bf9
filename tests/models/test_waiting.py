"""When a server may be asked again, by its own words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agents.models.cooldown import Cooldowns
from core.agents.models.endpoint import Line
from core.agents.models.waiting import Retrying, told_until
from tests.models.world import START, Clock

S = 1000


@pytest.mark.parametrize(("headers", "body", "wait"), [
    ({}, "", None),
    ({"retry-after": "0"}, "", 0),
    ({"retry-after": "2.5"}, "", 2.5 * S),
    ({"retry-after": "soon"}, "", None),
    ({"retry-after": "-4"}, "", None),
    ({"retry-after": "9" * 400}, "", None),
    ({"retry-after": "99999999"}, "", 86_400 * S),
    ({"retry-after": "Tue, 14 Nov 2023 22:13:30 GMT"}, "", 10 * S),
    ({"retry-after": "Tue, 14 Nov 2023 22:00:00 GMT"}, "", 0),
    ({"retry-after-ms": "250", "retry-after": "1"}, "", 250),
    ({}, '{"error": {"details": [{"retryDelay": "37s"}]}}', 37 * S),
    ({"x-ratelimit-reset-requests": "1m30.5s"}, "", 90.5 * S),
    ({"x-ratelimit-reset-tokens": "120ms", "x-ratelimit-reset-requests": "8s"}, "", 120),
    ({"x-ratelimit-reset-tokens": "20s", "x-ratelimit-reset-requests": "8s", "x-ratelimit-remaining-tokens": "0"}, "",
     20 * S),
    ({"x-ratelimit-reset": str(START + 4000)}, "", 4 * S),
    ({"x-ratelimit-reset": str(START // 1000 + 4)}, "", 4 * S),
    ({"x-ratelimit-reset": "4"}, "", 4 * S),
    ({"anthropic-ratelimit-input-tokens-reset": "2023-11-14T22:13:40Z",
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-requests-reset": "2023-11-14T22:13:21Z",
      "anthropic-ratelimit-requests-remaining": "49"}, "", 20 * S),
    ({"anthropic-ratelimit-unified-reset": str(START // 1000 + 60)}, "", 60 * S),
    ({"anthropic-ratelimit-tokens-reset": "never"}, "", None),
])  # fmt: skip
def test_what_headers_tell(headers: dict[str, str], body: str, wait: float | None) -> None:
    until = told_until(headers, body, START)
    assert until == (None if wait is None else START + wait)


@given(st.dictionaries(
    st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset", "anthropic-ratelimit-tokens-reset"]),
    st.text("0123456789.smhd:TZ-+ ,GMTueNov\u0663", max_size=24) | st.datetimes().map(str),
))  # fmt: skip
def test_no_header_breaks_it(headers: dict[str, str]) -> None:
    until = told_until(headers, "", START)
    assert until is None or START <= until <= START + 86_400 * S


@given(st.integers(1, 60), st.floats(0, 1))
def test_pauses_grow_up_to_their_bound(tried: int, chance: float) -> None:
    retrying = Retrying(first_s=1, longest_s=30)
    pause = retrying.pause_s(tried, None, lambda: chance)
    assert min(30, 2.0 ** (tried - 1)) / 2 <= pause <= min(30, 2.0 ** (tried - 1))
    assert retrying.pause_s(tried, 7.0, lambda: chance) >= 7.0


def test_a_cooldown_ends_and_is_never_shortened() -> None:
    clock = Clock()
    cooldowns = Cooldowns(clock)
    line, other = Line("api.example.org", "a"), Line("api.example.org", "b")
    cooldowns.cool(line, START + 60)
    cooldowns.cool(line, START + 10)
    assert cooldowns.until(line) == START + 60
    assert cooldowns.until(other) is None
    clock.now = START + 60
    assert cooldowns.until(line) is None
