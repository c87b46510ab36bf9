"""How a run on a model ends when it cannot go on: failures of the model server as outcomes."""

from core.agents.models.errors import Failure, ModelError
from core.agents.runner import Outcome
from core.domain.states import RunStatus

# The provider is at its limit, not the agent: it costs no attempt, and its line cools down (F14).
_LIMITED = frozenset({Failure.RATE_LIMITED, Failure.OVERLOADED})
_TIMED_OUT = {Failure.SILENT: "silence", Failure.TOO_LONG: "too_long"}


class Ended(Exception):
    """The conversation cannot go on; `outcome` says why, without what it cost."""

    def __init__(self, status: RunStatus, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.outcome = Outcome(status, kind, detail)


def outcome_of(error: ModelError) -> Outcome:
    """How the run ends by this failure; the exit kind is the failure's name, e.g. quota, key, context, filter."""
    detail = f"{error.message} {error.hint}".strip()
    if error.kind in _LIMITED:
        return Outcome(RunStatus.RATE_LIMITED, str(error.kind), detail, retry_at=error.until)
    if error.kind in _TIMED_OUT:
        return Outcome(RunStatus.TIMED_OUT, _TIMED_OUT[error.kind], detail)
    return Outcome(RunStatus.FAILED, str(error.kind), detail)
