"""`opsroom inbox` and the decisions on what waits there: approve, reject, block, revise."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from core.config import read_config, runner_kinds
from core.domain.errors import Conflict, Invalid
from core.domain.inbox import Choice, InboxItem
from core.waiting import owed
from tui.cli import opening
from tui.cli.goal_acts import sent
from tui.cli.material import Material, materials_of
from tui.cli.names import LETTERS, entity_of, folder_of, hash_of, quoted, tag_of, typeable, typed
from tui.cli.output import drawn, print_json, say, when
from tui.text import one_line


def inbox(arguments: argparse.Namespace) -> int:
    """Show what waits, and the command for each choice."""
    folder = folder_of(arguments.dir)
    items = opening.run(_items(folder))
    materials = read_all(items, folder)
    if arguments.json:
        print_json({"items": [described(item, folder, materials) for item in items]})
        return 0
    for item in items:
        say(item_text(item, folder, materials))
    if not items:
        say("Nothing waits for you.")
    return 0


async def _items(folder: Path) -> list[InboxItem]:
    async with opening.reading(folder) as board:
        return await owed(board.readers, runner_kinds(read_config(folder)))


def read_all(items: Sequence[InboxItem], folder: Path) -> dict[str, Material]:
    """What these are about, by their ids."""
    return opening.run(_read(items, folder)) if items else {}


async def _read(items: Sequence[InboxItem], folder: Path) -> dict[str, Material]:
    async with opening.reading(folder) as board:
        return await materials_of(board.readers, items, folder)


def described(
    item: InboxItem, folder: Path, materials: Mapping[str, Material] = MappingProxyType({})
) -> dict[str, Any]:
    """An inbox item in JSON; `payload` is what it is about, or None."""
    return {
        "id": tag_of(item), "item": item.id, "entity": item.entity, "kind": item.kind, "title": item.title,
        "why": item.why, "since": item.since, "urgent": item.urgent,
        "payload": materials[item.id].payload if item.id in materials else None,
        "choices": [
            {"verb": choice.verb, "effect": choice.effect, "needs_note": bool(choice.note_field),
             "command": choice.command, "arguments": choice.arguments, "type": typed(item, choice, folder)}
            for choice in typeable(item)
        ],
    }  # fmt: skip


def item_text(item: InboxItem, folder: Path, materials: Mapping[str, Material] = MappingProxyType({})) -> str:
    """An inbox item for people, with what it is about and the exact commands."""
    mark = "! " if item.urgent else ""
    title, why = one_line(drawn(item.title)), one_line(drawn(item.why))
    lines = [f"{mark}{tag_of(item)}  {item.kind}: {title}", f"    {why} (since {when(item.since)} UTC)"]
    lines += [f"      {line}" for line in materials.get(item.id, Material()).lines]
    lines += [f"    {choice.verb}: {typed(item, choice, folder)}" for choice in typeable(item)]
    if any(choice.command == "EditApproval" for choice in item.choices):
        lines.append(f"    edit: in the room, with e: opsroom {quoted(folder)}")
    return "\n".join(lines)


def approve(arguments: argparse.Namespace) -> int:
    """Take the choice that lets it go on; with `--for-run` what a program asks is allowed until its run ends."""
    if arguments.for_run:
        return _decide(arguments, "f", "allow for its run")
    return _decide(arguments, "a", "approve")


def reject(arguments: argparse.Namespace) -> int:
    """Take the choice that ends it."""
    return _decide(arguments, "b", "reject")


def revise(arguments: argparse.Namespace) -> int:
    """Take the choice that sends it back."""
    return _decide(arguments, "r", "send back")


def _decide(arguments: argparse.Namespace, key: str, verb: str) -> int:
    from core.commands.registry import parse

    folder = folder_of(arguments.dir)
    item = _find(folder, arguments.id, key)
    choice = _choice(item, key, verb, folder)
    values = dict(choice.arguments)
    if choice.note_field and not arguments.note.strip():
        raise Invalid(f"To {choice.verb} {tag_of(item)} needs a reason.", "Add --note 'why'.")
    if hashed := hash_of(getattr(arguments, "hash", None)):
        if "content_hash" not in values:
            raise Invalid(f"{tag_of(item)} is no draft: it has no hash.", "Leave --hash out.")
        values["content_hash"] = hashed
    field = choice.note_field or _note_field(choice.command)
    if arguments.note and field:
        values[field] = arguments.note
    elif arguments.note:
        raise Invalid(f"{choice.verb} takes no note.", "Leave --note out.")
    answer = opening.run(sent(folder, parse(choice.command, values)))
    if arguments.json:
        print_json({"id": tag_of(item), "command": choice.command, "answer": answer})
    else:
        say(f"{tag_of(item)} {item.title}: {choice.verb}; {choice.effect}.")
    return 0


def _note_field(command: str) -> str:
    from core.commands import registry

    fields = registry.REGISTRY[command].model.model_fields
    return next((name for name in ("note", "reason") if name in fields), "")


def _find(folder: Path, text: str, key: str) -> InboxItem:
    kind, number = entity_of(text)
    name = f"{LETTERS[kind]}{number}"
    items = opening.run(_items(folder))
    found = [item for item in items if tag_of(item) == name] or [
        item for item in items if item.entity == f"{kind}:{number}"
    ]
    # What only tells of a lack, e.g. of a mission, does not stand in the way of what can be decided.
    found = [item for item in found if any(_is_meant(choice, key) for choice in item.choices)] or found
    if len(found) > 1:
        listed = ", ".join(f"{tag_of(item)} ({item.kind})" for item in found)
        raise Conflict(f"More than one thing about {name} waits for you.", f"Name one: {listed}.")
    if not found:
        waiting = ", ".join(dict.fromkeys(tag_of(item) for item in items))
        raise Conflict(
            f"{name} does not wait for you; nothing was changed.",
            f"Waiting: {waiting}." if waiting else f"See `opsroom status {quoted(folder)}`.",
        )
    return found[0]


def _is_meant(choice: Choice, key: str) -> bool:
    """Where money is asked for, keys mean something else: it is raised and paused by their own words."""
    return choice.key == key and choice.command != "RaiseBudget"


def _choice(item: InboxItem, key: str, verb: str, folder: Path) -> Choice:
    for choice in item.choices:
        if _is_meant(choice, key):
            return choice
    possible = "; ".join(f"{choice.verb}: {typed(item, choice, folder)}" for choice in typeable(item))
    raise Conflict(f"{tag_of(item)} ({item.kind}): {verb} is not possible.", f"Possible: {possible or item.why}.")
