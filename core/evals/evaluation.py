"""An evaluation: chosen scenarios, each so often, on a board of its own each time."""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from core.domain.ceo_mode import SLUGS, CeoMode
from core.domain.errors import Invalid
from core.evals.founding import Boards
from core.evals.playing import Contestant, Played, play
from core.evals.report import Report, Result
from core.evals.scenario import Scenario

Told = Callable[[Scenario, int, Played], None]


def mode_of(word: str | None) -> CeoMode | None:
    """A mode from its word or its file's name; None stays None. Raises Invalid for another word."""
    modes = {**{str(each): each for each in CeoMode}, **{slug: each for each, slug in SLUGS.items()}}
    if word is not None and word not in modes:
        raise Invalid(f"There is no mode {word!r}.", f"There are: {', '.join(CeoMode)}.")
    return None if word is None else modes[word]


def chosen(scenarios: Sequence[Scenario], name: str | None = None, mode: CeoMode | None = None) -> list[Scenario]:
    """The scenarios of that name (or file) and that mode; None is any. Raises Invalid when there is none."""
    names = {name for scenario in scenarios for name in scenario.names}
    if name is not None and name not in names:
        raise Invalid(f"There is no scenario {name!r}.", f"There are: {', '.join(sorted(names))}.")
    found = [
        scenario for scenario in scenarios if (name is None or name in scenario.names) and mode in (None, scenario.mode)
    ]
    if not found:
        raise Invalid(
            f"{'No scenario begins' if name is None else f'{name} does not begin'} in the mode {mode}.",
            "Choose another mode.",
        )
    return found


async def evaluate(
    scenarios: Sequence[Scenario],
    contestant: Contestant,
    folder: Path,
    *,
    repeat: int = 1,
    told: Told = lambda _scenario, _repetition, _played: None,
    boards: Boards | None = None,
) -> Report:
    """Play each scenario `repeat` times; boards live below `folder` and are gone afterwards. `told` hears of each.

    `boards` keeps the states in which scenarios begin, if another evaluation is to find them again.
    """
    results, states = [], folder / "states"
    boards = boards or Boards(states)
    for scenario in scenarios:
        runs = []
        for repetition in range(1, repeat + 1):
            place = folder / f"{scenario.name}-{repetition}"
            place.mkdir()
            played = await play(scenario, contestant, repetition, place, boards=boards)
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
            told(scenario, repetition, played)
            runs.append(played)
        results.append(Result(scenario.name, scenario.group, scenario.hash, tuple(runs)))
    await asyncio.to_thread(shutil.rmtree, states, ignore_errors=True)
    return Report(contestant.kind, contestant.model, repeat, tuple(results))
