"""`opsroom init`: a new company in a folder, whole or not at all."""

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from core.commands.company import CreateCompany
from core.commands.registry import build
from core.company import create_company
from core.config import CONFIG, Config
from core.domain.company_items import RUNNER_EXAMPLE
from core.domain.errors import Conflict, Invalid
from tui.cli import opening
from tui.cli.names import folder_of, quoted
from tui.cli.output import print_json, say


def init(arguments: argparse.Namespace) -> int:
    """Make it. Nothing is dispatched before the operator starts it (F20)."""
    folder = folder_of(arguments.dir)
    name = arguments.name if arguments.name is not None else folder.name.encode("utf-8", "replace").decode()
    # Before anything is written: a refused name leaves no half a company.
    founding = build(CreateCompany, name=name, mission=arguments.mission, locale=arguments.locale)
    config = Config(name=founding.name, mission=founding.mission, locale=founding.locale)
    made_whole(folder, lambda place: create_company(place, config))
    if arguments.json:
        print_json({"company": str(folder), "name": founding.name})
    else:
        place = quoted(folder)
        say(f"{founding.name} is founded in {folder}. It is stopped until you start it.")
        say("Nobody works here yet: hire a coordinator, executors and a reviewer first.")
        say("What they run on is yours to say (--runner): a model server, by its url and model, or a program.")
        say("Who is hired without it runs on what its manager does, or else who was hired first.")
        say(
            f"Next: opsroom agent hire {place} NAME --role coordinator --runner '{RUNNER_EXAMPLE}';"
            f" opsroom goal add {place} TITLE; opsroom start {place}; opsroom {place}"
        )
    return 0


def made_whole(place: Path, make: Callable[[Path], Coroutine[Any, Any, object]]) -> None:
    """Make a company beside its place and move it there in one step, so that a crash leaves no half a company.

    A folder that is there already keeps its identity (it may be somebody's working folder or a mount point).
    """
    if os.path.lexists(place):
        opening.run(make(place))
        return
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{place.name[:40]}.founding-", dir=place.parent))
    except OSError as error:
        raise _unmakeable(place, error) from None
    try:
        opening.run(make(draft))
        os.rename(draft, place)
    except OSError as error:
        raise _unmakeable(place, error) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)  # nothing is there once it has moved


def _unmakeable(place: Path, error: OSError) -> Exception:
    if (place / CONFIG).exists():
        return Conflict(f"{place} was made by another process meanwhile.", "Try again to go on with it.")
    return Invalid(f"{place} cannot be made: {error.strerror}.", "Choose a place that you may write.")
