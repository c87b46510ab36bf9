"""Every subcommand in one table: its words, its arguments and the function that does it.

The parser, docs/cli.md and its test read the same rows. Nothing is imported for a row before it is used.
"""

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


def _argument(*names: str, **options: Any) -> Argument:
    return Argument(names, options)


DIR = _argument("dir", metavar="DIR", help="the company's folder")
JSON = _argument("--json", action="store_true", help="print JSON instead of text")
GOAL = _argument("goal", metavar="GOAL", help="the goal's id, e.g. G1")
NOTE = _argument(
    "--reason", "--note", dest="note", default="", metavar="TEXT", help="your reason; needed where something is refused"
)
HASH = _argument("--hash", help="refuse if the draft or its tasks are not what `goal show` showed beside this hash")
ID = _argument("id", metavar="ID", help="what it is about: G1, T12, Q3 (an approval) or N2 (a round)")
MUST = _argument(
    "--must",
    action="append",
    default=[],
    metavar="TEXT",
    help="a must-have, e.g. 'a list of files :: it names every file'; may be repeated",
)
CONSTRAINT = _argument("--constraint", action="append", default=[], metavar="TEXT", help="a limit; may be repeated")
OUT_OF_SCOPE = _argument(
    "--out-of-scope", action="append", default=[], metavar="TEXT", help="what it does not ask for; may be repeated"
)
AGENT = _argument("agent", metavar="AGENT", help="its short name, e.g. ada")
CAPABILITIES = _argument("--capabilities", metavar="LIST", help="what it can do, e.g. charts,maps")
MANAGER = _argument("--manager", metavar="AGENT", help="who it reports to; '' in an edit: nobody")
RUNNER = _argument("--runner", metavar="KIND", help="what it runs on; its settings as a JSON object will do too")
MAX_RUNS = _argument("--max-runs", type=int, metavar="N", help="runs at once (1-100)")
SCOPE = _argument("scope", metavar="SCOPE", help="company, an agent's short name, or a goal, e.g. G1")
EXPERIENCE = _argument("experience", metavar="ID", help="the experience's id, e.g. E3")
APPROVE_ALL = _argument("--approve-all", action="store_true", help="take every decision by its approving choice")
PACE = _argument("--pace", type=int, metavar="MS", help="how long the agents pause between acts (0-60000)")

