"""`opsroom run --headless`, `start` and `stop`."""

import argparse
import asyncio
import time
from pathlib import Path
from typing import Any

from core.config import read_config
from core.domain.errors import Invalid
from core.headless import Ended
from tui.cli import opening
from tui.cli.deciding import described
from tui.cli.material import materials_of
from tui.cli.names import folder_of, quoted, while_at_work
from tui.cli.output import note, print_json, say


def run(arguments: argparse.Namespace) -> int:
    """Let the company work until its goals have ended, or until a person owes a decision."""
    from tui.cli.working import EXIT_OF, Interrupted, Manner, tell, until_signal, work

    folder = folder_of(arguments.dir)
    if not arguments.headless:
        raise Invalid("run works without the room.", f"Add --headless, or open the room: opsroom {quoted(folder)}.")
    config = read_config(folder)
    began = time.monotonic()
    try:
        ended = asyncio.run(
            until_signal(work(folder, config, Manner(arguments.approve_all, arguments.wait, pace_ms=0)))
        )
    except Interrupted as interrupted:
        note(f"opsroom: What was acknowledged is kept in {folder}. Go on: opsroom run {quoted(folder)} --headless")
        return interrupted.code
    tell(ended, folder)
    if arguments.json:
        print_json(opening.run(_result(folder, ended, time.monotonic() - began)))
    return EXIT_OF[ended.how]


async def _result(folder: Path, ended: Ended, seconds: float) -> dict[str, Any]:
    from core.domain.entities import Goal

    async with opening.reading(folder) as board:
        goals = await board.readers.entities(Goal, "true ORDER BY id")
        materials = await materials_of(board.readers, ended.owed, folder)
    return {
        "company": str(folder),
        "ended": str(ended.how),
        "words": ended.words,
        "goals": [{"id": goal.id, "title": goal.title, "status": str(goal.status)} for goal in goals],
        "waits": [described(item, folder, materials) for item in ended.owed],
        "seconds": round(seconds, 3),
    }


def start(arguments: argparse.Namespace) -> int:
    """Let the dispatcher start runs."""
    from core.commands.company import StartCompany

    folder = folder_of(arguments.dir)
    answer = opening.run(opening.send(folder, StartCompany()))
    words = f"The company is started. Runs are made {while_at_work(folder)}."
    return _told(arguments, "StartCompany", answer, words)


def stop(arguments: argparse.Namespace) -> int:
    """Stop everything."""
    from core.commands.company import StopCompany
    from core.commands.registry import build

    answer = opening.run(opening.send(folder_of(arguments.dir), build(StopCompany, reason=arguments.reason)))
    return _told(arguments, "StopCompany", answer, f"The company is stopped; {answer['ended_runs']} runs were ended.")


def _told(arguments: argparse.Namespace, command: str, answer: dict[str, Any], words: str) -> int:
    if arguments.json:
        print_json({"command": command, "answer": answer})
    else:
        say(words)
    return 0
