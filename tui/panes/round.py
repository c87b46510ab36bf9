"""The round: which one of which goal, how far it is, where its tasks stand, and how the rounds before it ended."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from core.domain.entities import Round
from core.domain.states import TaskStatus
from tui import signs
from tui.panes.words import bar, entitle, line, put, said
from tui.projection import Progress, Projection

_ORDER = (
    TaskStatus.WORKING, TaskStatus.CLAIMED, TaskStatus.REVIEW, TaskStatus.WAITING_HUMAN, TaskStatus.BLOCKED,
    TaskStatus.PENDING, TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.CANCELLED,
)  # fmt: skip
MOST_PAST = 8


class RoundPane(Static):
    """Three lines at the top of the room; the whole story where there is room for it."""

    def __init__(self) -> None:
        super().__init__(id="round", classes="pane slim")
        entitle(self, Content("Round"))
        self._shown: tuple[Projection, int | None] | None = None

    def on_resize(self) -> None:
        """One line or more, as there is room."""
        if self._shown is not None:
            self.show(*self._shown)

    def show(self, view: Projection, goal_id: int | None) -> None:
        """Show the round of this goal, or of the one at work."""
        self._shown = (view, goal_id)
        progress = view.progress(goal_id)
        if progress is None:
            entitle(self, Content("Round"))
            put(self, said("No round yet: a round opens when a goal is dispatched and planned.", "dim"))
            return
        sign, word, tone = signs.ROUND[progress.round.status]
        entitle(
            self,
            Content.assemble(
                f"Round {progress.round.number} of {progress.goal.round_cap}  ", said(f"{sign} {word}", tone)
            ),
        )
        rounds = view.rounds(progress.goal.id)
        if self.size.height == 1:
            counts = _counts(progress, words=False)
            put(self, line(f"Round {progress.round.number} ", _far(progress, 16), "  ", counts))
            return
        lines = [_far(progress, max(6, min(24, self.size.width // 3))), _counts(progress), *_past(rounds[:-1])]
        put(self, Content("\n").join(lines))


def _far(progress: Progress, cells: int) -> Content:
    total = progress.round.total_tasks
    goal = progress.goal
    return line(bar(progress.done, total, cells), f" {progress.done}/{total}  ", said(f"{goal.name_tag} {goal.title}"))


def _counts(progress: Progress, *, words: bool = True) -> Content:
    parts = []
    for status in _ORDER:
        if count := progress.counts.get(status, 0):
            sign, word, tone = signs.TASK[status]
            parts.append(said(f"{sign} {count} {word}" if words else f"{sign}{count}", tone))
    return Content("  ").join(parts) if parts else said("no tasks", "dim")


def _past(rounds: Sequence[Round]) -> list[Content]:
    """How the rounds before ended, the last one first."""
    lines = []
    for round_ in reversed(rounds[-MOST_PAST:]):
        decision = (round_.decision or "closed").replace("_", " ")
        why = round_.answers.get("next_step") or round_.answers.get("operator") or ""
        lines.append(line(said(f"round {round_.number} → {decision}", "info"), said(f"  {why}", "dim")))
    return lines
