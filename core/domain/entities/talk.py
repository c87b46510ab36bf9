"""What is said on the blackboard, whom it wakes, and what is kept of it."""

from dataclasses import dataclass
from typing import ClassVar

from core.domain.entities.base import Entity
from core.domain.states import CommentKind, ExperienceStatus, MentionStatus, RemarkStatus, TurnOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Entity):
    """One turn of a goal's discussion: each of `agents` (ids) is woken once.

    What it brought is what came after `after_comment` and `after_task` (ids); counted when it ends. From then on they
    are where its count ended, and the next turn's begins.
    """

    table: ClassVar[str] = "turns"
    letter: ClassVar[str] = "D"
    goal_id: int
    number: int
    agents: tuple[int, ...]
    after_comment: int
    after_task: int
    new_tasks: int
    questions: int
    objections: int
    outcome: TurnOutcome
    ended_at: int | None
    created_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment(Entity):
    table: ClassVar[str] = "comments"
    goal_id: int | None
    task_id: int | None
    author: str
    run_id: int | None
    kind: CommentKind
    body: str
    reply_to: int | None
    confidence: float | None
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention(Entity):
    table: ClassVar[str] = "mentions"
    comment_id: int
    agent_id: int
    goal_id: int | None
    task_id: int | None
    status: MentionStatus
    run_id: int | None
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Experience(Entity):
    """One line of a handoff that its author wants others to know (S3-09). `uses` counts the prompts that held it."""

    table: ClassVar[str] = "experiences"
    letter: ClassVar[str] = "E"
    task_id: int
    comment_id: int
    author: str
    body: str
    status: ExperienceStatus
    uses: int
    created_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge(Entity):
    """A section of a file in the company's folder `knowledge/`; `path` begins with that name.

    What stands before the first heading has an empty one. `sha256` is that of the body.
    """

    table: ClassVar[str] = "knowledge"
    path: str
    heading: str
    body: str
    sha256: str
    updated_at: int
    version: int

    @property
    def place(self) -> str:
        """Where it stands, for agents and people: `knowledge/setup.md § Install`."""
        return f"{self.path} § {self.heading}" if self.heading else self.path

    @property
    def first_line(self) -> str:
        """The first line that says something."""
        return next((line.strip() for line in self.body.splitlines() if line.strip()), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark(Entity):
    """What the operator says into a run at work. It is heard once, or not at all: then the run ended before."""

    table: ClassVar[str] = "remarks"
    run_id: int
    author: str
    body: str
    status: RemarkStatus
    created_at: int
    version: int
