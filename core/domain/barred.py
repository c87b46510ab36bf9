"""What keeps queued runs back in one pass, and whom it does not keep back. Pure."""

from collections.abc import Mapping
from typing import Any

from core.domain.entities import Run


class Barred:
    """What need not be tried again in this pass. What holds one run of an agent or a goal back must not keep the
    others' runs waiting behind it (F16); a budget that one run would overdraw may have enough for a smaller one.
    """

    def __init__(self) -> None:
        self._why: dict[tuple[str, object], str] = {}

    def why(self, run: Run) -> str:
        """Why a run like this cannot start; empty if it may be tried."""
        places: tuple[tuple[str, object], ...] = (
            ("company", 1), ("agent", run.agent_id), ("goal", run.goal_id), ("like", _like(run)),
        )  # fmt: skip
        return next((found for place in places if (found := self._why.get(place))), "")

    def note(self, run: Run, answer: Mapping[str, Any]) -> None:
        """Take in the answer to a start that was refused."""
        about: dict[str, object] = {"company": 1, "agent": run.agent_id, "goal": run.goal_id}
        scope = str(answer.get("scope", ""))
        if not answer.get("used_up", True):
            # As much is held back for every run of this agent and kind.
            self._why["like", _like(run)] = answer["why"]
        elif about.get(scope) is not None:
            self._why[scope, about[scope]] = answer["why"]


def _like(run: Run) -> tuple[int, str, int | None]:
    return (run.agent_id, run.kind, run.goal_id)
