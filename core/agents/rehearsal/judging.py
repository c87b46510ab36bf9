"""What follows from a finished round: three answers and one decision. Pure; from the tasks and their real figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.agents.rehearsal.words import counted, listed
from core.agents.rehearsal.works import (
    CLOSER_LOOK,
    beyond_us,
    first_kinds,
    is_done,
    is_settled,
    largest_finding,
    new_task,
    of_version,
    wanted,
)
from core.domain.entities import Goal, Round, Task
from core.domain.goals import uncovered
from core.domain.states import RoundDecision, TaskStatus


@dataclass(frozen=True, slots=True)
class Judgement:
    """The arguments of ReviewRound."""

    goal_clear: str
    covered: str
    next_step: str
    decision: RoundDecision
    tasks: tuple[dict[str, Any], ...] = ()


def judge(
    goal: Goal, round_: Round, tasks: Sequence[Task], version: int, figures: Mapping[str, Mapping[str, Any]]
) -> Judgement:
    """Retry what failed, look closer when the rest is there, report when all is covered, else give up."""
    following = next_tasks(goal, tasks, version, figures)
    open_musts = uncovered(goal, tasks)
    missing = listed([must["id"] for must in open_musts if must not in beyond_us(goal)])
    clear = f"Yes: {goal.title}, {counted(len(goal.must_haves), 'must-have')}, none of them changed by us."
    covered = coverage(goal, tasks)
    if following and round_.number >= goal.round_cap:
        why = f"The cap of {goal.round_cap} rounds is reached, and work is left: {titles(following)}."
        return Judgement(clear, covered, why, RoundDecision.STOP if missing else RoundDecision.REPORT)
    if following:
        step = f"Round {round_.number + 1}: {titles(following)}."
        return Judgement(clear, covered, step, RoundDecision.NEXT_ROUND, tuple(following))
    if missing:
        why = f"{missing} could not be delivered, and it was tried as often as it may be."
        return Judgement(clear, covered, why, RoundDecision.STOP)
    return Judgement(clear, covered, "The report.", RoundDecision.REPORT)


def next_tasks(
    goal: Goal, tasks: Sequence[Task], version: int, figures: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """What is still to do for this version of the report, as arguments of new tasks."""
    following = []
    for kind in first_kinds(goal):
        tried = of_version(tasks, kind, version)
        if not is_settled(tried):
            following.append(new_task(goal, kind, version, tried))
    tried = of_version(tasks, CLOSER_LOOK, version)
    if not following and CLOSER_LOOK in wanted(goal) and not is_settled(tried):
        barred = frozenset(str(task.arguments["path"]) for task in tried if task.status == TaskStatus.FAILED)
        path, finding = largest_finding(figures, barred)
        following.append(new_task(goal, CLOSER_LOOK, version, tried, path=path, finding=finding))
    return following


def coverage(goal: Goal, tasks: Sequence[Task]) -> str:
    """'M1 by T3; M2 by T4; not yet: M6' from the tasks that are done."""
    said = []
    for must in goal.must_haves:
        by = [task.name_tag for task in tasks if task.status == TaskStatus.DONE and must["id"] in task.must_haves]
        if must["waived_by"]:
            said.append(f"{must['id']} was waived")
        elif by:
            said.append(f"{must['id']} by {listed(by)}")
    open_musts = [must["id"] for must in uncovered(goal, tasks)]
    if open_musts:
        said.append(f"not yet: {listed(open_musts)}")
    return "; ".join(said) or f"{counted(sum(is_done([task]) for task in tasks), 'task')} done; nothing else was asked."


def titles(tasks: Sequence[Mapping[str, Any]]) -> str:
    """The titles of new tasks, in one line."""
    return "; ".join(str(task["title"]) for task in tasks)
