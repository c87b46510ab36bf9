"""Beside the work: backup, simulation, evals, the doctor."""

from tui.cli.table.row import DIR, JSON, Subcommand, argument

TOOLS: tuple[Subcommand, ...] = (
    Subcommand(
        ("backup",),
        "copy the board in one piece, also while it is in use",
        "tui.cli.care:backup",
        (
            DIR,
            argument("target", nargs="?", metavar="TARGET", help="a new file, or a folder (default: the company's)"),
            JSON,
        ),
    ),
    Subcommand(
        ("simulate",),
        "try a policy: scripted agents in virtual time, no model, nothing is kept",
        "tui.cli.simulating:simulate",
        (
            argument("--seed", type=int, default=1, metavar="N", help="the same number gives the same life (1)"),
            argument("--goals", type=int, default=2, metavar="N", help="how many goals (1-100; 2)"),
            argument("--agents", type=int, default=3, metavar="N", help="how many executors (1-2000; 3)"),
            argument("--tasks", type=int, default=0, metavar="N",
                      help="draft tasks a goal begins with (0-500; 0: the agents make them)"),
            argument("--ticks", type=int, default=400, metavar="N", help="at most so many ticks of 30 s (400)"),
            argument("--policy", metavar="FILE", help="habits, caps and the operator's manner, as TOML"),
            JSON,
        ),
    ),
    Subcommand(
        ("eval",),
        "play scenarios and score what the agents do; compare it with what they did before",
        "tui.cli.evaluating:evaluate",
        (
            argument("--scenario", metavar="NAME", help="only this one"),
            argument("--mode", metavar="MODE", help="only those that begin in this mode of the CEO"),
            argument("--runner", metavar="KIND", help="rehearsal (default), recorded or chat"),
            argument("--replies", metavar="FILE", help="what `recorded` replies: TOML, or a recorded baseline"),
            argument("--repeat", type=int, default=1, metavar="K", help="play each so often (1-100; 1)"),
            argument("--record", metavar="FILE", help="write what was done as a baseline"),
            argument("--against", metavar="FILE", help="compare with this baseline; 1 below the bar in any mode"),
            argument("--folder", metavar="DIR", help="your own scenarios instead of the shipped ones"),
            JSON,
        ),
    ),
    Subcommand(
        ("config",),
        "your own settings: theme, keys, what is remembered",
        "tui.cli.configuring:config",
        (
            argument("act", nargs="?", metavar="ACT", choices=("show", "write", "check", "path"), default="show",
                     help="show: all settings with comments (default); write: a new file of them; check: yours; path"),
        ),
    ),
    Subcommand(
        ("completion",),
        "what your shell needs to complete subcommands, options and folders",
        "tui.cli.completion:completion",
        (argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help="bash, zsh or fish"),),
    ),
    Subcommand(
        ("doctor",),
        "check this machine, what agents could run on here, and a company's settings, agents and board",
        "tui.cli.care:doctor",
        (
            argument("dir", nargs="?", metavar="DIR", help="the company's folder"),
            argument("--call", action="store_true", help="try one real call for each agent, after asking"),
            argument("--yes", action="store_true", help="do not ask before the calls"),
            JSON,
        ),
    ),
)  # fmt: skip
