"""What ends a run that speaks the protocol, beside what ends any run of a program."""

from core.agents.programs.limited import limited
from core.agents.runner import Outcome
from core.domain.states import RunStatus

END_TURN, BROKEN_OFF = "end_turn", "cancelled"
_AUTH_REQUIRED = -32000
_STOPS = {
    "max_tokens": "its answer was cut at the most tokens that its model gives",
    "max_turn_requests": "it used as many requests of its model as it allows itself in a turn",
    "refusal": "its model refused to go on",
    BROKEN_OFF: "it ended its turn as cancelled, although nobody had asked it to",
}


class Ended(Exception):
    """The run is over, with this outcome; its words are whole, and may hold secrets until the run tells them."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.detail)
        self.outcome = outcome


_NEXT = {
    "line": "look at what it wrote to standard error, in the transcript",
    "protocol": "check that its command speaks the Agent Client Protocol, and its version",
    "unsupervised": 'name a mode in which it asks as "mode", or let it act unasked: "unsupervised": true',
}


def failed(kind: str, why: str) -> Ended:
    """It failed; what to do about it is added."""
    return Ended(Outcome(RunStatus.FAILED, kind, f"{why}; {_NEXT[kind]}" if kind in _NEXT else why))


def stopped(reason: str) -> Ended | None:
    """Why its turn did not come to its end; None for one that did."""
    if reason == END_TURN:
        return None
    if reason in _STOPS:
        return failed(reason, _STOPS[reason])
    return failed("protocol", f"it ended its turn for a reason that is not known here: {reason!r}")


def refused(asked: str, code: int, message: str, ways: tuple[str, ...] = (), kind: str = "") -> Ended:
    """It answered a request with an error. `kind` is its name, if it told one; `ways` are those to log in it offers.

    Some give the status of their provider as the `code`.
    """
    why = f"{asked}: {message}"
    if code == _AUTH_REQUIRED:
        hint = f'log in with the program itself, or name a way as "auth": {", ".join(ways) or "it offers none"}'
        return failed("auth", f"{why}; {hint}")
    if limited(message, code, kind):
        return Ended(Outcome(RunStatus.RATE_LIMITED, "rate_limited", why))
    return failed("refused", why)
