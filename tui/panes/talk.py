"""What the talk screen shows: the dialogue, the goal as it grows, and whose turn it is.

Reading is awaited in a worker.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.company import OpenCompany
from core.domain.actors import HUMAN
from core.domain.discussion import is_placeholder
from core.domain.entities import AgentRecord, Comment, Goal, Task
from core.domain.goals import not_verifiable
from core.domain.states import AgentStatus, CommentKind, GoalStatus, Role, RunKind, RunStatus, TaskStatus
from tui.panes.discussion import comment_blocks, person
from tui.panes.words import clock_time
from tui.projection import Projection
from tui.text import ago, one_line, plain, wrap
from tui.widgets.prose import Block
from tui.widgets.row import Tone

MOST = 200
GROWING = ("title", "must_haves", "description", "constraints", "out_of_scope")
MARK = "✱"
_EDITS = "SELECT at, actor, kind, changed FROM events WHERE entity = 'goals' AND entity_id = :id ORDER BY id"


@dataclass(frozen=True, slots=True)
class Change:
    """The last edit of a goal: who made it, when (ms), and the goal's fields before it."""

    who: str = ""
    at: int = 0
    before: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Talk:
    """What was said, who spoke last (empty: nobody yet), and what changed last."""

    blocks: Sequence[Block]
    last_author: str
    change: Change


async def read_talk(company: OpenCompany, view: Projection, goal_id: int) -> Talk:
    """The talk about a goal as the board has it."""
    readers = company.board.readers
    where = f"goal_id = :id AND task_id IS NULL ORDER BY id DESC LIMIT {MOST}"
    comments = list(reversed(await readers.entities(Comment, where, id=goal_id)))
    blocks = await comment_blocks(company, view, comments, plain_kind=CommentKind.DIALOGUE)
    spoken = [each.author for each in comments if each.kind == "dialogue"]
    events = await readers.all(_EDITS, id=goal_id)
    return Talk(blocks, spoken[-1] if spoken else "", last_change(events))


def last_change(events: Sequence[dict[str, Any]]) -> Change:
    """The last edit, from the goal's events in their order."""
    known: dict[str, Any] = {}
    change = Change()
    for event in events:
        changed = json.loads(event["changed"]) if isinstance(event["changed"], str) else event["changed"]
        if event["kind"] == "GoalEdited":
            change = Change(event["actor"], event["at"], {name: known.get(name) for name in GROWING})
        known.update(changed)
    return change


# ------------------------------------------------------------- the goal as it grows


@dataclass(frozen=True, slots=True)
class Item:
    """One entry: its label, its text, what is said below it, and whether it changed last."""

    label: str
    text: str
    below: str = ""
    below_tone: Tone = "dim"
    is_new: bool = False
    tone: Tone | None = None


@dataclass(frozen=True, slots=True)
class Items:
    """Entries below one another; what changed last is marked at the margin."""

    items: tuple[Item, ...]

    def lines(self, width: int) -> list[tuple[tuple[str, Tone | None], ...]]:
        """Each entry keeps to its own column."""
        lines: list[tuple[tuple[str, Tone | None], ...]] = []
        for item in self.items:
            margin = f"{MARK} " if item.is_new else "  " if item.label else ""
            mark: tuple[str, Tone | None] = (margin, "warn")
            label = f"{item.label} " if item.label else ""
            indent = " " * (len(margin) + len(label))
            rows = [row for part in plain(item.text).split("\n") for row in wrap(part, max(4, width - len(indent)))]
            for place, row in enumerate(rows or [""]):
                tone = "strong" if item.is_new else item.tone
                lines.append((mark, (label, "info"), (row, tone)) if not place else ((indent, None), (row, tone)))
            below = wrap(one_line(item.below), max(4, width - len(indent))) if item.below else ()
            lines += [((indent, None), (row, item.below_tone)) for row in below]
        return lines


