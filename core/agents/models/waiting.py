"""How long to wait before another try: what the provider says in its headers, or growing pauses. Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_LONGEST_MS = 24 * 3600 * 1000
_UNITS_MS = {"ms": 1.0, "s": 1000.0, "m": 60_000.0, "h": 3_600_000.0, "d": 86_400_000.0}
_SPAN = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+")
_RESET = re.compile(r"(?:x-ratelimit|anthropic-ratelimit)-(?:(?P<first>reset)(?:-(?P<of>.+))?|(?P<on>.+)-reset)")
_RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')


@dataclass(frozen=True, slots=True)
class Retrying:
    """`tries` after the first; pauses grow from `first_s` to `longest_s`; a wait beyond `patience_s` is not waited for.

    A server that loads its model is asked every `loading_every_s`, for `loading_s` in all.
    """

    tries: int = 4
    first_s: float = 0.5
    longest_s: float = 30.0
    patience_s: float = 90.0
    loading_every_s: float = 2.0
    loading_s: float = 600.0

    def pause_s(self, tried: int, asked_s: float | None, chance: Callable[[], float]) -> float:
        """Seconds before try number `tried` + 1; `chance` gives 0…1. Never less than the server asked for."""
        if asked_s is not None:
            return asked_s + chance() * min(1.0, 0.1 * asked_s)
        return min(self.longest_s, self.first_s * 2.0 ** (tried - 1)) * (0.5 + 0.5 * chance())


def told_until(headers: Mapping[str, str], body: str, now: int) -> int | None:
    """When (ms UTC) a server takes requests again, as its headers or body tell; None when they do not.

    Reads retry-after-ms, Retry-After (seconds or an HTTP date), Gemini's retryDelay, x-ratelimit-reset… and
    anthropic-ratelimit-…-reset; header names are lower case or the mapping ignores case. At most a day from now.
    """
    wait = _number(headers.get("retry-after-ms"))
    if wait is None:
        wait = _retry_after(headers.get("retry-after"), now)
    if wait is None and (found := _RETRY_DELAY.search(body)):
        wait = float(found[1]) * 1000
    if wait is None:
        wait = _resets(headers, now)
    return None if wait is None else now + int(min(max(wait, 0.0), _LONGEST_MS))


def _resets(headers: Mapping[str, str], now: int) -> float | None:
    """The longest wait of the allowances that are used up; if none is told to be, the shortest of all."""
    waits: list[float] = []
    used_up: list[float] = []
    for name, value in headers.items():
        found = _RESET.fullmatch(name.lower())
        wait = _span(value, now) if found else None
        if found is None or wait is None:
            continue
        waits.append(wait)
        if _number(headers.get(name.lower().replace("reset", "remaining"))) == 0:
            used_up.append(wait)
    return max(used_up) if used_up else min(waits, default=None)


def _span(value: str, now: int) -> float | None:
    """Milliseconds from now: `6m0s`, seconds, a time since 1970 in seconds or milliseconds, or an ISO time."""
    text = value.strip()
    if _SPAN.fullmatch(text):
        return sum(float(size) * _UNITS_MS[unit] for size, unit in re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", text))
    number = _number(text)
    if number is not None:
        return number - now if number > 1e11 else number * 1000 - now if number > 1e8 else number * 1000
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _from_now(at, now)


def _retry_after(value: str | None, now: int) -> float | None:
    if value is None:
        return None
    number = _number(value)
    if number is not None:
        return number * 1000
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    return _from_now(at, now)


def _from_now(at: datetime, now: int) -> float:
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000 - now


def _number(value: str | None) -> float | None:
    text = (value or "").strip()
    return float(text) if len(text) <= 20 and re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII) else None
