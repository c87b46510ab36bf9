"""Gathers what a prompt is made from, with a few bounded and indexed queries: a long board costs no more.

What belongs to one kind of run alone is in `gathering_runs` and `gathering_reviews`.
"""

import asyncio
import contextlib
import json
import os
import stat
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from core.aggregate import light_outputs_where
from core.blackboard.readers import Readers
from core.domain.coverage import cover
from core.domain.entities import Comment, Goal, Output, Round, Task, WorkTree
from core.domain.guardrails import RedLine
from core.domain.staff_files import FILES
from core.domain.states import Role, RunKind, TaskStatus
from core.domain.worktrees import works_in_files
from core.prompting.facts import Commission, Listing, Must, Predecessor, PromptFacts, Workplace
from core.prompting.gathering_lines import entry, in_language
from core.prompting.gathering_runs import errand_of
from core.prompting.recall import recall_experiences, recall_knowledge
from core.reading.offered import api_facts
from core.reading.visible import COMMENT_SEEN

T = TypeVar("T", Task | None, Goal | None)

COMMENTS = 30  # the newest
PREDECESSORS, DISTANCE = 20, 3
OUTPUTS_EACH = 5
LINES = 8  # of what is done and what is blocked
COUNTED = 1_000  # tasks of a goal that are counted at most
COVERING = 500  # done tasks, and as many outputs, that coverage is found in
EXPERIENCES, SECTIONS = 8, 8
OWN_FILE_MAX = 16_384  # bytes of each of an agent's own files
RECALLING = frozenset(
    {RunKind.EXECUTE, RunKind.REVIEW, RunKind.RULE, RunKind.PLAN, RunKind.SPLIT, RunKind.DISCUSS, RunKind.EXPLORE,
     RunKind.PROPOSE, RunKind.MENTION, RunKind.STALL}
)  # fmt: skip
_IN_FILES = frozenset({RunKind.EXECUTE, RunKind.REVIEW, RunKind.RULE})
_BEFORE = (
    "WITH RECURSIVE before(id, depth) AS (SELECT depends_on, 1 FROM task_deps WHERE task_id = :task UNION"
    f" SELECT depends_on, depth + 1 FROM task_deps JOIN before ON task_id = before.id WHERE depth < {DISTANCE})"
    " SELECT id, min(depth) AS depth, count(*) OVER () AS total FROM before WHERE id <> :task"
    f" GROUP BY id ORDER BY depth, id DESC LIMIT {PREDECESSORS}"
)
_HANDOFFS = (
    "id IN (SELECT (SELECT id FROM comments WHERE comments.task_id = task.value AND kind = 'handoff'"
    " ORDER BY id DESC LIMIT 1) FROM json_each(:ids) AS task)"
)


async def gather_prompt(readers: Readers, about: Commission, red_lines: Iterable[RedLine] = ()) -> PromptFacts:
    """Read everything that the prompt of a run may say. Raises BoardError."""
    about = await _placed(readers, about)
    errand = await errand_of(readers, about)
    if about.kind == RunKind.BROADCAST:
        # Its tasks are offers and no task of its own, also where it is only thought of for one of them.
        about = replace(about, task=None, goal=None, round=None)
    about = await _placed(readers, replace(about, goal=about.goal or errand.goal))
    soul, identity, memory = await _own_files(about)
    comments, total, how = await _comments(readers, about)
    before, before_total = await _predecessors(readers, about.task)
    words = _words(about) if about.kind in RECALLING else ""
    return PromptFacts(
        commission=replace(about, task=_in_entries(about.task), goal=_in_entries(about.goal)),
        templates=errand.templates,
        errand=errand.facts,
        api=_api(about.agent.role, about.kind, about.company.locale),
        soul=soul, identity=identity, memory=memory,
        musts=await _musts(readers, about.goal),
        done=await _listing(readers, about, "status = 'done'"),
        blocked=await _listing(readers, about, "status IN ('blocked', 'waiting_human', 'failed')"),
        comments=comments, comments_total=total, comments_how=how,
        others=errand.others,
        artefacts=_artefacts(about.task),
        workplace=await _workplace(readers, about),
        predecessors=before, predecessors_total=before_total,
        experiences=tuple(await recall_experiences(readers, words, EXPERIENCES)),
        knowledge=tuple(await recall_knowledge(readers, words, SECTIONS)),
        red_lines=tuple(red_lines) if about.agent.role == Role.EXECUTOR else (),
    )  # fmt: skip


