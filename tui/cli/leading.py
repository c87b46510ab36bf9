"""`opsroom autonomy`, `heartbeat`, `goal recall` and `company`: what the operator decides about the CEO."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.blackboard.queries import ALIVE_GOALS, STAGE_B_SPENT
from core.commands.autonomy import RecallGoal, SetAutonomy
from core.commands.company import EditCompany
from core.commands.heartbeats import CallHeartbeat
from core.commands.registry import build
from core.domain.budgets import money, period_start
from core.domain.entities import Company, Goal
from core.domain.errors import Invalid
from core.domain.limits import AUTO_IN_A_ROW
from core.domain.states import Autonomy, BudgetPeriod
from tui.cli import opening
from tui.cli.agents import micros_of
from tui.cli.exits import Exit
from tui.cli.goal_acts import send
from tui.cli.names import folder_of, number_of, quoted, while_at_work
from tui.cli.output import facts, note, print_json, say
from tui.staff_text import usd
from tui.stage_b import may_begin, stage_b_lines


@dataclass(frozen=True, slots=True)
class _Standing:
    company: Company
    spent_micros: int
    goals: Sequence[Goal]

    def as_json(self, *, changed: bool) -> dict[str, Any]:
        return {
            "stage": str(self.company.autonomy), "budget_micros": self.company.budget_micros,
            "spent_micros": self.spent_micros, "auto_in_a_row": self.company.auto_in_a_row,
            "dispatching": self.company.dispatching, "drafts": [goal.name_tag for goal in may_begin(self.goals)],
            "changed": changed,
        }  # fmt: skip


def autonomy(arguments: argparse.Namespace) -> int:
    """Tell the stage; or choose one, B only with a yes to what it will do and cost."""
    folder = folder_of(arguments.dir)
    budget = None if arguments.budget is None else micros_of(arguments.budget)
    if arguments.stage is None:
        if budget is not None or arguments.yes:
            raise Invalid("Which stage?", f"Name it: opsroom autonomy {quoted(folder)} B, or A.")
        return _told(arguments, opening.run(_standing(folder)), changed=False)
    stage = Autonomy(arguments.stage)
    if stage == Autonomy.B and not arguments.yes and not _nothing_to_spend(folder, budget):
        return _ask(arguments, folder, budget)
    opening.run(opening.send(folder, build(SetAutonomy, stage=stage, budget_micros=budget)))
    return _told(arguments, opening.run(_standing(folder)), changed=True)


def _nothing_to_spend(folder: Path, budget: int | None) -> bool:
    """Stage B that could start nothing is refused by its command, and not asked about."""
    return (opening.run(_standing(folder)).company.budget_micros if budget is None else budget) == 0


async def _standing(folder: Path) -> _Standing:
    async with opening.reading(folder) as board:
        (company,) = await board.readers.entities(Company, "id = 1")
        # The board's time never runs backwards, the wall's may.
        last = await board.readers.value("SELECT at FROM events ORDER BY id DESC LIMIT 1")
        since = period_start(BudgetPeriod.DAY, max(opening.now_ms(), last or 0))
        spent = int(await board.readers.value(STAGE_B_SPENT, since=since) or 0)
        return _Standing(company, spent, await board.readers.entities(Goal, f"{ALIVE_GOALS} ORDER BY id"))


def _ask(arguments: argparse.Namespace, folder: Path, budget: int | None) -> int:
    standing = opening.run(_standing(folder))
    micros = standing.company.budget_micros if budget is None else budget
    place = quoted(folder)
    if arguments.json:
        print_json(standing.as_json(changed=False))
    else:
        back = f"`opsroom autonomy {place} A` goes back at once, `goal recall` takes a goal back, `stop` stops all."
        for line in stage_b_lines(standing.company, money(micros), standing.goals, back):
            say(line)
    note(f"opsroom: Nothing was changed. If you want that: opsroom autonomy {place} B --budget {usd(micros)} --yes")
    return Exit.WAITS


def _told(arguments: argparse.Namespace, standing: _Standing, *, changed: bool) -> int:
    company = standing.company
    if arguments.json:
        print_json(standing.as_json(changed=changed))
        return Exit.OK
    what = "the CEO's drafts begin without you, within these limits" if company.autonomy == Autonomy.B else (
        "you dispatch what the CEO drafts"
    )  # fmt: skip
    at_b = company.autonomy == Autonomy.B
    facts(
        [
            ("stage", f"{company.autonomy}: {what}"),
            ("budget", f"{money(standing.spent_micros)} of {money(company.budget_micros)} today" if at_b else ""),
            ("in a row", f"{company.auto_in_a_row} of {AUTO_IN_A_ROW} without a look of yours" if at_b else ""),
            ("stopped", "" if company.dispatching else company.stop_reason),
        ]
    )
    return Exit.OK


def heartbeat(arguments: argparse.Namespace) -> int:
    """The CEO looks after the company now."""
    folder = folder_of(arguments.dir)
    answer = opening.run(opening.send(folder, CallHeartbeat()))
    if arguments.json:
        print_json({"command": "CallHeartbeat", "answer": answer})
    else:
        say(f"The CEO's heartbeat is due now. It is made {while_at_work(folder)}.")
    return Exit.OK


def recall(arguments: argparse.Namespace) -> int:
    """Take back what stage B put to work."""
    reason = {"reason": arguments.reason} if arguments.reason else {}
    command = build(RecallGoal, goal=number_of(arguments.goal, "goal"), **reason)
    return send(arguments, command, "a draft again; its runs ended, and only you can dispatch it.")


def company(arguments: argparse.Namespace) -> int:
    """Change what the company is called, what it is for, or the language of its agents."""
    given = {name: getattr(arguments, name) for name in ("name", "mission", "locale")}
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        raise Invalid("Nothing is to be changed.", "Name what: --name, --mission or --locale.")
    answer = opening.run(opening.send(folder_of(arguments.dir), build(EditCompany, **given)))
    if arguments.json:
        print_json({"command": "EditCompany", "answer": answer})
    else:
        say(f"Changed: {', '.join(answer['changed'])}.")
    return Exit.OK
