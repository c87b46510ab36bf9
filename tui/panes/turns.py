"""A goal's discussion in words: which turn, who has spoken, what the turns before brought. From memory; pure."""

from core.domain.entities import Goal, Run, Turn
from core.domain.limits import DISCUSSION_TURNS
from core.domain.states import RUN_LIVE, GoalStatus, RunKind, RunStatus, TurnOutcome
from tui.projection import Projection
from tui.text import counted
from tui.widgets.prose import Block
from tui.widgets.row import Tone

_ENDS: dict[TurnOutcome, tuple[str, Tone]] = {
    TurnOutcome.OPEN: ("", "info"),
    TurnOutcome.GOES_ON: ("turn {} is over; the next one opens", "info"),
    TurnOutcome.CONVERGED: ("it converged in turn {}: that brought nothing new, and the work began", "good"),
    TurnOutcome.NOT_CONVERGED: ("turn {} ended without agreement: the coordinator rules", "warn"),
    TurnOutcome.ENDED: ("you ended it in turn {}", "warn"),
}


def turns(view: Projection, goal_id: int) -> list[Turn]:
    """The turns of a goal's discussion, the first one first."""
    return sorted((turn for turn in view.tables.all(Turn) if turn.goal_id == goal_id), key=lambda turn: turn.number)


def spoken(view: Projection, turn: Turn) -> list[int]:
    """The agents of a turn whose run of it has ended, by id; all of them when the turn is over."""
    if turn.ended_at is not None:
        return list(turn.agents)
    return [agent for agent in turn.agents if any(_has_ended(run) for run in _runs(view, turn, agent))]


def _runs(view: Projection, turn: Turn, agent: int) -> list[Run]:
    key = f"discuss:{turn.id}:{agent}#"
    return [
        run
        for run in view.tables.all(Run)
        if run.kind == RunKind.DISCUSS and run.agent_id == agent and (run.idempotency_key or "").startswith(key)
    ]


def _has_ended(run: Run) -> bool:
    return run.status == RunStatus.SUCCEEDED


def brought(turn: Turn) -> str:
    """What a turn brought: 4 tasks, 1 question."""
    counts = ((turn.new_tasks, "task"), (turn.questions, "question"), (turn.objections, "objection"))
    return ", ".join(counted(number, word) for number, word in counts if number) or "nothing"


def in_a_line(view: Projection, goal: Goal) -> str:
    """Where the discussion is: the turn, who has spoken, what the turn before brought. Empty without a turn."""
    known = turns(view, goal.id)
    if not known:
        return ""
    last = known[-1]
    if last.ended_at is not None:
        return _ENDS[last.outcome][0].format(last.number)
    line = f"turn {last.number} of {DISCUSSION_TURNS}: {len(spoken(view, last))} of {len(last.agents)} have spoken"
    return line if len(known) == 1 else f"{line}; turn {known[-2].number} brought {brought(known[-2])}"


def discussion(view: Projection, goal: Goal) -> list[Block]:
    """The block at the head of a goal's discussion: each turn a line, and whom the open one waits for."""
    known = turns(view, goal.id)
    if not known:
        return []
    last = known[-1]
    told = known[:-2] if last.ended_at is None else known
    lines = [in_a_line(view, goal), *(f"turn {turn.number} brought {brought(turn)}" for turn in told)]
    if last.ended_at is None:
        lines.append(_waits(view, last))
    if can_end(view, goal):
        lines.append(f"{view.keymap.shown('end_discussion')} ends the discussion")
    tone = _ENDS[last.outcome][1]
    return [Block((("How it is planned", "strong"),), "\n".join(lines), tone)]


def can_end(view: Projection, goal: Goal) -> bool:
    """Whether there is a discussion that goes on."""
    if goal.status != GoalStatus.PLANNING:
        return False
    known = turns(view, goal.id)
    return not known or known[-1].outcome in (TurnOutcome.OPEN, TurnOutcome.GOES_ON)


def _waits(view: Projection, turn: Turn) -> str:
    said = set(spoken(view, turn))
    names = []
    for agent in turn.agents:
        if agent not in said:
            speaks = any(run.status in RUN_LIVE and run.status != RunStatus.QUEUED for run in _runs(view, turn, agent))
            names.append(view.slug(agent) + (" (speaks now)" if speaks else ""))
    return f"turn {turn.number} waits for {', '.join(names)}" if names else f"turn {turn.number}: all have spoken"
