"""What a task waits for and what waits for it, as a drawn tree. Pure.

The board refuses cycles. Each task is drawn out once all the same, so that a diamond is no second tree and no file
can make it endless.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.domain.entities import TaskDep
from tui.projection import Projection

MOST = 2_000  # lines; a person reads none beyond
DEEPEST = 8  # levels that are drawn as twigs; deeper ones are told by their number


@dataclass(frozen=True, slots=True)
class Twig:
    """One line: `drawn` are the strokes before it; `again` is set where the task is drawn out further up.

    A line without a task (`task` 0) has `words` only.
    """

    task: int
    drawn: str
    again: bool = False
    met: bool = False
    words: str = ""


class Links:
    """Who waits for whom, both ways; kept while no dependency was added, for they never go."""

    def __init__(self) -> None:
        self._known = -1
        self._waiting: dict[int, list[TaskDep]] = {}

    def causes(self, view: Projection, task: int) -> list[tuple[int, bool]]:
        """The tasks that this one waits for, with whether each is met."""
        rows = view.tables[TaskDep]
        return sorted((rows[number].depends_on, rows[number].met) for number in view.deps_of.get(task, ()))

    def dependents(self, view: Projection, task: int) -> list[tuple[int, bool]]:
        """The tasks that wait for this one, with whether they still do."""
        rows = view.tables[TaskDep]
        if len(rows) != self._known:
            self._known, self._waiting = len(rows), {}
            for dep in rows.values():
                self._waiting.setdefault(dep.depends_on, []).append(dep)
        return sorted((dep.task_id, rows[dep.id].met) for dep in self._waiting.get(task, ()))


def twigs(view: Projection, links: Links, root: int) -> list[Twig]:
    """The tree about one task: the task, below it what it waits for, below that what waits for it."""
    found = [Twig(root, "")]
    causes, dependents = links.causes(view, root), links.dependents(view, root)
    found.append(Twig(0, "├─ ", words="waits for" if causes else "waits for no other task"))
    _grow(found, causes, lambda task: links.causes(view, task), "│  ", root)
    found.append(Twig(0, "└─ ", words="these wait for it" if dependents else "no other task waits for it"))
    _grow(found, dependents, lambda task: links.dependents(view, task), "   ", root)
    return found


def _grow(
    found: list[Twig],
    first: Sequence[tuple[int, bool]],
    next_of: Callable[[int], Sequence[tuple[int, bool]]],
    before: str,
    root: int,
) -> None:
    """Depth first without recursion: a chain may be longer than Python's stack."""
    drawn = {root}
    begun = len(found)
    # (task, met, strokes of its brothers' line, depth, whether it is the last of them)
    todo = [(task, met, before, 1, place == 0) for place, (task, met) in enumerate(reversed(first))]
    while todo:
        task, met, strokes, depth, is_last = todo.pop()
        if len(found) - begun >= MOST:
            found.append(Twig(0, before, words=f"… and more: {MOST} are shown"))
            return
        own = strokes + ("└─ " if is_last else "├─ ")
        if depth > DEEPEST:
            own = f"{before}⋯{depth} "
        again = task in drawn and bool(next_of(task))
        found.append(Twig(task, own, again, met))
        if task not in drawn:
            drawn.add(task)
            below = strokes + ("   " if is_last else "│  ")
            children = next_of(task)
            todo += [
                (child, child_met, below, depth + 1, place == 0)
                for place, (child, child_met) in enumerate(reversed(children))
            ]
