"""The command line: what the room does, for scripts. `table` holds every subcommand; each module a few of them.

Only the standard library is imported before a subcommand is known, so that `--help` and errors are quick.
"""

from tui.cli.entry import main

__all__ = ["main"]
