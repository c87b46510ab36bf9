"""The coordinator's last duty: the audit as a file, delivered to the goal; the program composes the report."""

import asyncio
import os
from typing import Any

from core.agents.rehearsal import report as pages
from core.agents.rehearsal.asking import ask
from core.agents.rehearsal.covering import covering
from core.agents.rehearsal.deliveries import QUOTE, Delivery, deliveries_of, latest
from core.agents.rehearsal.report import Facts
from core.agents.rehearsal.shift import Shift, no_reply
from core.agents.rehearsal.words import cut, listed, plain
from core.agents.runner import Outcome
from core.domain.entities import AgentRecord, Approval, Comment, Goal, Output, Review, Round, Run
from core.domain.states import CommentKind, OutputType, TaskStatus


async def report(shift: Shift) -> Outcome:
    """Write the report from what was approved, deliver it, and report the goal."""
    goal = await shift.goal()
    tasks = await shift.tasks_of(goal)
    found = await covering(shift, goal)
    lacking = [must.id for must in found.open_must_haves]
    lacking += [f"decision {one.id} ({cut(plain(one.text), 60)})" for one in found.open_decisions]
    if lacking:
        names = listed(lacking)
        await ask(shift, f"goal:{goal.id}", f"{goal.name_tag} lacks {cut(names, 120)}: waive them, then let me report?")
        return no_reply(f"{names} are not covered")
    for task in tasks:
        if task.status == TaskStatus.DRAFT:
            await shift.act("CancelTask", task=task.id, reason="The goal is covered without it.")
    facts = await gathered(shift, goal)
    if not await is_delivered(shift, facts):
        await deliver(shift, facts)
    summary = f"{pages.summary(facts)} The audit itself, with all figures: outputs/{document_name(facts)}."
    await shift.act(
        "ReportGoal", goal=goal.id, summary=summary, findings=pages.findings(facts), not_done=pages.left_undone(facts)
    )
    return Outcome(detail=f"version {facts.version} of the report")


async def gathered(shift: Shift, goal: Goal) -> Facts:
    """All that the report tells, from the board."""
    tasks = await shift.tasks_of(goal)
    done = [task for task in tasks if task.status == TaskStatus.DONE]
    found = await deliveries_of(shift.desk.readers, shift.assignment.folder, done)
    reviews = await shift.find(
        Review, "subject = 'task' AND subject_id IN (SELECT id FROM tasks WHERE goal_id = :goal) ORDER BY id",
        goal=goal.id,
    )  # fmt: skip
    notes = await shift.find(
        Comment, "goal_id = :goal AND author = 'human' AND kind = :kind ORDER BY id",
        goal=goal.id, kind=str(CommentKind.MAIL_REQUEST),
    )  # fmt: skip
    return Facts(
        goal=goal,
        folder=shift.folder_name,
        version=len(await reports_before(shift, goal)) + 1,
        tasks=tuple(tasks),
        rounds=tuple(await shift.find(Round, "goal_id = :goal ORDER BY number", goal=goal.id)),
        reviews=tuple(reviews),
        figures={kind: delivery.result for kind, delivery in latest(found).items()},
        quotes=tuple([await quoted(shift, one) for one in found if one.kind == QUOTE and one.whole]),
        notes=tuple(note.body for note in notes),
        names={agent.id: agent.name for agent in await shift.find(AgentRecord, "true")},
    )


async def quoted(shift: Shift, quote: Delivery) -> dict[str, Any]:
    """The lines that go out, with the approval that let them."""
    used = await shift.find(
        Approval, "entity = :task AND status = 'consumed' AND json_extract(payload, '$.sha256') = :sha256 LIMIT 1",
        task=f"task:{quote.output.task_id}", sha256=quote.output.sha256,
    )  # fmt: skip
    return {**quote.content, "approval": used[0].id if used else None}


async def reports_before(shift: Shift, goal: Goal) -> list[Output]:
    """The versions that runs for an earlier state of the goal delivered; this state's own one is not among them."""
    runs = {
        run.id: run for run in await shift.find(Run, "goal_id = :goal AND kind IN ('plan', 'report')", goal=goal.id)
    }
    state = state_of(shift.assignment.run)
    return [
        output
        for output in await shift.reports_of(goal)
        if output.run_id not in runs or state_of(runs[output.run_id]) != state
    ]


def state_of(run: Run) -> str:
    """The state of the goal for which a run was queued: its key without the number of the attempt."""
    return (run.idempotency_key or "").partition("#")[0]


async def is_delivered(shift: Shift, facts: Facts) -> bool:
    """Whether an earlier attempt delivered this version before it ended."""
    return len(await shift.reports_of(facts.goal)) >= facts.version


async def deliver(shift: Shift, facts: Facts) -> None:
    """The file in the company's outputs folder, then its place on the board."""
    name = document_name(facts)
    place = shift.assignment.folder / "outputs" / name
    await shift.breath()
    await asyncio.to_thread(_write, os.fspath(place), pages.page(facts))
    await shift.act(
        "AddOutput", goal=facts.goal.id, type=OutputType.DOCUMENT, path=name,
        title=f"Audit for {facts.goal.name_tag}, version {facts.version}", summary=pages.summary(facts),
    )  # fmt: skip


def document_name(facts: Facts) -> str:
    """The file of the audit in the outputs folder, a version each."""
    return f"audit-{facts.goal.name_tag}{'' if facts.version == 1 else f'-{facts.version}'}.md"


def _write(place: str, text: str) -> None:
    # A half-written report of a run that was killed must never stand under the name of a whole one.
    with open(f"{place}.part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{place}.part", place)
