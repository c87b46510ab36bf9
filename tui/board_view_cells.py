"""What stands in the columns of the board mode. Pure; a row is made where it is seen."""

from collections.abc import Mapping, Sequence

from core.domain.entities import AgentRecord, Goal, Round, Task
from core.domain.states import TASK_FINAL, TaskStatus
from tui import signs
from tui.board_look import BoardLook, Name
from tui.board_view import UNUSED, Used
from tui.panes.coverage import person
from tui.panes.words import money
from tui.projection import Projection
from tui.text import ago, counted, in_words, plain
from tui.tree import ENDED
from tui.widgets.row import Cell, Column

TITLES: dict[Name, str] = {
    "number": "no.", "title": "title", "status": "status", "who": "agent", "since": "since", "goal": "goal",
    "round": "rd", "priority": "pr", "runs": "runs", "cost": "cost", "waits": "waits for", "age": "age",
}  # fmt: skip
ABOUT: dict[Name, str] = {
    "number": "Its number, e.g. T12", "title": "What it is called", "status": "Where it is",
    "who": "Who holds it; of a goal, who wrote it",
    "since": "Since when nothing of it changed", "goal": "Its goal",
    "round": "Which round of the goal", "priority": "How urgent: 0 comes first, 4 last",
    "runs": "How many runs were about it", "cost": "What its runs cost",
    "waits": "Tasks that must end before it begins",
    "age": "How long ago it was made",
}  # fmt: skip
_WIDTHS: dict[Name, tuple[int, bool]] = {  # cells, and whether it stands at the right
    "number": (5, False), "status": (9, False), "who": (10, False), "since": (5, True), "goal": (4, False),
    "round": (2, True), "priority": (2, True), "runs": (4, True), "cost": (7, True), "waits": (12, False),
    "age": (4, True),
}  # fmt: skip
UP, DOWN = "↑", "↓"
_MOST_CAUSES = 4


def columns_of(look: BoardLook) -> tuple[Column, ...]:
    """The sign, then the columns of the look; the one that sorts shows its direction over it."""
    found = [Column("", width=1)]
    for name in look.columns:
        title = TITLES[name] + (DOWN if look.descending else UP) * (name == look.sort)
        if name == "title":
            found.append(Column(title, tree=True, min_width=26))
        else:
            width, right = _WIDTHS[name]
            found.append(Column(title, width=max(width, len(title)), align="right" if right else "left"))
    return tuple(found)


def cells_of(
    view: Projection, ref: str, look: BoardLook, now: int, used: Mapping[str, Used], below: int = 0
) -> tuple[tuple[Cell, ...], bool]:
    """The cells of a line, and whether it is over. `below` counts the tasks of a group."""
    match view.find(ref):
        case Task() as task:
            sign, told, over = _of_task(view, task, now, used.get(ref, UNUSED), tagged=look.view == "tree")
        case Goal() as goal:
            sign, told, over = _of_goal(goal, now, used.get(ref, UNUSED), tagged=look.view == "tree")
        case Round() as round_:
            sign, told, over = _of_round(round_, now, in_table=look.view == "table")
        case AgentRecord() as agent:
            sign, told, over = ("@", "dim"), {"title": (f"{agent.slug}  {counted(below, 'task')}", "info")}, False
        case _:
            sign, told, over = _of_words(ref, below)
    return (sign, *(told.get(name, "") for name in look.columns)), over


_Told = tuple[Cell, dict[Name, Cell], bool]


def _of_task(view: Projection, task: Task, now: int, used: Used, *, tagged: bool) -> _Told:
    sign, word, tone = signs.of_task(task)
    round_ = view.tables.get(Round, task.round_id)
    over = task.status in TASK_FINAL
    told: dict[Name, Cell] = {
        "number": task.name_tag,
        "title": plain(f"{task.name_tag} {task.title}" if tagged else task.title),
        "status": (word, tone),
        "who": view.slug(task.assignee_id),
        "since": (ago(now, task.updated_at), "dim"),
        "goal": f"G{task.goal_id}",
        "round": str(round_.number) if round_ else "",
        "priority": (str(task.priority), "warn") if task.priority < 2 and not over else (str(task.priority), "dim"),
        "runs": str(used.runs) if used.runs else "",
        "cost": money(used.cost_micros) if used.cost_micros else "",
        "waits": (_causes(view.waits_for(task)), "dim") if task.open_deps else "",
        "age": (ago(now, task.created_at), "dim"),
    }
    return (sign, tone), told, over


def _causes(causes: Sequence[Task]) -> str:
    more = len(causes) - _MOST_CAUSES
    return " ".join(task.name_tag for task in causes[:_MOST_CAUSES]) + (f" +{more}" if more > 0 else "")


def _of_goal(goal: Goal, now: int, used: Used, *, tagged: bool) -> _Told:
    sign, word, tone = signs.of_goal(goal)
    told: dict[Name, Cell] = {
        "number": (goal.name_tag, "strong"),
        "title": (f"{goal.name_tag} {goal.title}" if tagged else goal.title, "strong"),
        "status": (word, tone),
        "who": person(goal.created_by),
        "since": (ago(now, goal.updated_at), "dim"),
        "goal": goal.name_tag,
        "runs": str(used.runs) if used.runs else "",
        "cost": money(used.cost_micros) if used.cost_micros else "",
        "age": (ago(now, goal.created_at), "dim"),
    }
    return (sign, tone), told, goal.status in ENDED


def _of_round(round_: Round, now: int, *, in_table: bool) -> _Told:
    sign, word, tone = signs.ROUND[round_.status]
    done = round_.total_tasks - round_.open_tasks
    spoken = f" → {in_words(round_.decision)}" if round_.decision else ""
    of = f"G{round_.goal_id} " if in_table else ""
    told: dict[Name, Cell] = {
        "title": (f"{of}Round {round_.number}  {done}/{round_.total_tasks}{spoken}", "info"),
        "status": (word, tone),
        "goal": f"G{round_.goal_id}",
        "round": str(round_.number),
        "since": (ago(now, round_.updated_at), "dim"),
        "age": (ago(now, round_.created_at), "dim"),
    }
    return (sign, tone), told, False


def _of_words(ref: str, below: int) -> _Told:
    kind, _, name = ref.partition(":")
    if kind == "status":
        sign, word, tone = signs.TASK[TaskStatus(name)]
        return (sign, tone), {"title": (f"{word}  {counted(below, 'task')}", tone)}, False
    words = {"nobody": "nobody", "no-round": "in no round"}.get(kind, ref)
    return "", {"title": (f"{words}  {counted(below, 'task')}", "info")}, False
