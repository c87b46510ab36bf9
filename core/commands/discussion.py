"""Phase 2: turns of a discussion, how it converges or is ended, and decisions that outputs must carry out."""

from typing import Any

from pydantic import Field

from core.commands.goal_progress import activate
from core.commands.registry import Act, Answer, Command, Reason, Text, handles, letters
from core.commands.runs import end_live_runs
from core.commands.telling import say
from core.domain.actors import HUMAN
from core.domain.discussion import goes_on, missing, outcome_of
from core.domain.entities import AgentRecord, Comment, Decision, Goal, Task, Turn
from core.domain.errors import Conflict
from core.domain.lifecycles import GOAL
from core.domain.limits import DISCUSSION_SEATS, DISCUSSION_TURNS
from core.domain.states import GOAL_FINAL, CommentKind, GoalStatus, TurnOutcome


class OpenTurn(Command):
    """Begin the next turn of a goal's discussion: each of these agents is woken once."""

    who = letters("S")
    goal: int
    agents: tuple[int, ...] = Field(min_length=1, max_length=DISCUSSION_SEATS, description="Ids of agents")


@handles(OpenTurn)
def open_turn(act: Act, command: OpenTurn) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    _require_planning(goal)
    last = last_turn(act, goal.id)
    number = 1 if last is None else last.number + 1
    if last is not None and last.outcome != TurnOutcome.GOES_ON:
        state = "open" if last.ended_at is None else f"over: {last.outcome}"
        raise Conflict(
            f"The discussion of {goal.name_tag} has turn {last.number} {state}.",
            "Let it end, or read the goal again: ReadGoal.",
        )
    if number > DISCUSSION_TURNS:
        raise Conflict(f"{goal.name_tag} has used its {DISCUSSION_TURNS} turns.", "The coordinator rules.")
    agents = tuple(act.tx.get(AgentRecord, agent).id for agent in dict.fromkeys(command.agents))
    # What came between two turns belongs to the later one: it begins where the count of the last one ended.
    since = _marks(act) if last is None else {"after_comment": last.after_comment, "after_task": last.after_task}
    turn = _begin(act, goal, number, "TurnOpened", since, agents=agents, outcome=TurnOutcome.OPEN, ended_at=None)
    return {"id": turn.id, "number": turn.number, "agents": list(agents)}


def _begin(act: Act, goal: Goal, number: int, event: str, since: dict[str, Any], **values: Any) -> Turn:
    return act.tx.insert(
        Turn, event, goal_id=goal.id, number=number, new_tasks=0, questions=0, objections=0, **since, **values
    )


def _marks(act: Act) -> dict[str, Any]:
    """The newest comment and task that there are: what comes later has not been counted."""
    return {
        "after_comment": act.tx.value("SELECT max(id) FROM comments") or 0,
        "after_task": act.tx.value("SELECT max(id) FROM tasks") or 0,
    }


def _require_planning(goal: Goal) -> None:
    if goal.status != GoalStatus.PLANNING:
        raise Conflict(f"{goal.name_tag} is {goal.status}: there is no discussion.", GOAL.hint(goal.status))


def last_turn(act: Act, goal_id: int) -> Turn | None:
    """The newest turn of a goal's discussion, open or ended."""
    found = act.tx.select(Turn, "goal_id = :goal ORDER BY number DESC LIMIT 1", goal=goal_id)
    return found[0] if found else None


def require_no_open_turn(act: Act, goal: Goal) -> None:
    """Raises Conflict while agents still speak, or will again: nobody cuts a discussion short but the operator."""
    last = last_turn(act, goal.id)
    agents = act.tx.select(AgentRecord, "status <> 'terminated'")
    if last is not None and goes_on(last, agents):
        raise Conflict(
            f"{goal.name_tag} is planning: turn {last.number} of its discussion goes on.",
            "Create tasks and speak; when a turn brings nothing new, the work begins by itself.",
        )


class CloseTurn(Command):
    """End a turn: count what it brought, and begin the work if the discussion has converged (S2-08)."""

    who = letters("S")
    turn: int


@handles(CloseTurn)
def close_turn(act: Act, command: CloseTurn) -> Answer:
    turn = act.tx.get(Turn, command.turn)
    goal = act.tx.get(Goal, turn.goal_id)
    _require_planning(goal)
    if turn.ended_at is not None:
        raise Conflict(f"Turn {turn.number} of {goal.name_tag} is over.", "Read the goal again: ReadGoal.")
    brought = _brought(act, turn)
    lacks = missing(goal, _tasks_of(act, goal))
    outcome = outcome_of(turn.number, _heard(act, turn), sum(brought.values()), len(lacks))
    end_live_runs(act, "goal_id = :goal AND kind = 'discuss'", "the turn is over", goal=goal.id)
    turn = act.tx.update(turn, "TurnClosed", outcome=outcome, ended_at=act.tx.now, **brought, **_marks(act))
    answer: Answer = {"id": turn.id, "outcome": str(outcome), **brought, "missing": lacks}
    return answer | (activate(act, goal, "CloseTurn") | {"id": turn.id} if outcome == TurnOutcome.CONVERGED else {})


