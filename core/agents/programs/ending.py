"""How a run of a program ended, from all that is known of it. Pure."""

from dataclasses import dataclass

from core.agents.owing import Owed
from core.agents.programs.pieces import Finished
from core.agents.programs.started import End
from core.agents.runner import Outcome
from core.domain.states import RunStatus

_REASON = 300
_TRY = "try it with one call: opsroom doctor DIR --call"


@dataclass(frozen=True, slots=True)
class Facts:
    """`stopped` is a limit that was reached; `finished` the program's own word; `errors` the end of standard error."""

    owed: Owed
    met: bool
    silent: bool
    end: End
    stopped: Outcome | None
    finished: Finished | None
    needs_result: bool
    last_words: str
    errors: str


def outcome_of(facts: Facts) -> Outcome | None:
    """The outcome; None where the program ended in words, well, and without the call that the run owes."""
    trouble = _trouble(facts)
    if facts.met and trouble is not None and (facts.owed.final or facts.stopped is None):
        # What the run was for stands on the board: it did not fail because of what came after.
        return Outcome(RunStatus.SUCCEEDED, "done", f"done; then {trouble.exit_kind}: {trouble.detail}"[:1000])
    if trouble is not None:
        return trouble
    if facts.met:
        return Outcome()
    if facts.owed.silence and facts.silent:
        return Outcome(exit_kind="no_reply")
    return None


def _trouble(facts: Facts) -> Outcome | None:
    if facts.stopped is not None:
        return facts.stopped
    finished, end = facts.finished, facts.end
    if finished is not None and not finished.ok:
        status = RunStatus.RATE_LIMITED if finished.kind == "rate_limited" else RunStatus.FAILED
        return Outcome(status, finished.kind or "failed", finished.why, retry_at=finished.retry_at)
    if end.error or end.signal is not None or end.code != 0:
        kind = "not_started" if not end.ran else "signal" if end.signal is not None else "exit"
        if end.error and end.ran:
            kind = "no_supervisor"
        told = facts.errors.strip() or facts.last_words.strip()
        return Outcome(RunStatus.FAILED, kind, f"{end.words}: {_end_of(told)}" if told else end.words)
    if facts.needs_result and finished is None:
        return Outcome(RunStatus.FAILED, "no_result", f"it ended without a result, although with exit code 0; {_TRY}")
    return None


def _end_of(text: str) -> str:
    """The end of a text that is too long, from the begin of a word on where it has words."""
    if len(text) <= _REASON:
        return text
    end = text[-_REASON:]
    words = end.split(maxsplit=1)
    return f"… {words[1] if len(words) == 2 else end}"


def no_board_call(last_words: str, reminders: int) -> Outcome:
    """It ended in words, and was reminded as often as it may be."""
    after = f", after {reminders} reminders" if reminders else ""
    told = f"it ended without a call on the board that ends this run{after}: {_end_of(last_words.strip())}"
    return Outcome(RunStatus.PROTOCOL_VIOLATION, "no_board_call", told)
