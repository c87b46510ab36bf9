"""What a decision is about, whole enough to decide it: the payload of a question, a letter, a plan, a talk's question.

Text of others stands behind a bar where it has several lines, so that it cannot pass for a line of the program.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.blackboard.readers import Readers
from core.domain.actors import HUMAN
from core.domain.entities import Approval, Comment, Task
from core.domain.errors import Invalid
from core.domain.inbox import InboxItem
from core.domain.states import ApprovalKind
from tui.cli.names import quoted, tag_of
from tui.cli.output import drawn
from tui.panes.payload import MOST_DEEP, read_json
from tui.panes.permission import asks_for_run
from tui.text import one_line

TEXT_MAX = 2_000
"""Characters of one text that are shown."""
LINES_MAX = 40
"""Lines of one text that are shown."""
WHOLE_MAX = 150
"""Lines of one item that are shown."""
FILE_MAX = 1_048_576
"""Bytes of a file that are looked into."""
_OF_A_GOAL = frozenset({"draft", "dispatch", "report"})
_OF_A_TASK = frozenset({"waiting_human", "blocked", "held"})
_QUESTIONS = frozenset({ApprovalKind.QUESTION, ApprovalKind.GOAL_FAILURE})
_IN_WORDS = frozenset({ApprovalKind.BUDGET, ApprovalKind.AUTONOMY, ApprovalKind.HIRE_AGENT})


@dataclass(frozen=True, slots=True)
class Material:
    """What an item is about: for programs (None where there is nothing) and as lines for people, not yet indented."""

    payload: dict[str, Any] | None = None
    lines: Sequence[str] = ()


async def materials_of(readers: Readers, items: Iterable[InboxItem], folder: Path) -> dict[str, Material]:
    """The material of each item, by the item's id."""
    return {item.id: await _of(readers, item, folder) for item in items}


async def _of(readers: Readers, item: InboxItem, folder: Path) -> Material:
    kind, _, number = item.id.partition(":")
    place = quoted(folder)
    if kind == "approval":
        found = await readers.entities(Approval, "id = :id", id=int(number))
        return await _of_approval(readers, found[0], folder) if found else Material()
    if item.kind == "exploring":
        return await _of_talk(readers, item, place)
    if item.kind == "plan":
        tasks = await readers.entities(Task, "id = :id", id=int(item.entity.partition(":")[2]))
        return await _of_plan(
            readers, tasks[0].plan_comment if tasks else None, f"opsroom task show {place} {tag_of(item)}"
        )
    for kinds, what in ((_OF_A_GOAL, "goal"), (_OF_A_TASK, "task")):
        if item.kind in kinds:
            return Material(lines=[f"read it: opsroom {what} show {place} {tag_of(item)}"])
    return Material()


async def _of_approval(readers: Readers, approval: Approval, folder: Path) -> Material:
    everything = f"opsroom inbox {quoted(folder)} --json"
    payload = dict(approval.payload)
    if approval.kind == ApprovalKind.MAIL and "body" in payload:
        author = one_line(str(payload.get("from", approval.requested_by)))
        return Material(payload, [f"{author} writes:", *_barred(str(payload["body"]), everything)])
    told = _in_the_rooms_words(approval)
    lines = _bounded(told, everything) if told else _by_fields(approval, folder, everything)
    if isinstance(payload.get("plan"), int):
        lines += (await _of_plan(readers, payload["plan"], everything)).lines
    return Material(payload, lines)


def _by_fields(approval: Approval, folder: Path, everything: str) -> list[str]:
    """What is asked about field by field; what only the company itself reads of it is left out, or said in words."""
    from tui.panes.questions import fields_to_read

    readable = _readable(approval, folder)
    if approval.kind not in _QUESTIONS:
        no = "a no cancels it" if readable.pop("on_reject", "") == "cancel" else ""
        return [*_whole(readable, everything), *([no] if no else [])]
    if isinstance(readable.get("plan"), int):
        readable.pop("plan")  # the comment that is shown below
    fields, no = fields_to_read(readable)
    return [*_whole(fields, everything), *([no] if no else [])]


async def _of_talk(readers: Readers, item: InboxItem, place: str) -> Material:
    goal = tag_of(item)
    found = await readers.entities(
        Comment, "goal_id = :goal AND task_id IS NULL AND kind = 'dialogue' ORDER BY id DESC LIMIT 1",
        goal=int(goal[1:]),
    )  # fmt: skip
    answer = f"opsroom say {place} {goal} 'your answer'"
    if not found or found[0].author == HUMAN:
        said = "the coordinator has not answered yet" if found else "the coordinator has asked nothing yet"
        return Material({"from": None, "question": None, "answer": answer}, [f"{said}; to say more: {answer}"])
    last = found[0]
    shown = _barred(last.body, f"opsroom goal show {place} {goal}")
    payload = {"from": last.author, "question": last.body, "answer": answer}
    return Material(payload, [f"{last.author} asks:", *shown, f"answer: {answer}"])


