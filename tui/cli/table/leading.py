"""What happened, what the operator decides about it, and whether the company runs."""

from tui.cli.table.row import DIR, FOR_RUN, HASH, ID, JSON, NOTE, Subcommand, argument

LEADING: tuple[Subcommand, ...] = (
    Subcommand(
        ("events",),
        "what happened, oldest first",
        "tui.cli.events:events",
        (
            DIR,
            argument("--filter", default="", metavar="WORDS", help="the history's filter, e.g. 'T12 since:2h'"),
            argument("--after", type=int, default=0, metavar="N", help="only events with a greater number"),
            argument("--follow", action="store_true", help="go on with what happens from now on"),
            argument("--json", action="store_true", help="print one JSON object a line"),
        ),
    ),
    Subcommand(("approve",), "say yes to what waits (also: accept a report, resume a task)", "tui.cli.deciding:approve",
               (DIR, ID, NOTE, HASH, FOR_RUN, JSON)),
    Subcommand(("reject",), "say no to what waits (a draft or task is cancelled)", "tui.cli.deciding:reject",
               (DIR, ID, NOTE, JSON)),
    Subcommand(("block",), "the same as reject, named as the room's key", "tui.cli.deciding:reject",
               (DIR, ID, NOTE, JSON)),
    Subcommand(("revise",), "send what waits back with a note", "tui.cli.deciding:revise", (DIR, ID, NOTE, JSON)),
    Subcommand(("start",), "let the company dispatch runs", "tui.cli.running:start", (DIR, JSON)),
    Subcommand(
        ("stop",),
        "stop everything: runs end, their tasks go back",
        "tui.cli.running:stop",
        (DIR, argument("--reason", default="stopped by the operator", metavar="TEXT", help="why"), JSON),
    ),
    Subcommand(
        ("autonomy",),
        "who puts the CEO's drafts to work: you (A), or the system within limits (B)",
        "tui.cli.leading:autonomy",
        (
            DIR,
            argument("stage", nargs="?", choices=("A", "B"), metavar="STAGE", help="A or B (default: tell which)"),
            argument("--budget", metavar="USD", help="what stage B may spend a day, e.g. 5.00 (default: as it was)"),
            argument("--yes", action="store_true", help="you know what B does and costs; without it you are told"),
            JSON,
        ),
    ),
    Subcommand(("heartbeat",), "let the CEO look after the company now", "tui.cli.leading:heartbeat", (DIR, JSON)),
)  # fmt: skip
