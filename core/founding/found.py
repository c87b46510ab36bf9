"""Makes a company as it was planned: its folder and board, its people through the door of hiring, its limits."""

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from core.commands.budgets import SetBudget
from core.commands.company import CreateCompany, HireAgent, require_runner
from core.commands.registry import build
from core.company import Clock, OpenCompany, create_company, wall_clock
from core.config import CapsConfig, Config
from core.domain.guardrails import GUARDRAILS_FILE
from core.domain.staff_files import SOUL
from core.domain.states import BudgetPeriod, BudgetScope
from core.founding.template import EMPTY, Template, TemplateLine, template_of


@dataclass(frozen=True, slots=True)
class Plan:
    """A company to be made. `runner` is what its agents run on; `usd_micros` what all may spend a day (0: no limit)."""

    name: str
    mission: str = ""
    locale: Literal["en", "zh"] = "en"
    template: Template = field(default_factory=lambda: template_of(EMPTY))
    runner: Mapping[str, Any] = field(default_factory=dict)
    runs_at_once: int | None = None
    usd_micros: int | None = None

    @property
    def config(self) -> Config:
        """Its `company.toml`. Raises Invalid for a name, mission or language that no company has."""
        told = build(CreateCompany, name=self.name, mission=self.mission, locale=self.locale)
        runs = self.template.runs_at_once if self.runs_at_once is None else self.runs_at_once
        return Config(
            name=told.name, mission=told.mission, locale=told.locale, caps=CapsConfig(runs_at_once=runs)
        )  # fmt: skip

    @property
    def budget_micros(self) -> int:
        """What all of it may spend a day, in millionths of a US dollar; 0 is no limit."""
        return int(self.template.usd_a_day * 1_000_000) if self.usd_micros is None else self.usd_micros


def hires(plan: Plan) -> tuple[HireAgent, ...]:
    """Whom it hires, managers first. Raises Invalid for a runner that holds a key, or that nobody can have."""
    if plan.template.agents:
        require_runner(dict(plan.runner))
    return tuple(
        build(
            HireAgent, slug=agent.slug, name=agent.name, role=agent.role, manager=agent.manager,
            capabilities=agent.capabilities, max_runs=agent.max_runs, runner=dict(plan.runner),
        )
        for agent in plan.template.agents
    )  # fmt: skip


async def found_company(folder: Path, plan: Plan, clock: Clock = wall_clock) -> None:
    """Make it in `folder`. The operator starts it (F20). Raises Invalid; a folder that holds one is left as it is."""
    hired = hires(plan)
    await create_company(folder, plan.config, clock=clock)
    await asyncio.to_thread(_write, folder, plan)
    company = await OpenCompany.open(folder, role="owner", clock=clock)
    try:
        for hire in hired:
            await company.execute(hire)
        if plan.budget_micros and hired:
            await company.execute(build(SetBudget, scope=BudgetScope.COMPANY, limit_micros=plan.budget_micros,
                                        period=BudgetPeriod.DAY))  # fmt: skip
    finally:
        await company.close()


def _write(folder: Path, plan: Plan) -> None:
    for agent in plan.template.agents:
        place = folder / "agents" / agent.slug
        place.mkdir(mode=0o700)
        text = agent.soul.get(plan.locale) or agent.soul["en"]
        with open(os.open(place / SOUL, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(f"# {agent.name}\n\n{text}\n")
    if plan.template.red_lines:
        with (folder / GUARDRAILS_FILE).open("a", encoding="utf-8") as file:
            file.write(f"\n  # Of the template: {plan.template.title}.\n")
            file.write("".join(map(_line, plan.template.red_lines)))


def _line(line: TemplateLine) -> str:
    """A red line as YAML; every text as JSON writes it is a text of YAML too."""
    rows = [f"  - name: {line.name}", f"    about: {json.dumps(line.about)}", f"    action: {line.action}"]
    if line.tags:
        rows.append(f"    tags: [{', '.join(line.tags)}]")
    if line.patterns:
        rows += ["    patterns:", *(f"      - {json.dumps(pattern, ensure_ascii=False)}" for pattern in line.patterns)]
    return "\n".join(rows) + "\n\n"
