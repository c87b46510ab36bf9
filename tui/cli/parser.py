"""The argument parser, made from the table. Anything unknown is an error (S1-02), never ignored."""

import argparse
import difflib
import os
import sys
from typing import Any, NoReturn

from tui.cli.exits import Exit
from tui.cli.help import ABOUT, USAGE, whole_help
from tui.cli.table import GROUPS, SUBCOMMANDS
from tui.cli.table.row import Subcommand

_FIRST_WORDS = tuple(dict.fromkeys(subcommand.words[0] for subcommand in SUBCOMMANDS))
_PLURAL = {"knowledge": "knowledge", "prompts": "prompts", "worktrees": "work trees", "runs": "runs"}
# What a group means when a folder follows at once.
_MEANT = {"budget": "show", "worktrees": "list", "runs": "list"}
_WORDS_OF = {
    group: frozenset(subcommand.words[1] for subcommand in SUBCOMMANDS if subcommand.words[0] == group)
    for group in _MEANT
}


class Parser(argparse.ArgumentParser):
    """Argparse without abbreviations, which would change their meaning when an option is added."""

    subcommand: Subcommand | None = None
    is_whole = False  # of all subcommands, and not of one or of a group

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("allow_abbrev", False)
        super().__init__(*args, **options)

    def format_help(self) -> str:
        """The help of all subcommands has sections; the others are argparse's."""
        return whole_help() if self.is_whole else super().format_help()

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where the help is."""
        from tui.text import one_line

        # E.g. `opsroom reject DIR`, where the usage names more than the words: the help is that of the words.
        prog = _prog(self.subcommand) if self.subcommand else self.prog
        print(f"opsroom: {one_line(message)}. See `{prog} --help`.", file=sys.stderr)
        sys.exit(Exit.USAGE)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_ignored: object, **_options: object) -> None:
        from importlib.metadata import version

        print(f"opsroom {version('opsroom')}")
        parser.exit()


def _prog(subcommand: Subcommand) -> str:
    return " ".join(("opsroom", *subcommand.words))


def make_parser(first: str | None = None) -> Parser:
    """The whole parser, or what begins with this word: to make all of it costs more than many a subcommand does."""
    parser = Parser(
        prog="opsroom",
        usage=USAGE,
        description=ABOUT,
    )
    parser.is_whole = True
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    place = parser.add_subparsers(prog="opsroom", metavar="SUBCOMMAND", title="subcommands", required=True)
    groups = {}
    for name, words in GROUPS.items():
        if first not in (None, name):
            continue
        group = place.add_parser(
            name, help=f"{_PLURAL.get(name, f'{name}s')}: {words}", description=f"Subcommands: {words}."
        )
        groups[name] = group.add_subparsers(metavar="SUBCOMMAND", required=True)
    for subcommand in SUBCOMMANDS:
        if first in (None, subcommand.words[0]):
            _add(groups[subcommand.words[0]] if len(subcommand.words) > 1 else place, subcommand)
    return parser


def _add(place: Any, subcommand: Subcommand) -> None:
    parser = place.add_parser(subcommand.words[-1], help=subcommand.about, description=subcommand.about)
    parser.set_defaults(subcommand=subcommand)
    parser.subcommand = subcommand
    for argument in subcommand.arguments:
        parser.add_argument(*argument.names, **argument.options)


def parse(arguments: list[str]) -> argparse.Namespace:
    """The parsed command line. Exits with 2 when it is wrong."""
    if not arguments:
        return _whole(["room"])
    first = arguments[0]
    if first in _MEANT and len(arguments) > 1 and arguments[1] not in _WORDS_OF[first] and arguments[1][:1] != "-":
        arguments = [first, _MEANT[first], *arguments[1:]]
    if first in _FIRST_WORDS or first in ("-h", "--help", "--version"):
        return _whole(arguments)
    if first.startswith("-") and first != "--":
        make_parser(first).error(f"unknown option {first}")
    if not os.path.lexists(first) and "/" not in first and first != "--":
        near = difflib.get_close_matches(first, _FIRST_WORDS, 1)
        meant = f"; did you mean `opsroom {near[0]}`?" if near else ""
        make_parser(first).error(f"{first!r} is neither a subcommand nor a folder{meant}")
    return _whole(["room", *arguments])


def _whole(arguments: list[str]) -> argparse.Namespace:
    """All of it, or an error that points to the help of the subcommand that does not know the rest."""
    parser = make_parser(arguments[0])
    found, unknown = parser.parse_known_args(arguments)
    if unknown:
        parser.prog = _prog(found.subcommand)
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return found
