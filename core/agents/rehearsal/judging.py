"""What follows from a finished round: three answers and one decision. Pure; from the tasks and their real figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.agents.rehearsal.words import counted, listed
from core.agents.rehearsal.works import (
    CHOICE,
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
from core.domain.coverage import Coverage
from core.domain.entities import Goal, Round, Task
from core.domain.states import RoundDecision, TaskStatus


@dataclass(frozen=True, slots=True)
class Judgement:
    """The arguments of ReviewRound."""

    goal_clear: str
    covered: str
    next_step: str
    decision: RoundDecision
    tasks: tuple[dict[str, Any], ...] = ()
    goal_change: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Ground:
    """What a judgement stands on: figures are the approved results by kind of work.

    `drift` says what the goal's content is against the dispatched one; `refused` whether a change was refused before.
    """

    goal: Goal
    round: Round
    tasks: Sequence[Task]
    version: int
    figures: Mapping[str, Mapping[str, Any]]
    coverage: Coverage
    drift: str = "it reads as it was dispatched"
    refused: bool = False


def judge(ground: Ground) -> Judgement:
    """Retry what failed, look closer when the rest is there, report when all is covered, else ask the operator."""
    goal = ground.goal
    following = next_tasks(goal, ground.tasks, ground.version, ground.figures)
    hopeless = [must.id for must in ground.coverage.open_must_haves if must.id not in ids(beyond_us(goal))]
    clear = f"Yes: {goal.title}, {counted(len(goal.must_haves), 'must-have')}; {ground.drift}."
    covered = coverage(ground.coverage, ground.tasks)
    if following and ground.round.number >= goal.round_cap:
        why = f"The cap of {goal.round_cap} rounds is reached, and work is left: {titles(following)}."
        return Judgement(clear, covered, why, RoundDecision.STOP if hopeless else RoundDecision.REPORT)
    if following:
        step = f"Round {ground.round.number + 1}: {titles(following)}."
        return Judgement(clear, covered, step, RoundDecision.NEXT_ROUND, tuple(following))
    if hopeless:
        return without(ground, hopeless, clear, covered)
    return Judgement(clear, covered, "The report.", RoundDecision.REPORT)


def without(ground: Ground, hopeless: list[str], clear: str, covered: str) -> Judgement:
    """What cannot be delivered is left out of the goal, if something else is there and the operator did not say no."""
    names = listed(hopeless)
    why = f"{names} could not be delivered, and it was tried as often as it may be."
    kept = [must for must in ground.goal.must_haves if must["id"] not in hopeless]
    if ground.refused or not any(must.outputs for must in ground.coverage.must_haves):
        return Judgement(clear, covered, why, RoundDecision.STOP)
    musts = [{"id": must["id"], "text": must["text"], "verify": must.get("verify", "")} for must in kept]
    said = f"{why} The rest is there: I ask the operator whether the goal may do without."
    change = {"must_haves": musts, "why": f"{why} {listed(ids(kept))} can be reported without it."}
    return Judgement(clear, covered, said, RoundDecision.ADJUST_GOAL, goal_change=change)


def ids(musts: Sequence[Mapping[str, Any]]) -> list[str]:
    """M1, M2, …"""
    return [str(must["id"]) for must in musts]


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
        path, finding = chosen(tasks, version, figures, barred)
        following.append(new_task(goal, CLOSER_LOOK, version, tried, path=path, finding=finding))
    return following


def chosen(
    tasks: Sequence[Task], version: int, figures: Mapping[str, Mapping[str, Any]], barred: frozenset[str]
) -> tuple[str | None, str]:
    """The file of the closer look: by the approved choice of this version, if there is one that can be looked at."""
    choice = figures.get(CHOICE, {})
    if is_done(of_version(tasks, CHOICE, version)) and choice.get("path") and choice["path"] not in barred:
        return choice["path"], str(choice.get("finding", ""))
    return largest_finding(figures, barred)


def coverage(found: Coverage, tasks: Sequence[Task]) -> str:
    """'M1 by O3; M2 by O4; M5 was waived; not yet: M6' from the outputs of tasks that are done."""
    said = []
    for must in found.must_haves:
        if must.waived_by:
            said.append(f"{must.id} was waived")
        elif must.outputs:
            said.append(f"{must.id} by {listed([f'O{output}' for output in must.outputs])}")
    if found.open_must_haves:
        said.append(f"not yet: {listed([must.id for must in found.open_must_haves])}")
    return "; ".join(said) or f"{counted(sum(is_done([task]) for task in tasks), 'task')} done; nothing else was asked."


def titles(tasks: Sequence[Mapping[str, Any]]) -> str:
    """The titles of new tasks, in one line."""
    return "; ".join(str(task["title"]) for task in tasks)
