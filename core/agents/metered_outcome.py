"""How a run ended, with what the gateway knows of it. Pure."""

from dataclasses import replace

from core.agents.metered import Metered
from core.agents.runner import Outcome
from core.domain.states import RunStatus

_UNWELL = (RunStatus.FAILED, RunStatus.PROTOCOL_VIOLATION, RunStatus.RATE_LIMITED, RunStatus.TIMED_OUT)
_OWN_LIMITS = ("stuck", "turns", "tokens", "cost", "fenced")


def metered_outcome(outcome: Outcome, metered: Metered, now: int) -> Outcome:
    """The outcome with the gateway's sums in place of the program's own, and the gateway's reason where it stopped it.

    A run that failed while its provider rests (`now` in ms UTC) is rate limited: that costs no attempt.
    """
    if metered.counts:
        outcome = replace(
            outcome, tokens_in=metered.tokens_in, tokens_out=metered.tokens_out, cost_micros=metered.cost_micros
        )
    if metered.stop is not None and outcome.status in _UNWELL and outcome.exit_kind != metered.stop[0]:
        kind, why = metered.stop
        outcome = replace(outcome, status=RunStatus.FAILED, exit_kind=kind, detail=_joined(why, outcome.detail))
    elif outcome.status is RunStatus.FAILED and metered.limited_until > now and outcome.exit_kind not in _OWN_LIMITS:
        outcome = replace(
            outcome, status=RunStatus.RATE_LIMITED, exit_kind="rate_limited", retry_at=metered.limited_until
        )
    if metered.unknown:
        told = f"the cost of {metered.unknown} of its {metered.requests} model requests is unknown"
        outcome = replace(outcome, detail=_joined(outcome.detail, told))
    if metered.estimated:
        told = f"what {metered.estimated} of its {metered.requests} model requests used is estimated"
        outcome = replace(outcome, detail=_joined(outcome.detail, told))
    return outcome


def _joined(*words: str) -> str:
    return "; ".join(word for word in words if word)
