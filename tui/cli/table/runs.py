"""Runs: which there were, what one says and does, and the operator's hand on it."""

from tui.cli.table.row import DIR, JSON, Subcommand, argument

_RUN = argument("run", metavar="RUN", help="the run's id, e.g. R12")

RUNS: tuple[Subcommand, ...] = (
    Subcommand(("runs", "list"), "the newest runs; `opsroom runs DIR` is the same", "tui.cli.runs:list_runs",
               (DIR, argument("--task", metavar="TASK", help="only those of a task, e.g. T12"),
                argument("--agent", metavar="AGENT", help="only those of an agent, e.g. ada"), JSON)),
    Subcommand(
        ("runs", "show"),
        "what a run said and did, from its transcript",
        "tui.cli.runs:show",
        (
            DIR,
            _RUN,
            argument("--follow", action="store_true", help="go on with what it says from now on, until it has ended"),
            argument("--all", action="store_true", help="from its begin (default: from near its end)"),
            JSON,
        ),
    ),
    Subcommand(
        ("runs", "say"),
        "say something into a run at work; its agent hears it once, before its next turn",
        "tui.cli.runs:say_to",
        (DIR, _RUN, argument("text", metavar="TEXT", help="what you say"), JSON),
    ),
    Subcommand(("runs", "pause"), "hold a run before its next turn", "tui.cli.runs:pause", (DIR, _RUN, JSON)),
    Subcommand(("runs", "resume"), "let a paused run go on", "tui.cli.runs:resume", (DIR, _RUN, JSON)),
    Subcommand(
        ("runs", "kill"),
        "end a run; its task is offered anew",
        "tui.cli.runs:kill",
        (DIR, _RUN, argument("--reason", default="ended by the operator", metavar="TEXT", help="why"), JSON),
    ),
    Subcommand(
        ("runs", "continue"),
        "go on with the session of an ended run, in a new run of its agent on its task",
        "tui.cli.runs:go_on",
        (DIR, _RUN, argument("--note", default="", metavar="TEXT", help="what its agent should know or do now"),
         argument("--resume-agent", action="store_true", help="let its agent work again where it is paused"), JSON),
    ),
)  # fmt: skip
