"""`opsroom events`: what happened, as it is written on the board."""

import argparse
import asyncio
import sys
import time
from typing import Any

from core.blackboard.event_log import EventLog
from core.domain.entities import ENTITIES, Event
from core.domain.errors import Invalid
from core.domain.event_filter import EventFilter, parse_events
from tui.cli import opening
from tui.cli.names import folder_of
from tui.cli.output import print_json_line, say, when

_PAGE = 1000
_POLL_S = 0.25
_SHOWN = 100


def events(arguments: argparse.Namespace) -> int:
    """Print them, one a line."""
    if not 0 <= arguments.after < 2**63:
        raise Invalid(f"--after {arguments.after} is no event's number.", "Give 0 for all of them.")
    wanted = parse_events(arguments.filter, int(time.time() * 1000))
    opening.run(_print(arguments.dir, wanted, arguments.after, arguments.follow, arguments.json))
    return 0


async def _print(folder: str, wanted: EventFilter, after: int, follow: bool, as_json: bool) -> None:
    async with opening.reading(folder_of(folder)) as board:
        log = EventLog(board.readers, wanted)
        while True:
            # Before the page: what comes meanwhile is for the next one.
            last = await board.readers.last_event()
            page = await log.newer(after, _PAGE)
            for event in page.events:
                print_json_line(described(event)) if as_json else say(_line(event))
                after = event.id
            after = max(after, last) if page.next is None else page.next
            if page.next is None:
                if not follow:
                    return
                sys.stdout.flush()
                await asyncio.sleep(_POLL_S)
                board.check_identity()


def described(event: Event) -> dict[str, Any]:
    """An event in JSON."""
    return {
        "id": event.id, "at": event.at, "actor": event.actor, "run": event.run_id, "entity": event.entity,
        "entity_id": event.entity_id, "kind": event.kind, "changed": event.changed, "cause": event.cause,
    }  # fmt: skip


def _line(event: Event) -> str:
    cls = ENTITIES.get(event.entity)
    letter = cls.letter if cls is not None and cls.letter else f"{event.entity} "
    changed = ", ".join(f"{name}={value}" for name, value in event.changed.items())
    cut = changed if len(changed) <= _SHOWN else changed[: _SHOWN - 1] + "…"
    by = f"{event.actor}/R{event.run_id}" if event.run_id else event.actor
    one_line = cut.replace("\n", "⏎")
    return f"{event.id:>6}  {when(event.at)}  {by:<18} {event.kind:<20} {letter}{event.entity_id}  {one_line}"
