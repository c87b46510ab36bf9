"""`opsroom experience …` and `opsroom knowledge …`: what agents are reminded of."""

import argparse
import asyncio
from pathlib import Path
from typing import Any

from core.domain.entities import Experience
from core.domain.errors import Invalid
from core.domain.states import ExperienceStatus
from tui.cli import opening
from tui.cli.names import folder_of, in_list, number_of, quoted, words_of
from tui.cli.output import note, print_json, say, table
from tui.text import counted

_LIMIT_MAX = 100


def list_experiences(arguments: argparse.Namespace) -> int:
    """List them, newest first."""
    folder = folder_of(arguments.dir)
    found = opening.run(_experiences(folder, words_of(arguments.status, ExperienceStatus, "status")))
    if arguments.json:
        print_json({
            "experiences": [
                {"id": e.id, "status": str(e.status), "uses": e.uses, "task": e.task_id, "author": e.author,
                 "body": e.body, "created_at": e.created_at}
                for e in found
            ]
        })  # fmt: skip
        return 0
    rows = [[e.name_tag, str(e.status), str(e.uses), f"T{e.task_id}", e.author, e.body] for e in found]
    table(rows, ("id", "status", "uses", "task", "author", "experience"))
    if any(e.status == ExperienceStatus.NEW for e in found):
        say(f"Keep one, so that agents are told of it: opsroom experience keep {quoted(folder)} ID")
    return 0


async def _experiences(folder: Path, statuses: list[str]) -> list[Experience]:
    async with opening.reading(folder) as board:
        where, values = in_list("status", statuses)
        return await board.readers.entities(Experience, f"{where} ORDER BY id DESC", **values)


def keep(arguments: argparse.Namespace) -> int:
    """Let agents be told of one."""
    return _send(arguments, "KeepExperience", "is kept: agents are told of it when their task is about the same.")


def drop(arguments: argparse.Namespace) -> int:
    """Tell no agent of one."""
    return _send(arguments, "DropExperience", "is dropped: no agent is told of it.")


def _send(arguments: argparse.Namespace, name: str, words: str) -> int:
    from core.commands.registry import parse

    number = number_of(arguments.experience, "experience")
    answer = opening.run(opening.send(folder_of(arguments.dir), parse(name, {"experience": number})))
    if arguments.json:
        print_json({"id": f"E{number}", "command": name, "answer": answer})
    else:
        say(f"E{number} {words}")
    return 0


def list_knowledge(arguments: argparse.Namespace) -> int:
    """The files as they are in the folder and on the board."""
    folder = folder_of(arguments.dir)
    files, left_out = opening.run(_knowledge(folder))
    if arguments.json:
        print_json({"files": files, "left_out": [{"path": path, "why": why} for path, why in left_out.items()]})
        return 0
    states = {True: "on the board", False: "not as on the board"}
    rows = [[file["path"], str(len(file["headings"])), states[file["indexed"]]] for file in files]
    if not files and not left_out:
        say(f"Nothing yet: put Markdown files into {quoted(folder / 'knowledge')}; they are read while it is open.")
        return 0
    table(rows, ("file", "sections", "state"))
    for path, why in left_out.items():
        note(f"Left out: {path}: {why}")
    late = sum(not file["indexed"] for file in files)
    if late:
        say(f"{counted(late, 'file')} will be read while the company is open: opsroom {quoted(folder)}")
    return 0


async def _knowledge(folder: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Files as JSON shows them, and why others are left out."""
    from core.commands.knowledge import digest
    from core.knowledge import listed, read_sections

    async with opening.reading(folder) as board:
        rows = await board.readers.all("SELECT path, heading, sha256 FROM knowledge ORDER BY id")
    on_board: dict[str, dict[str, str]] = {}
    for row in rows:
        on_board.setdefault(row["path"], {})[row["heading"]] = row["sha256"]
    listing = await asyncio.to_thread(listed, folder)
    files: list[dict[str, Any]] = []
    for path in sorted({*listing.files, *on_board}):
        known = on_board.get(path, {})
        found = await asyncio.to_thread(read_sections, folder, path) if path in listing.files else []
        if isinstance(found, str):
            listing.left_out[path] = found
            found = []
        read = {section.heading: digest(section.body) for section in found}
        if path not in listing.left_out or known:
            files.append({"path": path, "headings": list(read or known), "indexed": read == known})
    return files, listing.left_out


def search_knowledge(arguments: argparse.Namespace) -> int:
    """The sections that are about some words."""
    from core.prompting.recall import recall_knowledge

    if not arguments.words.strip():
        raise Invalid("There are no words to search for.", "Name some, e.g. 'release notes'.")
    if not 1 <= arguments.limit <= _LIMIT_MAX:
        raise Invalid(f"--limit is 1 to {_LIMIT_MAX}, not {arguments.limit}.", "Leave it out for 10.")

    async def search() -> list[dict[str, str]]:
        async with opening.reading(folder_of(arguments.dir)) as board:
            found = await recall_knowledge(board.readers, arguments.words, arguments.limit)
            return [
                {"place": s.place, "path": s.path, "heading": s.heading, "first_line": s.first_line, "body": s.body}
                for s in found
            ]

    sections = opening.run(search())
    if arguments.json:
        print_json({"sections": sections})
    elif sections:
        table([[section["place"], section["first_line"]] for section in sections], ("place", "first line"))
    else:
        say("Nothing on the board's copy of knowledge/ holds any of these words.")
    return 0
