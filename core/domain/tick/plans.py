"""Plans that stand open for objection: silence lets them run (S3-13)."""

from collections.abc import Iterator

from core.domain.facts import Facts
from core.domain.tick.actions import Action, Held, Item, Step


def objections(facts: Facts, now: int) -> Iterator[Item]:
    """Plans whose window is over."""
    for task in facts.busy:
        if task.plan_until is None:
            continue
        if task.plan_until <= now:
            yield Action(Step.OBJECTIONS, "ClosePlan", {"task": task.id}, "nobody objected to its plan")
        else:
            yield Held(f"task:{task.id}", "its plan stands open for objection")
