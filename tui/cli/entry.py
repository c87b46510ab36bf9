"""The door of the program: parse, do, and turn every expected error into words and an exit code."""

import argparse
import contextlib
import gc
import importlib
import os
import sys

from tui.cli.exits import Exit
from tui.cli.parser import parse


def main(arguments: list[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    from tui.cli.output import note, prepare

    tune()
    prepare()
    try:
        code = _do(parse(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has what it wanted, e.g. `| head`.
        _drop_stdout()
        return Exit.OK
    except KeyboardInterrupt:
        note("opsroom: interrupted.")
        return Exit.INTERRUPTED
    except OSError as error:
        _drop_stdout()
        place = f"{os.fsdecode(error.filename)}: " if error.filename else ""
        note(f"opsroom: {place}{error.strerror or error}.")
        return Exit.REFUSED


def tune() -> None:
    """Set up Python for a program that answers keys while other threads write to the board."""
    # Imports and a board in memory are objects that stay: looking for garbage among them at each turn costs a fifth.
    gc.set_threshold(50_000, 20, 50)
    # A thread that writes without pause gives way after a millisecond, not five: each key waits for several turns.
    sys.setswitchinterval(0.001)


def _do(parsed: argparse.Namespace) -> int:
    from core.domain.errors import Invalid, OpsroomError
    from tui.cli.output import note
    from tui.told_commands import hint_for

    module, _, function = parsed.subcommand.handler.partition(":")
    try:
        return int(getattr(importlib.import_module(module), function)(parsed))
    except OpsroomError as error:
        sys.stdout.flush()
        note(f"opsroom: {error.message} {hint_for('shell', error.hint)}".rstrip())
        return Exit.USAGE if isinstance(error, Invalid) else Exit.REFUSED


def _drop_stdout() -> None:
    # Python flushes standard output once more at its end, and would complain then.
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
