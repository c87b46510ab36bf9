"""Situations of the later phases for the screen flows: disputes, changes of a goal, plans, reports, standstills.

Like `world.py`, through the commands' door only.
"""

from typing import Any

from core.domain.actors import Agent, System
from tests.flows.world import HANDOFF, LOOKED_AT, Office, a_goal_at_work, approved, at_work, handed_in

FINDING = {
    "what": "the generated folder was counted too",
    "where": "Languages, the row Python",
    "change": "leave build/ out and count again",
    "because": "the constraint names sources only, and build/ holds 41 of the 212 files",
    "criterion": "M1",
}
REFUSAL = "Figures of a generated folder are in it."


async def refused(office: Office, task: int, output: int, by: str = "reviewer", **more: Any) -> None:
    """A verdict that asks for another try."""
    judge = await office.agent(by, "review", task_id=task)
    finding = {**FINDING, **more.pop("finding", {})}
    verdict = {"verdict": "needs_revision", "summary": REFUSAL, "findings": [finding], "opened_outputs": [output]}
    await office.do("ReviewTask", judge, task=task, dimensions=LOOKED_AT, **{**verdict, **more})
    await office.end(judge)


async def rebutted(office: Office, task: int, by: str = "inventory", answer: str = "REJECT") -> None:
    """The author's answer to a refusal, with facts."""
    author = await office.agent(by, "execute", task_id=task)
    facts = "build/ is no generated folder: its 41 files are in the repository, see git ls-files build."
    await office.do("RebutReview", author, task=task, answer=answer, facts=facts)
    await office.end(author)


async def ruled(office: Office, task: int, verdict: str = "needs_revision") -> None:
    """The coordinator's word on a dispute."""
    coordinator = await office.agent("coordinator", "rule", task_id=task)
    because = "The goal's constraint is about sources; build/ is written by make, tracked or not."
    await office.do("RuleTask", coordinator, task=task, verdict=verdict, because=because)
    await office.end(coordinator)


async def mended(office: Office, task: int, slug: str, title: str = "Languages, again") -> None:
    """A task that came back is handed in again; it is at work already."""
    author = await office.agent(slug, "execute", task_id=task)
    await office.do(
        "AddOutput", author, task=task, type="data", title=title, summary="Without build/.",
        content='{"Python": {"files": 171, "lines": 24010, "bytes": 901200}}',
        must_haves=list((await office.task(task)).must_haves),
    )  # fmt: skip
    await office.do("AddComment", author, task=task, kind="handoff", body=HANDOFF)
    await office.do("SubmitTask", author, task=task)
    await office.end(author)


async def a_finished_round(office: Office) -> tuple[int, Agent]:
    """A goal whose first round waits for its review, and the coordinator that is at it."""
    goal = await a_goal_at_work(office)
    for number, (task, slug) in enumerate(((2, "inventory"), (3, "links")), 1):
        await handed_in(office, task, slug)
        await approved(office, task, output=number)
    for task in (4, 5):
        await office.do("CancelTask", task=task, reason="not needed")
    office.clock.forward(40)
    return goal, await office.agent("coordinator", "round_review", goal_id=goal, round_id=1)


async def round_decided(office: Office, coordinator: Agent, decision: str, number: int = 1, **more: Any) -> None:
    """The coordinator's three answers and its decision."""
    await office.do(
        "ReviewRound", coordinator, round=number, goal_clear="Yes.", covered="M1 and M2 are delivered.",
        next_step="The operator reads it.", decision=decision, **more,
    )  # fmt: skip


async def a_changed_goal(office: Office) -> int:
    """The coordinator asks for another goal: one must-have reworded, one dropped, one new."""
    goal, coordinator = await a_finished_round(office)
    change = {
        "must_haves": [
            {"id": "M1", "text": "Files, lines and bytes of each language"},
            {"id": "M2", "text": "Every dead link, relative or absolute, with the file and line that holds it"},
            {"text": "The ten largest files", "verify": "du names the same ten"},
        ],
        "constraints": ["Change nothing in the folder", "Fetch at most 50 pages"],
        "why": "17 of the 40 links are absolute; the operator's question is not answered without them.",
    }
    await round_decided(office, coordinator, "adjust_goal", goal_change=change)
    await office.end(coordinator)
    office.clock.forward(20)
    return goal


async def a_plan(office: Office, task: int = 3, slug: str = "links") -> None:
    """A working task whose plan stands open for objection."""
    author = await at_work(office, task, slug)
    body = "I fetch every absolute link with one request a second, and write down each answer but 200."
    await office.do("PostPlan", author, task=task, body=body)
    await office.end(author)


async def a_stalled_round(office: Office) -> int:
    """A round in which nothing moves: one task is blocked, one waits for the operator, the rest waits for these."""
    goal = await a_goal_at_work(office)
    for task, slug, kind, reason in (
        (2, "inventory", "needs_input", "Which languages count?"),
        (3, "links", "capability", "No agent may use the network."),
    ):
        stuck = await at_work(office, task, slug)
        await office.do("BlockTask", stuck, task=task, block_kind=kind, reason=reason)
        await office.end(stuck)
    await office.do("CancelTask", task=4, reason="not needed")
    office.clock.forward(660)
    await office.do("StallRound", System(), round=1, why="nothing has been runnable or running for 11 minutes")
    office.clock.forward(30)
    return goal
