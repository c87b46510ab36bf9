"""The one table of what a person can do: name, keys, words, and when it applies.

The keymap, the footer, the help and the palette are made from it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.domain.entities import Company, Entity, Goal, Round, Task
from core.domain.inbox import Choice, InboxItem
from core.domain.states import Autonomy, GoalStatus
from tui.letters import SLASHES

DECIDE, WRITE, RUN, LOOK = "Decide", "Write and talk", "Run the company", "Look around"


@dataclass(frozen=True, slots=True)
class Situation:
    """What the keys act on now."""

    company: Company | None = None
    ref: str = ""
    thing: Entity | None = None
    item: InboxItem | None = None
    is_owner: bool = True
    held: int = 0
    in_detail: bool = False
    filtered: bool = False
    discussed: bool = False
    choices: Mapping[str, Choice] = field(default_factory=dict)
    marked: int = 0

    @property
    def asks_by_itself(self) -> bool:
        """Whether a question is selected that is shown as itself: about the company as a whole, or of a run."""
        asks = self.item is not None and self.item.id.startswith("approval:")
        return asks and self.ref.startswith(("company", "run:"))

    @property
    def tag(self) -> str:
        """The short name of the thing, e.g. G3."""
        asks = self.item is not None and self.item.id.startswith("approval:")
        if self.item is not None and asks and (self.thing is None or self.asks_by_itself):
            return f"Q{self.item.id.partition(':')[2]}"
        return "the company" if self.thing is None or self.ref.startswith("company") else self.thing.name_tag


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do. `why_not` says why it does not apply now, and nothing when it does."""

    name: str
    keys: tuple[str, ...]
    label: str
    about: str
    group: str
    why_not: Callable[[Situation], str] = lambda _situation: ""
    rank: int = 9  # in the footer, the lowest first; 9 is in the help only

    @property
    def shown_key(self) -> str:
        """Its first key as people read it, where the settings name no other."""
        return SHOWN.get(self.keys[0], self.keys[0])


SHOWN = {
    "exclamation_mark": "!", "question_mark": "?", "slash": "/", "colon": ":", "escape": "esc", "ctrl+p": "^p",
    "dollar_sign": "$", "greater_than_sign": ">", "less_than_sign": "<", "plus": "+", "minus": "-", "equals_sign": "=",
    "number_sign": "#",
}  # fmt: skip
LEADING = frozenset({"agents", "stage", "heartbeat", "recall", "mission", "budget"})
"""Actions that belong to `Leading`."""
ARRANGING = frozenset({"zoom", "wider", "narrower", "higher", "lower", "hide", "all_panes"})
"""Actions that belong to `Arranging`."""
WAITING = frozenset({"snooze", "snoozed", "number"})
"""Actions that belong to `Waiting`."""
WAYS = frozenset({"palette", "jump", "jump_back", "copy", "page", "edit_copy"})
"""Actions that belong to `Ways`: they mean the same on every screen that needs their keys for nothing else."""
DECISION_KEYS = {"approve": "a", "dispatch": "d", "block": "b", "revise": "r", "for_run": "f"}


def _offers(key: str) -> Callable[[Situation], str]:
    return lambda situation: "" if key in situation.choices else not_offered(situation, key)


def not_offered(situation: Situation, key: str) -> str:
    """Why what is selected cannot be decided by this key, as a clause without its full stop."""
    if key == "f" and any(choice.command == "AnswerPermission" for choice in situation.choices.values()):
        return f"{situation.tag} cannot be allowed for its whole run: such an act asks each time"
    return f"{situation.tag} does not wait for that"


def _started(situation: Situation) -> str:
    return "the company is stopped already" if situation.company and not situation.company.dispatching else ""


def _stopped(situation: Situation) -> str:
    return "" if situation.company and not situation.company.dispatching else "the company is started already"


def _started_only(situation: Situation) -> str:
    return "" if situation.company and situation.company.dispatching else "the company is stopped"


