"""What covers a goal: each must-have and each decision lands in an output of an approved task (S2-21, S2-24, F10)."""

from collections.abc import Iterable
from dataclasses import dataclass

from core.domain.entities import Decision, Goal, Output, Task
from core.domain.states import TaskStatus


@dataclass(frozen=True, slots=True)
class Covered:
    """A must-have (`M1`) or a decision (its number), and the outputs (ids) of done tasks that carry it."""

    id: str
    text: str
    waived_by: str
    outputs: tuple[int, ...]

    @property
    def is_open(self) -> bool:
        """Neither delivered nor waived by a person."""
        return not self.outputs and not self.waived_by

    @property
    def state(self) -> str:
        """`waived`, `covered` or `open`."""
        return "waived" if self.waived_by else "covered" if self.outputs else "open"


@dataclass(frozen=True, slots=True)
class Coverage:
    """The whole of it, in the order of the goal's must-haves and of the decisions."""

    must_haves: tuple[Covered, ...]
    decisions: tuple[Covered, ...]

    @property
    def open_must_haves(self) -> tuple[Covered, ...]:
        """Must-haves that nothing delivers and nobody waived."""
        return tuple(must for must in self.must_haves if must.is_open)

    @property
    def open_decisions(self) -> tuple[Covered, ...]:
        """Decisions that land in no output and that nobody waived."""
        return tuple(decision for decision in self.decisions if decision.is_open)


def last_delivered(outputs: Iterable[Output]) -> list[Output]:
    """Of each task the outputs of the run that delivered last, by id; what earlier runs left is superseded.

    What is delivered to a goal itself is none of a task's, and stays.
    """
    found = sorted(outputs, key=lambda output: output.id)
    last = {output.task_id: output.run_id for output in found}
    return [output for output in found if output.task_id is None or output.run_id == last[output.task_id]]


def cover(goal: Goal, tasks: Iterable[Task], outputs: Iterable[Output], decisions: Iterable[Decision]) -> Coverage:
    """Coverage of a goal. A must-have is covered when an output of a done task that has it names it; no guesses.

    Of each task only what its last delivering run left counts: that is what was judged.
    """
    done = {task.id: task.must_haves for task in tasks if task.goal_id == goal.id and task.status == TaskStatus.DONE}
    approved = last_delivered(output for output in outputs if output.task_id in done)
    of_must_have: dict[str, list[int]] = {}
    for output in approved:
        for must_id in output.must_haves:
            # What its task no longer asked for, when it was approved, nobody judged.
            if must_id in done[output.task_id or 0]:
                of_must_have.setdefault(must_id, []).append(output.id)
    known = {output.id for output in approved}
    return Coverage(
        must_haves=tuple(
            Covered(must["id"], must["text"], must["waived_by"], tuple(of_must_have.get(must["id"], ())))
            for must in goal.must_haves
        ),
        decisions=tuple(
            Covered(str(decision.id), decision.text, decision.waived_by,
                    tuple(output for output in decision.covered_by if output in known))
            for decision in decisions
            if decision.goal_id == goal.id
        ),
    )  # fmt: skip
