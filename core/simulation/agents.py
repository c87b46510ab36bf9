"""Agents that play by a script: what each does is drawn from one seeded source, in process and without a model."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from core.agents.runner import Assignment, Desk, Outcome
from core.domain.states import RunKind, RunStatus
from core.simulation.acting import CAPABILITIES, HANDOFF, Play
from core.simulation.coordinating import Coordinating
from core.simulation.executing import Executing
from core.simulation.habits import GOOD, HARD, USUAL, Habits
from core.simulation.reviewing import Reviewing
from core.simulation.stage import Stage
from core.simulation.talking import Talking

__all__ = ["CAPABILITIES", "GOOD", "HANDOFF", "HARD", "USUAL", "Habits", "Player", "Scripted"]
RUN_MINUTES = 30.0


@dataclass
class Scripted:
    """The runner of every agent in a simulation. Each run draws from a source of its own, named by seed and key.

    `troubled` are the kinds of runs in which the agents have their habits; in the others they are good. `refused`
    counts the calls that the board refused, by command and kind of error.
    """

    seed: int
    habits: Habits
    clock: Callable[[], int]
    troubled: frozenset[RunKind] = frozenset(RunKind)
    run_minutes: float = RUN_MINUTES
    begun: list[tuple[int, RunKind]] = field(default_factory=list)
    refused: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    stage: Stage = field(init=False)

    def __post_init__(self) -> None:
        self.stage = Stage(self.seed, self.clock)

    @property
    def hanging(self) -> set[int]:
        """The runs that do nothing now: late ones, and those that wait for their end."""
        return set(self.stage.asleep)

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        """Let one run play."""
        run = assignment.run
        await self.stage.turn(run.id)
        self.begun.append((run.id, run.kind))
        habits = self.habits if run.kind in self.troubled else GOOD
        source = random.Random(f"{self.seed}:{run.idempotency_key}")
        return await Player(assignment, desk, habits, source, self).play()


class Player(Coordinating, Executing, Reviewing, Talking, Play):
    """One run at play."""

    async def play(self) -> Outcome:
        """Do what the kind of run asks for, or something worse."""
        acts = {
            RunKind.PROPOSE: self.propose,
            RunKind.EXPLORE: self.explore,
            RunKind.DISCUSS: self.discuss,
            RunKind.SPLIT: self.split,
            RunKind.HEARTBEAT: self.look_after,
            RunKind.BROADCAST: self.look_at_offers,
            RunKind.EXECUTE: self.execute,
            RunKind.REVIEW: self.review,
            RunKind.RULE: self.rule,
            RunKind.MENTION: self.reply,
            RunKind.PLAN: self.plan,
            RunKind.ROUND_REVIEW: self.review_round,
            RunKind.STALL: self.unstick,
            RunKind.REPORT: self.report,
        }
        if self.run.kind != RunKind.EXECUTE:
            trouble = await self.trouble()
            if trouble is not None:
                return trouble
        return await acts[self.run.kind]() or Outcome(RunStatus.SUCCEEDED)
