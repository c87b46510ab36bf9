"""A board of any size: a company as `init` makes it, one goal at work, and as many tasks around it as are wanted."""

from pathlib import Path

from core.blackboard.transaction import Transaction
from core.commands.registry import parse
from core.company import OpenCompany
from core.config import Config
from core.domain.actors import Operator
from tests import founding

PER_GOAL = 20


async def seed(folder: Path, tasks: int) -> None:
    """Make a company in `folder` whose goals have so many tasks, all pending, none run by anybody."""
    await founding.a_company(folder, Config(name="Bench"))
    company = await OpenCompany.open(folder, role="owner")
    try:
        for slug, role in (("orlo", "coordinator"), ("ada", "executor"), ("vera", "reviewer")):
            await company.execute(parse("HireAgent", {"slug": slug, "name": slug, "role": role}))
        await company.execute(parse("StartCompany", {}))
        new = [{"title": f"Task {number} of the first goal"} for number in range(PER_GOAL)]
        await company.execute(parse("CreateGoal", {"title": "Measure", "tasks": new}), actor=Operator())
        await company.execute(parse("DispatchGoal", {"goal": 1, "discussion": False}), actor=Operator())
        await company.execute(parse("StopCompany", {}), actor=Operator())
        assert company.board.writer is not None
        await company.board.writer.submit(lambda tx: _multiply(tx, tasks // PER_GOAL - 1))
    finally:
        await company.close()


def _multiply(tx: Transaction, goals: int) -> None:
    """Copies of the first goal, its round and its tasks. Written directly: only their number matters here."""
    for number in range(2, goals + 2):
        goal = _copied(tx, "goals", "id = 1", title=f"Measure {number}", content_hash=f"hash {number}")
        (round_,) = _copied(tx, "rounds", "goal_id = 1", goal_id=goal[0])
        _copied(tx, "tasks", "goal_id = 1", goal_id=goal[0], round_id=round_)


def _copied(tx: Transaction, table: str, where: str, **instead: object) -> list[int]:
    made = []
    for row in tx.all(f"SELECT * FROM {table} WHERE {where}"):
        facts = dict(row) | instead
        facts.pop("id")
        names = ", ".join(facts)
        marks = ", ".join("?" for _ in facts)
        done = tx.connection.execute(f"INSERT INTO {table}({names}) VALUES ({marks})", tuple(facts.values()))
        made.append(int(done.lastrowid or 0))
    return made
