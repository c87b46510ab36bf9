"""`opsroom agent …` and `opsroom org`: the staff as it is, and one command each to change it."""

import argparse
import json
from collections.abc import Collection, Mapping
from decimal import ROUND_DOWN, Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from core.agents.kinds import check_runner
from core.blackboard.queries import LIVE_RUNS, WITHOUT_COST
from core.blackboard.readers import Readers
from core.commands.company import require_runner
from core.config import read_config, runner_kinds
from core.domain.budgets import money, per, with_unknown
from core.domain.company_items import RUNNER_EXAMPLE, default_runner, runner_missing
from core.domain.entities import AgentRecord, Budget, Company, Task
from core.domain.errors import Invalid, NotFound
from core.domain.metering import metering_words
from core.domain.organisation import chart_of, drawn
from core.domain.states import AgentStatus, BudgetPeriod, BudgetScope, Role
from core.staffing import left_since
from tui.cli import opening
from tui.cli.names import folder_of, quoted, words_of
from tui.cli.output import facts, note, print_json, say, table, when
from tui.staff_text import KIND, MICROS, SLUG, USD_MAX
from tui.text import capital, counted, one_line

AgentFacts = dict[str, Any]
_HIRE = (
    "SELECT payload FROM approvals WHERE kind = 'hire_agent' AND status = 'consumed'"
    " AND json_extract(payload, '$.slug') = :slug ORDER BY id DESC LIMIT 1"
)


def list_agents(arguments: argparse.Namespace) -> int:
    """List them, oldest first; those that have retired only when they are asked for."""
    statuses = words_of(arguments.status, AgentStatus, "status") or [AgentStatus.ACTIVE, AgentStatus.PAUSED]
    found = [each for each in opening.run(_list(arguments.dir)) if each["status"] in statuses]
    if arguments.json:
        print_json({"agents": found})
    else:
        rows = [
            [a["agent"], a["role"], a["status"], a["manager"] or "", str(a["runs"]), _cost(a),
             " ".join(a["capabilities"]), a["name"]]
            for a in found
        ]  # fmt: skip
        table(rows, ("agent", "role", "status", "reports to", "runs", "cost", "can", "name"))
    return 0


async def _list(folder: str) -> list[AgentFacts]:
    async with opening.reading(folder_of(folder)) as board:
        return await described(board.readers, await board.readers.entities(AgentRecord, "true ORDER BY id"))


async def described(readers: Readers, agents: list[AgentRecord]) -> list[AgentFacts]:
    """Agents as lists show them. `runs` are live ones; `task` is what it holds now; the budget is the one in force."""
    slugs = {agent.id: agent.slug for agent in await readers.entities(AgentRecord, "true")}
    live = {row["agent"]: row["n"] for row in await readers.all(
        f"SELECT agent_id AS agent, count(*) AS n FROM runs WHERE {LIVE_RUNS} GROUP BY agent_id"
    )}  # fmt: skip
    spent = {row["agent"]: row["micros"] for row in await readers.all(
        "SELECT agent_id AS agent, sum(cost_micros) AS micros FROM runs WHERE cost_micros > 0 GROUP BY agent_id"
    )}  # fmt: skip
    unknown = {row["agent"]: row["n"] for row in await readers.all(
        f"SELECT agent_id AS agent, count(*) AS n FROM runs WHERE {WITHOUT_COST} GROUP BY agent_id"
    )}  # fmt: skip
    held = {task.assignee_id: task.id for task in await readers.entities(Task, "status IN ('claimed', 'working')")}
    budgets = {budget.scope_id: budget for budget in await readers.entities(
        Budget, "scope = :scope AND limit_micros > 0", scope=BudgetScope.AGENT
    )}  # fmt: skip
    return [
        {
            "id": agent.id, "agent": agent.slug, "name": agent.name, "role": str(agent.role),
            "status": str(agent.status), "manager": slugs.get(agent.manager_id or 0),
            "capabilities": list(agent.capabilities), "duties": agent.duties, "runner": agent.runner.get("kind", ""),
            "max_runs": agent.max_runs, **_budget(budgets.get(agent.id)), "runs": live.get(agent.id, 0),
            "task": held.get(agent.id), "cost_micros": spent.get(agent.id, 0),
            "without_cost": unknown.get(agent.id, 0), "created_at": agent.created_at,
        }
        for agent in agents
    ]  # fmt: skip


def _budget(budget: Budget | None) -> AgentFacts:
    return {
        "budget_micros": budget.limit_micros if budget else 0,
        "budget_period": str(budget.period) if budget else None,
    }


