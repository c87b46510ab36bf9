"""Commands on the company and its agents."""

import json
import re
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import Field

from core.commands.registry import Act, Answer, Command, Reason, Slug, Text, Title, handles, letters
from core.domain.budgets import MONEY_MAX, RUN_COST
from core.domain.entities import AgentRecord, Company
from core.domain.errors import Conflict, Invalid
from core.domain.guardrails import GUARDRAILS_FILE
from core.domain.hiring import RESERVED, is_visible, same_name
from core.domain.limits import CAPABILITIES, RUNNER_MAX
from core.domain.runner_secrets import secret_in
from core.domain.states import AgentStatus, Autonomy, BudgetPeriod, BudgetScope, OrgStatus, Role

COMPANY_ID = 1
_KEY_SOURCE = re.compile(r"env:\w{1,200}|file:.{1,900}|keyring:[^/]{1,200}/.{1,200}")


class CreateCompany(Command):
    """Found the company of this board. It is stopped until the operator starts it (F20)."""

    who = letters("HS")
    name: Title
    mission: Text = Field("", description="What the company is for; empty means not yet defined (S1-06)")
    locale: Literal["en", "zh"] = "en"
    budget_micros: int = Field(
        5_000_000, ge=0, le=MONEY_MAX, description="Millionths of a US dollar a day, for stage B (D-01)"
    )


@handles(CreateCompany)
def create_company(act: Act, command: CreateCompany) -> Answer:
    if act.tx.find(Company, COMPANY_ID) is not None:
        raise Conflict("This board already has a company.", "Make another folder for another company.")
    company = act.tx.insert(
        Company,
        "CompanyCreated",
        id=COMPANY_ID,
        org_status=OrgStatus.SETTLED,
        autonomy=Autonomy.A,
        dispatching=False,
        stop_reason="not started yet",
        **command.model_dump(),
    )
    return {"id": company.id, "name": company.name}


class EditCompany(Command):
    """Change the company's name, mission or language."""

    who = letters("H")
    name: Title | None = None
    mission: Text | None = None
    locale: Literal["en", "zh"] | None = None


@handles(EditCompany)
def edit_company(act: Act, command: EditCompany) -> Answer:
    changes = command.model_dump(exclude_none=True)
    if changes:
        act.tx.update(act.tx.get(Company, COMPANY_ID), "CompanyEdited", **changes)
    return {"changed": sorted(changes)}


class StartCompany(Command):
    """Let the dispatcher start runs. Refused while the company's guardrails cannot be read."""

    who = letters("H")
    reads_guardrails = True


@handles(StartCompany)
def start_company(act: Act, command: StartCompany) -> Answer:
    if act.guardrails.problem:
        raise Conflict(f"{act.guardrails.problem}. Nothing is dispatched without red lines.", "Mend it, then start.")
    company = act.tx.get(Company, COMPANY_ID)
    if not company.dispatching:
        act.tx.update(company, "CompanyStarted", dispatching=True, stop_reason="")
    return {"dispatching": True}


class StopCompany(Command):
    """Stop everything: no run starts, and those that run are ended and their tasks go back."""

    who = letters("HS")
    reason: Reason = "stopped by the operator"


@handles(StopCompany)
def stop_company(act: Act, command: StopCompany) -> Answer:
    from core.commands.budgets import withdraw_question
    from core.commands.runs import end_live_runs

    company = act.tx.get(Company, COMPANY_ID)
    if company.dispatching:
        act.tx.update(company, "CompanyStopped", dispatching=False, stop_reason=command.reason)
    withdraw_question(act, BudgetScope.COMPANY, COMPANY_ID, "the company was stopped")
    ended = end_live_runs(act, "1 = 1", command.reason)
    return {"dispatching": False, "ended_runs": ended}


class HoldDispatching(Command):
    """Start no more runs, e.g. while the guardrails cannot be read; those that run go on to their end."""

    who = letters("S")
    reason: Reason
    only_the_reason: bool = Field(False, description="A company at work goes on; one that was held says this instead")


@handles(HoldDispatching)
def hold_dispatching(act: Act, command: HoldDispatching) -> Answer:
    company = act.tx.get(Company, COMPANY_ID)
    # Of a company that stands still already only a reason of this kind is brought up to date.
    was_held = not company.dispatching and company.stop_reason.startswith(GUARDRAILS_FILE)
    ends = company.dispatching and not command.only_the_reason
    if ends or (was_held and company.stop_reason != command.reason):
        company = act.tx.update(company, "DispatchingHeld", dispatching=False, stop_reason=command.reason)
    return {"dispatching": company.dispatching}


