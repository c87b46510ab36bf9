"""`opsroom` where there is no company: a first screen instead of an error, and what was chosen on it."""

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from core.blackboard.checks import Check
from core.config import Config, read_config, runner_kinds
from core.domain.errors import Invalid, OpsroomError
from tui.cli import care, looking
from tui.cli.demo import demo, on_terminal
from tui.cli.founding import make
from tui.cli.room import open_room
from tui.told_commands import hint_for

if TYPE_CHECKING:
    from tui.screens.welcome import Here
    from tui.welcome_app import Begun


def begin() -> int:
    """Show the first screen until something was begun, or the person leaves."""
    if not on_terminal():
        raise Invalid(
            f"There is no company in {Path.cwd()}, and no terminal to choose one on.",
            "Try one: opsroom demo. Make one: opsroom init DIR. Open one: opsroom DIR. All of it: opsroom --help.",
        )
    from tui.personal import Personal
    from tui.welcome_app import WelcomeApp

    problem = ""
    while True:
        begun = WelcomeApp(Personal.read(), what_is_here, problem=problem).run()
        if begun is None:
            return 0
        try:
            return _do(begun)
        except OpsroomError as error:
            problem = f"{error.message} {hint_for('shell', error.hint)}".strip()


def _do(begun: "Begun") -> int:
    folder = begun.chosen.folder
    if begun.chosen.way == "rehearse":
        return demo(argparse.Namespace(folder=str(folder), company=None, pace=None, headless=False,
                                       approve_all=False, json=False))  # fmt: skip
    if begun.plan is not None:
        make(folder, begun.plan, as_json=False)
    return open_room(folder, read_config(folder))


async def what_is_here() -> "Here":
    """What the doctor finds, but what is about a company, or about this terminal."""
    from core.doctor.found import look
    from core.founding.ground import NOTHING_FOUND, WHAT_TO_DO, grounds
    from tui.screens.welcome import Here

    found = await look()
    machine = await asyncio.to_thread(lambda: [*care.machine()])
    named = await asyncio.to_thread(grounds, found, runner_kinds(Config()))
    checks = [check for check in looking.machine_checks(found) if check.name != "key"]
    for words, is_set in (("Set: {}.", True), ("Not set: {}.", False)):
        if names := [name for name, value in (found.keys or {}).items() if value == is_set]:
            checks.append(Check("keys", "ok", words.format(", ".join(names))))
    lacks = f"{NOTHING_FOUND} {WHAT_TO_DO} The rehearsal needs none." if not named else ""
    return Here((*checks, *machine), lacks, tuple(named))
