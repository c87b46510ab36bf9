"""What a row of the table is, and the arguments that several subcommands take."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument as argparse takes it."""

    names: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Subcommand:
    """`words` as they are typed; `handler` is `module:function`, called with the parsed arguments."""

    words: tuple[str, ...]
    about: str
    handler: str
    arguments: tuple[Argument, ...] = ()

    @property
    def name(self) -> str:
        return " ".join(self.words)


def argument(*names: str, **options: Any) -> Argument:
    """A row's argument, written as a call of `add_argument`."""
    return Argument(names, options)


DIR = argument("dir", metavar="DIR", help="the company's folder")
JSON = argument("--json", action="store_true", help="print JSON instead of text")
GOAL = argument("goal", metavar="GOAL", help="the goal's id, e.g. G1")
NOTE = argument(
    "--reason", "--note", dest="note", default="", metavar="TEXT", help="your reason; needed where something is refused"
)
HASH = argument("--hash", help="refuse if the draft or its tasks are not what `goal show` showed beside this hash")
ID = argument("id", metavar="ID", help="what it is about: G1, T12, Q3 (an approval) or N2 (a round)")
MUST = argument(
    "--must",
    action="append",
    default=[],
    metavar="TEXT",
    help="a must-have, e.g. 'a list of files :: it names every file'; may be repeated",
)
CONSTRAINT = argument("--constraint", action="append", default=[], metavar="TEXT", help="a limit; may be repeated")
OUT_OF_SCOPE = argument(
    "--out-of-scope", action="append", default=[], metavar="TEXT", help="what it does not ask for; may be repeated"
)
REPOSITORY = argument(
    "--repository", metavar="PATH", help="the git repository of its tasks, e.g. ../site or ../site#develop"
)
AGENT = argument("agent", metavar="AGENT", help="its short name, e.g. ada")
CAPABILITIES = argument("--capabilities", metavar="LIST", help="what it can do, e.g. charts,maps")
MANAGER = argument("--manager", metavar="AGENT", help="who it reports to; '' in an edit: nobody")
RUNNER = argument("--runner", metavar="KIND", help="what it runs on; its settings as a JSON object will do too")
MAX_RUNS = argument("--max-runs", type=int, metavar="N", help="runs at once (1-100)")
SCOPE = argument("scope", metavar="SCOPE", help="company, an agent's short name, or a goal, e.g. G1")
EXPERIENCE = argument("experience", metavar="ID", help="the experience's id, e.g. E3")
APPROVE_ALL = argument("--approve-all", action="store_true", help="take every decision by its approving choice")
FOR_RUN = argument("--for-run", action="store_true", help="what a program asks: allow it until its run ends")
PACE = argument("--pace", type=int, metavar="MS", help="how long the agents pause between acts (0-60000)")