def show_agent(arguments: argparse.Namespace) -> int:
    """Show one with what it holds and who reports to it."""
    found = opening.run(_show(arguments.dir, arguments.agent))
    if arguments.json:
        print_json(found)
        return 0
    facts(
        [
            (found["agent"], f"{found['name']}, {found['role']}"),
            ("status", _status_words(found)),
            ("because", found["reason"]),
            ("reports to", found["manager"] or "nobody"),
            ("reports", ", ".join(found["reports"])),
            ("can", ", ".join(found["capabilities"])),
            ("duties", one_line(found["duties"])),
            ("hired because", one_line(found["why"])),
            ("runner", f"{found['runner']}, {found['max_runs']} at once"),
            ("models", found["metering"]),
            ("budget", _budget_words(found)),
            ("cost so far", _cost(found)),
        ]
    )
    for task in found["open_tasks"]:
        say(f"  T{task['id']} {task['status']}: {task['title']}")
    return 0


def _budget_words(found: AgentFacts) -> str:
    if found["budget_period"] is None:
        return "none of its own: it spends from the company's"
    return f"{money(found['budget_micros'])} {per(BudgetPeriod(found['budget_period']))}"


def _status_words(found: AgentFacts) -> str:
    if found["status"] == AgentStatus.ACTIVE:
        return f"active, hired {when(found['created_at'])} UTC"
    return f"{found['status']} since {when(found['since'])} UTC"


async def _show(folder: str, slug: str) -> AgentFacts:
    async with opening.reading(folder_of(folder)) as board:
        readers = board.readers
        agents = await readers.entities(AgentRecord, "slug = :slug", slug=slug)
        if not agents:
            raise NotFound(f"There is no agent {slug!r}.", "List them: opsroom agent list DIR.")
        agent = agents[0]
        left = (await left_since(readers)).get(agent.id)
        approved = await readers.value(_HIRE, slug=slug)
        reports = "manager_id = :id AND status <> 'terminated' ORDER BY id"
        tasks = "assignee_id = :id AND status NOT IN ('done', 'failed', 'cancelled') ORDER BY id"
        return {
            **(await described(readers, agents))[0],
            "metering": metering_words(agent.runner),
            "since": left.since if left else agent.created_at,
            "reason": left.reason if left else "",
            "why": json.loads(approved).get("why", "") if approved else "",
            "reports": [each.slug for each in await readers.entities(AgentRecord, reports, id=agent.id)],
            "open_tasks": [
                {"id": task.id, "title": task.title, "status": str(task.status)}
                for task in await readers.entities(Task, tasks, id=agent.id)
            ],
        }


def org(arguments: argparse.Namespace) -> int:
    """Who reports to whom."""
    status, chart = opening.run(_org(arguments.dir))
    rows = [{**row, "depth": depth} for depth, row in drawn(chart)]
    if arguments.json:
        print_json({"org_status": status, "chart": rows})
        return 0
    for row in rows:
        duties = f": {one_line(row['duties'])}" if row["duties"] else ""
        say(f"{'  ' * min(row['depth'], 40)}{row['agent']}  {one_line(row['name'])}, {row['role']}{duties}")
    if not rows:
        say("Nobody is hired.")
    if status != "settled":
        say("A change waits for review: see `opsroom inbox`.")
    return 0


async def _org(folder: str) -> tuple[str, list[dict[str, Any]]]:
    async with opening.reading(folder_of(folder)) as board:
        companies = await board.readers.entities(Company, "id = 1")
        return str(companies[0].org_status), chart_of(await board.readers.entities(AgentRecord, "true"))


# Acts ---------------------------------------------------------------------------------------------------------------


def hire(arguments: argparse.Namespace) -> int:
    """Hire one directly."""
    if arguments.role not in set(Role):
        raise Invalid(f"There is no role {arguments.role!r}.", f"There are: {', '.join(Role)}.")
    if not SLUG.fullmatch(arguments.agent):
        raise Invalid(
            f"{arguments.agent!r} is no short name.",
            "It has small letters, digits and -, begins with a letter, and has 40 at most.",
        )
    given = {
        "slug": arguments.agent, "name": arguments.name or arguments.agent.capitalize(), "role": arguments.role,
        **_given(arguments),
    }  # fmt: skip
    if arguments.budget is not None:
        given["budget_micros"] = micros_of(arguments.budget)
    if "runner" not in given:
        folder = folder_of(arguments.dir)
        kinds = runner_kinds(read_config(folder))
        if (runner := opening.run(_default_runner(folder, arguments.manager, kinds))) is not None:
            given["runner"] = runner
    return _send(arguments, "HireAgent", given, "is hired.")


async def _default_runner(folder: Path, manager: str | None, kinds: Collection[str]) -> Mapping[str, object] | None:
    async with opening.reading(folder) as board:
        return default_runner(await board.readers.entities(AgentRecord, "true ORDER BY id"), manager, kinds)