async def _of_plan(readers: Readers, comment: int | None, everything: str) -> Material:
    found = await readers.entities(Comment, "id = :id", id=comment or 0)
    if not found:
        return Material()
    plan = found[0]
    payload = {"from": plan.author, "plan": plan.body}
    return Material(payload, [f"the plan of {plan.author}:", *_barred(plan.body, everything)])


def _readable(approval: Approval, folder: Path) -> dict[str, Any]:
    """The payload as people read it: an output's JSON is opened, its file too."""
    shown = dict(approval.payload)
    if isinstance(shown.get("content"), str):
        shown["content"] = _opened(shown["content"])
    elif approval.kind == ApprovalKind.RED_LINE and isinstance(shown.get("path"), str) and shown.get("publish"):
        shown["file"] = _file(folder / "outputs", shown["path"], shown.get("sha256"))
    return shown


def _file(outputs: Path, path: str, sha256: object) -> object:
    """What a delivered file holds, if it is still what was asked about."""
    from core.commands.outputs import hash_file

    try:
        now, size = hash_file(outputs, path)
        if now != sha256:
            return "IT CHANGED after this was asked; what is there now is not what you would approve"
        if size > FILE_MAX:
            return f"{size} bytes, too long to show: read {outputs / path}"
        return _opened((outputs / path).read_bytes().decode("utf-8", "backslashreplace"))
    except (Invalid, OSError) as error:
        return f"it cannot be read: {error}"


def _opened(text: str) -> object:
    """JSON in a text as the room reads it; any other text as it is."""
    value = read_json(text)
    return text if value is None else value


def _in_the_rooms_words(approval: Approval) -> list[str]:
    """A budget, a hire, a stage or a chart as the room tells it; empty for what is told field by field."""
    if approval.kind == ApprovalKind.ORG_CHANGE:
        from tui.panes.differences import of_payload

        found = of_payload(approval.payload)
        differing = [each for _, part in found.sections for each in part if each.kind != "same"] if found else []
        sides = [(sign, text) for each in differing for sign, text in (("-", each.before), ("+", each.after)) if text]
        if sides:
            return [f"why: {approval.payload.get('why', '')}", *(f"{sign} {text}" for sign, text in sides)]
        return []
    if approval.kind not in _IN_WORDS and not asks_for_run(approval):
        return []
    from tui.panes.questions import about_what

    return about_what(approval).split("\n")


def _bounded(lines: Sequence[str], everything: str) -> list[str]:
    """Lines of the program, each on a line of its own whatever it quotes."""
    shown = [one_line(drawn(line)) for line in lines[:WHOLE_MAX] if line.strip()]
    cut = [f"{line[:TEXT_MAX]}… all of it: {everything}" if len(line) > TEXT_MAX else line for line in shown]
    left = len(lines) - WHOLE_MAX
    return [*cut, f"… {left} more lines; all of it: {everything}"] if left > 0 else cut


def _whole(value: Mapping[str, Any], everything: str) -> Iterator[str]:
    lines = list(_lines(value, everything))
    yield from lines[:WHOLE_MAX]
    if len(lines) > WHOLE_MAX:
        yield f"… {len(lines) - WHOLE_MAX} more lines; all of it: {everything}"


def _lines(value: object, everything: str, depth: int = 0) -> Iterator[str]:
    """A value, a line or more: nested ones are indented."""
    if depth > MOST_DEEP:
        yield from _barred(one_line(_text(value)), everything)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _pair(f"{one_line(drawn(str(key)))}:", inner, everything, depth)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            if isinstance(inner, Mapping) and inner.keys() == {"line", "text"}:
                yield from _pair(f"{one_line(drawn(str(inner['line']))):>5} ", inner["text"], everything, depth)
            else:
                yield from _pair("-", inner, everything, depth)
    else:
        yield from _barred(_text(value), everything)


def _pair(name: str, value: object, everything: str, depth: int) -> Iterator[str]:
    if isinstance(value, (Mapping, list, tuple)) and value:
        yield name
        yield from (f"  {line}" for line in _lines(value, everything, depth + 1))
        return
    text = drawn(_text(value))
    if "\n" not in text and len(text) <= TEXT_MAX:
        yield f"{name} {text}"
    else:
        yield name
        yield from (f"  {line}" for line in _barred(text, everything))


def _text(value: object) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def _barred(text: str, everything: str) -> Iterator[str]:
    """A text behind a bar; what is too long is cut, with how much was left out and where all of it is."""
    text = drawn(text)
    lines = text[:TEXT_MAX].split("\n")[:LINES_MAX]
    yield from (f"| {line}" for line in lines)
    if left := len(text) - len("\n".join(lines)):
        yield f"… {left} more characters; all of it: {everything}"
