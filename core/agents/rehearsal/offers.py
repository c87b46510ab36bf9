"""The three-level answer to a broadcast: claim what one can do, observe where domains meet, else no reply."""

import contextlib
import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

from core.agents.rehearsal.deliveries import deliveries_of, latest
from core.agents.rehearsal.shift import Shift, ended, no_reply
from core.agents.rehearsal.words import counted, cut, named
from core.agents.rehearsal.works import ALL_WORKS, CLOSER_LOOK
from core.agents.runner import Outcome
from core.domain.entities import Comment, Offer, Task
from core.domain.errors import Conflict
from core.domain.limits import OBSERVATION_MAX
from core.domain.states import CommentKind, OfferAnswer

# A folder's own configuration must not start anything.
GIT = ("git", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "safe.directory=*")


async def answer_broadcast(shift: Shift) -> Outcome:
    """Claim at most one; what else one could do stays open until one is free again."""
    offers = await shift.find(Offer, "run_id = :run AND answer = 'open' ORDER BY id", run=shift.assignment.run.id)
    tasks = [(await shift.find(Task, "id = :id", id=offer.task_id))[0] for offer in offers]
    claimed = await claim_one(shift, [task for task in tasks if can(shift, task)])
    observed = 0
    for task in tasks:
        if not can(shift, task):
            observed += await observe_or_pass(shift, task)
    if claimed is None and not observed:
        return no_reply("nothing here is mine")
    return Outcome(detail=f"claimed {claimed.name_tag}" if claimed else f"{counted(observed, 'observation')}")


def can(shift: Shift, task: Task) -> bool:
    """Whether the task is a work of the table and asks for nothing that this agent lacks."""
    return task.arguments.get("audit") in ALL_WORKS and set(task.capabilities) <= set(
        shift.assignment.agent.capabilities
    )


async def claim_one(shift: Shift, tasks: list[Task]) -> Task | None:
    """The first task that nobody else took meanwhile."""
    for task in tasks:
        with contextlib.suppress(Conflict):
            await shift.act("ClaimTask", task=task.id)
            return task
    return None


async def observe_or_pass(shift: Shift, task: Task) -> bool:
    """Say something from one's own domain, once a task; else pass."""
    body = await observation(shift, task)
    if body:
        text = cut(body, OBSERVATION_MAX)
        await shift.act("AddComment", task=task.id, kind=CommentKind.OBSERVATION, body=text)
    answer = OfferAnswer.OBSERVATION if body else OfferAnswer.NO_REPLY
    await shift.desk.call("AnswerOffer", task=task.id, answer=answer)
    return bool(body)


async def observation(shift: Shift, task: Task) -> str:
    """What this agent knows that helps with the task; empty unless their domains meet (S3-03)."""
    kind = str(task.arguments.get("audit", ""))
    for capability in shift.assignment.agent.capabilities:
        look = OVERLAPS.get((capability, kind))
        if look is not None and not await has_observed(shift, task):
            return await look(shift, task)
    return ""


async def has_observed(shift: Shift, task: Task) -> bool:
    """Whether this agent spoke here already."""
    said = "task_id = :task AND author = :slug AND kind = 'observation' LIMIT 1"
    return bool(await shift.find(Comment, said, task=task.id, slug=shift.slug))


async def _documentation_on_marks(shift: Shift, task: Task) -> str:
    count = len([name async for name in listed_by_git(shift, "*.md", "*.markdown")])
    return f"Git lists {counted(count, 'Markdown file')} here; marks in documentation count too." if count else ""


async def _duplicates_on_history(shift: Shift, task: Task) -> str:
    names = Counter([os.path.basename(name) async for name in listed_by_git(shift)])
    twins = [(name, count) for name, count in names.most_common(1) if count > 1]
    if not twins:
        return ""
    name, count = twins[0]
    return f"Git lists {count} files named {named(name, 40)}: give whole paths, or nobody can tell which one is meant."


async def _history_on_closer_look(shift: Shift, task: Task) -> str:
    done = await shift.find(Task, "goal_id = :goal AND status = 'done' ORDER BY id", goal=task.goal_id)
    found = latest(await deliveries_of(shift.desk.readers, shift.assignment.folder, done)).get("history")
    path = task.arguments.get("path")
    if found is None or path is None:
        return ""
    largest = [row["path"] for row in found.result.get("largest", [])]
    if path in largest:
        return f"By O{found.output.id} this file is number {largest.index(path) + 1} of the largest ones."
    return f"By O{found.output.id} this file is not among the {len(largest)} largest: its size is not what is special."


async def listed_by_git(shift: Shift, *patterns: str) -> AsyncIterator[str]:
    """The tracked files, cheaply; none where git is not there or does not know the folder."""
    try:
        child = await shift.desk.start(*GIT, "-C", os.fspath(shift.audited), "ls-files", "--", *patterns)
    except OSError:
        return
    try:
        async for line in child.lines():
            # Git sets unusual names in quotes.
            yield line.decode("utf-8", "replace").rstrip("\n").strip('"')
    finally:
        await ended(child)


OVERLAPS: Mapping[tuple[str, str], Callable[[Shift, Task], Awaitable[str]]] = {
    ("documentation", "marks"): _documentation_on_marks,
    ("duplicates", "history"): _duplicates_on_history,
    ("history", CLOSER_LOOK): _history_on_closer_look,
}
