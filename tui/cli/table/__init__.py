"""Every subcommand in one table: its words, its arguments and the function that does it.

The parser, docs/cli.md and its test read the same rows. Nothing is imported for a row before it is used.
"""

from tui.cli.table.company import COMPANY
from tui.cli.table.goals import GOALS
from tui.cli.table.leading import LEADING
from tui.cli.table.reminders import REMINDERS
from tui.cli.table.row import Subcommand
from tui.cli.table.runs import RUNS
from tui.cli.table.staff import STAFF
from tui.cli.table.tools import TOOLS
from tui.cli.table.worktrees import WORKTREES

SUBCOMMANDS: tuple[Subcommand, ...] = (*COMPANY, *GOALS, *WORKTREES, *RUNS, *STAFF, *REMINDERS, *LEADING, *TOOLS)
GROUPS = {
    group: ", ".join(sub.words[1] for sub in SUBCOMMANDS if len(sub.words) == 2 and sub.words[0] == group)
    for group in dict.fromkeys(sub.words[0] for sub in SUBCOMMANDS if len(sub.words) == 2)
}