class HireAgent(Command):
    """Hire an agent directly. One CEO a company; no two of one name (F26). A new CEO leads whom the old one led."""

    who = letters("H")
    slug: Slug
    name: Title
    role: Role
    capabilities: tuple[Slug, ...] = Field((), max_length=CAPABILITIES)
    manager: Slug | None = Field(None, description="Slug of the agent it reports to")
    runner: dict[str, Any] = Field(
        default_factory=lambda: {"kind": "rehearsal"}, description="Runner kind and settings"
    )
    max_runs: int = Field(1, ge=1, le=100, description="Runs at once")
    budget_micros: int = Field(0, ge=0, le=MONEY_MAX, description="Millionths of a US dollar a day; 0 = the company's")


@handles(HireAgent)
def hire_agent(act: Act, command: HireAgent) -> Answer:
    from core.commands.budgets import make_budget

    manager = require_hireable(act, command)
    values = command.model_dump(exclude={"manager"})
    agent = act.tx.insert(
        AgentRecord, "AgentHired",
        manager_id=manager.id if manager else None, status=AgentStatus.ACTIVE, cooldown_until=None, **values,
    )  # fmt: skip
    if command.budget_micros > 0:
        make_budget(act, BudgetScope.AGENT, agent.id, command.budget_micros, BudgetPeriod.DAY)
    taken_over = _take_over(act, agent) if command.role == Role.CEO else []
    return {"id": agent.id, "slug": agent.slug, "reports": [report.slug for report in taken_over]}


def _take_over(act: Act, ceo: AgentRecord) -> list[AgentRecord]:
    """Who reported to the CEO that retired last, and reports to nobody since, reports to the new one."""
    left = act.tx.value(
        "SELECT changed ->> '$.reports' FROM events WHERE entity = 'agents' AND kind = 'AgentRetired' AND entity_id IN"
        " (SELECT id FROM agents WHERE role = 'ceo' AND status = 'terminated') ORDER BY id DESC LIMIT 1"
    )
    above = {boss["id"] for boss in act.tx.all(_ABOVE, id=ceo.id)}
    reports = [act.tx.find(AgentRecord, number) for number in json.loads(left or "[]")]
    return [
        act.tx.update(report, "AgentReassigned", manager_id=ceo.id)
        for report in reports
        if report is not None and report.status != AgentStatus.TERMINATED and report.manager_id is None
        and report.id not in above
    ]  # fmt: skip


_ABOVE = (
    "WITH RECURSIVE above(id, manager_id) AS (SELECT id, manager_id FROM agents WHERE id = :id UNION SELECT agents.id,"
    " agents.manager_id FROM agents JOIN above ON agents.id = above.manager_id) SELECT id FROM above"
)


def require_hireable(act: Act, hire: HireAgent) -> AgentRecord | None:
    """Who it would report to. Raises Invalid or Conflict, which say why there can be no such agent now (F26)."""
    if hire.slug in RESERVED:
        raise Invalid(f"{hire.slug!r} is reserved.", "Choose another short name.")
    agents = act.tx.select(AgentRecord, "true ORDER BY id")
    require_free_name(agents, hire.slug, hire.name)
    require_runner(hire.runner)
    if hire.role == Role.CEO:
        for agent in agents:
            if agent.role == Role.CEO and agent.status != AgentStatus.TERMINATED:
                raise Conflict(f"{agent.name} is already the CEO.", "A company has one CEO.")
    return None if hire.manager is None else manager_by_slug(act, hire.manager)


def require_free_name(agents: Iterable[AgentRecord], slug: str, name: str) -> None:
    """Raises Conflict when an agent has one of these names; also a retired one, whose history bears it.

    Raises Invalid for a name that nobody sees, or that stands for others than an agent.
    """
    if not is_visible(name):
        raise Invalid("The name has no visible character.", "Choose one that people can read.")
    if any(same_name(name, taken) for taken in RESERVED):
        raise Invalid(f"{name.strip()!r} is reserved.", "Choose another name.")
    for agent in agents:
        if agent.slug == slug or same_name(agent.name, name):
            gone = ", who has retired," if agent.status == AgentStatus.TERMINATED else ""
            raise Conflict(
                f"{agent.name_tag} {agent.name} ({agent.slug}){gone} already has that name.", "Choose another."
            )


