"""`opsroom backup` and `opsroom doctor`."""

import argparse
import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.agents.programs.scripts import without_controls
from core.blackboard.backup import backup as copy_board
from core.blackboard.checks import Check, check_board
from core.blackboard.owner import Ownership
from core.config import Config, board_path, read_config, runner_kinds
from core.domain.company_items import RUNNER_EXAMPLE, runner_missing
from core.domain.entities import AgentRecord, Company
from core.domain.errors import Invalid, OpsroomError
from core.domain.goals import mission_is_defined
from core.domain.guardrails import GUARDRAILS_FILE
from core.guardrails import read_guardrails, shipped
from core.prompting.templates import Library
from core.worktrees import git
from tui.cli import opening
from tui.cli.exits import Exit
from tui.cli.names import folder_of, quoted
from tui.cli.opening import now_ms
from tui.cli.output import print_json, say
from tui.cli.status import owner_of
from tui.cli.worktrees import check_repositories

if TYPE_CHECKING:
    from core.doctor.calls import Called
    from core.doctor.found import Found
    from core.doctor.needs import Need

_ROOM_COLUMNS, _ROOM_LINES = 80, 24
_VERSION_MAX, _VERSION_S = 1000, 5.0  # bytes, seconds


def backup(arguments: argparse.Namespace) -> int:
    """Copy the board, whoever uses it meanwhile."""
    folder = folder_of(arguments.dir)
    read_config(folder)
    target = folder if arguments.target is None else folder_of(arguments.target)
    made = copy_board(board_path(folder), target, now_ms())
    if arguments.json:
        print_json({"backup": str(made), "bytes": made.stat().st_size})
    else:
        say(f"{made} ({made.stat().st_size} bytes)")
    return 0


def doctor(arguments: argparse.Namespace) -> int:
    """Say what is well and what is not. Ends with 1 when something fails."""
    from core.doctor.found import look
    from tui.cli import looking

    if arguments.dir is None and (arguments.call or arguments.yes):
        raise Invalid("--call tries the agents of a company.", "Name its folder: opsroom doctor DIR --call.")
    found = opening.run(look())
    checks = [*_python(), *machine(), _terminal(), _colours(), *looking.machine_checks(found)]
    needs: tuple[Need, ...] = ()
    called: list[Called] = []
    if arguments.dir is None:
        checks.append(Check("sqlite", "ok", f"SQLite {sqlite3.sqlite_version}."))
    else:
        folder = folder_of(arguments.dir)
        checks += _company(folder)
        config, agents = _working(folder)
        needs = opening.run(looking.agent_needs(agents, config, folder))
        checks += looking.agent_checks(needs, folder)
        if arguments.call and looking.consent(agents, arguments.yes):
            called = opening.run(looking.calls(agents, config, folder))
            checks += looking.call_checks(called)
    return _told(arguments, checks, found, needs, called)


def _told(
    arguments: argparse.Namespace, checks: list[Check], found: "Found", needs: Sequence["Need"], called: list["Called"]
) -> int:  # fmt: skip
    from tui.cli.looking import as_json, nothing_to_run_on

    failed = any(check.verdict == "fail" for check in checks)
    if arguments.json:
        listed = [{"name": check.name, "verdict": check.verdict, "text": check.text} for check in checks]
        print_json({"ok": not failed, "checks": listed, **as_json(found, needs, called)})
    else:
        for check in checks:
            say(f"{check.verdict:<5} {check.name:<12} {check.text}")
        if closing := nothing_to_run_on(found, needs, None if arguments.dir is None else folder_of(arguments.dir)):
            say(closing)
    return Exit.REFUSED if failed else Exit.OK


def _working(folder: Path) -> tuple[Config, list[AgentRecord]]:
    """The settings and the agents that have not retired; nobody where the company cannot be read (told elsewhere)."""
    try:
        config = read_config(folder)
        _, agents = opening.run(_read(folder, "status <> 'terminated' ORDER BY id"))
    except OpsroomError:
        return Config(), []
    return config, agents


def _python() -> Iterator[Check]:
    old = sys.version_info < (3, 11)
    yield Check("python", "fail" if old else "ok", f"Python {platform.python_version()} at {sys.executable}.")


def machine() -> Iterator[Check]:
    """What every company needs of this machine; blocks."""
    yield _prompts()
    yield _git()


def _prompts(overrides: Path | None = None) -> Check:
    """Every template in every language, the company's own among them (S0-12)."""
    name = "prompts" if overrides is None else "own prompts"
    try:
        warnings = Library(overrides=overrides).require()
    except OpsroomError as error:
        return Check(name, "fail", f"{error.message} {error.hint}".strip())
    if warnings:
        return Check(name, "warn", " ".join(warnings))
    return Check(name, "ok", "Every template is there in every language, and renders.")


