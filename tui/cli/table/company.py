"""A company as a whole: the demo, founding one, opening and serving it, and what it does."""

from tui.cli.table.row import APPROVE_ALL, DIR, JSON, PACE, Subcommand, argument

COMPANY: tuple[Subcommand, ...] = (
    Subcommand(
        ("demo",),
        "watch the rehearsal company audit a folder: no key, no model, no network, no cost",
        "tui.cli.demo:demo",
        (
            argument("folder", nargs="?", metavar="FOLDER", help="the folder to audit (default: this one)"),
            argument("--company", metavar="DIR", help="where the company lives; one that is there already goes on"),
            PACE,
            argument("--headless", action="store_true", help="without the room, as fast as it can"),
            APPROVE_ALL,
            JSON,
        ),
    ),
    Subcommand(
        ("init",),
        "make a company in a new folder; nothing is dispatched before you start it",
        "tui.cli.founding:init",
        (
            DIR,
            argument("--name", metavar="TEXT", help="its name (default: the folder's)"),
            argument("--mission", metavar="TEXT", help="what it is for"),
            argument("--locale", choices=("en", "zh"), help="the language of its agents (default: en)"),
            argument("--template", metavar="NAME",
                     help="who works there: software-team, research-desk, content-team or empty (default)"),
            argument("--runner", metavar="NAME",
                     help="what they run on: a name that is found here, e.g. claude or ollama, or settings as JSON"),
            argument("--runs-at-once", type=int, metavar="N", help="how many runs at once (default: the template's)"),
            argument("--budget", metavar="USD", help="what all may spend a day, e.g. 5 (default: the template's)"),
            JSON,
        ),
    ),
    Subcommand(
        ("room",),
        "open the room; `opsroom DIR` is the same",
        "tui.cli.room:room",
        (argument("dir", nargs="?", metavar="DIR", help="the company's folder (default: this one)"),),
    ),
    Subcommand(
        ("run",),
        "let the company work without the room until its goals have ended",
        "tui.cli.running:run",
        (
            DIR,
            argument("--headless", action="store_true", help="say that no room is wanted (needed)"),
            APPROVE_ALL,
            argument("--wait", action="store_true", help="wait at decisions; others take them from another process"),
            JSON,
        ),
    ),
    Subcommand(
        ("serve",),
        "let other programs of this machine in over HTTP and MCP, until you end it",
        "tui.cli.serve:serve",
        (
            argument("dir", nargs="?", default=".", metavar="DIR", help="the company's folder (default: this one)"),
            argument("--host", default="127.0.0.1", metavar="HOST", help="127.0.0.1 (default) or ::1"),
            argument("--port", type=int, default=0, metavar="N", help="the port (default: a free one)"),
            argument("--web", action="store_true", help="show the room in a browser, too, at the address it prints"),
            argument("--web-port", type=int, default=0, metavar="N", help="the port of --web (default: a free one)"),
            JSON,
        ),
    ),
    Subcommand(
        ("mcp",),
        "give a program the company as tools, over standard input and output",
        "tui.cli.serve:mcp",
        (argument("dir", nargs="?", metavar="DIR", help="the company's folder (default: OPSROOM_URL, or this one)"),),
    ),
    Subcommand(
        ("company",),
        "change what the company is called, what it is for, or the language of its agents",
        "tui.cli.leading:company",
        (
            DIR,
            argument("--name", metavar="TEXT", help="its name"),
            argument("--mission", metavar="TEXT", help="what it is for; '' is not yet defined"),
            argument("--locale", choices=("en", "zh"), help="the language of its agents"),
            JSON,
        ),
    ),
    Subcommand(("status",), "what the company does now", "tui.cli.status:status", (DIR, JSON)),
    Subcommand(("inbox",), "everything that waits for you, with the command for each", "tui.cli.deciding:inbox",
               (DIR, JSON)),
)  # fmt: skip
