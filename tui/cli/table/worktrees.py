"""Work trees in git: which there are, what was changed in them, and taking one away."""

from tui.cli.table.row import DIR, JSON, Subcommand, argument

_TASK = argument("task", metavar="TASK", help="the task's id, e.g. T12; T12-2 is its second work tree")
_TREE = argument("tree", metavar="TREE", help="the task's id, e.g. T12; T12-2 is its second work tree")

WORKTREES: tuple[Subcommand, ...] = (
    Subcommand(
        ("task", "edit"),
        "name the git repository that a task is worked on in; its agent gets a work tree there",
        "tui.cli.worktrees:edit_task",
        (
            DIR,
            argument("task", metavar="TASK", help="the task's id, e.g. T12"),
            argument("--repository", required=True, metavar="PATH",
                     help="from the company's folder, e.g. ../site or ../site#develop; '' is none"),
            JSON,
        ),
    ),
    Subcommand(("task", "diff"), "what was changed in a task's work tree since it began", "tui.cli.worktrees:diff",
               (DIR, _TASK, JSON)),
    Subcommand(("worktrees", "list"), "the work trees of all tasks; `opsroom worktrees DIR` is the same",
               "tui.cli.worktrees:list_trees", (DIR, JSON)),
    Subcommand(
        ("worktrees", "remove"),
        "take a work tree away when nothing in it would be lost; its branch stays",
        "tui.cli.worktrees:remove",
        (
            DIR,
            _TREE,
            argument("--with-ignored", action="store_true", help="files that git ignores may go with it"),
            JSON,
        ),
    ),
)  # fmt: skip
