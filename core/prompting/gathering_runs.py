"""What each kind of run is told beyond goal and task: its errand, and the other words that it is about. Bounded."""

import json
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping
from dataclasses import replace

from core.blackboard.readers import Readers
from core.domain.actors import HUMAN
from core.domain.ceo_mode import CeoMode
from core.domain.entities import AgentRecord, Approval, Comment, Goal, Task, Turn
from core.domain.limits import DISCUSSION_TURNS, OBSERVATION_MAX, OFFERS_PER_BROADCAST
from core.domain.states import CommentKind, Role, RunKind
from core.prompting.catalogue import CLAIM, DELEGATE, FOOTER, MAIL, MENTION, PHASES, ceo_mode
from core.prompting.facts import Commission, Errand, Other, goal_call, task_call
from core.prompting.gathering_lines import ENTRIES, entry, in_language, named, phrase
from core.prompting.gathering_reviews import findings, review, round_review
from core.reading.visible import COMMENT_SEEN

_AS_WRITTEN = frozenset({"words", "reasons", "notes"})  # one text in a fence of its own: no entries
LEADERS = frozenset({Role.CEO, Role.COORDINATOR, Role.PLANNER})
# Who leads is told who is there and what waits for the operator, where that bears on the run.
STAFFED = frozenset(
    {RunKind.PLAN, RunKind.SPLIT, RunKind.STALL, RunKind.HEARTBEAT, RunKind.PROPOSE, RunKind.MENTION,
     RunKind.ROUND_REVIEW}
)  # fmt: skip


async def errand_of(readers: Readers, about: Commission) -> Errand:
    """What the run is for."""
    look = _OF.get(about.kind)
    errand = await look(readers, about) if look is not None else Errand(())
    known = {"agent_name": about.agent.name, "run_kind": str(about.kind)}
    templates = (PHASES[about.kind],) if about.kind in PHASES else errand.templates
    if about.agent.role == Role.CEO and "mode" in about.brief:
        templates = (ceo_mode(CeoMode(about.brief["mode"])), FOOTER, *templates)
    others = list(errand.others)
    if about.agent.role in LEADERS and about.kind in STAFFED:
        others += [*await _staff(readers), *await _asked(readers)]
    told = tuple(_in_language(other, about.company.locale) for other in others if other.items)
    return Errand(templates, {**known, **errand.facts}, told, errand.goal)


def _in_language(other: Other, locale: str) -> Other:
    if other.what in _AS_WRITTEN:
        return other
    return replace(other, items=tuple(in_language(item, locale) for item in other.items))


async def _broadcast(readers: Readers, about: Commission) -> Errand:
    offered = (
        "id IN (SELECT task_id FROM offers WHERE run_id = :run AND answer = 'open') AND status = 'pending'"
        if about.run_id is not None
        else "id = :task"
    )
    most = f"ORDER BY priority, id LIMIT {OFFERS_PER_BROADCAST}"
    tasks = await readers.entities(
        Task, f"{offered} {most}",
        run=about.run_id, task=about.task.id if about.task is not None else None,
    )  # fmt: skip
    ids = json.dumps(sorted({task.goal_id for task in tasks}))
    goals = {goal.id: goal for goal in await readers.entities(Goal, _IN, ids=ids)}
    heard = await _newest_words(readers, about, tasks)
    named = goals if len(goals) > 1 else {}
    others = tuple(
        Other(
            f"**{task.name_tag}** ({task.risk} risk; needs {', '.join(task.capabilities) or 'nothing special'}):",
            (_task_text(task, named.get(task.goal_id), about.company.locale), *heard.get(task.id, ())),
            "tasks on offer", f"ReadTask {json.dumps({'task': task.id})}",
        )
        for task in tasks
    )  # fmt: skip
    only = next(iter(goals.values())) if len(goals) == 1 else None
    return Errand((CLAIM,), {"observation_max": OBSERVATION_MAX}, others, only)


_IN = "id IN (SELECT value FROM json_each(:ids))"
# The last three words below each task that this agent may see (S2-20), by the index of its comments.
_WORDS = (
    "id IN (SELECT word.value FROM json_each(:ids) AS task JOIN json_each((SELECT json_group_array(id) FROM (SELECT id"
    f" FROM comments WHERE comments.task_id = task.value AND {COMMENT_SEEN} ORDER BY id DESC LIMIT 3))) AS word)"
    " ORDER BY id"
)


async def _newest_words(readers: Readers, about: Commission, tasks: Iterable[Task]) -> dict[int, list[str]]:
    """The last three comments of each task on offer: nobody is to say them again (S3-07)."""
    found: dict[int, list[str]] = {}
    ids = json.dumps([task.id for task in tasks])
    for said in await readers.entities(Comment, _WORDS, ids=ids, **about.sees):
        found.setdefault(said.task_id or 0, []).append(entry(f"{said.author} ({said.kind}): {said.body[:300]}"))
    return found