def _in_entries(of: T) -> T:
    """With its constraints as entries, for they stand together in one fence; and with a title of one line.

    Boards of before may hold others.
    """
    if of is None:
        return of
    return replace(of, title=" ".join(of.title.splitlines()), constraints=tuple(map(entry, of.constraints)))


@cache
def _api(role: Role, kind: RunKind, locale: str) -> dict[str, list[dict[str, str]]]:
    return api_facts(role, kind, locale)


async def _placed(readers: Readers, about: Commission) -> Commission:
    """With the goal of its task or round, and the goal's newest round."""
    goal, round_ = about.goal, about.round
    if goal is None and (below := about.task or about.round) is not None:
        goal = next(iter(await readers.entities(Goal, "id = :id", id=below.goal_id)), None)
    if round_ is None and goal is not None:
        newest = "goal_id = :goal ORDER BY number DESC LIMIT 1"
        round_ = next(iter(await readers.entities(Round, newest, goal=goal.id)), None)
    return replace(about, goal=goal, round=round_)


def _words(about: Commission) -> str:
    """By which experiences and knowledge are recalled, what matters most first."""
    task, goal = about.task, about.goal
    texts = [task.title, task.intent, task.end_state] if task else []
    texts += [goal.title] if goal else []
    return "\n".join(texts) or about.company.mission


def _artefacts(task: Task | None) -> str:
    return json.dumps(task.arguments, ensure_ascii=False) if task is not None and task.arguments else ""


async def _workplace(readers: Readers, about: Commission) -> Workplace | None:
    task = about.task
    if task is None or not task.repository or about.kind not in _IN_FILES:
        return None
    trees = await readers.entities(WorkTree, "task_id = :task ORDER BY number DESC LIMIT 1", task=task.id)
    tree = trees[0] if trees else None
    if about.kind != RunKind.EXECUTE:
        return Workplace("judged", task.repository, tree) if tree is not None else None
    if not works_in_files(str(about.agent.runner.get("kind", ""))):
        return Workplace("board", task.repository)
    if tree is None or tree.agent_id != about.agent.id or tree.closed_at is not None:
        return Workplace("later", task.repository)
    return Workplace("tree", task.repository, tree)


async def _comments(readers: Readers, about: Commission) -> tuple[tuple[Comment, ...], int, str]:
    """The newest words below the task, or at the goal itself, that this agent may see; oldest first."""
    if about.task is not None:
        where, subject, how = "task_id = :subject", about.task.id, {"task": about.task.id}
    elif about.goal is not None and about.kind != RunKind.BROADCAST:
        # The words at its tasks stand there; of a long talk only the end is looked through.
        newest = f"SELECT id, task_id FROM comments WHERE goal_id = :subject ORDER BY id DESC LIMIT {COUNTED}"
        where, subject = f"id IN (SELECT id FROM ({newest}) WHERE task_id IS NULL)", about.goal.id
        how = {"goal": about.goal.id}
    else:
        return (), 0, ""
    seen = f"{where} AND {COMMENT_SEEN}"
    found = await readers.entities(Comment, f"{seen} ORDER BY id DESC LIMIT {COMMENTS}", subject=subject, **about.sees)
    # Only when there may be more are they counted; those that are hidden count for nobody.
    total = len(found)
    if total == COMMENTS:
        total = int(await readers.value(f"SELECT count(*) FROM comments WHERE {seen}", subject=subject, **about.sees))
    return tuple(reversed(found)), total, f"ListComments {json.dumps(how)}"


