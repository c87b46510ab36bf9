"""How many runs each task and goal had and what they cost: the room's memory has only the newest runs, the board all.

Read once, then only for tasks and goals with a run that changed.
"""

import json
from collections.abc import Iterable, Mapping

from core.blackboard.readers import Readers
from core.domain.entities import Run
from tui.board_view import Used
from tui.projection import Projection

_ALL = "SELECT goal_id, task_id, count(*) AS runs, sum(cost_micros) AS cost FROM runs"
_BY = " GROUP BY goal_id, task_id"
_OF_TASKS = f"{_ALL} WHERE task_id IN (SELECT value FROM json_each(:ids)){_BY}"
_OF_GOALS = f"{_ALL} WHERE task_id IS NULL AND goal_id IN (SELECT value FROM json_each(:ids)){_BY}"


class RunsUsed:
    """By reference what was used; a goal has what its tasks used and its own runs."""

    def __init__(self) -> None:
        self.used: dict[str, Used] = {}
        self._own: dict[tuple[int | None, int | None], Used] = {}
        self._read = False
        self._tasks: set[int] = set()
        self._goals: set[int] = set()

    @property
    def is_behind(self) -> bool:
        """Whether there is something to read."""
        return not self._read or bool(self._tasks or self._goals)

    def touch(self, view: Projection, dirty: Iterable[str]) -> None:
        """Note whose runs changed."""
        for ref in dirty:
            kind, _, number = ref.partition(":")
            if kind == "run" and (run := view.tables.get(Run, int(number))) is not None:
                if run.task_id is not None:
                    self._tasks.add(run.task_id)
                elif run.goal_id is not None:
                    self._goals.add(run.goal_id)

    async def read(self, readers: Readers) -> Mapping[str, Used]:
        """Read what is not known yet; returns what is new by reference."""
        tasks, goals, self._tasks, self._goals = self._tasks, self._goals, set(), set()
        if not self._read:
            rows = await readers.all(_ALL + _BY)
            self._read = True
        else:
            rows = [*await readers.all(_OF_TASKS, ids=json.dumps(sorted(tasks)))] if tasks else []
            rows += await readers.all(_OF_GOALS, ids=json.dumps(sorted(goals))) if goals else []
        changed: dict[str, Used] = {}
        for row in rows:
            goal, task = row["goal_id"], row["task_id"]
            now, before = Used(row["runs"], row["cost"] or 0), self._own.get((goal, task), Used())
            self._own[goal, task] = now
            if task is not None:
                changed[f"task:{task}"] = now
            if goal is not None:
                total = changed.get(f"goal:{goal}") or self.used.get(f"goal:{goal}", Used())
                changed[f"goal:{goal}"] = Used(
                    total.runs + now.runs - before.runs, total.cost_micros + now.cost_micros - before.cost_micros
                )
        self.used = {**self.used, **changed}
        return changed
