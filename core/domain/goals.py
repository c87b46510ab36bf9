"""Rules of goals: what identifies their content, when they may be dispatched, what covers their must-haves."""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from core.domain.actors import HUMAN
from core.domain.discussion import is_placeholder
from core.domain.entities import Goal, MustHave, Task, TaskDep
from core.domain.limits import MISSION_SENTINELS


def canonical_hash(value: Any) -> str:
    """sha256 (hex) of a JSON value in one canonical spelling."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def content_hash(
    title: str,
    description: str,
    must_haves: Sequence[MustHave],
    constraints: Sequence[str],
    out_of_scope: Sequence[str] = (),
) -> str:
    """The hash of exactly what a person reviews (D-02). Waivers are the person's own and do not count.

    What came with a later schema counts only where there is any, so that older hashes stay valid.
    """
    musts = [[must["id"], must["text"], *([verify] if (verify := must.get("verify")) else [])] for must in must_haves]
    return canonical_hash(
        [title, description, musts, list(constraints), *([list(out_of_scope)] if out_of_scope else [])]
    )


def draft_hash(text: str, goal: Goal, tasks: Iterable[Task], edges: Iterable[TaskDep]) -> str:
    """The hash of all that a dispatch would begin: a draft's own text (its `content_hash`) and its draft tasks (C-10).

    `edges` are what those tasks wait for. One placeholder that says what the goal says adds nothing.
    """
    waits: dict[int, list[list[Any]]] = {}
    for edge in edges:
        waits.setdefault(edge.task_id, []).append([edge.depends_on, edge.on_fail, edge.met])
    told = [
        [task.id]
        if _only_stands_for(goal, task)
        else [task.id, *(getattr(task, name) for name in _READ_OF_TASKS), sorted(waits.get(task.id, []))]
        for task in tasks
    ]
    return text if [len(each) for each in told] == [1] else canonical_hash([text, sorted(told)])


_USUAL_PRIORITY = 2
_READ_OF_TASKS = (
    "title", "intent", "end_state", "constraints", "must_haves", "capabilities", "arguments", "risk", "tags",
    "priority", "parent_id", "retry_of",
)  # fmt: skip


def _only_stands_for(goal: Goal, task: Task) -> bool:
    more = (task.end_state, *task.constraints, *task.must_haves, *task.capabilities, *task.tags, *task.arguments)
    said = (task.title, task.intent) == (goal.title, goal.description or goal.title)
    return is_placeholder(task) and said and not any(more) and task.priority == _USUAL_PRIORITY


def not_verifiable(must_haves: Iterable[MustHave]) -> list[str]:
    """Ids of must-haves that nobody waived and that do not say how one can see that they are there (S2-07)."""
    return [must["id"] for must in must_haves if not must["waived_by"] and not must.get("verify", "").strip()]


def is_reviewed(goal: Goal) -> bool:
    """A human reviewed, wrote or edited exactly this content (C-10, D-02, S1-15); not while it is still talked over."""
    return not goal.exploring and goal.reviewed_by == HUMAN and goal.reviewed_hash == goal.content_hash


def mission_is_defined(mission: str) -> bool:
    """The mission gate of S1-06, normalised as C-15 says (NFKC, strip, casefold)."""
    return unicodedata.normalize("NFKC", mission).strip().casefold() not in MISSION_SENTINELS
