"""`opsroom demo`: the rehearsal company audits a folder, in the room or headless."""

import argparse
import asyncio
import os
import sys
import time
from pathlib import Path

from core.config import Config, read_config
from core.domain.errors import Invalid
from tui.cli import opening
from tui.cli.demo_place import founded
from tui.cli.exits import Exit
from tui.cli.names import folder_of, quoted
from tui.cli.output import note, print_json, say

WATCHING_PACE_MS = 400
FREE = "Running the demo is your start of it: no key, no model, no network, no cost; nothing leaves this machine."


def demo(arguments: argparse.Namespace) -> int:
    """Found the company (or go on with one), start it, and show it."""
    arguments = _settled(arguments)
    if arguments.pace is not None and not 0 <= arguments.pace <= 60_000:
        raise Invalid(f"--pace {arguments.pace} is not possible.", "Give milliseconds from 0 to 60000.")
    place = None if arguments.company is None else folder_of(arguments.company)
    audited = None if arguments.folder is None else folder_of(arguments.folder)
    pace = WATCHING_PACE_MS if arguments.pace is None else arguments.pace
    folder = founded(audited, place, pace)
    config = read_config(folder)
    note(f"opsroom: {FREE}\nopsroom: The company lives in {folder}.")
    if arguments.headless:
        return _headless(folder, config, arguments)
    from tui.cli.room import open_room

    return open_room(folder, config, pace_ms=arguments.pace, start=True)


def _settled(arguments: argparse.Namespace) -> argparse.Namespace:
    """Without a terminal there is no room: the headless audit with every approval is the demo then."""
    settled = argparse.Namespace(**vars(arguments))
    if settled.headless:
        return settled
    if on_terminal():
        for name in ("approve_all", "json"):
            if getattr(settled, name):
                option = "--" + name.replace("_", "-")
                raise Invalid(f"{option} goes with --headless.", "Add --headless, or leave it out and decide yourself.")
        return settled
    note("opsroom: There is no terminal, so the demo runs headless and takes every approving choice (--approve-all).")
    settled.headless = settled.approve_all = True
    return settled


def on_terminal() -> bool:
    """Whether a room can be shown and steered here."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def _headless(folder: Path, config: Config, arguments: argparse.Namespace) -> int:
    from tui.cli.audit_result import audit_of, report_summary
    from tui.cli.deciding import described, read_all
    from tui.cli.working import EXIT_OF, Interrupted, Manner, tell, until_signal, work

    began = time.monotonic()
    manner = Manner(arguments.approve_all, start=True, pace_ms=arguments.pace or 0)
    again = f"opsroom demo --company {quoted(folder)} --headless" + (" --approve-all" if manner.approve_all else "")
    try:
        ended = asyncio.run(until_signal(work(folder, config, manner)))
    except Interrupted as interrupted:
        note(f"opsroom: What was acknowledged is kept in {folder}. Go on: {again}")
        return interrupted.code
    tell(ended, folder)
    if EXIT_OF[ended.how] == Exit.WAITS:
        note(f"opsroom: Then go on: {again}")
    if arguments.json:
        found = opening.run(audit_of(folder, time.monotonic() - began))
        materials = read_all(ended.owed, folder)
        waits = [described(item, folder, materials) for item in ended.owed]
        print_json({**found, "ended": str(ended.how), "waits": waits})
    elif summary := opening.run(report_summary(folder)):
        say(summary)
    return EXIT_OF[ended.how]
