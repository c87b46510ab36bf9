"""`opsroom --help`: every subcommand below what it is for, and examples; at most 80 columns wide."""

import textwrap
from collections.abc import Iterator

from tui.cli.table import GROUPS, SUBCOMMANDS

WIDTH = 79
_INDENT = 14

USAGE = "opsroom [DIR]\n       opsroom SUBCOMMAND …"
ABOUT = (
    "A control room in the terminal for a company of AI agents. `opsroom DIR` opens the room of the company in that"
    " folder; `opsroom` alone that of this folder, or, where there is none, what you can begin with."
)

SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("begin", ("demo", "init", "room", "doctor", "config", "completion")),
    ("look", ("status", "inbox", "events", "org")),
    ("decide", ("approve", "reject", "block", "revise", "say", "start", "stop", "autonomy", "heartbeat")),
    ("goals and tasks", ("goal", "task", "worktrees")),
    ("agents and runs", ("agent", "runs", "budget", "company")),
    ("what agents are told", ("prompts", "experience", "knowledge")),
    ("without the room", ("run", "serve", "mcp")),
    ("care", ("backup", "simulate", "eval")),
)
"""The first words of all subcommands, each once, by what they are for."""

EXAMPLES: tuple[tuple[str, str], ...] = (
    ("opsroom demo", "a company at work, at no cost"),
    ("opsroom init ./acme", "make a company of your own"),
    ("opsroom ./acme", "open its room"),
    ("opsroom goal add ./acme 'Write the guide'", "give it a goal"),
    ("opsroom inbox ./acme", "what waits for you"),
    ("opsroom approve --help", "all about one subcommand"),
)


def whole_help() -> str:
    """The text."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f"usage: {USAGE}"
    yield ""
    yield from textwrap.wrap(ABOUT, WIDTH)
    about = {sub.words[0]: sub.about for sub in SUBCOMMANDS if len(sub.words) == 1}
    about |= GROUPS
    for title, names in SECTIONS:
        yield ""
        yield f"{title}:"
        for name in names:
            yield from _entry(name, about[name])
    yield ""
    yield "options:"
    yield from _entry("-h, --help", "this help, or that of a subcommand")
    yield from _entry("--version", "the version")
    yield ""
    yield "examples:"
    width = max(len(line) for line, _ in EXAMPLES) + 2
    yield from (f"  {line:<{width}}{words}" for line, words in EXAMPLES)


def _entry(name: str, words: str) -> list[str]:
    return textwrap.wrap(
        words, WIDTH, initial_indent=f"  {name:<{_INDENT - 2}}", subsequent_indent=" " * _INDENT, break_on_hyphens=False
    )