def _task_text(task: Task, goal: Goal | None, locale: str) -> str:
    return entry(
        task.title,
        phrase("Goal {}: {}", locale, goal.name_tag, goal.title) if goal is not None else "",
        f"Intent: {task.intent[:600]}" if task.intent else "",
        f"End state: {task.end_state[:600]}" if task.end_state else "",
        *(f"Constraint: {text[:300]}" for text in task.constraints[:5]),
        f"Must-haves: {', '.join(task.must_haves)}" if task.must_haves else "",
    )


async def _execute(readers: Readers, about: Commission) -> Errand:
    task = about.task
    if task is None:
        return Errand(())
    others = [Other("Why it came back:", (task.reason,) if task.reason else (), "reasons", task_call(task))]
    others += [await findings(readers, about, task)] if task.review_attempts or task.criteria else []
    answered = "entity = :entity AND status <> 'pending' AND note <> '' ORDER BY id DESC LIMIT 3"
    told = await readers.entities(Approval, answered, entity=f"task:{task.id}")
    notes = tuple(entry(f"{one.name_tag}, {one.status}: {one.title}", f"Answer: {one.note}") for one in told)
    others.append(Other("What the operator answered about it:", notes, "answers", task_call(task)))
    before = await readers.entities(Task, "id = :id", id=task.retry_of) if task.retry_of is not None else []
    for one in before:
        others.append(Other(f"It is tried anew after {one.name_tag}:", (one.reason or "-",), "reasons", task_call(one)))
    return Errand((), {}, tuple(others))


async def _report(readers: Readers, about: Commission) -> Errand:
    rows = await readers.all(
        "SELECT outputs.id, task_id, outputs.type, outputs.title, outputs.summary, outputs.must_haves,"
        " count(*) OVER () AS total FROM outputs JOIN tasks ON tasks.id = task_id AND tasks.status = 'done'"
        f" WHERE outputs.goal_id = :goal ORDER BY outputs.id DESC LIMIT {ENTRIES}",
        goal=about.goal.id if about.goal else None,
    )
    items = tuple(
        entry(
            phrase("{} of {}", about.company.locale, f"O{row['id']}", f"T{row['task_id']}")
            + f", {row['type']}{named(json.loads(row['must_haves']))}: {row['title']}",
            row["summary"],
        )
        for row in rows
    )
    how = f"ListOutputs {json.dumps({'goal': about.goal.id if about.goal else 1})}"
    delivered = Other("What was delivered, newest first:", items, "outputs", how, rows[0]["total"] if rows else 0)
    return Errand((), {}, (delivered, _note(about)))


async def _planning(readers: Readers, about: Commission) -> Errand:
    return Errand((), {}, (_note(about), *_out_of_scope(about), await _open_tasks(readers, about)))


async def _talking(readers: Readers, about: Commission) -> Errand:
    """A turn of the talk with the operator, or of the discussion."""
    goal = about.goal.id if about.goal else None
    turns = await readers.entities(Turn, "goal_id = :goal ORDER BY number DESC LIMIT 1", goal=goal)
    facts = {"turn": turns[0].number if turns else 1, "turns_max": DISCUSSION_TURNS}
    planned = await _planning(readers, about)
    return Errand((), facts, planned.others)


async def _mention(readers: Readers, about: Commission) -> Errand:
    called = "id = (SELECT comment_id FROM mentions WHERE run_id = :run ORDER BY id DESC LIMIT 1)"
    words = await readers.entities(Comment, called, run=about.run_id) if about.run_id is not None else []
    if not words:
        return Errand((MENTION,), {"author": HUMAN})
    said = words[0]
    template = MAIL.get(said.kind) or (DELEGATE if said.kind == CommentKind.DECISION else MENTION)
    before = await readers.entities(Comment, "id = :id", id=said.reply_to) if said.reply_to is not None else []
    ids = json.dumps([one.id for one in (said, *before)])
    seen = await readers.entities(Comment, f"{_IN} AND {COMMENT_SEEN}", ids=ids, **about.sees)
    may_read = {one.id for one in seen}
    others = [_word(f"The words that called you (C{said.id}, by {said.author})", said, may_read)]
    others += [_word(f"They answer C{one.id} by {one.author}", one, may_read) for one in before]
    return Errand((template,), {"author": said.author}, tuple(others))


def _word(head: str, said: Comment, may_read: Container[int]) -> Other:
    """A comment by itself; what is hidden from this agent is only named (S2-20)."""
    how = f"ReadText {json.dumps({'of': f'comment:{said.id}', 'field': 'body'})}"
    if said.id in may_read:
        return Other(f"{head}:", (said.body,), "words", how)
    return Other(f"{head}, words that you may not read yet:", ("…",), "words", how)


