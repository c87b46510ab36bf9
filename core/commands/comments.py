"""Comments of each kind with their length rules, and the mentions in them."""

import re
from collections.abc import Sequence

from pydantic import Field

from core.commands.exploring import admit_word
from core.commands.registry import Act, Answer, Command, handles, letters
from core.commands.telling import mention, say
from core.commands.verified import require_real
from core.domain.actors import Agent, Operator
from core.domain.entities import AgentRecord, Comment, Experience, Goal, Task
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.limits import COMMENT_MAX, EXPERIENCE_PREFIX, HANDOFF_MAX, HANDOFF_MIN, OBSERVATION_MAX
from core.domain.mentions import as_note, by_role, named_in, wakes
from core.domain.sections import lines_outside_fences
from core.domain.states import CommentKind, ExperienceStatus, Role, TaskStatus

__all__ = ["AddComment", "add_comment", "check_length", "confidence_of", "named_in"]

_CONFIDENCE = re.compile(r"\[confidence:\s*(0(?:\.\d+)?|1(?:\.0+)?)\]")


class AddComment(Command):
    """Write on the blackboard, below a task or a goal. `@name` wakes that agent; a note wakes nobody.

    A text that begins with `/note` is a note. `@operator` in a question or a request for a reply asks the person.
    """

    who = letters("HACRXS")
    example = {"task": 12, "kind": "question", "body": "@rita does an empty file count?"}
    task: int | None = None
    goal: int | None = None
    kind: CommentKind = CommentKind.NOTE
    body: str = Field(min_length=1, max_length=COMMENT_MAX)
    reply_to: int | None = None
    mentions: tuple[str, ...] = Field((), description="Names to wake, beside those written as @name")


@handles(AddComment)
def add_comment(act: Act, command: AddComment) -> Answer:
    from core.commands.discussion import keep_decision

    tx = act.tx
    if (command.task is None) == (command.goal is None):
        raise Invalid("A comment belongs to a task or to a goal.", "Name exactly one of them.")
    task = None if command.task is None else tx.get(Task, command.task)
    goal = tx.get(Goal, task.goal_id if task else command.goal or 0)
    note = as_note(command.body)
    kind = command.kind if note is None else CommentKind.NOTE
    given = command.body if note is None else note
    body = check_length(kind, given)
    if kind == CommentKind.HANDOFF:
        _require_author_of_work(act, task)
        require_real(act, [body])
    if isinstance(act.actor, Agent):
        _require_unseen_verdict(act, goal, task)
    is_talk = kind == CommentKind.DIALOGUE and task is None and goal.exploring
    if is_talk:
        admit_word(act, goal)
    if command.reply_to is not None:
        tx.get(Comment, command.reply_to)
    comment = say(
        act, "OperatorSpoke" if is_talk and isinstance(act.actor, Operator) else "CommentAdded", kind, body,
        goal=goal.id, task=command.task, reply_to=command.reply_to, confidence=confidence_of(body),
    )  # fmt: skip
    if kind == CommentKind.HANDOFF and task is not None and isinstance(act.actor, Agent):
        _note_experiences(act, task, comment, given)
    if kind == CommentKind.DECISION:
        keep_decision(act, goal, comment)
    sets_off: Answer = {"calls": "coordinator"} if is_talk and isinstance(act.actor, Operator) else {}
    if task is not None and kind == CommentKind.OBJECTION:
        from core.commands.plans import objected

        objected(act, task, comment)
        sets_off = _adjusting(act, task)
    return {"id": comment.id, **_call(act, comment, () if note is not None else command.mentions, is_talk), **sets_off}


def _require_unseen_verdict(act: Act, goal: Goal, task: Task | None) -> None:
    """Who gave the first verdict of two keeps silent, there and at the goal, until the second is there."""
    waiting = act.tx.value(
        "SELECT tasks.id FROM reviews JOIN tasks ON tasks.id = subject_id AND subject = 'task'"
        " WHERE tasks.goal_id = :goal AND tasks.review_step = 'second' AND settled = 0 AND reviewer = :who"
        " AND coalesce(:task, tasks.id) = tasks.id LIMIT 1",
        goal=goal.id, who=act.label, task=task.id if task else None,
    )  # fmt: skip
    if waiting is not None:
        raise Forbidden(
            f"The second reviewer of T{waiting} must not see your verdict (S2-20); nothing was written.",
            "Say it after the second verdict.",
        )


