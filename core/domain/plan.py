"""`plan_tick(facts, now)`: what the next tick does, and what it holds back and why. Pure (DESIGN §5)."""

from collections.abc import Callable, Iterator

from core.domain.facts import Facts
from core.domain.limits import ACTIONS_PER_STEP
from core.domain.tick.actions import Action, Held, Item, Plan, Step
from core.domain.tick.autonomy import split, stage_b
from core.domain.tick.heartbeat import heartbeat
from core.domain.tick.plans import objections
from core.domain.tick.rounds import rounds
from core.domain.tick.talk import discuss, explore
from core.domain.tick.upkeep import expire, mentions, recover
from core.domain.tick.work import broadcast, reviews, route

__all__ = ["RULES", "Action", "Held", "Plan", "Step", "plan_tick"]


def plan_tick(facts: Facts, now: int) -> Plan:
    """What this tick does. The same facts and time give the same plan; each step is bounded."""
    actions: list[Action] = []
    held: list[Held] = []
    broken: list[tuple[Step, str]] = []
    for step, rule in RULES:
        taken = 0
        try:
            for item in rule(facts, now):
                if isinstance(item, Held):
                    held.append(item)
                elif taken < ACTIONS_PER_STEP:
                    actions.append(item)
                    taken += 1
        except Exception as error:
            broken.append((step, f"{type(error).__name__}: {error}"))
    return Plan(tuple(actions), tuple(held), tuple(broken))


RULES: tuple[tuple[Step, Callable[[Facts, int], Iterator[Item]]], ...] = (
    (Step.RECOVER, recover),
    (Step.EXPIRE, expire),
    (Step.MENTIONS, mentions),
    (Step.MENTIONS, explore),
    (Step.ROUNDS, split),
    (Step.ROUNDS, discuss),
    (Step.ROUNDS, rounds),
    (Step.REVIEWS, reviews),
    (Step.OBJECTIONS, objections),
    (Step.BROADCAST, broadcast),
    (Step.ROUTE, route),
    (Step.HEARTBEAT, stage_b),
    (Step.HEARTBEAT, heartbeat),
)
