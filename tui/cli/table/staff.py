"""Agents and budgets."""

from tui.cli.table.row import AGENT, CAPABILITIES, DIR, JSON, MANAGER, MAX_RUNS, RUNNER, SCOPE, Subcommand, argument

STAFF: tuple[Subcommand, ...] = (
    Subcommand(
        ("agent", "list"),
        "the staff",
        "tui.cli.agents:list_agents",
        (DIR, argument("--status", metavar="LIST", help="active, paused, terminated (default: active,paused)"), JSON),
    ),
    Subcommand(("agent", "show"), "one agent with what it holds and who reports to it", "tui.cli.agents:show_agent",
               (DIR, AGENT, JSON)),
    Subcommand(
        ("agent", "hire"),
        "hire an agent directly",
        "tui.cli.agents:hire",
        (
            DIR,
            AGENT,
            argument("--role", required=True, metavar="ROLE",
                      help="ceo, coordinator, planner, executor, reviewer or challenger"),
            argument("--name", metavar="TEXT", help="its name (default: the short one)"),
            CAPABILITIES,
            MANAGER,
            RUNNER,
            MAX_RUNS,
            argument("--budget", metavar="USD", help="what it may spend a day, e.g. 2.50"),
            JSON,
        ),
    ),
    Subcommand(
        ("agent", "edit"),
        "change an agent; what is not named stays",
        "tui.cli.agents:edit",
        (
            DIR,
            AGENT,
            argument("--name", metavar="TEXT", help="its name"),
            CAPABILITIES,
            MANAGER,
            argument("--duties", metavar="TEXT", help="what it is responsible for"),
            RUNNER,
            MAX_RUNS,
            JSON,
        ),
    ),
    Subcommand(
        ("agent", "pause"),
        "end its run, give its task back, and give it no new one",
        "tui.cli.agents:pause",
        (DIR, AGENT, argument("--reason", default="", metavar="TEXT", help="why"), JSON),
    ),
    Subcommand(("agent", "resume"), "let a paused agent work again", "tui.cli.agents:resume", (DIR, AGENT, JSON)),
    Subcommand(
        ("agent", "retire"),
        "let an agent go for good; what it did stays",
        "tui.cli.agents:retire",
        (DIR, AGENT, argument("--reason", required=True, metavar="TEXT", help="why"), JSON),
    ),
    Subcommand(("org",), "who reports to whom", "tui.cli.agents:org", (DIR, JSON)),
    Subcommand(("budget", "show"), "what was spent, and how the budgets stand; `opsroom budget DIR` is the same",
               "tui.cli.budgets:show", (DIR, JSON)),
    Subcommand(
        ("budget", "set"),
        "limit what the company, an agent or a goal may spend",
        "tui.cli.budgets:set_limit",
        (
            DIR,
            SCOPE,
            argument("usd", metavar="USD", help="so much a period, e.g. 2.50; 0 takes the limit away"),
            argument("--period", choices=("day", "week", "month", "total"), default="day",
                      help="what it counts for, in UTC (default: day)"),
            JSON,
        ),
    ),
    Subcommand(
        ("budget", "raise"),
        "allow more; what was held starts",
        "tui.cli.budgets:raise_limit",
        (
            DIR,
            SCOPE,
            argument("usd", metavar="USD", help="so much more, e.g. 2.50"),
            argument("--once", action="store_true", help="only in the period that it is now"),
            JSON,
        ),
    ),
)  # fmt: skip
