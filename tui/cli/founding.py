"""`opsroom init`: a new company in a folder, whole or not at all."""

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from core.config import CONFIG, Config, board_path, runner_kinds
from core.domain.budgets import money
from core.domain.company_items import RUNNER_EXAMPLE
from core.domain.errors import Conflict, Invalid
from core.founding.found import Plan, found_company, hires
from core.founding.template import EMPTY, template_of
from tui.cli import opening
from tui.cli.agents import micros_of
from tui.cli.names import folder_of, quoted
from tui.cli.output import print_json, say
from tui.staff_text import runner_words


def init(arguments: argparse.Namespace) -> int:
    """Make it: by the options, or as a person says on a screen. Nothing is dispatched before it is started (F20)."""
    from tui.cli.demo import on_terminal

    folder = folder_of(arguments.dir)
    if board_path(folder).exists() or (folder / CONFIG).exists():
        raise Invalid(f"{folder} holds a company already; it was left as it is.", f"Open it: opsroom {quoted(folder)}")
    if _nothing_said(arguments) and on_terminal():
        from tui.founding_app import ask

        plan = ask(folder, _name(arguments, folder))
        if plan is None:
            say("Nothing was made.")
            return 0
    else:
        plan = _planned(arguments, folder)
    make(folder, plan, as_json=arguments.json)
    return 0


def make(folder: Path, plan: Plan, *, as_json: bool) -> None:
    """Make it, and tell of it. Raises Invalid before anything is written, or Conflict."""
    # Before anything is written: a refused name or runner leaves no half a company.
    config, hired = plan.config, hires(plan)
    made_whole(folder, lambda place: found_company(place, plan))
    if as_json:
        kind = str(plan.runner.get("kind", "")) if hired else ""
        print_json({"company": str(folder), "name": config.name, "agents": [each.slug for each in hired],
                    "runner": kind})  # fmt: skip
    else:
        _tell(folder, config.name, plan, len(hired))


def _nothing_said(arguments: argparse.Namespace) -> bool:
    told = (arguments.name, arguments.mission, arguments.locale, arguments.template, arguments.runner,
            arguments.runs_at_once, arguments.budget)  # fmt: skip
    return not arguments.json and all(each is None for each in told)


def _name(arguments: argparse.Namespace, folder: Path) -> str:
    return arguments.name if arguments.name is not None else folder.name.encode("utf-8", "replace").decode()


def _planned(arguments: argparse.Namespace, folder: Path) -> Plan:
    """What the options say. Raises Invalid, and looks for what agents can run on only where somebody is hired."""
    from core.doctor.found import look
    from core.founding.ground import first, grounds, named

    template = template_of(EMPTY if arguments.template is None else arguments.template)
    runner: Mapping[str, Any] = {}
    if template.agents:
        kinds = runner_kinds(Config())
        is_settings = arguments.runner is not None and arguments.runner.lstrip().startswith("{")
        there = () if is_settings else grounds(opening.run(look()), kinds)
        ground = first(there) if arguments.runner is None else named(arguments.runner, there, kinds)
        if arguments.runner is None and not arguments.json:
            others = ", ".join(each.name for each in there[1:])
            say(f"They run on {ground.about}{f'; also found: {others} (--runner)' if others else ''}.")
        runner = ground.runner
    elif arguments.runner is not None:
        raise Invalid("--runner says what a template's agents run on, and the empty one has none.",
                      "Name a template: --template software-team.")  # fmt: skip
    runs = arguments.runs_at_once
    if runs is not None and not 1 <= runs <= 1000:
        raise Invalid(f"{runs} runs at once are not possible.", "Give 1 to 1000.")
    budget = None if arguments.budget is None else micros_of(arguments.budget)
    return Plan(
        _name(arguments, folder), arguments.mission or "", arguments.locale or "en", template, runner, runs, budget
    )


def _tell(folder: Path, name: str, plan: Plan, hired: int) -> None:
    place = quoted(folder)
    say(f"{name} is founded in {folder}. It is stopped until you start it.")
    if hired:
        limit = f"; together they may spend {money(plan.budget_micros)} a day" if plan.budget_micros else ""
        say(f"{hired} agents work here on {runner_words(dict(plan.runner))}{limit}.")
        say(f"Try one real call to each first: opsroom doctor {place} --call. Look at them: opsroom org {place}")
        say(f"Next: opsroom goal add {place} TITLE; opsroom start {place}; opsroom {place}")
        return
    say("Nobody works here yet: hire a coordinator, executors and a reviewer first.")
    say("What they run on is yours to say (--runner): a model server, by its url and model, or a program.")
    say("Who is hired without it runs on what its manager does, or else who was hired first.")
    say(
        f"Next: opsroom agent hire {place} NAME --role coordinator --runner '{RUNNER_EXAMPLE}';"
        f" opsroom goal add {place} TITLE; opsroom start {place}; opsroom {place}"
    )


def made_whole(place: Path, found: Callable[[Path], Coroutine[Any, Any, object]]) -> None:
    """Make a company beside its place and move it there in one step, so that a crash leaves no half a company.

    A folder that is there already keeps its identity (it may be somebody's working folder or a mount point).
    """
    if os.path.lexists(place):
        opening.run(found(place))
        return
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{place.name[:40]}.founding-", dir=place.parent))
    except OSError as error:
        raise _unmakeable(place, error) from None
    try:
        opening.run(found(draft))
        os.rename(draft, place)
    except OSError as error:
        raise _unmakeable(place, error) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)  # nothing is there once it has moved


def _unmakeable(place: Path, error: OSError) -> Exception:
    if (place / CONFIG).exists():
        return Conflict(f"{place} was made by another process meanwhile.", "Try again to go on with it.")
    return Invalid(f"{place} cannot be made: {error.strerror}.", "Choose a place that you may write.")