async def _heartbeat(readers: Readers, about: Commission) -> Errand:
    items = tuple(
        entry(
            f"{one.get('kind', '')}, {one.get('entity', '')}: {one.get('title', '')}",
            f"Why: {one['why']}" if one.get("why") else "",
        )
        for one in about.brief.get("agenda", ())
    )
    return Errand((), {}, (Other("The agenda:", items, "items of the agenda", "ListGoals {}"),))


async def _propose(readers: Readers, about: Commission) -> Errand:
    refill = about.brief.get("refill", {})
    heads = {
        "finished": "Goals that were finished:",
        "cancelled": "Goals that ended otherwise:",
        "rejected": "Drafts that the operator refused:",
    }
    others = [
        Other(
            head,
            tuple(
                entry(
                    f"{one['goal']}, {one['status']}: {one['title']}", f"Why: {one['reason']}" if one["reason"] else ""
                )
                for one in refill.get(name, ())
            ),
            "goals", "ListGoals {}",
        )
        for name, head in heads.items()
    ]  # fmt: skip
    return Errand((), {}, tuple(others))


async def _stall(readers: Readers, about: Commission) -> Errand:
    why = about.round.answers.get("stalled", "") if about.round is not None else ""
    how = f"ReadRound {json.dumps({'round': about.round.id})}" if about.round is not None else ""
    reasons = Other("Why it stands still:", (why,) if why else (), "reasons", how)
    return Errand((), {}, (reasons, await _open_tasks(readers, about)))


async def _open_tasks(readers: Readers, about: Commission) -> Other:
    goal = about.goal.id if about.goal else None
    rows = await readers.all(
        "SELECT id, title, status, end_state, must_haves, capabilities, reason, count(*) OVER () AS total FROM tasks"
        " WHERE goal_id = :goal AND status NOT IN ('done', 'failed', 'cancelled')"
        f" ORDER BY id DESC LIMIT {ENTRIES}",
        goal=goal,
    )
    items = tuple(
        entry(
            f"T{row['id']}, {row['status']}: {row['title']}",
            *(
                f"{what}: {', '.join(json.loads(row[name])) if name in _LISTS else row[name][:300]}"
                for name, what in _TOLD.items()
                if row[name] not in ("", "[]")
            ),
        )
        for row in rows
    )
    how = f"ListTasks {json.dumps({'goal': goal})}"
    return Other("Its tasks that are open, newest first:", items, "tasks", how, rows[0]["total"] if rows else 0)


_LISTS = frozenset({"must_haves", "capabilities"})
_TOLD = {"end_state": "End state", "must_haves": "Must-haves", "capabilities": "Needs", "reason": "Why"}


def _note(about: Commission) -> Other:
    note = about.goal.reason if about.goal else ""
    return Other("What you are to take into account:", (note,) if note else (), "notes", goal_call(about.goal))


def _out_of_scope(about: Commission) -> list[Other]:
    lines = about.goal.out_of_scope if about.goal else ()
    return [Other("Out of scope:", tuple(map(entry, lines)), "lines", goal_call(about.goal))]


async def _staff(readers: Readers) -> list[Other]:
    rows = await readers.entities(AgentRecord, f"status <> 'terminated' ORDER BY id LIMIT {ENTRIES + 1}")
    total = int(await readers.value("SELECT count(*) FROM agents WHERE status <> 'terminated'"))
    items = tuple(
        entry(
            f"{one.slug}, {one.role}, {one.status}" + (f": {', '.join(one.capabilities)}" if one.capabilities else "")
        )
        for one in rows[:ENTRIES]
    )
    return [Other("Who is here:", items, "agents", "ReadStaff {}", total)]


async def _asked(readers: Readers) -> list[Other]:
    rows = await readers.all(
        "SELECT id, kind, entity, title, count(*) OVER () AS total FROM approvals WHERE status = 'pending'"
        f" ORDER BY id LIMIT {ENTRIES}"
    )
    items = tuple(entry(f"Q{row['id']}, {row['kind']}, {row['entity']}: {row['title']}") for row in rows)
    how = "ReadGoal, of the goal in question"
    return [Other("What waits for the operator already:", items, "questions", how, rows[0]["total"] if rows else 0)]


_OF: Mapping[RunKind, Callable[[Readers, Commission], Awaitable[Errand]]] = {
    RunKind.BROADCAST: _broadcast,
    RunKind.EXECUTE: _execute,
    RunKind.REVIEW: review,
    RunKind.RULE: review,
    RunKind.ROUND_REVIEW: round_review,
    RunKind.REPORT: _report,
    RunKind.PLAN: _planning,
    RunKind.SPLIT: _planning,
    RunKind.EXPLORE: _talking,
    RunKind.DISCUSS: _talking,
    RunKind.MENTION: _mention,
    RunKind.HEARTBEAT: _heartbeat,
    RunKind.PROPOSE: _propose,
    RunKind.STALL: _stall,
}
