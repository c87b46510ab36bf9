"""`opsroom status`: the company in one screen of text or one JSON object."""

import argparse
from pathlib import Path
from typing import Any

from core.blackboard.board import Board
from core.blackboard.owner import Ownership
from core.blackboard.queries import WITHOUT_COST
from core.config import read_config, runner_kinds
from core.domain.budgets import with_unknown
from core.domain.ceo_mode import CeoModeContext, resolve_ceo_mode
from core.domain.entities import AgentRecord, Approval, Company, Round
from core.domain.errors import BoardCorrupt
from core.domain.states import AgentStatus, Role
from core.staffing import left_since
from core.waiting import mentioned_agents, owed
from tui.cli import opening
from tui.cli.names import folder_of, quoted
from tui.cli.output import facts, print_json, when

_USAGE = (
    "SELECT count(*) AS runs, coalesce(sum(model <> '' OR tokens_in > 0 OR tokens_out > 0), 0) AS model_calls,"
    " coalesce(sum(tokens_in), 0) AS tokens_in, coalesce(sum(tokens_out), 0) AS tokens_out,"
    " coalesce(sum(cost_micros), 0) AS cost_micros,"
    f" coalesce(sum({WITHOUT_COST}), 0) AS without_cost FROM runs"
)


def status(arguments: argparse.Namespace) -> int:
    """Show it."""
    folder = folder_of(arguments.dir)
    found = opening.run(_gather(folder))
    if arguments.json:
        print_json(found)
    else:
        _tell(found, folder)
    return 0


async def _gather(folder: Path) -> dict[str, Any]:
    async with opening.reading(folder) as board:
        readers = board.readers
        companies = await readers.entities(Company, "id = 1")
        if not companies:
            raise BoardCorrupt(f"{board.path} holds no company.", "It was never finished: make a new one.")
        company = companies[0]
        counts: dict[str, dict[str, int]] = {"goals": {}, "tasks": {}, "runs": {}}
        for row in await readers.all("SELECT entity, status, n FROM counts WHERE n > 0 ORDER BY entity, status"):
            counts.setdefault(row["entity"], {})[row["status"]] = row["n"]
        rounds = await readers.entities(Round, "status <> 'closed' ORDER BY id")
        usage = await readers.one(_USAGE) or {}
        return {
            "company": {
                "folder": str(folder), "name": company.name, "mission": company.mission, "locale": company.locale,
                "autonomy": str(company.autonomy), "dispatching": company.dispatching,
                "stop_reason": company.stop_reason,
            },
            "owner": owner_of(board.path),
            "ceo": await _ceo(board, company),
            "goals": counts["goals"],
            "tasks": counts["tasks"],
            "runs": counts["runs"],
            "rounds": [
                {"goal": round_.goal_id, "number": round_.number, "status": str(round_.status),
                 "tasks": round_.total_tasks, "open_tasks": round_.open_tasks}
                for round_ in rounds
            ],
            "model_calls": usage["model_calls"], "tokens_in": usage["tokens_in"], "tokens_out": usage["tokens_out"],
            "cost_micros": usage["cost_micros"], "without_cost": usage["without_cost"],
            "inbox": len(await owed(readers, runner_kinds(read_config(folder)))),
            "mentioned": await mentioned_agents(readers),
            "last_event": await readers.last_event(),
        }  # fmt: skip


def owner_of(path: Path) -> dict[str, Any] | None:
    """The living process that owns the board, or None."""
    from core.agents.process import process_started

    told = Ownership.holder(path)
    pid, since = told.get("pid"), told.get("started")
    if not isinstance(pid, int) or not isinstance(since, int):
        return None
    began = process_started(pid)
    # A process that began after the note was written has only taken over the number.
    return {"pid": pid, "since": since} if began is not None and began <= since + 1000 else None


async def _ceo(board: Board, company: Company) -> dict[str, Any] | None:
    agents = await board.readers.entities(AgentRecord, "status <> 'terminated'")
    ceo = next((agent for agent in agents if agent.role == Role.CEO), None)
    if ceo is None:
        return None
    agents = [agent for agent in agents if agent.status == AgentStatus.ACTIVE]
    left = (await left_since(board.readers)).get(ceo.id)
    pending = await board.readers.entities(Approval, "status = 'pending'")
    answer = resolve_ceo_mode(CeoModeContext(ceo, company, agents, pending))
    return {
        "agent": ceo.slug, "status": str(ceo.status), "status_reason": left.reason if left else "",
        "mode": str(answer.mode), "reasons": list(answer.reasons),
    }  # fmt: skip


def _ceo_words(ceo: dict[str, Any] | None) -> str:
    if ceo is None:
        return "none"
    words = f"{ceo['mode']}: {'; '.join(ceo['reasons'])}"
    if ceo["status"] == AgentStatus.ACTIVE:
        return words
    return f"{ceo['agent']} is {ceo['status']} ({ceo['status_reason']}): nothing is asked of it; {words}"


def _tell(found: dict[str, Any], folder: Path) -> None:
    company, owner, ceo = found["company"], found["owner"], found["ceo"]
    stopped = f"stopped: {company['stop_reason'] or 'nothing is dispatched'} (opsroom start {quoted(folder)})"
    rounds = [
        f"round {r['number']} of G{r['goal']} is {r['status']}, {r['tasks'] - r['open_tasks']} of {r['tasks']} ended"
        for r in found["rounds"]
    ]
    waiting, cost = found["inbox"], f"${found['cost_micros'] / 1_000_000:.2f}"
    facts(
        [
            ("company", f"{company['name']} ({company['folder']})"),
            ("mission", company["mission"] or "not yet defined"),
            ("state", "started" if company["dispatching"] else stopped),
            ("owner", f"process {owner['pid']} since {when(owner['since'])} UTC" if owner else "nobody: nothing runs"),
            ("CEO", _ceo_words(ceo)),
            ("goals", _counted(found["goals"])),
            ("rounds", "; ".join(rounds)),
            ("tasks", _counted(found["tasks"])),
            ("runs", _counted(found["runs"])),
            ("models", f"{found['model_calls']} calls, {with_unknown(cost, found['without_cost'])}"),
            ("inbox", f"{waiting} waiting for you: opsroom inbox {quoted(folder)}" if waiting else "empty"),
        ]
    )


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{n} {status}" for status, n in counts.items()) or "none"
