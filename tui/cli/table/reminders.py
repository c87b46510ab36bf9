"""What agents are told: experiences, knowledge, prompts."""

from tui.cli.table.row import DIR, EXPERIENCE, JSON, Subcommand, argument

REMINDERS: tuple[Subcommand, ...] = (
    Subcommand(
        ("experience", "list"),
        "what agents want each other to know",
        "tui.cli.memory:list_experiences",
        (DIR, argument("--status", metavar="LIST", help="new, kept, dropped (default: all)"), JSON),
    ),
    Subcommand(("experience", "keep"), "let agents be told of it when their task is about the same",
               "tui.cli.memory:keep", (DIR, EXPERIENCE, JSON)),
    Subcommand(("experience", "drop"), "tell no agent of it; it stays on the board", "tui.cli.memory:drop",
               (DIR, EXPERIENCE, JSON)),
    Subcommand(("knowledge", "list"), "the files in knowledge/, and what is left out", "tui.cli.memory:list_knowledge",
               (DIR, JSON)),
    Subcommand(
        ("knowledge", "search"),
        "the sections that are about some words, as agents are reminded of them",
        "tui.cli.memory:search_knowledge",
        (
            DIR,
            argument("words", metavar="WORDS", help="any of them is enough"),
            argument("--limit", type=int, default=10, metavar="N", help="at most so many (1-100; 10)"),
            JSON,
        ),
    ),
    Subcommand(
        ("prompts", "check"),
        "check every template in every language, and the company's own ones",
        "tui.cli.prompts:check",
        (argument("dir", nargs="?", metavar="DIR", help="the company's folder (default: shipped texts only)"), JSON),
    ),
    Subcommand(
        ("prompts", "show"),
        "what a run was told, or what an agent would be told now",
        "tui.cli.prompts:show",
        (
            DIR,
            argument("--run", metavar="RUN", help="the run's id, e.g. R12; one that is queued: what it would be told"),
            argument("--agent", metavar="AGENT", help="an agent's short name: what it would be told now"),
            argument("--task", metavar="TASK", help="with --agent: about this task"),
            argument("--kind", metavar="KIND", help="with --agent: in a run of this kind (default: as the task is)"),
            argument("--layer", metavar="LAYER", help="only the text of this layer, e.g. L2c"),
            JSON,
        ),
    ),
    Subcommand(
        ("prompts", "diff"),
        "how two runs were told otherwise, layer by layer",
        "tui.cli.prompts:diff",
        (
            DIR,
            argument("run", metavar="RUN", help="a run's id, e.g. R12"),
            argument("other", nargs="?", metavar="OTHER", help="another run's, or `now`: the same run now (default)"),
            JSON,
        ),
    ),
    Subcommand(("prompts", "overrides"), "the company's own texts, and how they differ from the shipped ones",
               "tui.cli.prompts:overrides", (DIR, JSON)),
)  # fmt: skip
