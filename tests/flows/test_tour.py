"""The pictures of docs/tour.md: the rehearsal company at work, in virtual time, one run after the other.

`make tour` takes them anew; without it they are compared (a long test). The quick test holds the page to its pictures.
"""

import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from core.agents.rehearsal.runner import RehearsalRunner
from core.agents.rehearsal.shift import Shift
from core.agents.rehearsal.staff import STAFF, hire_staff
from core.company import OpenCompany, create_company
from core.config import CapsConfig
from core.rehearsal import rehearsal_config
from tests.agents.rehearsal_support import Clock as Offset
from tests.agents.rehearsal_support import Play
from tests.command_line import ROOT, a_folder
from tests.flows.world import Clock, Office, press, ready

PAGE = ROOT / "docs" / "tour.md"
PICTURES = ROOT / "docs" / "tour"
SIZE = (110, 32)
_FONT = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)  # it would be asked of another machine


def test_the_page_shows_every_picture_and_names_none_that_is_not_there() -> None:
    named = re.findall(r"\]\(tour/([a-z0-9-]+\.svg)\)", PAGE.read_text(encoding="utf-8"))
    assert len(named) == len(set(named))
    assert sorted(named) == sorted(path.name for path in PICTURES.iterdir())
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < 1_500_000
    assert not [path.name for path in PICTURES.iterdir() if "url(" in re.sub(r"url\(#", "", path.read_text())]


async def take(pilot: Pilot[Any], name: str) -> None:
    """Keep what is on the screen, or compare it with what is kept."""
    svg = _FONT.sub("", pilot.app.export_screenshot(title="Opsroom"))
    path = PICTURES / f"{name}.svg"
    if os.environ.get("PYTEST_TOUR") == "renew":
        path.write_text(svg, encoding="utf-8")
        return
    # runs of other processes may end in another order: their lines change places, and their numbers
    kept, now = words_of(path.read_text(encoding="utf-8")), words_of(svg)
    assert (kept & now).total() >= 0.9 * max(kept.total(), now.total()), f"{path.name} is stale: make tour"


def words_of(svg: str) -> Counter[str]:
    """What a picture says, without numbers, and how often."""
    told = re.findall(r">([^<]*)</text>", svg)
    return Counter(words for each in told if (words := re.sub(r"[0-9\s]|&#160;", "", each)))


async def a_rehearsal(folder: Path, audited: Path, clock: Clock) -> OpenCompany:
    """One run at a time, so that everything happens in the same order each time."""
    config = rehearsal_config(audited, 0).model_copy(update={
        "mission": "Know the true state of lighthouse: what it holds, and what waits in it.",
        "caps": CapsConfig(runs_at_once=1, starts_per_minute=600, run_seconds=1800),
    })  # fmt: skip
    await create_company(folder, config, clock=clock)
    company = await OpenCompany.open(folder, {"rehearsal": RehearsalRunner(audited)}, role="owner", clock=clock)
    await hire_staff(company, STAFF)
    return company


@pytest.mark.soak
async def test_the_pictures_are_what_the_rehearsal_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(Shift, "folder_name", "/srv/lighthouse")  # no path of this machine stands in a picture
    company = await a_rehearsal(tmp_path / "company", a_folder(tmp_path / "lighthouse", git=False), clock)
    play, office = Play(company, Offset()), Office(company, clock)
    company.board.follow(play.hear, after=0)
    await company.start()
    await play.start()
    await play.quiet()
    app = office.app(runner_kinds=frozenset({"rehearsal"}))
    async with app.run_test(size=SIZE) as pilot:
        await ready(pilot, office)
        await press(pilot, "i")
        await take(pilot, "draft")
        goal = await play.dispatched()
        await play.question()
        await play.quiet()
        clock.forward(60)
        await press(pilot, "i", "G")
        await take(pilot, "red-line")
        for key, name in (("O", "board"), ("A", "agents"), ("P", "prompts"), ("m", "mail"), ("L", "history")):
            await press(pilot, key)
            await take(pilot, name)
            await press(pilot, "C")
        await press(pilot, "colon")
        await take(pilot, "palette")
        await press(pilot, "escape")
        await play.decide("approved")
        await play.reported(goal)
        await play.quiet()
        clock.forward(60)
        await press(pilot, "i", "G")
        await take(pilot, "report")