def _has_a_thread(situation: Situation) -> str:
    return "" if isinstance(situation.thing, (Goal, Task)) else "comments belong to goals and tasks"


def _is_a_draft(situation: Situation) -> str:
    thing = situation.thing
    return "" if isinstance(thing, Goal) and thing.status == GoalStatus.DRAFT else f"{situation.tag} is no draft"


def _can_be_edited(situation: Situation) -> str:
    return "" if "e" in situation.choices else _is_a_draft(situation)


def _is_of_stage_b(situation: Situation) -> str:
    thing = situation.thing
    of_b = isinstance(thing, Goal) and thing.auto_dispatched_at is not None
    at_work = isinstance(thing, Goal) and thing.status in (GoalStatus.PLANNING, GoalStatus.ACTIVE)
    return "" if of_b and at_work else f"{situation.tag} is not at work by stage B"


def _is_discussed(situation: Situation) -> str:
    return "" if situation.discussed else f"{situation.tag} is not in discussion"


def _owns(situation: Situation) -> str:
    return "" if situation.is_owner else "this room only follows; the room that owns the board ticks"


ACTIONS: tuple[Action, ...] = (
    Action("approve", ("a",), "approve", "Approve, accept, resume: what it waits for", DECIDE, _offers("a"), 0),
    Action("dispatch", ("d",), "dispatch", "Put a reviewed goal to work", DECIDE, _offers("d"), 1),
    Action("for_run", ("f",), "for its run", "Allow what a program asks until its run ends", DECIDE, _offers("f"), 1),
    Action("block", ("b",), "reject", "Reject or cancel it, with a reason", DECIDE, _offers("b"), 2),
    Action("revise", ("r",), "send back", "Send it back to its author with a note", DECIDE, _offers("r"), 3),
    Action("recall", ("R",), "recall", "Take back a goal that stage B dispatched; it asks", DECIDE,
           _is_of_stage_b, 2),
    Action("undo", ("u",), "undo", "Take back a decision that is held (5 s)", DECIDE,
           lambda s: "" if s.held else "nothing is held that could be taken back", 0),
    Action("snooze", ("S",), "put off", "An hour, until tomorrow or until it changes; wakes it", DECIDE),
    Action("snoozed", ("I",), "what is put off", "Show what is put off, or hide it again", DECIDE),
    Action("number", ("number_sign",), "to number", "Go to an item of the inbox by its number", DECIDE),
    Action("comment", ("c",), "comment", "Write below it; @name wakes an agent", WRITE,
           _has_a_thread, 5),
    Action("new_goal", ("n",), "new goal", "Talk a new goal over with the coordinator", WRITE,
           rank=7),
    Action("explore", ("e",), "talk", "Talk a draft over; edit a hire or a reorganisation", WRITE,
           _can_be_edited, 2),
    Action("end_discussion", ("E",), "end talk", "End the discussion of a goal in planning", WRITE,
           _is_discussed, 2),
    Action("start", ("s",), "start", "Start the company: runs are dispatched", RUN, _stopped, 4),
    Action("stop", ("exclamation_mark",), "stop all", "End all runs; their tasks go back", RUN, _started,
           8),
    Action("tick", ("t",), "tick", "Tick now instead of waiting for the clock", RUN, _owns, 8),
    Action("dry_run", ("T",), "dry run", "What the next tick would do and hold back", RUN, _owns),
    Action("stage", ("B",), "stage B", "Stage B on, after a question; or back to A at once", RUN),
    Action("heartbeat", ("H",), "heartbeat", "Call the CEO's heartbeat now", RUN, _started_only),
    Action("mission", ("M",), "mission", "Say what the company is for: the CEO proposes goals from it", RUN),
    Action("budget", ("dollar_sign",), "budget", "Budget of the selected goal, or of the company", RUN),
    Action("home", ("C",), "control", "Back to the control room from wherever you are", LOOK,
           lambda _situation: "this is the control room"),
    Action("board", ("O",), "board", "The whole board: table, tree, what waits for what", LOOK),
    Action("agents", ("A",), "agents", "Who works here: chart, hire, pause, budget", LOOK),
    Action("prompts", ("P",), "prompts", "What runs were told, and what an agent would be told now", LOOK),
    Action("watch", ("w",), "watch", "Its newest run, live: speak, pause, end", LOOK),
    Action("history", ("L",), "history", "The log: who did what, and why; the board as it was", LOOK),
    Action("its_history", ("y",), "its history", "All that happened to the selected thing, and why", LOOK),
    Action("inbox", ("i",), "inbox", "To what waits for you, from anywhere", LOOK),
    Action("filter", ("slash",), "filter",
           "Words, status:blocked, agent:slug, goal:G1, must:M3, is:ready; kind:draft in the inbox", LOOK,
           rank=6),
    Action("back", ("escape",), "back", "Back to the list; clears the filter", LOOK,
           lambda s: "" if s.in_detail or s.filtered or s.marked else "you are at the top", 1),
    Action("tab(1)", ("1",), "discussion", "What it asks for, and what is said", LOOK),
    Action("tab(2)", ("2",), "outputs", "What was delivered", LOOK),
    Action("tab(3)", ("3",), "reviews", "The verdicts", LOOK),
    Action("tab(4)", ("4",), "runs", "Who worked on it, and what they said", LOOK),
    Action("tab(5)", ("5",), "history", "Every change, as it happened", LOOK),
    Action("tab(6)", ("6",), "mail", "Mail about it; what waits is marked", LOOK),
    Action("raw", ("F",), "as written", "Outputs drawn by what they are, or as they were written", LOOK),
    Action("mail", ("m",), "all mail", "All mail of the company, newest first", LOOK),
    Action("zoom", ("z",), "zoom", "The pane you are in takes all the room, or gives it back", LOOK),
    Action("wider", ("greater_than_sign",), "wider", "More width for inbox and board; the mouse does it too", LOOK),
    Action("narrower", ("less_than_sign",), "narrower", "More width for the detail", LOOK),
    Action("higher", ("plus",), "higher", "More height for the inbox", LOOK),
    Action("lower", ("minus",), "lower", "More height for the board", LOOK),
    Action("hide", ("Z",), "hide", "Hide the pane you are in; its place is remembered", LOOK),
    Action("all_panes", ("equals_sign",), "all panes", "Every pane in its usual place", LOOK),
    Action("palette", ("colon", "ctrl+p"), "palette", "Every action, command and place, by name", LOOK),
    Action("jump", ("J",), "go to", "To any thing: T345, G12, R7, Q3, an agent, words of a title", LOOK),
    Action("jump_back", ("backspace",), "back there", "To where you were before the last jump", LOOK),
    Action("copy", ("Y",), "copy", "Copy its id, title, text, hash, path, or all as Markdown", LOOK),
    Action("page", ("v",), "in pager", "All of it in $PAGER, read-only; the company goes on", LOOK),
    Action("edit_copy", ("V",), "in editor", "A copy of it in $EDITOR; ^o does it with what you write", LOOK),
    Action("quiet", ("D",), "quiet", "Do not disturb: what comes is held, and told as one afterwards", LOOK),
    Action("help", ("question_mark",), "help", "This help", LOOK, rank=0),
    Action("leave", ("q", "ctrl+q"), "leave", "Leave the room; it asks while runs are live", LOOK, rank=8),
)  # fmt: skip

