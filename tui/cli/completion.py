"""`opsroom completion`: what a shell needs to complete subcommands, options, choices and folders.

All of it is made from the parser, and so from the table of subcommands.
"""

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from tui.cli.parser import make_parser

# What an argument names, by the word that stands for it in the help.
_FOLDERS = frozenset({"DIR", "FOLDER"})
_FILES = frozenset({"FILE", "PATH", "TARGET"})


def completion(arguments: argparse.Namespace) -> int:
    """Write the completions for one shell."""
    sys.stdout.write(completions(arguments.shell))
    return 0


def completions(shell: str) -> str:
    """The text that makes a shell complete `opsroom`; `shell` is bash, zsh or fish."""
    import shtab

    parser = make_parser()
    for action in _actions(parser):
        place: Any = action  # shtab reads an attribute that argparse does not know
        if action.metavar in _FOLDERS:
            place.complete = shtab.DIRECTORY
        elif action.metavar in _FILES:
            place.complete = shtab.FILE
    return shtab.complete(parser, shell).rstrip("\n") + "\n"


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every argument of a parser and of the subcommands below it."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)
