"""The round: which one of which goal, how far it is, where its tasks stand, what of the goal is covered, and how the
rounds before it ended.
"""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from core.domain.entities import Round
from core.domain.states import TaskStatus
from tui import signs
from tui.panes.coverage import listed, marks, of_decisions, of_must_haves
from tui.panes.words import bar, entitle, line, put, said, tally
from tui.projection import Progress, Projection
from tui.text import fit, in_words, one_line

_ORDER = (
    TaskStatus.WORKING, TaskStatus.CLAIMED, TaskStatus.REVIEW, TaskStatus.WAITING_HUMAN, TaskStatus.BLOCKED,
    TaskStatus.PENDING, TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.CANCELLED,
)  # fmt: skip
MOST_PAST = 8
ROOM_FOR_A_LIST = 7  # lines; below that coverage is one line


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
            put(self, said("No round yet: planning a dispatched goal opens one.", "dim"))
            return
        sign, word, tone = signs.ROUND[progress.round.status]
        entitle(
            self,
            Content.assemble(
                f"Round {progress.round.number} of {progress.goal.round_cap}  ", said(f"{sign} {word}", tone)
            ),
        )
        put(self, Content("\n").join(_lines(view, progress, self.size.width, self.size.height)))


def _lines(view: Projection, progress: Progress, width: int, height: int) -> list[Content]:
    """As much as there is room for: one line, three of them, or the whole story."""
    goal = progress.goal
    coverage = view.coverage(goal)
    if height <= 1:
        begins = said(f"Round {progress.round.number} ")
        ends = line(_counts(progress, 0), "  ", marks(coverage, max(12, width // 3)))
        return [line(begins, _far(progress, 12, width - begins.cell_length - ends.cell_length - 2), "  ", ends)]
    lines = [_far(progress, max(6, min(24, width // 3)), width), _counts(progress, width)]
    past = _past(view.rounds(goal.id)[:-1])
    if height < ROOM_FOR_A_LIST:
        covered = marks(coverage, width - (32 if past else 0))
        return [*lines, line(covered, "   ", past[0]) if covered and past else covered or (past or [Content("")])[0]]
    musts, decided = of_must_haves(view, goal), of_decisions(view, goal)
    room = height - len(lines) - min(len(past), 3) - 2
    listing = listed(musts, width, max(2, room - min(len(decided), room // 3)))
    listing += listed(decided, width, max(0, room - len(listing)))
    return [*lines, *([Content(""), *listing] if listing else []), *([Content(""), *past] if past else [])]


def _far(progress: Progress, cells: int, width: int) -> Content:
    total = progress.round.total_tasks
    begins = line(bar(progress.done, total, cells), f" {progress.done}/{total}  ")
    goal = progress.goal
    return line(begins, said(fit(one_line(f"{goal.name_tag} {goal.title}"), max(4, width - begins.cell_length))))


def _counts(progress: Progress, room: int) -> Content:
    found = [(signs.TASK[status], count) for status in _ORDER if (count := progress.counts.get(status, 0))]
    return tally(found, room, "  ") if found else said("no tasks", "dim")


def _past(rounds: Sequence[Round]) -> list[Content]:
    """How the rounds before ended, the last one first."""
    lines = []
    for round_ in reversed(rounds[-MOST_PAST:]):
        decision = in_words(round_.decision or "closed")
        answers = round_.answers
        why = next((text for name in ("next_step", "operator", "system") if (text := answers.get(name))), "")
        lines.append(line(said(f"round {round_.number} → {decision}", "info"), said(f"  {why}", "dim")))
    return lines
