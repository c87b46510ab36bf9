"""`opsroom init`: a new company in a folder."""

import argparse

from core.company import create_company
from core.config import Config
from core.domain.errors import Invalid
from tui.cli import opening
from tui.cli.names import folder_of, quoted
from tui.cli.output import print_json, say


def init(arguments: argparse.Namespace) -> int:
    """Make it. Nothing is dispatched before the operator starts it (F20)."""
    folder = folder_of(arguments.dir)
    name = arguments.name if arguments.name is not None else folder.name.encode("utf-8", "replace").decode()
    if not name.strip():
        raise Invalid("A company needs a name.", "Give one: --name TEXT.")
    config = Config(name=name, mission=arguments.mission, locale=arguments.locale)
    opening.run(create_company(folder, config))
    if arguments.json:
        print_json({"company": str(folder), "name": name})
    else:
        place = quoted(folder)
        say(f"{name} is founded in {folder}. It is stopped until you start it.")
        say(f"Next: opsroom goal add {place} TITLE; opsroom start {place}; opsroom {place}")
    return 0