WIDGET_KEYS: tuple[tuple[str, str], ...] = (
    ("tab", "Next pane"),
    ("^z", "Suspend the room, and with it the company; fg brings it back"),
    ("enter", "Open the selected thing"),
    ("space", "Mark: in the inbox a, b, r and S then act on all marked"),
    ("↑ ↓ j k", "Move; g and G go to the ends"),
    ("^d ^u", "Half a page down and up"),
    ("← → h l", "Fold and unfold the board"),
    (". ,", "In a text: the next id or @name, the one before; enter goes there, a click too"),
)
"""Keys that belong to the lists, for the help."""

TALK_KEYS: tuple[tuple[str, str, str], ...] = (
    ("tab", "write", "Complete @name or /kind"),
    ("↑ ↓", "write", "What was written before"),
    ("^j", "write", "A new line"),
    ("^o", "write", "Write it in $EDITOR"),
    *((slash, "write", f"Begins {meaning}") for slash, (_kind, meaning) in SLASHES.items()),
    ("^e", "talk", "Edit the goal's text; ^s saves it"),
    ("^r", "talk", "The goal is ready, exactly as shown"),
)
"""Keys and first words that mean something in a comment or in a talk, for the help: key, where, what it does."""

AGENT_KEYS: tuple[tuple[str, str], ...] = (
    ("p", "Pause the selected agent, with a reason, or resume it"),
    ("x", "Retire it for good, with a reason; it asks"),
    ("$", "Its budget: an amount in USD, and day, week, month or all"),
    ("n", "Hire an agent"),
    ("e", "Edit its name, duties, capabilities, manager, runner"),
    ("r", "What it runs on: its settings, checked before they are sent"),
    ("t", "Try one real call to what it runs on; it asks"),
    ("o", "The chart, the spending by goal and model, the facts"),
    ("P", "What it was told, and what it would be told now"),
    ("w", "Its newest run, live"),
    ("a", "To what it waits for, in the inbox"),
    ("c", "Go on with the session of its last run, with a remark"),
    ("N", "Wake it: a word into its run, a question below its task, or the CEO's heartbeat"),
    ("X", "End its run; it asks"),
    ("/", "Words, status:stuck, role:executor, agent:slug, can:links, to:manager"),
)
"""Keys on the screen of the agents, for the help: key, what it does. B and H mean what they mean in the room."""