SUBCOMMANDS: tuple[Subcommand, ...] = (
    Subcommand(
        ("demo",),
        "watch the rehearsal company audit a folder: no key, no model, no network, no cost",
        "tui.cli.demo:demo",
        (
            _argument("folder", nargs="?", metavar="FOLDER", help="the folder to audit (default: this one)"),
            _argument("--company", metavar="DIR", help="where the company lives; one that is there already goes on"),
            PACE,
            _argument("--headless", action="store_true", help="without the room, as fast as it can"),
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
            _argument("--name", metavar="TEXT", help="its name (default: the folder's)"),
            _argument("--mission", default="", metavar="TEXT", help="what it is for"),
            _argument("--locale", choices=("en", "zh"), default="en", help="the language of its agents"),
            JSON,
        ),
    ),
    Subcommand(
        ("room",),
        "open the room; `opsroom DIR` is the same",
        "tui.cli.room:room",
        (_argument("dir", nargs="?", default=".", metavar="DIR", help="the company's folder (default: this one)"),),
    ),
    Subcommand(
        ("run",),
        "let the company work without the room until its goals have ended",
        "tui.cli.running:run",
        (
            DIR,
            _argument("--headless", action="store_true", help="say that no room is wanted (needed)"),
            APPROVE_ALL,
            _argument("--wait", action="store_true", help="wait at decisions; others take them from another process"),
            JSON,
        ),
    ),
    Subcommand(
        ("serve",),
        "let other programs of this machine in over HTTP and MCP, until you end it",
        "tui.cli.serve:serve",
        (
            _argument("dir", nargs="?", default=".", metavar="DIR", help="the company's folder (default: this one)"),
            _argument("--host", default="127.0.0.1", metavar="HOST", help="127.0.0.1 (default) or ::1"),
            _argument("--port", type=int, default=0, metavar="N", help="the port (default: a free one)"),
            JSON,
        ),
    ),
    Subcommand(
        ("mcp",),
        "give a program the company as tools, over standard input and output",
        "tui.cli.serve:mcp",
        (_argument("dir", nargs="?", metavar="DIR", help="the company's folder (default: OPSROOM_URL, or this one)"),),
    ),
    Subcommand(
        ("company",),
        "change what the company is called, what it is for, or the language of its agents",
        "tui.cli.leading:company",
        (
            DIR,
            _argument("--name", metavar="TEXT", help="its name"),
            _argument("--mission", metavar="TEXT", help="what it is for; '' is not yet defined"),
            _argument("--locale", choices=("en", "zh"), help="the language of its agents"),
            JSON,
        ),
    ),
    Subcommand(("status",), "what the company does now", "tui.cli.status:status", (DIR, JSON)),
    Subcommand(("inbox",), "everything that waits for you, with the command for each", "tui.cli.deciding:inbox",
               (DIR, JSON)),
    Subcommand(
        ("goal", "list"),
        "the goals",
        "tui.cli.goals:list_goals",
        (
            DIR,
            _argument("--status", metavar="LIST", help="only these statuses, e.g. draft,active"),
            _argument("--origin", metavar="LIST", help="only these origins: operator, ceo, import"),
            JSON,
        ),
    ),
    Subcommand(("goal", "show"), "one goal with its rounds, tasks and report", "tui.cli.goals:show_goal",
               (DIR, GOAL, JSON)),
    Subcommand(("goal", "outputs"), "what its tasks delivered, in one list", "tui.cli.goals:goal_outputs",
               (DIR, GOAL, JSON)),
    Subcommand(
        ("goal", "add"),
        "draft a goal; dispatching it is another act",
        "tui.cli.goal_acts:add",
        (
            DIR,
            _argument("title", metavar="TITLE", help="what is to be achieved"),
            _argument("--description", default="", metavar="TEXT", help="more about it"),
            MUST,
            CONSTRAINT,
            OUT_OF_SCOPE,
            _argument("--round-cap", type=int, metavar="N", help="at most so many rounds (1-100)"),
            JSON,
        ),
    ),
    Subcommand(
        ("goal", "explore"),
        "talk a goal over with the coordinator until it is ready",
        "tui.cli.talking:explore",
        (
            DIR,
            _argument("title", nargs="?", metavar="TITLE", help="what a new goal is about"),
            _argument("--goal", metavar="GOAL", help="a draft that is there, instead of a new one"),
            JSON,
        ),
    ),
    Subcommand(
        ("goal", "edit"),
        "change what a draft says; lists are replaced whole",
        "tui.cli.talking:edit",
        (
            DIR,
            GOAL,
            _argument("--title", metavar="TEXT", help="what is to be achieved"),
            _argument("--description", metavar="TEXT", help="more about it"),
            MUST,
            CONSTRAINT,
            OUT_OF_SCOPE,
            JSON,
        ),
    ),
    Subcommand(("goal", "ready"), "end the talk: exactly this may be dispatched", "tui.cli.talking:ready",
               (DIR, GOAL, HASH, JSON)),
    Subcommand(
        ("goal", "end-discussion"),
        "end the discussion of a goal that is planned",
        "tui.cli.talking:end_discussion",
        (DIR, GOAL, _argument("--note", default="", metavar="TEXT", help="what you decide, for those who go on"), JSON),
    ),
    Subcommand(
        ("goal", "waive"),
        "let a goal do without a must-have or a decision",
        "tui.cli.talking:waive",
        (
            DIR,
            GOAL,
            _argument("what", metavar="WHAT", help="a must-have's id, e.g. M2, or a decision's number"),
            _argument("--reason", default="", metavar="TEXT", help="why; needed for a decision"),
            JSON,
        ),
    ),
    Subcommand(
        ("say",),
        "write on the board; @name wakes that agent",
        "tui.cli.talking:say",
        (
            DIR,
            _argument("what", metavar="WHAT", help="a goal or a task: G1, T12"),
            _argument("text", metavar="TEXT", help="what you say; may begin with its kind: /note, /ask, /mail, …"),
            _argument("--kind", metavar="KIND", help="dialogue, note, question, mail_request, decision, …"),
            _argument("--reply-to", type=int, metavar="N", help="the comment that it answers"),
            JSON,
        ),
    ),
    Subcommand(("goal", "review"), "approve exactly this content of a draft", "tui.cli.goal_acts:review",
               (DIR, GOAL, HASH, JSON)),
    Subcommand(
        ("goal", "dispatch"),
        "put a reviewed draft to work",
        "tui.cli.goal_acts:dispatch",
        (
            DIR,
            GOAL,
            _argument("--no-discussion", action="store_true", help="its draft tasks become round 1 at once"),
            HASH,
            JSON,
        ),
    ),
    Subcommand(
        ("goal", "cancel"),
        "end a goal for good; its open tasks and runs end too",
        "tui.cli.goal_acts:cancel",
        (DIR, GOAL, _argument("--reason", required=True, metavar="TEXT", help="why"), JSON),
    ),
    Subcommand(("goal", "pause"), "start no new run for a goal until it is resumed", "tui.cli.goal_acts:pause",
               (DIR, GOAL, JSON)),
    Subcommand(("goal", "resume"), "let a paused goal go on", "tui.cli.goal_acts:resume", (DIR, GOAL, JSON)),
    Subcommand(
        ("goal", "recall"),
        "take back what stage B put to work: a draft again, which only you can dispatch",
        "tui.cli.leading:recall",
        (DIR, GOAL, _argument("--reason", default="", metavar="TEXT", help="why"), JSON),
    ),
    Subcommand(("goal", "archive"), "put an ended goal out of sight", "tui.cli.goal_acts:archive", (DIR, GOAL, JSON)),
    Subcommand(
        ("task", "list"),
        "the tasks",
        "tui.cli.tasks:list_tasks",
        (
            DIR,
            _argument("--status", metavar="LIST", help="only these statuses, e.g. working,review"),
            _argument("--goal", metavar="GOAL", help="only this goal's"),
            _argument("--assignee", metavar="LIST", help="only these agents', by their short names"),
            _argument("--round", type=int, metavar="N", help="only of the rounds with this number"),
            JSON,
        ),
    ),
    Subcommand(
        ("task", "show"),
        "one task with its discussion, outputs, reviews and runs",
        "tui.cli.tasks:show_task",
        (DIR, _argument("task", metavar="TASK", help="the task's id, e.g. T12"), JSON),
    ),
    Subcommand(
        ("agent", "list"),
        "the staff",
        "tui.cli.agents:list_agents",
        (DIR, _argument("--status", metavar="LIST", help="active, paused, terminated (default: active,paused)"), JSON),
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
            _argument("--role", required=True, metavar="ROLE",
                      help="ceo, coordinator, planner, executor, reviewer or challenger"),
            _argument("--name", metavar="TEXT", help="its name (default: the short one)"),
            CAPABILITIES,
            MANAGER,
            RUNNER,
            MAX_RUNS,
            _argument("--budget", metavar="USD", help="what it may spend a day, e.g. 2.50"),
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
            _argument("--name", metavar="TEXT", help="its name"),
            CAPABILITIES,
            MANAGER,
            _argument("--duties", metavar="TEXT", help="what it is responsible for"),
            RUNNER,
            MAX_RUNS,
            JSON,
        ),
    ),
    Subcommand(
        ("agent", "pause"),
        "end its run, give its task back, and give it no new one",
        "tui.cli.agents:pause",
        (DIR, AGENT, _argument("--reason", default="", metavar="TEXT", help="why"), JSON),
    ),
    Subcommand(("agent", "resume"), "let a paused agent work again", "tui.cli.agents:resume", (DIR, AGENT, JSON)),
    Subcommand(
        ("agent", "retire"),
        "let an agent go for good; what it did stays",
        "tui.cli.agents:retire",
        (DIR, AGENT, _argument("--reason", required=True, metavar="TEXT", help="why"), JSON),
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
            _argument("usd", metavar="USD", help="so much a period, e.g. 2.50; 0 takes the limit away"),
            _argument("--period", choices=("day", "week", "month", "total"), default="day",
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
            _argument("usd", metavar="USD", help="so much more, e.g. 2.50"),
            _argument("--once", action="store_true", help="only in the period that it is now"),
            JSON,
        ),
    ),
    Subcommand(
        ("experience", "list"),
        "what agents want each other to know",
        "tui.cli.memory:list_experiences",
        (DIR, _argument("--status", metavar="LIST", help="new, kept, dropped (default: all)"), JSON),
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
            _argument("words", metavar="WORDS", help="any of them is enough"),
            _argument("--limit", type=int, default=10, metavar="N", help="at most so many (1-100; 10)"),
            JSON,
        ),
    ),
    Subcommand(
        ("prompts", "check"),
        "check every template in every language, and the company's own ones",
        "tui.cli.prompts:check",
        (_argument("dir", nargs="?", metavar="DIR", help="the company's folder (default: shipped texts only)"), JSON),
    ),
    Subcommand(
        ("prompts", "show"),
        "what a run was told, or what an agent would be told now",
        "tui.cli.prompts:show",
        (
            DIR,
            _argument("--run", metavar="RUN", help="the run's id, e.g. R12; one that is queued: what it would be told"),
            _argument("--agent", metavar="AGENT", help="an agent's short name: what it would be told now"),
            _argument("--task", metavar="TASK", help="with --agent: about this task"),
            _argument("--kind", metavar="KIND", help="with --agent: in a run of this kind (default: as the task is)"),
            _argument("--layer", metavar="LAYER", help="only the text of this layer, e.g. L2c"),
            JSON,
        ),
    ),
    Subcommand(
        ("prompts", "diff"),
        "how two runs were told otherwise, layer by layer",
        "tui.cli.prompts:diff",
        (
            DIR,
            _argument("run", metavar="RUN", help="a run's id, e.g. R12"),
            _argument("other", nargs="?", metavar="OTHER", help="another run's, or `now`: the same run now (default)"),
            JSON,
        ),
    ),
    Subcommand(("prompts", "overrides"), "the company's own texts, and how they differ from the shipped ones",
               "tui.cli.prompts:overrides", (DIR, JSON)),
    Subcommand(
        ("events",),
        "what happened, oldest first",
        "tui.cli.events:events",
        (
            DIR,
            _argument("--after", type=int, default=0, metavar="N", help="only events with a greater number"),
            _argument("--follow", action="store_true", help="go on with what happens from now on"),
            _argument("--json", action="store_true", help="print one JSON object a line"),
        ),
    ),
    Subcommand(("approve",), "say yes to what waits (also: accept a report, resume a task)", "tui.cli.deciding:approve",
               (DIR, ID, NOTE, HASH, JSON)),
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
        (DIR, _argument("--reason", default="stopped by the operator", metavar="TEXT", help="why"), JSON),
    ),
    Subcommand(
        ("autonomy",),
        "who puts the CEO's drafts to work: you (A), or the system within limits (B)",
        "tui.cli.leading:autonomy",
        (
            DIR,
            _argument("stage", nargs="?", choices=("A", "B"), metavar="STAGE", help="A or B (default: tell which)"),
            _argument("--budget", metavar="USD", help="what stage B may spend a day, e.g. 5.00 (default: as it was)"),
            _argument("--yes", action="store_true", help="you know what B does and costs; without it you are told"),
            JSON,
        ),
    ),
    Subcommand(("heartbeat",), "let the CEO look after the company now", "tui.cli.leading:heartbeat", (DIR, JSON)),
    Subcommand(
        ("backup",),
        "copy the board in one piece, also while it is in use",
        "tui.cli.care:backup",
        (
            DIR,
            _argument("target", nargs="?", metavar="TARGET", help="a new file, or a folder (default: the company's)"),
            JSON,
        ),
    ),
    Subcommand(
        ("simulate",),
        "try a policy: scripted agents in virtual time, no model, nothing is kept",
        "tui.cli.simulating:simulate",
        (
            _argument("--seed", type=int, default=1, metavar="N", help="the same number gives the same life (1)"),
            _argument("--goals", type=int, default=2, metavar="N", help="how many goals (1-100; 2)"),
            _argument("--agents", type=int, default=3, metavar="N", help="how many executors (0-2000; 3)"),
            _argument("--tasks", type=int, default=0, metavar="N",
                      help="draft tasks a goal begins with (0-500; 0: the agents make them)"),
            _argument("--ticks", type=int, default=400, metavar="N", help="at most so many ticks of 30 s (400)"),
            _argument("--policy", metavar="FILE", help="habits, caps and the operator's manner, as TOML"),
            JSON,
        ),
    ),
    Subcommand(
        ("eval",),
        "play scenarios and score what the agents do; compare it with what they did before",
        "tui.cli.evaluating:evaluate",
        (
            _argument("--scenario", metavar="NAME", help="only this one"),
            _argument("--mode", metavar="MODE", help="only those that begin in this mode of the CEO"),
            _argument("--runner", metavar="KIND", help="rehearsal (default), recorded or chat"),
            _argument("--replies", metavar="FILE", help="what `recorded` replies: TOML, or a recorded baseline"),
            _argument("--repeat", type=int, default=1, metavar="K", help="play each so often (1-100; 1)"),
            _argument("--record", metavar="FILE", help="write what was done as a baseline"),
            _argument("--against", metavar="FILE", help="compare with this baseline; 1 below the bar in any mode"),
            _argument("--folder", metavar="DIR", help="your own scenarios instead of the shipped ones"),
            JSON,
        ),
    ),
    Subcommand(
        ("doctor",),
        "check this machine, and a company's settings and board",
        "tui.cli.care:doctor",
        (_argument("dir", nargs="?", metavar="DIR", help="the company's folder"), JSON),
    ),
)  # fmt: skip
GROUPS = {
    group: ", ".join(sub.words[1] for sub in SUBCOMMANDS if len(sub.words) == 2 and sub.words[0] == group)
    for group in dict.fromkeys(sub.words[0] for sub in SUBCOMMANDS if len(sub.words) == 2)
}