def _brought(act: Act, turn: Turn) -> dict[str, Any]:
    """What came since the turn began, whoever brought it."""
    said = "SELECT count(*) FROM comments WHERE goal_id = :goal AND id > :after AND kind = :kind"
    about = {"goal": turn.goal_id, "after": turn.after_comment}
    return {
        "new_tasks": act.tx.value(
            "SELECT count(*) FROM tasks WHERE goal_id = :goal AND id > :after", goal=turn.goal_id, after=turn.after_task
        ),
        "questions": act.tx.value(said, kind=CommentKind.QUESTION, **about),
        "objections": act.tx.value(said, kind=CommentKind.OBJECTION, **about),
    }


def _heard(act: Act, turn: Turn) -> int:
    """How many agents had their say in a turn."""
    return int(
        act.tx.value(
            "SELECT count(DISTINCT agent_id) FROM runs WHERE idempotency_key >= :low AND idempotency_key < :high"
            " AND status = 'succeeded'",
            low=f"discuss:{turn.id}:", high=f"discuss:{turn.id};",
        )
    )  # fmt: skip


def _tasks_of(act: Act, goal: Goal) -> list[Task]:
    return act.tx.select(Task, "goal_id = :goal ORDER BY id", goal=goal.id)


class EndDiscussion(Command):
    """End the discussion of a goal now: the work begins if the tasks cover everything, else the coordinator rules."""

    who = letters("H")
    goal: int
    note: Text = Field("", description="What you decide, for those who go on")


@handles(EndDiscussion)
def end_discussion(act: Act, command: EndDiscussion) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    _require_planning(goal)
    last = last_turn(act, goal.id)
    if last is not None and last.outcome not in (TurnOutcome.OPEN, TurnOutcome.GOES_ON):
        raise Conflict(f"The discussion of {goal.name_tag} is over: {last.outcome}.", "The coordinator rules.")
    note = command.note.strip()
    if note:
        say(act, "DiscussionNoteWritten", CommentKind.DIALOGUE, note, goal=goal.id)
    if last is None:
        turn = _begin(
            act, goal, 1, "DiscussionEnded", _marks(act), agents=(), outcome=TurnOutcome.ENDED, ended_at=act.tx.now
        )  # fmt: skip
    else:
        turn = end_turn(act, last, "it was ended by the operator")
    lacks = missing(goal, _tasks_of(act, goal))
    if not lacks:
        activate(act, goal, "EndDiscussion")
    return {"goal": goal.id, "turn": turn.id, "status": str(act.tx.get(Goal, goal.id).status), "missing": lacks}


def end_turn(act: Act, turn: Turn, why: str) -> Turn:
    """End the talk of a goal at this turn, with what it brought so far; its live runs end."""
    end_live_runs(act, "goal_id = :goal AND kind = 'discuss'", why, goal=turn.goal_id)
    if turn.ended_at is not None:
        return act.tx.update(turn, "DiscussionEnded", outcome=TurnOutcome.ENDED)
    brought = _brought(act, turn)
    return act.tx.update(turn, "DiscussionEnded", outcome=TurnOutcome.ENDED, ended_at=act.tx.now, **brought)


def keep_decision(act: Act, goal: Goal, comment: Comment) -> Decision | None:
    """A decision in a goal at work is a row that outputs must carry out; the same words twice are one decision."""
    if goal.status not in (GoalStatus.PLANNING, GoalStatus.ACTIVE):
        return None
    act.require_own_goal(goal.id)
    known = act.tx.select(Decision, "goal_id = :goal AND text = :text LIMIT 1", goal=goal.id, text=comment.body)
    return known[0] if known else act.tx.insert(
        Decision, "DecisionMade",
        goal_id=goal.id, task_id=comment.task_id, comment_id=comment.id, text=comment.body, covered_by=(),
        created_by=act.label,
    )  # fmt: skip


class WaiveDecision(Command):
    """Drop a decision, so that no output need carry it out; only a person can (F10)."""

    who = letters("H")
    decision: int
    reason: Reason


@handles(WaiveDecision)
def waive_decision(act: Act, command: WaiveDecision) -> Answer:
    decision = act.tx.get(Decision, command.decision)
    goal = act.tx.get(Goal, decision.goal_id)
    if goal.status in GOAL_FINAL or goal.status == GoalStatus.ARCHIVED:
        raise Conflict(f"{goal.name_tag} is {goal.status}: there is nothing to waive.", GOAL.hint(goal.status))
    if decision.waived_by:
        raise Conflict(f"Decision {decision.id} is waived already, by {decision.waived_by}.", "Nothing is to be done.")
    act.tx.update(decision, "DecisionWaived", waived_by=HUMAN)
    comment = say(
        act, "DecisionWaiverWritten", CommentKind.DIALOGUE, f"Decision {decision.id} is waived: {command.reason}",
        goal=goal.id, task=decision.task_id, reply_to=decision.comment_id,
    )  # fmt: skip
    return {"id": decision.id, "waived": True, "comment": comment.id}
