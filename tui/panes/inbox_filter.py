"""What the inbox can be filtered by: what stands in a line of it, and what it is about."""

from collections.abc import Iterator

from core.domain.entities import Approval, Goal, Run, Task
from core.domain.inbox import InboxItem
from tui import signs
from tui.filter_words import Keys, Values
from tui.projection import Projection

INBOX_KEYS: Keys = {
    "kind": tuple(sorted({word for _sign, word, _tone in signs.INBOX.values()})),
    "is": ("urgent", "window"),
    "agent": (),
    "goal": (),
    "task": (),
}
"""`agent` is who asks or works on it; `is:window` is what goes on by itself."""


def inbox_facts(view: Projection, item: InboxItem) -> tuple[str, Values]:
    """The text of an item and what it is, for its filter."""
    _sign, word, _tone = signs.of_item(item)
    things = list(_about(view, item))
    values = {
        "kind": (word,),
        "is": (*(["urgent"] if item.urgent else []), *(["window"] if item.until is not None else [])),
        "agent": tuple(_agents(view, things)),
        "goal": tuple(f"G{number}" for thing in things if (number := _goal(thing)) is not None),
        "task": tuple(f"T{number}" for thing in things if (number := _task(thing)) is not None),
    }
    tags = [thing.name_tag for thing in things]
    return " ".join((word, item.title, item.why, *tags)), values


def _about(view: Projection, item: InboxItem) -> Iterator[Approval | Goal | Run | Task]:
    """The question, if it is one, and its subject."""
    kind, _, number = item.id.partition(":")
    if kind == "approval" and (approval := view.tables.get(Approval, int(number))) is not None:
        yield approval
    kind, _, number = item.entity.partition(":")
    thing = view.tables.get(Run, int(number)) if kind == "run" else view.find(item.entity)
    if isinstance(thing, (Goal, Run, Task)):
        yield thing


def _agents(view: Projection, things: list[Approval | Goal | Run | Task]) -> Iterator[str]:
    for thing in things:
        match thing:
            case Approval():
                yield thing.requested_by
            case Goal():
                yield thing.created_by
            case Task():
                yield view.slug(thing.assignee_id)
            case Run():
                yield view.slug(thing.agent_id)


def _goal(thing: Approval | Goal | Run | Task) -> int | None:
    return thing.id if isinstance(thing, Goal) else None if isinstance(thing, Approval) else thing.goal_id


def _task(thing: Approval | Goal | Run | Task) -> int | None:
    return thing.id if isinstance(thing, Task) else thing.task_id if isinstance(thing, Run) else None
