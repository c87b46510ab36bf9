"""Who is called to talk: the coordinator in an exploration, and the seats of a discussion, turn by turn."""

from collections.abc import Iterator

from core.domain import facts as bases
from core.domain.discussion import goes_on, seats
from core.domain.entities import Goal, Run, Turn
from core.domain.facts import Attempts, Facts
from core.domain.limits import TURN_WAIT_MS
from core.domain.states import AgentStatus, ApprovalKind, GoalStatus, RunKind, RunStatus
from core.domain.tick.actions import Action, Held, Item, Step, queue
from core.domain.tick.rounds import call_coordinator

# Talk that waits for a person holds no discussion up.
_ASIDE = frozenset({ApprovalKind.MAIL, ApprovalKind.EXCHANGE, ApprovalKind.BUDGET})


def explore(facts: Facts, now: int) -> Iterator[Item]:
    """The operator said something in an exploration: the coordinator answers (S2-07)."""
    talking = {run.goal_id for run in facts.runs if run.kind == RunKind.EXPLORE}
    for goal in facts.goals:
        word = facts.unanswered.get(goal.id)
        if goal.status != GoalStatus.DRAFT or not goal.exploring or word is None or goal.id in talking:
            continue
        why = f"the operator's word about {goal.name_tag} waits for an answer" if word else f"{goal.name_tag} is new"
        yield from call_coordinator(
            facts, RunKind.EXPLORE, bases.explore_base(goal, word), why, goal, step=Step.MENTIONS
        )


def discuss(facts: Facts, now: int) -> Iterator[Item]:
    """Turns of the discussion of a goal that is planned (S2-08, S2-30)."""
    for goal in facts.goals:
        turn = facts.turns.get(goal.id)
        if goal.status != GoalStatus.PLANNING or not goes_on(turn, facts.agents):
            continue
        why = _held_back(facts, goal)
        if why:
            yield Held(f"goal:{goal.id}", why)
        elif turn is not None and turn.ended_at is None:
            yield from _turn(facts, goal, turn, now)
        else:
            chosen = [agent.id for agent in seats(facts.agents)]
            number = 1 if turn is None else turn.number + 1
            yield Action(
                Step.ROUNDS, "OpenTurn", {"goal": goal.id, "agents": chosen}, f"turn {number} of its discussion"
            )


def _held_back(facts: Facts, goal: Goal) -> str:
    """Why the discussion of a goal does not go on now; empty if it does."""
    if not facts.company.dispatching:
        return f"the company is stopped: {facts.company.stop_reason}"
    if goal.paused_at is not None:
        return f"{goal.name_tag} is paused"
    if any(asked.entity == f"goal:{goal.id}" and asked.kind not in _ASIDE for asked in facts.approvals):
        return "it waits for the operator's answer"
    if any(run.goal_id == goal.id and run.kind == RunKind.PLAN for run in facts.runs):
        return "the coordinator is at it"
    return ""


def _turn(facts: Facts, goal: Goal, turn: Turn, now: int) -> Iterator[Item]:
    """Each seat speaks once; when all have had their say and nobody speaks any more, the turn is over."""
    active = {agent.id: agent for agent in facts.agents if agent.status == AgentStatus.ACTIVE}
    live = [run for run in facts.runs if run.goal_id == goal.id and run.agent_id in active]
    speaking = {run.agent_id for run in live if run.kind == RunKind.DISCUSS}
    heard = facts.heard.get(turn.id, frozenset())
    waits = [agent for agent in turn.agents if agent in active and agent not in heard]
    if heard and now - turn.created_at >= TURN_WAIT_MS:
        # Who cools down or is at other work goes without a word; who speaks may finish.
        speaking -= {run.agent_id for run in live if run.kind == RunKind.DISCUSS and run.status == RunStatus.QUEUED}
        waits = [agent for agent in waits if agent in speaking]
    for agent_id in waits:
        if agent_id not in speaking:
            base = bases.discuss_base(turn, agent_id)
            ended = facts.attempts.get(base, Attempts()).ended
            why = f"turn {turn.number} of the discussion of {goal.name_tag}"
            yield queue(Step.ROUNDS, RunKind.DISCUSS, active[agent_id], f"{base}#{ended}", why, goal_id=goal.id)
    if waits or speaking:
        yield Held(f"goal:{goal.id}", f"turn {turn.number} of its discussion goes on")
    elif _answering(facts, goal, live) and now - turn.created_at < TURN_WAIT_MS:
        yield Held(f"goal:{goal.id}", f"turn {turn.number} waits for an answer to a mention")
    else:
        yield Action(Step.ROUNDS, "CloseTurn", {"turn": turn.id}, f"turn {turn.number} is over")


def _answering(facts: Facts, goal: Goal, live: list[Run]) -> bool:
    """Whether somebody who was mentioned in the discussion still answers, or is about to be woken."""
    return any(run.kind == RunKind.MENTION for run in live) or any(
        mention.goal_id == goal.id for mention in facts.mentions
    )
