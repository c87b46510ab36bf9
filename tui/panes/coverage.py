"""What of a goal is delivered: its must-haves and the decisions of its discussion, each with who covers it or is at it.

The round pane draws it, the brief of a goal and of a round tells it. All from memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from textual.content import Content

from core.domain.actors import HUMAN
from core.domain.coverage import Coverage, Covered
from core.domain.entities import Decision, Goal, Output
from core.domain.states import GoalStatus, TaskStatus
from tui import signs
from tui.panes.words import line, said
from tui.projection import Projection
from tui.text import fit, one_line
from tui.widgets.row import Tone

LOOKS: dict[str, tuple[str, Tone]] = {"covered": ("✓", "good"), "waived": ("–", "dim"), "open": ("○", "warn")}
MOST_NAMED = 3  # tasks or outputs in a line; the rest is counted


@dataclass(frozen=True, slots=True)
class Covering:
    """How one must-have (`M1`) or decision stands. `who` are the outputs or tasks behind it, in words."""

    id: str
    text: str
    state: str
    who: str

    @property
    def spoken(self) -> str:
        """For a thread: what, and below it who."""
        return f"{LOOKS[self.state][0]} {self.id} {self.text}" + (f"\n     {self.who}" if self.who else "")


def of_must_haves(view: Projection, goal: Goal) -> list[Covering]:
    """Each must-have with the outputs that deliver it, or the tasks that are at it."""
    found = view.coverage(goal).must_haves
    open_ids = {each.id for each in found if each.is_open}
    # one look at the tasks for all of them: a goal may have thousands
    at_it: dict[str, list[str]] = {}
    for task in view.tasks(goal.id) if open_ids else ():
        if task.status != TaskStatus.CANCELLED:
            for must_id in open_ids.intersection(task.must_haves):
                word = "done without naming it" if task.status == TaskStatus.DONE else signs.of_task(task)[1]
                at_it.setdefault(must_id, []).append(f"{task.name_tag} {word}")
    # nobody can be at a draft yet: that is no lack
    nobody = [] if goal.status == GoalStatus.DRAFT else ["no task is at it"]
    return [_covering(view, each, each.id, at_it.get(each.id, nobody)) for each in found]


def of_decisions(view: Projection, goal: Goal) -> list[Covering]:
    """Each decision of the discussion with the outputs that carry it out."""
    found = []
    for each in view.coverage(goal).decisions:
        decision = view.tables.get(Decision, int(each.id))
        stands = _covering(view, each, f"#{each.id}", ["nothing delivered yet"])
        by = person(decision.created_by) if decision else ""
        found.append(replace(stands, who=f"{stands.who} · decided by {by}") if by else stands)
    return found


def _covering(view: Projection, covered: Covered, name: str, at_it: Sequence[str]) -> Covering:
    match covered.state:
        case "waived":
            who = f"waived by {person(covered.waived_by)}"
        case "covered":
            outputs = [view.tables.get(Output, number) for number in covered.outputs]
            who = _few([f"{each.name_tag} of T{each.task_id}" for each in outputs if each is not None])
        case _:
            who = _few(at_it)
    return Covering(name, covered.text, covered.state, who)


def person(name: str) -> str:
    """A name as the room says it to the one who sits at it."""
    return "you" if name == HUMAN else name


def _few(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def marks(coverage: Coverage, width: int) -> Content:
    """One line: `M1✓ M2○ M3–`, and how many of the decisions are carried out."""
    musts = coverage.must_haves
    parts = [said(f"{each.id}{LOOKS[each.state][0]}", LOOKS[each.state][1]) for each in musts]
    decided = _decided(coverage.decisions)
    whole = line(*parts, *decided, gap=" ") if parts or decided else Content("")
    if whole.cell_length <= width:
        return whole
    # too many to name them all: the open ones are what matters
    count = {state: sum(each.state == state for each in musts) for state in LOOKS}
    counted = [said(f"{count[state]}{sign}", tone) for state, (sign, tone) in LOOKS.items() if count[state]]
    names = " ".join(each.id for each in musts if each.is_open)
    short = line(said("must-haves"), *counted, *decided, gap=" ")
    return line(short, said(fit(f" {names}", max(0, width - short.cell_length)), "warn"))


def _decided(decisions: Sequence[Covered]) -> list[Content]:
    if not decisions:
        return []
    done = sum(not each.is_open for each in decisions)
    return [said(f" decisions {done}/{len(decisions)}", "good" if done == len(decisions) else "warn")]


def listed(covering: Sequence[Covering], width: int, most: int) -> list[Content]:
    """A line each where there is room; the open ones first when not all have it."""
    shown = list(covering)
    if len(shown) > most:
        shown = sorted(shown, key=lambda each: each.state != "open")[: max(0, most - 1)]
    lines = [_listed(each, width) for each in shown]
    if more := len(covering) - len(shown):
        lines.append(said(f"… {more} more", "dim"))
    return lines[:most]


def _listed(covering: Covering, width: int) -> Content:
    sign, tone = LOOKS[covering.state]
    begins = f"{sign} {covering.id} "
    who = fit(covering.who.partition(" · ")[0], max(8, width // 2))
    text = fit(one_line(covering.text), max(8, width - len(begins) - len(who) - 2), pad=True)
    return line(said(begins, tone), said(text), said(f"  {who}", "dim"))
