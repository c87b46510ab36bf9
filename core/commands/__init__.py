"""The one door: every change of the blackboard is a command with an actor. Importing this fills the registry."""

from core.commands import (  # noqa: F401 - each module registers its commands
    approvals,
    comments,
    company,
    goal_progress,
    goals,
    outputs,
    reviews,
    rounds,
    runs,
    tasks,
    ticks,
    work,
)
