"""`opsroom simulate`: try a policy on scripted agents in virtual time, without a model and without a company."""

import argparse
import asyncio
import logging
import tempfile
from pathlib import Path

from core.domain.errors import Invalid
from core.simulation.policy import Policy, read_policy
from core.simulation.report import Report
from core.simulation.trial import Size, trial
from tui.cli.exits import Exit
from tui.cli.output import facts, note, print_json, say, table

LIMITS = {"goals": (1, 100), "agents": (1, 2000), "tasks": (0, 500), "ticks": (1, 100_000)}
_EACH = 100  # ticks between two words of progress


def simulate(arguments: argparse.Namespace) -> int:
    """Run the simulation and print what it came to. 1 when an invariant was broken."""
    if arguments.agents == 0:
        raise Invalid("--agents 0 is not possible: nobody would work, and no goal would end.", "Give at least 1.")
    for name, (least, most) in LIMITS.items():
        if not least <= getattr(arguments, name) <= most:
            raise Invalid(
                f"--{name} {getattr(arguments, name)} is not possible.", f"Give a number from {least} to {most}."
            )
    policy = Policy() if arguments.policy is None else read_policy(Path(arguments.policy))
    size = Size(arguments.goals, arguments.agents, arguments.tasks, arguments.ticks)
    # The programs of simulated agents crash by intention.
    logging.getLogger("core").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="opsroom-simulation-") as folder:
        report = asyncio.run(trial(Path(folder), policy, size, arguments.seed, _progress))
    if arguments.json:
        print_json(report.as_json())
    else:
        _tell(report, size)
    return Exit.OK if report.ok else Exit.REFUSED


def _progress(tick: int, alive: int) -> None:
    if tick % _EACH == 0:
        note(f"opsroom: tick {tick}: {alive} goals have not ended.")


def _tell(report: Report, size: Size) -> None:
    def counts(numbers: dict[str, int]) -> str:
        return ", ".join(f"{count} {name}" for name, count in numbers.items()) or "none"

    ended = f"{report.ticks} ({report.minutes:g} minutes)" if report.ticks is not None else f"not in {size.ticks}"
    facts(
        [
            ("seed", str(report.seed)),
            ("ticks to done", ended),
            ("goals", counts(report.goals)),
            ("tasks", counts(report.tasks)),
            ("runs", counts(report.runs)),
            ("model calls", f"{report.model_calls}"),
            ("duplicate work", f"{report.duplicates} runs"),
            ("interventions", f"{report.interventions} decisions of the operator"),
            ("refused", f"{report.refused} calls of agents"),
            ("in the inbox", f"{report.waits} things"),
        ]
    )
    say()
    rows = [(law.law, "ok" if law.ok else f"BROKEN: {law.where}") for law in report.invariants]
    table(rows, ("what must never be", "is it so?"))
