"""`opsroom say` and the commands of phases 1 and 2: explore, ready, edit, end-discussion, waive."""

import argparse
from pathlib import Path
from typing import Any

from core.commands.comments import AddComment
from core.commands.discussion import EndDiscussion, WaiveDecision
from core.commands.exploring import ExploreGoal, ReadyGoal
from core.commands.goal_progress import WaiveMustHave
from core.commands.goals import CreateGoal, EditGoal
from core.commands.registry import Command, build
from core.domain.errors import Invalid
from core.domain.limits import COMMENT_MAX
from core.domain.states import CommentKind
from tui.cli import opening
from tui.cli.goal_acts import send
from tui.cli.must_haves import must_have_of
from tui.cli.names import entity_of, folder_of, hash_of, number_of, quoted
from tui.cli.output import print_json
from tui.cli.output import say as tell
from tui.cli.worktrees import checked_repository
from tui.letters import BY_PERSONS, Letter, read_letter


def say(arguments: argparse.Namespace) -> int:
    """Write on the board, and tell whom it wakes."""
    kind, number = entity_of(arguments.what)
    if kind not in ("goal", "task"):
        raise Invalid(f"Nothing can be written below {arguments.what}.", "Name a goal or a task: G1, T12.")
    folder = folder_of(arguments.dir)
    letter = _letter(arguments.kind, arguments.text)
    command = build(AddComment, **{kind: number}, kind=letter.kind, body=letter.body, reply_to=arguments.reply_to)
    answer: dict[str, Any] = opening.run(opening.send(folder, command))
    if arguments.json:
        print_json({"id": arguments.what.upper(), "command": "AddComment", "answer": answer})
        return 0
    tell(" ".join([f"Written below {arguments.what.upper()}.", *_sets_off(answer, folder)]))
    for name, near in answer.get("unknown", {}).items():
        tell(f"Nobody is called @{name}" + (f"; near: {', '.join(f'@{each}' for each in near)}." if near else "."))
    return 0


def _letter(kind: str | None, text: str) -> Letter:
    """What is written, and as what: by its first word as in the room, or by --kind. Raises Invalid."""
    if kind is not None and kind not in BY_PERSONS:
        raise Invalid(f"{kind!r} is no kind that a person writes.", f"Known: {', '.join(BY_PERSONS)}.")
    letter = read_letter(text, CommentKind(kind or CommentKind.DIALOGUE))
    if kind not in (None, letter.kind):
        raise Invalid(f"The text begins as {letter.kind}, and --kind says {kind}.", "Leave one of them out.")
    if not letter.body:
        raise Invalid("There is no text; nothing was written.", "Say something: opsroom say DIR G1 'your words'.")
    if len(letter.body) > COMMENT_MAX:
        raise Invalid(
            f"The text has {len(letter.body)} characters; at most {COMMENT_MAX} are kept.", "Write it in parts."
        )
    return letter


def _sets_off(answer: dict[str, Any], folder: Path) -> list[str]:
    """What it sets in motion, in sentences; at least one."""
    words = [f"It wakes {', '.join(answer['wakes'])}."] if answer["wakes"] else []
    if answer.get("calls"):
        words.append(f"The {answer['calls']} is called and answers in the talk.")
    if answer.get("adjusts"):
        words.append(f"The plan does not run: its author, {answer['adjusts']}, adjusts it first.")
    if answer.get("asked"):
        words.append(f"You are asked what becomes of it: Q{answer['asked']}, see opsroom inbox {quoted(folder)}.")
    elif words and opening.is_stopped(folder):
        words.append(f"The company is stopped: nothing runs before opsroom start {quoted(folder)}.")
    return words or ["It wakes nobody."]


def explore(arguments: argparse.Namespace) -> int:
    """Begin a talk with the coordinator, over a new goal or a draft that is there."""
    command: Command
    if arguments.goal is not None:
        command = build(ExploreGoal, goal=number_of(arguments.goal, "goal"))
    elif arguments.title:
        command = build(CreateGoal, title=arguments.title, explore=True)
    else:
        raise Invalid("There is nothing to explore.", "Give a title, or --goal G1 for a draft that is there.")
    return send(arguments, command, "explored. Read and answer: opsroom goal show {dir} {goal}; opsroom say {dir} …")


def ready(arguments: argparse.Namespace) -> int:
    """End the talk: this is what the goal asks for."""
    command = build(ReadyGoal, goal=number_of(arguments.goal, "goal"), content_hash=hash_of(arguments.hash))
    return send(arguments, command, "ready and reviewed. Next: opsroom goal dispatch {dir} {goal}")


def edit(arguments: argparse.Namespace) -> int:
    """Change what a draft says; what is not named stays."""
    given: dict[str, Any] = {
        "title": arguments.title,
        "description": arguments.description,
        "must_haves": [must_have_of(text) for text in arguments.must] or None,
        "constraints": arguments.constraint or None,
        "out_of_scope": arguments.out_of_scope or None,
        "repository": checked_repository(folder_of(arguments.dir), arguments.repository),
    }
    changes = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise Invalid("Nothing is named that should change.", "Name at least one of its parts, e.g. --title.")
    return send(arguments, build(EditGoal, goal=number_of(arguments.goal, "goal"), **changes), "changed.")


def end_discussion(arguments: argparse.Namespace) -> int:
    """End the discussion of a goal now."""
    command = build(EndDiscussion, goal=number_of(arguments.goal, "goal"), note=arguments.note)
    return send(arguments, command, "not discussed any longer.")


def waive(arguments: argparse.Namespace) -> int:
    """Drop a must-have or a decision that the goal should do without."""
    goal = number_of(arguments.goal, "goal")
    if not arguments.what.isdecimal():
        return send(arguments, build(WaiveMustHave, goal=goal, must_have=arguments.what), "to do without it.")
    if not arguments.reason.strip():
        raise Invalid("To waive a decision needs a reason.", "Add --reason 'why'.")
    command = build(WaiveDecision, decision=int(arguments.what), reason=arguments.reason)
    folder = folder_of(arguments.dir)
    answer: dict[str, Any] = opening.run(opening.send(folder, command))
    if arguments.json:
        print_json({"id": f"G{goal}", "command": "WaiveDecision", "answer": answer})
    else:
        tell(f"Decision {arguments.what} is waived. See: opsroom goal show {quoted(folder)} G{goal}")
    return 0
