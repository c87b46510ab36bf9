"""What a prompt is made from, gathered from the board: plain records without any fence or template. Pure."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

from core.domain.entities import (
    AgentRecord,
    Comment,
    Company,
    Experience,
    Goal,
    Knowledge,
    Output,
    Round,
    Task,
    WorkTree,
)
from core.domain.guardrails import RedLine
from core.domain.states import RunKind


@dataclass(frozen=True, slots=True)
class Commission:
    """Which run the prompt is for. `run_id` is None for a run that is only thought of; `folder` is the company's."""

    agent: AgentRecord
    kind: RunKind
    company: Company
    folder: Path
    task: Task | None = None
    goal: Goal | None = None
    round: Round | None = None
    run_id: int | None = None
    brief: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sees(self) -> dict[str, Any]:
        """The parameters of the conditions in `core.reading.visible`: those of its agent."""
        return {"me": self.agent.slug, "sees_all": 0}


@dataclass(frozen=True, slots=True)
class Must:
    """A must-have of the goal and how far it is: `open`, `covered` (by which outputs) or `waived`."""

    id: str
    text: str
    state: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines about things of which the board may hold more: `total` counts all of them."""

    lines: tuple[str, ...] = ()
    total: int = 0


@dataclass(frozen=True, slots=True)
class Other:
    """What else a run is about. `head` is ours and plain; `items` are the words of others, those that matter first.

    `total` counts also what was not read; `how` is the call that reads it.
    """

    head: str
    items: tuple[str, ...]
    what: str
    how: str
    total: int = 0

    @property
    def left_out(self) -> int:
        """How many there are beyond `items`."""
        return max(self.total - len(self.items), 0)


@dataclass(frozen=True, slots=True)
class Errand:
    """The templates below the role's with their facts, what else the run is about, and its goal if found here."""

    templates: tuple[str, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    others: tuple[Other, ...] = ()
    goal: Goal | None = None


@dataclass(frozen=True, slots=True)
class Predecessor:
    """A task that this one builds on."""

    task: Task
    outputs: tuple[Output, ...] = ()
    handoff: str = ""


@dataclass(frozen=True, slots=True)
class Workplace:
    """The git repository of a task: `how` is `tree` (the run works in a tree of its own), `later` (it is made when
    the run begins), `board` (its agent has no files) or `judged` (others judge what stands in the tree).
    """

    how: str
    repository: str
    tree: WorkTree | None = None


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """Everything that a prompt may say. Counts are of all that is on the board, lists only of what was read of it."""

    commission: Commission
    templates: tuple[str, ...]  # what stands below the role: the errand, or a CEO's mode and its footer
    errand: Mapping[str, Any]
    api: Mapping[str, list[dict[str, str]]]
    soul: str = ""
    identity: str = ""
    memory: str = ""
    musts: tuple[Must, ...] = ()
    done: Listing = Listing()
    blocked: Listing = Listing()
    comments: tuple[Comment, ...] = ()  # oldest first
    comments_total: int = 0
    comments_how: str = ""
    others: tuple[Other, ...] = ()
    artefacts: str = ""
    workplace: Workplace | None = None
    predecessors: tuple[Predecessor, ...] = ()  # nearest first
    predecessors_total: int = 0
    experiences: tuple[Experience, ...] = ()  # most relevant first
    knowledge: tuple[Knowledge, ...] = ()
    red_lines: tuple[RedLine, ...] = ()


def task_call(task: Task) -> str:
    """The call that reads all of a task."""
    return f"ReadTask {json.dumps({'task': task.id, 'expand': True})}"


def goal_call(goal: Goal | None) -> str:
    """The call that reads all of a goal; without one, which goals there are."""
    return f"ReadGoal {json.dumps({'goal': goal.id})}" if goal is not None else "ListGoals {}"


def texts_in(value: object) -> Iterator[str]:
    """Every text in a record, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from texts_in(name)
            yield from texts_in(part)
    elif isinstance(value, (list, tuple, frozenset)):
        for part in value:
            yield from texts_in(part)
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            yield from texts_in(getattr(value, each.name))