async def _predecessors(readers: Readers, task: Task | None) -> tuple[tuple[Predecessor, ...], int]:
    rows = await readers.all(_BEFORE, task=task.id) if task is not None else []
    if not rows:
        return (), 0
    ids = json.dumps([row["id"] for row in rows])
    tasks = {one.id: one for one in await readers.entities(Task, "id IN (SELECT value FROM json_each(:ids))", ids=ids)}
    handoffs = {said.task_id: said.body for said in await readers.entities(Comment, _HANDOFFS, ids=ids)}
    outputs: dict[int, list[Output]] = {}
    last = (
        "task_id IN (SELECT value FROM json_each(:ids)) AND run_id IS (SELECT run_id FROM outputs AS newer"
        f" WHERE newer.task_id = outputs.task_id ORDER BY id DESC LIMIT 1) ORDER BY id DESC LIMIT {10 * PREDECESSORS}"
    )
    for output in await light_outputs_where(readers, last, ids=ids):
        outputs.setdefault(output.task_id or 0, []).append(output)
    found = [
        Predecessor(
            tasks[row["id"]], tuple(outputs.get(row["id"], ())[:OUTPUTS_EACH]),
            handoffs.get(row["id"], ""),
        )
        for row in rows
        if row["id"] in tasks
    ]  # fmt: skip
    return tuple(found), int(rows[0]["total"])


async def _musts(readers: Readers, goal: Goal | None) -> tuple[Must, ...]:
    """The goal's must-haves with what covers them (D-08), found in the newest done tasks that have any."""
    if goal is None or not goal.must_haves:
        return ()
    done = f"goal_id = :goal AND status = 'done' AND must_haves <> '[]' ORDER BY id DESC LIMIT {COVERING}"
    tasks = await readers.entities(Task, done, goal=goal.id)
    ids = json.dumps([task.id for task in tasks])
    of_them = f"task_id IN (SELECT value FROM json_each(:ids)) ORDER BY id DESC LIMIT {COVERING}"
    outputs = await light_outputs_where(readers, of_them, ids=ids) if tasks else []
    found = cover(goal, tasks, outputs, ()).must_haves
    verify = {must["id"]: must.get("verify", "") for must in goal.must_haves}
    return tuple(
        Must(
            must.id,
            must.text + (f"\n({verify[must.id]})" if verify[must.id] else ""),
            must.state + (f" by {', '.join(f'O{number}' for number in must.outputs[-3:])}" if must.outputs else ""),
        )
        for must in found
    )


async def _listing(readers: Readers, about: Commission, which: str) -> Listing:
    goal, locale = about.goal, about.company.locale
    if goal is None:
        return Listing()
    rows = await readers.all(
        f"SELECT id, title, status, reason, count(*) OVER () AS total FROM (SELECT id, title, status, reason FROM tasks"
        f" WHERE goal_id = :goal AND {which} ORDER BY id DESC LIMIT {COUNTED}) LIMIT {LINES}",
        goal=goal.id,
    )
    lines = [
        entry(f"T{row['id']}: {row['title']}")
        if row["status"] == TaskStatus.DONE
        else entry(f"T{row['id']}, {row['status']}: {row['title']}", f"Why: {row['reason']}" if row["reason"] else "")
        for row in rows
    ]
    return Listing(tuple(in_language(line, locale) for line in lines), rows[0]["total"] if rows else 0)


async def _own_files(about: Commission) -> tuple[str, ...]:
    """SOUL, IDENTITY and MEMORY of an agent whose program does not bring its own (L1); empty where there is none."""
    if about.agent.runner.get("brings_self") is True:
        return ("",) * len(FILES)
    folder = about.folder / "agents" / about.agent.slug
    return await asyncio.to_thread(lambda: tuple(_own(folder / name) for name in FILES))


def _own(path: Path) -> str:
    with (
        contextlib.suppress(OSError),
        os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb") as file,
    ):
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return file.read(OWN_FILE_MAX).decode("utf-8-sig", "replace").strip()
    return ""
