"""The runner of the rehearsal agents: real work on a real folder without a model, by role and kind of run."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from core.agents.rehearsal import (
    answering,
    ceo,
    coordinator,
    discussing,
    executor,
    exploring,
    offers,
    planning,
    reporting,
    reviewer,
    ruling,
    shift,
)
from core.agents.rehearsal.shift import AuditFailed, Shift, no_reply
from core.agents.runner import Assignment, Desk, Outcome
from core.domain.states import Role, RunKind, RunStatus

KIND = "rehearsal"
Duty = Callable[[Shift], Awaitable[Outcome]]

DUTIES: Mapping[RunKind, Duty] = {
    RunKind.PROPOSE: ceo.propose,
    RunKind.HEARTBEAT: ceo.look_after,
    RunKind.EXPLORE: exploring.explore,
    RunKind.SPLIT: planning.split,
    RunKind.DISCUSS: discussing.discuss,
    RunKind.PLAN: planning.plan,
    RunKind.ROUND_REVIEW: coordinator.review_round,
    RunKind.STALL: coordinator.unstick,
    RunKind.REPORT: reporting.report,
    RunKind.BROADCAST: offers.answer_broadcast,
    RunKind.EXECUTE: executor.execute,
    RunKind.REVIEW: reviewer.review,
    RunKind.RULE: ruling.rule,
}


class RehearsalRunner:
    """`audited` and `pace_ms` hold for agents whose own runner settings (`folder`, `pace_ms`) say nothing else."""

    def __init__(self, audited: Path, pace_ms: int = 0) -> None:
        self.audited = audited
        self.pace_ms = pace_ms

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        """Do the duty of this kind of run. Cancelling it ends its child processes."""
        settings = assignment.settings
        at_work = Shift(
            assignment,
            desk,
            Path(settings.get("folder", self.audited)),
            int(settings.get("pace_ms", self.pace_ms)),
            self.audit,
        )
        await at_work.breath()
        try:
            return await self.duty(assignment)(at_work)
        except AuditFailed as error:
            return Outcome(RunStatus.FAILED, "audit", str(error))

    def duty(self, assignment: Assignment) -> Duty:
        """What this run is to do."""
        if assignment.run.kind == RunKind.MENTION:
            if assignment.agent.role != Role.CEO or assignment.task is not None:
                return answering.answer
            return ceo.answer_letter if assignment.goal is None else ceo.take_note
        return DUTIES.get(assignment.run.kind, _nothing)

    async def audit(self, at_work: Shift, kind: str, further: dict[str, Any]) -> dict[str, Any]:
        """One audit in a child process; a test may falsify it here."""
        return await shift.compute(at_work, kind, further)


async def _nothing(at_work: Shift) -> Outcome:
    return no_reply("a rehearsal agent has nothing to do here")