def _git() -> Check:
    if git.program() is None:
        return Check("git", "warn", "git is not found: a demo cannot leave out what git ignores. Install git.")
    try:
        told = git.must(Path("/"), "version", what="git does not run", most=_VERSION_MAX, within_s=_VERSION_S)
    except OpsroomError as error:
        return Check("git", "warn", error.message)
    shown = without_controls(told.text).strip()
    return Check("git", "ok", f"{shown}." if shown else "It is there, and tells no version.")


def _terminal() -> Check:
    if not sys.stdout.isatty():
        return Check("terminal", "ok", "There is none here: the room needs one, the other commands do not.")
    columns, lines = shutil.get_terminal_size()
    size = f"{columns} x {lines}"
    if columns < _ROOM_COLUMNS or lines < _ROOM_LINES:
        return Check("terminal", "warn", f"{size}: the room is made for {_ROOM_COLUMNS} x {_ROOM_LINES} and more.")
    return Check("terminal", "ok", f"{size}.")


def _colours() -> Check:
    if os.environ.get("NO_COLOR"):
        return Check("colours", "ok", "NO_COLOR is set: the room shows states as signs and letters.")
    if os.environ.get("COLORTERM") in ("truecolor", "24bit"):
        return Check("colours", "ok", "True colour.")
    return Check("colours", "ok", f"Whatever {os.environ.get('TERM') or 'an unknown terminal'} can.")


def _company(folder: Path) -> Iterator[Check]:
    try:
        config = read_config(folder)
    except OpsroomError as error:
        yield Check("config", "fail", str(error))
    else:
        yield Check("config", "ok", f"company.toml of {config.name}.")
        yield from _staff(folder, config)
        yield from check_repositories(folder)
        if config.rehearsal is not None and not os.path.isdir(config.rehearsal.folder):
            yield Check("rehearsal", "warn", f"{config.rehearsal.folder}, which is to be audited, is not there.")
    yield _guardrails(folder)
    yield _prompts(folder / "prompts")
    path = board_path(folder)
    owner = owner_of(path)
    held = Ownership.describe_holder(path) if owner else "nobody: no run is made"
    yield Check("owner", "ok", f"The board is owned by {held}.")
    yield from check_board(path)


def _staff(folder: Path, config: Config) -> Iterator[Check]:
    """Whether the CEO knows what for, and whether what is hired can run."""
    try:
        found, agents = opening.run(_read(folder))
    except OpsroomError:
        return  # what is wrong with the board is told below
    place = quoted(folder)
    if not mission_is_defined(found.mission):
        later = " Its mission in company.toml counts only at `opsroom init`." if config.mission else ""
        yield Check("mission", "warn", "The company has none: no goal is proposed."
                    f"{later} Set it: opsroom company {place} --mission 'what it is for'")  # fmt: skip
    missing: dict[str, list[str]] = {}
    for agent in agents:
        if why := runner_missing(agent.runner, runner_kinds(config)):
            missing.setdefault(why, []).append(agent.slug)
    for why, slugs in missing.items():
        yield Check("runners", "warn", f"Nothing runs for {', '.join(slugs)}: {why}."
                    f" Change it: opsroom agent edit {place} {slugs[0]} --runner '{RUNNER_EXAMPLE}'")  # fmt: skip
    if not missing:
        yield Check("runners", "ok", "Every agent has a runner." if agents else "Nobody is hired.")


async def _read(
    folder: Path, where: str = "status = 'active' ORDER BY id"
) -> tuple[Company, list[AgentRecord]]:  # fmt: skip
    async with opening.reading(folder) as board:
        (found,) = await board.readers.entities(Company, "id = 1")
        return found, await board.readers.entities(AgentRecord, where)


def _guardrails(folder: Path) -> Check:
    found = read_guardrails(folder)
    if found.problem:
        return Check("guardrails", "fail", f"{found.problem}. Nothing is dispatched until it is mended.")
    if not os.path.lexists(folder / GUARDRAILS_FILE):
        return Check(
            "guardrails", "ok", f"There is no {GUARDRAILS_FILE}: the {len(found.lines)} shipped red lines hold."
        )
    known = {line.name for line in found.lines}
    missing = [line.name for line in shipped().lines if line.name not in known]
    if missing:
        return Check(
            "guardrails", "warn", f"{GUARDRAILS_FILE} has {len(known)} red lines, without {', '.join(missing)}."
        )
    return Check("guardrails", "ok", f"{GUARDRAILS_FILE} has {len(known)} red lines.")