def growing(goal: Goal, change: Change, tasks: Iterable[Task] = ()) -> tuple[list[Block], list[int]]:
    """The goal section by section, with what it still lacks; and the places of the sections that changed last.

    `tasks` are those it would begin with: who says ready says it of them too (C-10).
    """
    before = change.before
    changed = [
        name for name in GROWING if before and _plain_value(before.get(name)) != _plain_value(getattr(goal, name))
    ]
    by = f"{MARK} {person(change.who)} {clock_time(change.at)}" if change.who else ""

    def block(name: str, title: str, items: Sequence[Item], nothing: str) -> Block:
        is_new = name in changed
        heading: list[tuple[str, Tone]] = [(title, "strong")]
        if is_new:
            heading.append((by, "warn"))
        tone: Tone | None = "warn" if is_new else "info"
        body = "" if items else nothing
        return Block(tuple(heading), body, tone, Items(tuple(items)) if items else None)

    texts = {
        name: [Item("•", text, is_new=bool(before) and text not in (before.get(name) or ())) for text in value]
        for name, value in (("constraints", goal.constraints), ("out_of_scope", goal.out_of_scope))
    }
    description = [Item("", goal.description)] if goal.description else []
    blocks = [
        _head(goal, by if "title" in changed else ""),
        block("must_haves", "Must deliver", _must_haves(goal, before), "nothing yet"),
        block("description", "What it is about", description, "nothing yet"),
        block("constraints", "Constraints", texts["constraints"], "none yet"),
        block("out_of_scope", "Out of scope", texts["out_of_scope"], "nothing named yet"),
    ]
    if drafts := [_draft(task) for task in tasks if task.status == TaskStatus.DRAFT and not is_placeholder(task)]:
        blocks.append(block("tasks", "Draft tasks", drafts, ""))
    return blocks, [place for place, name in enumerate(GROWING) if name in changed]


def _draft(task: Task) -> Item:
    end = f"done when: {task.end_state}" if task.end_state else "done when: not said yet"
    below = "\n".join(part for part in (task.intent, end) if part)
    return Item(task.name_tag, task.title, below, "dim" if task.end_state else "warn")


def _must_haves(goal: Goal, before: dict[str, Any]) -> list[Item]:
    old = {must["id"]: (must["text"], must.get("verify", "")) for must in before.get("must_haves") or ()}
    items = []
    for must in goal.must_haves:
        verify = must.get("verify", "")
        is_new = bool(before) and old.get(must["id"]) != (must["text"], verify)
        below = f"how to verify: {verify}" if verify else "how to verify: not said yet"
        items.append(Item(must["id"], must["text"], below, "dim" if verify else "warn", is_new))
    return items


def missing(goal: Goal) -> list[str]:
    """What the goal lacks before it can be ready."""
    if all(must["waived_by"] for must in goal.must_haves):
        return ["a must-have"]
    open_ones = not_verifiable(goal.must_haves)
    return [f"how to verify {', '.join(open_ones)}"] if open_ones else []


def _head(goal: Goal, marked: str) -> Block:
    """The title and what the goal still lacks."""
    words, tone = _readiness(goal)
    heading: list[tuple[str, Tone]] = [(f"{goal.name_tag} {goal.title}", "strong")]
    if marked:
        heading.append((marked, "warn"))
    return Block(tuple(heading), "", tone, Items((Item("", words, tone=tone),)))


def _readiness(goal: Goal) -> tuple[str, Tone]:
    if goal.status != GoalStatus.DRAFT:
        return f"is {goal.status}: the talk is over", "dim"
    if not goal.exploring:
        return "✓ ready: the talk is over", "good"
    if lacks := missing(goal):
        return f"it still needs {'; '.join(lacks)}", "warn"
    return "✓ nothing is missing: ^r says that it is ready", "good"


def _plain_value(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [dict(each) if isinstance(each, dict) else each for each in value]
    return value


# ------------------------------------------------------------- whose turn it is


def standing(view: Projection, goal: Goal, last_author: str, now: int) -> tuple[str, Tone]:
    """Who speaks next, and why it takes its time."""
    if not goal.exploring:
        return "the talk is over: e in the room takes it up again", "dim"
    run = next((r for r in view.live_runs if r.kind == RunKind.EXPLORE and r.goal_id == goal.id), None)
    if run is not None:
        who = view.slug(run.agent_id)
        if run.status == RunStatus.QUEUED:
            return f"◔ {who} is called ({run.name_tag}): {view.held_runs.get(run.id, 'about to start')}", "info"
        since = f", {ago(now, run.started_at)}" if run.started_at is not None else ""
        return f"● {who} is thinking ({run.name_tag}{since})", "good"
    if last_author and last_author != HUMAN:
        return "▸ your turn: answer below, or ^e edits the goal", "warn"
    if view.company is not None and not view.company.dispatching:
        return "■ the coordinator is not called: the company is stopped (s in the room starts it)", "warn"
    agents = view.tables.all(AgentRecord)
    if not any(agent.role == Role.COORDINATOR and agent.status == AgentStatus.ACTIVE for agent in agents):
        return "■ no coordinator is active: hire or resume one; ^e edits the goal without", "warn"
    if why := view.held.get(f"goal:{goal.id}"):
        return f"◌ held back at the last tick: {why}", "warn"
    return "◔ the coordinator is called at the next tick", "info"
