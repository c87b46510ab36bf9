"""Founds the rehearsal company: a folder with a board, a mission and its staff. It does not start it."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from core.agents.rehearsal.audit.survey import shown
from core.agents.rehearsal.runner import RehearsalRunner
from core.agents.rehearsal.staff import STAFF, Member, hire_staff
from core.agents.rehearsal.words import cut, plain
from core.agents.runner import Runner
from core.company import Clock, OpenCompany, create_company, wall_clock
from core.config import CapsConfig, Config, RehearsalConfig
from core.domain.errors import Invalid


def rehearsal_config(audited: Path, pace_ms: int) -> Config:
    """The settings of a company that audits a folder; its agents are local and free, so the caps are wide."""
    try:
        os.fspath(audited).encode()
    except UnicodeEncodeError:
        raise Invalid(
            f"{shown(os.fsencode(audited))} has a name that is not UTF-8.", "Give a link to it with a plain name."
        ) from None
    name = plain(shown(os.fsencode(audited)))
    return Config(
        name=f"Rehearsal: {cut(plain(audited.name) or name, 120)}",
        mission=f"Know the true state of {name}: what it holds, what waits in it, and what nobody has looked after.",
        caps=CapsConfig(runs_at_once=4, starts_per_minute=600, run_seconds=1800),
        rehearsal=RehearsalConfig(folder=os.fspath(audited), pace_ms=pace_ms),
    )


def rehearsal_runners(config: Config) -> Mapping[str, Runner]:
    """The runners that a company with these settings needs; none for a company that rehearses nothing."""
    if config.rehearsal is None:
        return {}
    return {"rehearsal": RehearsalRunner(Path(config.rehearsal.folder), config.rehearsal.pace_ms)}


async def found_rehearsal(
    folder: Path, audited: Path, pace_ms: int = 0, clock: Clock = wall_clock, staff: tuple[Member, ...] = STAFF
) -> Config:
    """Make the company in `folder` and hire its staff. Raises Invalid. The operator starts it (F20)."""
    audited = await asyncio.to_thread(audited.resolve)
    config = rehearsal_config(audited, pace_ms)
    await create_company(folder, config, clock=clock)
    company = await OpenCompany.open(folder, role="owner", clock=clock)
    try:
        await hire_staff(company, staff)
    finally:
        await company.close()
    return config