PROMPT_KEYS: tuple[tuple[str, str], ...] = (
    ("1 2 3 4", "Prompts, own texts, experiences, knowledge"),
    ("w", "Any run (R12), or any agent about any task (ada T3)"),
    ("space", "Mark a prompt to compare it"),
    ("d", "Compare the marked one with another, or end that"),
    ("c", "Copy what is shown"),
    ("o", "Open what is shown in $EDITOR or $PAGER; an own text is edited"),
    ("a", "Keep the selected experience"),
    ("b", "Drop the selected experience"),
    ("/", "Words, is:now, agent:slug, task:T3, goal:G1; what is marked stays"),
)
"""Keys on the screen of the prompts, for the help: key, what it does."""

WATCH_KEYS: tuple[tuple[str, str], ...] = (
    ("s", "Say something to it: it hears that once, before its next turn"),
    ("p", "Pause it before its next turn, or let it go on"),
    ("x", "End it; it asks"),
    ("c", "Go on with the session of an ended run, with a remark"),
    ("!", "The terminal to its program, once it is paused or over"),
    ("e", "Unfold answers and thoughts, or fold them"),
    ("/", "Only lines with these words; a minus turns one around"),
    ("G", "To the end, and follow it"),
    ("[ ]", "The run before, the run after"),
    ("w", "Any other run (R12)"),
    ("o", "Open all of it in $EDITOR or $PAGER"),
)
"""Keys on the screen of a run, for the help: key, what it does."""

HISTORY_KEYS: tuple[tuple[str, str], ...] = (
    ("/", "Only what fits: words, T12, actor:slug, kind:TaskSubmitted, goal:G3, is:decision, since:2h"),
    ("d", "Only what somebody decided, or everything"),
    ("y", "All that is about the thing of the event"),
    ("t", "To that thing as it is now"),
    ("b", "The board as it was after the event"),
    ("[ ]", "In the past: the event before, the event after, of those that fit the filter"),
    ("{ }", "In the past: the decision before, the decision after"),
    ("n", "In the past: back to now"),
)
"""Keys on the screens of the history and of the past, for the help: key, what it does."""

