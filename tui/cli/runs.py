"""`opsroom runs list | show | say | pause | resume | kill | continue`: what runs do, and your hand on them."""

import argparse
import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.agents.transcript_tail import BEGIN_BYTES, Entry, Tail
from core.blackboard.board import Board
from core.commands.approvals import KillRun
from core.commands.attach import PauseRun, ResumeRun, SpeakToRun
from core.commands.continuing import ResumeSession
from core.commands.registry import Command, build
from core.domain.entities import AgentRecord, Run
from core.domain.errors import NotFound
from core.domain.lifecycles import RUN
from tui.cli import opening
from tui.cli.names import folder_of, number_of
from tui.cli.output import facts, print_json, print_json_line, say, table, when
from tui.panes.transcript import as_text
from tui.panes.words import exact
from tui.text import in_words

_LISTED = 50
_POLL_S = 0.25
_WHOLE = 1 << 40


def list_runs(arguments: argparse.Namespace) -> int:
    """The newest first."""
    folder = folder_of(arguments.dir)
    found = opening.run(_list(folder, arguments.task, arguments.agent))
    if arguments.json:
        print_json({"runs": found})
        return 0
    rows = [
        [
            f"R{each['id']}", each["agent"], in_words(each["kind"]), f"T{each['task']}" if each["task"] else "",
            _status(each), when(each["queued_at"]), each["detail"],
        ]
        for each in found
    ]  # fmt: skip
    table(rows, ("run", "agent", "kind", "task", "status", "since", ""))
    return 0


async def _list(folder: Path, task: str | None, agent: str | None) -> list[dict[str, Any]]:
    conditions, about = ["true"], {}
    if task is not None:
        conditions.append("task_id = :task")
        about["task"] = number_of(task, "task")
    async with opening.reading(folder) as board:
        slugs = await _slugs(board)
        if agent is not None:
            number = next((number for number, slug in slugs.items() if slug == agent), None)
            if number is None:
                raise NotFound(f"There is no agent {agent!r} on this board.", "List them: opsroom agent list DIR.")
            conditions.append("agent_id = :agent")
            about["agent"] = number
        where = f"{' AND '.join(conditions)} ORDER BY id DESC LIMIT {_LISTED}"
        return [_as_json(run, slugs) for run in await board.readers.entities(Run, where, **about)]


def show(arguments: argparse.Namespace) -> int:
    """Its transcript below what the board knows of it."""
    folder, number = folder_of(arguments.dir), number_of(arguments.run, "run")
    opening.run(_show(folder, number, arguments))
    return 0


async def _show(folder: Path, number: int, arguments: argparse.Namespace) -> None:
    tail = Tail(folder / "runs", number, begin=_WHOLE if arguments.all else BEGIN_BYTES)
    try:
        async with opening.reading(folder) as board:
            run = _as_json(await _run(board, number), await _slugs(board))
            if arguments.json and not arguments.follow:
                print_json({**run, "lines": [_line(entry) for page in _pages(tail) for entry in page]})
                return
            if not arguments.json:
                _tell(run)
            while True:
                # Asked before the last look: what it said before its end is read after that.
                is_over = (await _run(board, number)).status in RUN.final
                for page in _pages(tail):
                    for entry in page:
                        print_json_line(_line(entry)) if arguments.json else say(as_text(entry))
                    await asyncio.sleep(0)
                if is_over or not arguments.follow:
                    return
                sys.stdout.flush()
                await asyncio.sleep(_POLL_S)
                board.check_identity()
    finally:
        tail.close()


def _pages(tail: Tail) -> Iterator[list[Entry]]:
    while page := tail.read():
        yield page


def _tell(run: dict[str, Any]) -> None:
    used = run["tokens_in"] + run["tokens_out"]
    cost = exact(run["cost_micros"]) if run["cost_micros"] else "cost unknown"
    facts(
        [
            (
                "run",
                f"R{run['id']} {run['agent']}, {in_words(run['kind'])}" + (f" T{run['task']}" if run["task"] else ""),
            ),
            ("status", _status(run)),
            ("why", run["detail"]),
            ("used", f"{used:,} tokens, {cost}" if used else ""),
            ("session", run["session"]),
            ("began", when(run["started_at"])),
            ("ended", when(run["ended_at"])),
        ]
    )
    say()


def _status(run: dict[str, Any]) -> str:
    return "paused" if run["paused_at"] is not None else in_words(run["status"])


def _line(entry: Entry) -> dict[str, Any]:
    return {"at": entry.at, "kind": entry.kind, "facts": dict(entry.facts)}


async def _run(board: Board, number: int) -> Run:
    found = await board.readers.entities(Run, "id = :id", id=number)
    if not found:
        raise NotFound(f"There is no R{number} on this board.", "List them: opsroom runs DIR.")
    return found[0]


async def _slugs(board: Board) -> dict[int, str]:
    return {agent.id: agent.slug for agent in await board.readers.entities(AgentRecord, "true")}


def _as_json(run: Run, slugs: dict[int, str]) -> dict[str, Any]:
    return {
        "id": run.id, "agent": slugs.get(run.agent_id, ""), "kind": str(run.kind), "task": run.task_id,
        "goal": run.goal_id, "status": str(run.status), "paused_at": run.paused_at, "exit_kind": run.exit_kind,
        "detail": run.detail, "tokens_in": run.tokens_in, "tokens_out": run.tokens_out,
        "cost_micros": run.cost_micros, "session": run.session, "queued_at": run.queued_at,
        "started_at": run.started_at, "ended_at": run.ended_at,
    }  # fmt: skip


def say_to(arguments: argparse.Namespace) -> int:
    """Words into a run at work."""
    command = build(SpeakToRun, run=number_of(arguments.run, "run"), text=arguments.text)
    return _sent(arguments, command, "hears that before its next turn; `opsroom runs show` tells when it has.")


def pause(arguments: argparse.Namespace) -> int:
    """Hold it."""
    command = build(PauseRun, run=number_of(arguments.run, "run"))
    return _sent(arguments, command, "holds before its next turn; its clocks stand still.")


def resume(arguments: argparse.Namespace) -> int:
    """Let it go on."""
    return _sent(arguments, build(ResumeRun, run=number_of(arguments.run, "run")), "goes on.")


def kill(arguments: argparse.Namespace) -> int:
    """End it."""
    command = build(KillRun, run=number_of(arguments.run, "run"), reason=arguments.reason)
    return _sent(arguments, command, "has ended; a task that it held is offered anew.")


def go_on(arguments: argparse.Namespace) -> int:
    """A new run with its session."""
    command = build(
        ResumeSession, run=number_of(arguments.run, "run"), remark=arguments.note, resume_agent=arguments.resume_agent
    )  # fmt: skip
    return _sent(arguments, command, "is gone on with in R{id}, which is queued.")


def _sent(arguments: argparse.Namespace, command: Command, words: str) -> int:
    answer = opening.run(opening.send(folder_of(arguments.dir), command))
    if arguments.json:
        print_json({"command": type(command).__name__, "answer": answer})
    else:
        say(f"R{number_of(arguments.run, 'run')} {words.format(id=answer['id'])}")
    return 0