def edit(arguments: argparse.Namespace) -> int:
    """Change what was named."""
    given = {"agent": arguments.agent, **_given(arguments)}
    if arguments.name is not None:
        given["name"] = arguments.name
    if arguments.duties is not None:
        given["duties"] = arguments.duties
    if len(given) == 1:
        raise Invalid("Nothing is to be changed.", "Name what: see `opsroom agent edit --help`.")
    return _send(arguments, "EditAgent", given, "is changed.")


def pause(arguments: argparse.Namespace) -> int:
    """Its run ends, its task goes back, and it gets no new run."""
    reason = {"reason": arguments.reason} if arguments.reason else {}
    return _send(arguments, "PauseAgent", {"agent": arguments.agent, **reason}, "is paused.")


def resume(arguments: argparse.Namespace) -> int:
    """Let it work again."""
    return _send(arguments, "ResumeAgent", {"agent": arguments.agent}, "works again.")


def retire(arguments: argparse.Namespace) -> int:
    """Let it go for good."""
    given = {"agent": arguments.agent, "reason": arguments.reason}
    return _send(arguments, "RetireAgent", given, "has retired; what it did stays.")


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options that hiring and editing share, where they were given."""
    given: dict[str, Any] = {}
    if arguments.capabilities is not None:
        given["capabilities"] = tuple(word.strip() for word in arguments.capabilities.split(",") if word.strip())
    if arguments.manager is not None:
        given["manager"] = arguments.manager
    if arguments.runner is not None:
        given["runner"] = _runner_of(arguments.runner)
        # The board's own check comes first: it knows what may be a key and repeats nothing of it.
        require_runner(given["runner"])
        check_runner(given["runner"], runner_kinds(read_config(folder_of(arguments.dir))))
    if arguments.max_runs is not None:
        given["max_runs"] = arguments.max_runs
    return given


def _runner_of(text: str) -> dict[str, Any]:
    """A runner's kind, or its settings as a JSON object. Raises Invalid."""
    if not text.lstrip().startswith("{"):
        if not KIND.fullmatch(text):
            raise Invalid(
                f"{text!r} is no kind of runner.",
                "A kind is one word, e.g. rehearsal; a model server and a program need settings as JSON.",
            )
        return {"kind": text}
    try:
        settings: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise Invalid(f"The runner's settings are no JSON: {error}.", f"E.g. '{RUNNER_EXAMPLE}'.") from None
    return settings


def micros_of(text: str) -> int:
    """Millionths of a dollar: 2_500_000 for 2.50. Raises Invalid."""
    try:
        dollars = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        dollars = Decimal(-1)
    if not dollars.is_finite() or not 0 <= dollars <= USD_MAX:
        raise Invalid(f"{text!r} is no amount of US dollars.", "Type it like 2.50.")
    micros = int((dollars * MICROS).to_integral_value(ROUND_DOWN))
    if dollars and not micros:
        raise Invalid(f"{text!r} is less than a millionth of a US dollar.", "Type 0 for none, or more.")
    return micros


def _cost(found: AgentFacts) -> str:
    return with_unknown(money(found["cost_micros"]), found["without_cost"])


def _ended(answer: Mapping[str, Any]) -> str:
    """What an act ended with it, if anything."""
    runs, tasks = answer.get("ended_runs") or 0, answer.get("tasks") or ()
    parts = [f"{counted(runs, 'run')} ended and may begin again elsewhere" if runs else "",
             f"{', '.join(f'T{task}' for task in tasks)} went back" if tasks else ""]  # fmt: skip
    said = "; ".join(part for part in parts if part)
    return f" {capital(said)}." if said else ""


def _send(arguments: argparse.Namespace, name: str, given: dict[str, Any], words: str) -> int:
    from core.commands.registry import parse

    folder = folder_of(arguments.dir)
    answer = opening.run(opening.send(folder, parse(name, given)))
    if arguments.json:
        print_json({"agent": arguments.agent, "command": name, "answer": answer})
    else:
        say(f"{arguments.agent} {words}{_ended(answer)}")
        if isinstance(runner := given.get("runner", {"kind": "rehearsal"} if name == "HireAgent" else None), dict):
            missing = runner_missing(runner, runner_kinds(read_config(folder)))
            if missing:
                note(f"opsroom: {arguments.agent} cannot run: {missing}.\n  Change what it runs on: opsroom agent edit"
                     f" {quoted(folder)} {arguments.agent} --runner '{RUNNER_EXAMPLE}'")  # fmt: skip
        if name == "HireAgent":
            say(f"See them all: opsroom org {quoted(folder)}")
    return 0