def require_runner(runner: dict[str, Any]) -> None:
    """Raises Invalid for settings that name no runner."""
    if not isinstance(runner.get("kind"), str) or not runner["kind"]:
        raise Invalid("The runner has no kind.", 'Name it, e.g. {"kind": "rehearsal"}.')
    if len(json.dumps(runner, ensure_ascii=False).encode()) > RUNNER_MAX:
        raise Invalid(f"The runner's settings are longer than {RUNNER_MAX} bytes.", "Keep long texts in files.")
    if "key" in runner and not _KEY_SOURCE.fullmatch(str(runner["key"])):
        # What is written here stays on the board for ever, so nothing that may be a key itself is taken, or repeated.
        raise Invalid(
            "A key stands in no setting; only where it comes from does.",
            "Name its source: env:NAME, file:PATH or keyring:SERVICE/USER.",
        )
    if place := secret_in(runner):
        raise Invalid(
            f"A key stands in no setting, and {place[:100]} seems to hold one; nothing was kept of it.",
            "Name where it comes from: `key` as env:NAME, file:PATH or keyring:SERVICE/USER; for a program the"
            " variable's name in `env`.",
        )
    cost = runner.get(RUN_COST, 0)
    if not isinstance(cost, int) or isinstance(cost, bool) or not 0 <= cost <= MONEY_MAX:
        raise Invalid(f"{RUN_COST} is no amount.", "Give millionths of a US dollar, e.g. 200000; 0 is a free model.")


def manager_by_slug(act: Act, slug: str) -> AgentRecord:
    """An agent that others can report to. Raises Invalid, or Conflict for one that has retired."""
    managers = act.tx.select(AgentRecord, "slug = :slug", slug=slug)
    if not managers:
        raise Invalid(f"There is no agent {slug!r} to report to.", "Hire the manager first.")
    if managers[0].status == AgentStatus.TERMINATED:
        raise Conflict(f"{managers[0].name} ({slug}) has retired; nobody can report to it.", "Name another manager.")
    return managers[0]


def agent_by_slug(act: Act, slug: str) -> AgentRecord:
    """The agent of that name. Raises Invalid."""
    found = act.tx.select(AgentRecord, "slug = :slug", slug=slug)
    if not found:
        raise Invalid(f"There is no agent {slug!r}.", "List the agents and use a name from there.")
    return found[0]


class PauseAgent(Command):
    """Pause an agent: its run ends, its task goes back, and it gets no new run."""

    who = letters("HS")
    agent: Slug
    reason: Reason = "paused by the operator"


@handles(PauseAgent)
def pause_agent(act: Act, command: PauseAgent) -> Answer:
    from core.commands.budgets import withdraw_question
    from core.commands.runs import end_live_runs

    agent = agent_by_slug(act, command.agent)
    if agent.status != AgentStatus.ACTIVE:
        raise Conflict(f"{agent.name} is {agent.status}.", "Only an active agent can be paused.")
    act.tx.update(agent, "AgentPaused", status=AgentStatus.PAUSED, told={"reason": command.reason})
    withdraw_question(act, BudgetScope.AGENT, agent.id, f"{agent.name} was paused")
    ended = end_live_runs(act, "agent_id = :agent", command.reason, agent=agent.id)
    return {"id": agent.id, "status": "paused", "ended_runs": ended}


class ResumeAgent(Command):
    """Let a paused agent work again."""

    who = letters("H")
    agent: Slug


@handles(ResumeAgent)
def resume_agent(act: Act, command: ResumeAgent) -> Answer:
    agent = agent_by_slug(act, command.agent)
    if agent.status != AgentStatus.PAUSED:
        raise Conflict(f"{agent.name} is {agent.status}.", "Only a paused agent can be resumed.")
    act.tx.update(agent, "AgentResumed", status=AgentStatus.ACTIVE)
    return {"id": agent.id, "status": "active"}


class CoolDownAgent(Command):
    """Give an agent no run until a time, e.g. after a rate limit; costs no attempt (F14)."""

    who = letters("S")
    agent_id: int
    until: int = Field(description="Milliseconds UTC")


@handles(CoolDownAgent)
def cool_down_agent(act: Act, command: CoolDownAgent) -> Answer:
    agent = act.tx.get(AgentRecord, command.agent_id)
    act.tx.update(agent, "AgentCooledDown", cooldown_until=command.until)
    return {"id": agent.id, "until": command.until}