BOARD_KEYS: tuple[tuple[str, str], ...] = (
    ("o", "Table or tree"),
    ("p", "Group the table by status, agent, round, goal, or not"),
    ("[ ]", "Sort by the column before or after; a click on a heading does it too"),
    ("U", "Upside down: the other direction"),
    ("X", "Hide what is finished, show it, or what is archived, too"),
    ("W", "Which columns show"),
    ("x", "What the selected task waits for, and what waits for it"),
)
"""Keys on the screen of the whole board, for the help: key, what it does. Others mean what they mean in the room."""

WRITING = frozenset({"comment", "new_goal", "explore", "end_discussion", "mail"})
"""Actions that belong to `Writing`."""


def label_of(action: Action, situation: Situation) -> str:
    """What the key does now: the word of the choice that it makes."""
    if action.name == "stage" and situation.company is not None and situation.company.autonomy == Autonomy.B:
        return "back to A"
    key = "e" if action.name == "explore" else DECISION_KEYS.get(action.name, "")
    choice = situation.choices.get(key)
    return choice.verb if choice else action.label


@dataclass(frozen=True, slots=True)
class Hint:
    """A key in the footer; the highest rank goes first when there is no room."""

    key: str
    word: str
    rank: int


def footer(
    situation: Situation, most: int = 7, shown: Callable[[Action], str] = lambda action: action.shown_key
) -> list[Hint]:
    """At most so many keys that apply now, with their words; help is always among them. `shown` names their keys."""
    # What the selected item names as its key stands there, too.
    ranks = {
        action.name: 1 if action.rank == 9 and action.shown_key in situation.choices else action.rank
        for action in ACTIONS
    }
    able = [action for action in ACTIONS if ranks[action.name] < 9 and not action.why_not(situation)]
    chosen = sorted(able, key=lambda action: ranks[action.name])[:most]
    return [Hint(shown(each), label_of(each, situation), ranks[each.name]) for each in ACTIONS if each in chosen]


def fallback(situation: Situation, key: str) -> Choice | None:
    """What a key means on a thing that does not wait for it: the board itself says whether it may be."""
    match situation.thing, key:
        case Goal() as goal, "d":
            hashed = {"goal": goal.id, "content_hash": goal.content_hash}
            return Choice("d", "dispatch", "DispatchGoal", hashed, "the agents begin to plan it")
        case Goal() as goal, "a":
            act = "ReviewGoal" if goal.status == GoalStatus.DRAFT else "AcceptGoal"
            read: dict[str, object] = {"content_hash": goal.content_hash} if goal.status == GoalStatus.DRAFT else {}
            return Choice("a", "approve", act, {"goal": goal.id, **read}, "")
        case Goal() as goal, "b":
            return Choice("b", "cancel", "CancelGoal", {"goal": goal.id}, "the goal ends as cancelled", "reason")
        case Goal() as goal, "r":
            act = "ReviseGoal" if goal.status == GoalStatus.DRAFT else "SendBackGoal"
            return Choice("r", "send back", act, {"goal": goal.id}, "its author is told why", "note")
        case Task() as task, "a":
            return Choice("a", "resume", "ResumeTask", {"task": task.id}, "it is pending again")
        case Task() as task, "d":
            return Choice("d", "enqueue", "EnqueueTask", {"task": task.id}, "it is offered to the agents")
        case Task() as task, "b":
            return Choice("b", "cancel", "CancelTask", {"task": task.id}, "the task ends without a result", "reason")
        case Round() as round_, "a":
            return Choice("a", "report", "ResolveRound", {"round": round_.id, "decision": "report"}, "")
        case _:
            return None
