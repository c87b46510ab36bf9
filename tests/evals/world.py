"""Short ways to play scenarios from texts and replies."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from core.evals.contestants import Recorded, Reply
from core.evals.evaluation import evaluate
from core.evals.founding import Boards
from core.evals.report import Report
from core.evals.scenario import Scenario, read_file, read_scenarios

GOOD = Path(__file__).parent / "good.toml"
HIRE = {"slug": "cora", "name": "Cora", "role": "coordinator", "why": "Nobody plans the work."}
DRAFT = {"title": "List the maps", "must_haves": ["a list"], "split": False}
# Tests of one process begin in the same states: each is made once. They are gone when the process ends.
_KEPT = tempfile.TemporaryDirectory(prefix="opsroom-states-")
STATES = Boards(Path(_KEPT.name))
FIRST = """
about = "A first run."
mode = "team_building"
mission = "Know every folder"
staff = ["vera ceo"]

[begin]
agent = "vera"
run = "propose"

[[expect]]
call = "ProposeHire"
"""


def shipped(name: str) -> Scenario:
    """One of the scenarios that come with the program."""
    return all_shipped()[name]


@cache
def all_shipped() -> dict[str, Scenario]:
    """All of them by name, read once."""
    return {scenario.name: scenario for scenario in read_scenarios()}


def written(folder: Path, text: str, name: str = "mine") -> Scenario:
    """A scenario from its text."""
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return read_file(path)[0]


def calls(*made: tuple[str, dict[str, Any]], repetition: int | None = None) -> list[Reply]:
    """Replies from commands and arguments."""
    return [Reply(call=command, with_=arguments, repetition=repetition) for command, arguments in made]


async def replied(folder: Path, scenario: Scenario, replies: list[Reply], repeat: int = 1) -> Report:
    """What these replies come to in a scenario."""
    place = folder / "boards"
    place.mkdir(exist_ok=True)
    return await evaluate([scenario], Recorded({scenario.name: replies}, "test"), place, repeat=repeat, boards=STATES)