def _adjusting(act: Act, before: Task) -> Answer:
    """What an objection made of the plan that stood open before it: {"adjusts": author}, {"asked": approval}, or {}."""
    task = act.tx.get(Task, before.id)
    if before.plan_until is None or task.plan_until is not None:
        return {}
    if task.status == TaskStatus.WAITING_HUMAN:
        asked = "SELECT max(id) FROM approvals WHERE entity = :task AND status = 'pending'"
        return {"asked": act.tx.value(asked, task=f"task:{task.id}")}
    author = act.tx.find(AgentRecord, task.assignee_id)
    return {} if author is None else {"adjusts": author.slug}


def _call(act: Act, comment: Comment, also: Sequence[str], is_talk: bool) -> Answer:
    """Wake whom the comment calls; ask the operator; hold what goes round in circles (S2-28, F7)."""
    from core.commands.mail import ask_about_exchange, ask_by_mail, goes_in_circles, hold

    staff = act.tx.select(AgentRecord, "status <> 'terminated' ORDER BY id")
    roles = {agent.slug: agent.role for agent in staff}
    called = wakes(comment.body, comment.kind, act.label, roles, also, by_role=by_role(staff))
    # In an exploration the coordinator is called by the talk itself, and not a second time by its name.
    by_talk = [name for name in called.names if is_talk and roles[name] == Role.COORDINATOR]
    names = [name for name in called.names if name not in by_talk]
    asked = ask_by_mail(act, comment, called)
    held: list[str] = []
    if names and isinstance(act.actor, Agent) and goes_in_circles(act, comment, names, frozenset(roles)):
        held = hold(act, comment, names)
        asked = ask_about_exchange(act, comment, held) if held else asked
    woken = mention(act, comment, [name for name in names if name not in held])
    return {
        "wakes": [name for name in called.names if name in woken or name in by_talk],
        "unknown": dict(called.unknown), "asked": asked, "held": held,
    }  # fmt: skip


def check_length(kind: CommentKind, body: str) -> str:
    """The stripped text, if its length is right for its kind. Raises Invalid, which says the limit (C-20, C-01)."""
    try:
        body.encode()
    except UnicodeEncodeError:
        raise Invalid("The text holds half a character (a lone surrogate).", "Send valid Unicode.") from None
    text = body.strip()
    if not text:
        raise Invalid("The comment is empty.", "Write something.")
    if kind == CommentKind.OBSERVATION and len(text) > OBSERVATION_MAX:
        raise Invalid(f"An observation has at most {OBSERVATION_MAX} characters; this has {len(text)}.", "Shorten it.")
    if kind == CommentKind.HANDOFF and not HANDOFF_MIN <= len(text) <= HANDOFF_MAX:
        raise Invalid(
            f"A handoff has {HANDOFF_MIN} to {HANDOFF_MAX} characters; this has {len(text)}.",
            "Say decisions and why, problems, advice; put longer text into an output and name it.",
        )
    return text


def _require_author_of_work(act: Act, task: Task | None) -> None:
    if task is None:
        raise Invalid("A handoff belongs to a task.", "Name the task.")
    if isinstance(act.actor, Agent) and task.current_run != act.actor.run_id:
        raise Forbidden(f"{task.name_tag} is not yours to hand off.", "Write a note or an observation instead.")
    if task.status != TaskStatus.WORKING:
        raise Conflict(f"{task.name_tag} is {task.status}: there is nothing to hand off.", "Hand off while you work.")


def confidence_of(text: str) -> float | None:
    """A `[confidence: 0.X]` mark, if there is one; never required (C-08)."""
    found = _CONFIDENCE.search(text)
    return float(found[1]) if found else None


def _note_experiences(act: Act, task: Task, comment: Comment, given: str) -> None:
    """Only lines that begin with exactly the prefix, as they were written (S3-09).

    What a handoff quotes within a line, indented or in a fence of code is no experience.
    """
    for line in lines_outside_fences(given):
        body = line.removeprefix(EXPERIENCE_PREFIX).strip()
        if line.startswith(EXPERIENCE_PREFIX) and body:
            act.tx.insert(
                Experience, "ExperienceNoted",
                task_id=task.id, comment_id=comment.id, author=comment.author,
                body=body, status=ExperienceStatus.NEW, uses=0,
            )  # fmt: skip
