"""What those who judge are told: the delivery, findings and answers of a task, and the material of a round. Bounded."""

import json
from collections.abc import Sequence

from core.aggregate import round_material
from core.blackboard.readers import Readers
from core.domain.entities import Review, Task
from core.domain.reviewing import criteria_of, standing
from core.domain.states import ReviewStep
from core.prompting.facts import Commission, Errand, Other, goal_call, task_call
from core.prompting.gathering_lines import ENTRIES, entry, named, phrase
from core.reading.visible import REVIEW_SEEN

CONTENT = 1_500  # code points of an output that is judged
REVIEWS = 3


async def review(readers: Readers, about: Commission) -> Errand:
    """What a verdict or a ruling on a task rests on."""
    task = about.task
    if task is None:
        return Errand(())
    others = [await _delivered(readers, about, task), await findings(readers, about, task)]
    if about.goal is not None:
        criteria = tuple(entry(f"{one['id']}: {one['text']}") for one in criteria_of(task, about.goal))
        others.append(
            Other("What it is judged by, with the names that findings use:", criteria, "criteria", task_call(task))
        )
    if task.review_step in (ReviewStep.REPLY, ReviewStep.RULING):
        others.insert(0, await _dispute(readers, about, task))
    return Errand((), {}, tuple(others))


async def _delivered(readers: Readers, about: Commission, task: Task) -> Other:
    locale = about.company.locale
    last = (
        "task_id = :task AND run_id IS (SELECT run_id FROM outputs WHERE task_id = :task ORDER BY id DESC LIMIT 1)"
        " ORDER BY id LIMIT 10"
    )
    rows = await readers.all(
        "SELECT id, type, title, summary, path, size, must_haves, count(*) OVER () AS total,"
        f" substr(content, 1, {CONTENT}) AS content, length(content) > {CONTENT} AS cut FROM outputs WHERE {last}",
        task=task.id,
    )
    items = tuple(
        entry(
            f"O{row['id']}, {row['type']}, {phrase('{} bytes', locale, row['size'])}: {row['title']}",
            _delivers(json.loads(row["must_haves"]), locale),
            f"Summary: {row['summary']}" if row["summary"] else "",
            f"A file: {row['path']}"
            if row["path"]
            else f"Content:\n{row['content']}{phrase('… [cut]', locale) if row['cut'] else ''}",
        )
        for row in rows
    )
    total = rows[0]["total"] if rows else 0
    how = f"ReadOutput {json.dumps({'output': rows[-1]['id'] if rows else 1})}"
    return Other(
        "What was delivered (a beginning of each; open what your verdict rests on):", items, "outputs", how, total
    )


def _delivers(must_haves: Sequence[str], locale: str) -> str:
    return phrase("Delivers {}", locale, ", ".join(must_haves)) if must_haves else ""


async def findings(readers: Readers, about: Commission, task: Task) -> Other:
    """What earlier refusals found, by the numbers that later ones name (F8)."""
    reviews, locale = await _reviews(readers, about, task, 20), about.company.locale
    items = tuple(
        entry(
            phrase("{} ({}, by {})", locale, one.number, one.finding.get("criterion", ""), one.reviewer)
            + f": {one.finding.get('what', '')}",
            f"Where: {one.finding.get('where', '')}",
            f"Change: {one.finding.get('change', '')}",
            f"Because: {one.finding.get('because', '')}",
        )
        for one in standing(reviews)
    )
    return Other("Findings of earlier reviews, by number:", items[:ENTRIES], "findings", task_call(task), len(items))


async def _dispute(readers: Readers, about: Commission, task: Task) -> Other:
    reviews = await _reviews(readers, about, task, REVIEWS)
    items = tuple(
        entry(
            f"{one.reviewer}: {one.verdict}. {one.dimensions.get('summary', '')}",
            phrase("{} answers {}: {}", about.company.locale, one.rebutted_by, one.rebuttal_answer, one.rebuttal)
            if one.rebuttal_answer
            else "",
        )
        for one in reversed(reviews)
    )
    return Other("The verdicts and what was answered, oldest first:", items, "verdicts", task_call(task))


async def _reviews(readers: Readers, about: Commission, task: Task, most: int) -> list[Review]:
    """The newest verdicts that this agent may see (S2-20), newest first."""
    seen = f"subject = 'task' AND subject_id = :task AND {REVIEW_SEEN} ORDER BY id DESC LIMIT {most}"
    return await readers.entities(Review, seen, task=task.id, **about.sees)


async def round_review(readers: Readers, about: Commission) -> Errand:
    """What a round's review rests on (S2-11)."""
    round_ = about.round
    if round_ is None:
        return Errand((), {"round_number": 1, "round_cap": about.goal.round_cap if about.goal else 1})
    material, locale = await round_material(readers, round_.id), about.company.locale
    snapshot, outputs, comments = (material[name] for name in ("goal_snapshot", "round_outputs", "round_comments"))
    how = f"ReadRound {json.dumps({'round': round_.id})}"
    tasks = tuple(
        entry(
            f"T{one['id']}, {one['status']}{named(one['must_haves'])}: {one['title']}",
            f"Why: {one['reason'][:300]}" if one["reason"] else "",
        )
        for one in snapshot["tasks"]
    )
    delivered = tuple(
        entry(
            phrase("{} of {}", locale, f"O{one['id']}", f"T{one['task']}")
            + f", {one['type']}{named(one['must_haves'])}"
            + (phrase(" [a newer run of its task delivered]", locale) if one["superseded"] else "")
            + f": {one['title']}",
            one["summary"],
        )
        for one in outputs["outputs"]
    )
    decided = tuple(entry(f"[{one['state']}] {one['text']}") for one in snapshot["decisions"])
    # The words at the goal itself stand with its other comments.
    of_tasks = [one for one in comments["comments"] if one["task"] is not None]
    said = tuple(
        entry(f"{one['author']} ({one['kind']}), T{one['task']}: {one['body'][:600]}") for one in reversed(of_tasks)
    )
    others = (
        Other("The tasks of the round:", tasks, "tasks of the round", how, len(tasks) + snapshot["tasks_left_out"]),
        Other("What they delivered:", delivered, "outputs", f"ListOutputs {json.dumps({'round': round_.id})}",
              outputs["total"]),
        Other("What was decided, and whether an output carries it:", decided, "decisions", goal_call(about.goal)),
        Other("What was said at them, newest first:", said, "comments of the round", how,
              len(said) + comments["left_out"]),
    )  # fmt: skip
    return Errand((), {"round_number": round_.number, "round_cap": snapshot["round_cap"]}, others)
