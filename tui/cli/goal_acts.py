"""`opsroom goal add | review | dispatch | cancel | archive`: one command each through the one door."""

import argparse
from pathlib import Path
from typing import Any

from core.commands.goal_progress import ArchiveGoal, CancelGoal, DispatchGoal, PauseGoal
from core.commands.goals import CreateGoal, ReviewGoal
from core.commands.registry import Command, build
from core.domain.entities import Goal
from core.domain.errors import Conflict
from tui.cli import opening
from tui.cli.must_haves import must_have_of
from tui.cli.names import HASH_MIN, folder_of, hash_of, number_of, quoted
from tui.cli.output import print_json, say
from tui.cli.worktrees import checked_repository


def add(arguments: argparse.Namespace) -> int:
    """Draft a goal."""
    caps = {} if arguments.round_cap is None else {"round_cap": arguments.round_cap}
    repository = checked_repository(folder_of(arguments.dir), arguments.repository)
    command = build(
        CreateGoal, title=arguments.title, description=arguments.description,
        must_haves=[must_have_of(text) for text in arguments.must], constraints=tuple(arguments.constraint),
        out_of_scope=tuple(arguments.out_of_scope), repository=repository or "", **caps,
    )  # fmt: skip
    return send(arguments, command, "drafted. Next: opsroom goal dispatch {dir} {goal}")


def review(arguments: argparse.Namespace) -> int:
    """Approve a draft as it is now."""
    command = build(ReviewGoal, goal=number_of(arguments.goal, "goal"), content_hash=hash_of(arguments.hash))
    return send(arguments, command, "reviewed. Next: opsroom goal dispatch {dir} {goal}")


def dispatch(arguments: argparse.Namespace) -> int:
    """Put a reviewed draft to work."""
    command = build(
        DispatchGoal, goal=number_of(arguments.goal, "goal"), discussion=not arguments.no_discussion,
        content_hash=hash_of(arguments.hash),
    )  # fmt: skip
    code = send(arguments, command, "dispatched. Watch it: opsroom {dir}, or opsroom run {dir} --headless")
    folder = folder_of(arguments.dir)
    if not arguments.json and opening.is_stopped(folder):
        say(f"The company is stopped: nothing starts before opsroom start {quoted(folder)}")
    return code


def cancel(arguments: argparse.Namespace) -> int:
    """End a goal for good."""
    command = build(CancelGoal, goal=number_of(arguments.goal, "goal"), reason=arguments.reason)
    return send(arguments, command, "cancelled, with its open tasks and runs.")


def pause(arguments: argparse.Namespace) -> int:
    """Start no new run for a goal."""
    return send(arguments, build(PauseGoal, goal=number_of(arguments.goal, "goal")), "paused: no run starts for it.")


def resume(arguments: argparse.Namespace) -> int:
    """Let a paused goal go on."""
    return send(arguments, build(PauseGoal, goal=number_of(arguments.goal, "goal"), paused=False), "at work again.")


def archive(arguments: argparse.Namespace) -> int:
    """Put an ended goal out of sight."""
    return send(arguments, build(ArchiveGoal, goal=number_of(arguments.goal, "goal")), "archived.")


async def sent(folder: Path, command: Command) -> dict[str, Any]:
    """Send a command; if it names a hash that is not what stands there, the refusal says which is."""
    try:
        return await opening.send(folder, command)
    except Conflict as refused:
        seen, number = getattr(command, "content_hash", None), getattr(command, "goal", None)
        async with opening.reading(folder) as board:
            goals = await board.readers.entities(Goal, "id = :id", id=number) if seen else []
        if not goals or goals[0].content_hash.startswith(str(seen)):
            raise
        stands = goals[0].content_hash[:HASH_MIN]
        words = f"{str(seen)[:HASH_MIN]!r} is not the hash of what stands there; it is {stands}."
        raise Conflict(refused.message, f"{words} {refused.hint}") from None


def send(arguments: argparse.Namespace, command: Command, words: str) -> int:
    """Send a command about a goal and say what became of it; `words` may name {dir} and {goal}."""
    folder = folder_of(arguments.dir)
    answer: dict[str, Any] = opening.run(sent(folder, command))
    goal = f"G{getattr(command, 'goal', None) or answer['id']}"
    if arguments.json:
        print_json({"id": goal, "command": type(command).__name__, "answer": answer})
    else:
        say(f"{goal} is {words.format(dir=quoted(folder), goal=goal)}")
    return 0
