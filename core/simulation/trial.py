"""A policy on trial: a company with goals lives in virtual time until they have ended, and is watched all along."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core.blackboard.fold import rebuild_and_compare
from core.dispatcher import Caps
from core.domain.entities import Goal
from core.domain.limits import TASKS_AT_ONCE, TICK_MS
from core.domain.states import Role
from core.simulation.acting import CAPABILITIES
from core.simulation.laws import LAWS, UNTOLD
from core.simulation.policy import Policy
from core.simulation.report import Invariant, Report, counted
from core.simulation.simulator import Simulation, Staff, a_simulation

_ALIVE = "status NOT IN ('done', 'failed', 'cancelled', 'archived')"


@dataclass(frozen=True, slots=True)
class Size:
    """How large a trial is. `agents` are executors; each goal begins with `tasks` draft tasks, or with none."""

    goals: int = 2
    agents: int = 3
    tasks: int = 0
    ticks: int = 400


async def trial(
    folder: Path, policy: Policy, size: Size, seed: int = 1, told: Callable[[int, int], None] = lambda _t, _n: None
) -> Report:
    """Let a company live in `folder`, which is empty; `told` hears of each tick and how many goals are alive."""
    bounds = policy.caps
    caps = Caps(bounds.runs_at_once, bounds.starts_per_minute)
    async with a_simulation(
        folder, seed, policy.habits, staff=_staff(size), caps=caps, run_minutes=bounds.run_minutes
    ) as simulation:
        broken: dict[str, str] = {}
        now = 0

        def note(law: str, where: str) -> None:
            broken.setdefault(law, f"{where} (tick {now})")

        simulation.on_broken = note
        for number in range(1, size.goals + 1):
            await _begin(simulation, number, policy, size)
        ended: int | None = None
        for now in range(1, size.ticks + 1):
            await simulation.step()
            await simulation.check_nothing_is_forgotten()
            if policy.operator.manner != "absent" and now % policy.operator.every == 0:
                await _visit(simulation, policy)
            alive = len(await simulation.board.readers.entities(Goal, _ALIVE))
            told(now, alive)
            if not alive:
                ended = now
                break
        if wrong := await simulation.read(lambda tx: rebuild_and_compare(tx.connection)):
            note(UNTOLD, str(wrong[0]))
        facts = await simulation.read(counted)
        return Report(
            seed=seed, ticks=ended, minutes=now * TICK_MS / 60_000, interventions=simulation.decided,
            refused=simulation.agents.refused.total(), waits=len(await simulation.inbox()),
            invariants=tuple(Invariant(law, law not in broken, broken.get(law, "")) for law in LAWS), **facts,
        )  # fmt: skip


def _staff(size: Size) -> Staff:
    """A CEO, a coordinator, two who review, and the executors; each can all but one of the things, or all."""
    executors: list[tuple[str, Role, tuple[str, ...]]] = []
    for number in range(1, size.agents + 1):
        able = CAPABILITIES if number % 3 == 0 else tuple(c for c in CAPABILITIES if c != CAPABILITIES[-number % 3])
        executors.append((f"agent-{number}", Role.EXECUTOR, able))
    return (
        ("vera", Role.CEO, ()), ("cora", Role.COORDINATOR, ()), ("rita", Role.REVIEWER, ()),
        ("chad", Role.CHALLENGER, ()), *executors,
    )  # fmt: skip


async def _begin(simulation: Simulation, number: int, policy: Policy, size: Size) -> None:
    musts = ("count the files", "search for dead links")
    tasks = [
        {
            "title": f"Part {part} of goal {number}", "must_haves": (f"M{part % 2 + 1}",),
            "end_state": "A figure that somebody else counts again and finds the same.",
            "capabilities": (CAPABILITIES[part % 3],),
        }
        for part in range(min(size.tasks, TASKS_AT_ONCE))
    ]  # fmt: skip
    made = await simulation.operator(
        "CreateGoal", title=f"Audit {number}", must_haves=musts, tasks=tasks, round_cap=policy.caps.round_cap,
        explore=policy.operator.explore,
    )  # fmt: skip
    if not policy.operator.explore:
        await simulation.operator("DispatchGoal", goal=made["id"])


async def _visit(simulation: Simulation, policy: Policy) -> None:
    """The operator looks in."""
    await simulation.answer_questions()
    await simulation.decide_all(kindly=policy.operator.manner == "kindly")
