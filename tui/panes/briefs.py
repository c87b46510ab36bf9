"""What a thing asks for, in one block: the text that a person reads before deciding."""

from core.domain.entities import AgentRecord, Company, Goal, Round, Task
from core.domain.goals import is_reviewed
from core.domain.states import GoalStatus, TaskStatus
from tui import signs
from tui.panes.coverage import of_decisions, of_must_haves
from tui.panes.words import clock_time
from tui.projection import Projection
from tui.widgets.prose import Block


def brief(view: Projection, ref: str) -> list[Block]:
    """The block at the head of the discussion."""
    match view.find(ref):
        case Goal() as goal:
            return [_goal(view, goal)]
        case Task() as task:
            return [_task(view, task)]
        case Round() as round_:
            return [_round(view, round_)]
        case Company() as company:
            return [Block((("Mission", "strong"),), company.mission or "not defined yet")]
        case AgentRecord() as agent:
            return _agent(view, agent)
        case _:
            return []


def _agent(view: Projection, agent: AgentRecord) -> list[Block]:
    text = f"can: {', '.join(agent.capabilities) or 'anything'}"
    text += f"\nanswers for: {agent.duties}" if agent.duties else ""
    return [Block(((agent.name, "strong"), agent.role), f"{text}\nA shows all agents, and what each costs.")]


def _goal(view: Projection, goal: Goal) -> Block:
    parts = [goal.description]
    if goal.must_haves:
        verify = {must["id"]: must.get("verify", "") for must in goal.must_haves}
        lines = []
        for each in of_must_haves(view, goal):
            lines.append(each.spoken)
            if verify[each.id]:
                lines.append(f"     how to verify: {verify[each.id]}")
        parts.append("Must deliver\n" + "\n".join(lines))
    if goal.constraints:
        parts.append("Limits\n" + "\n".join(f"• {text}" for text in goal.constraints))
    if goal.out_of_scope:
        parts.append("Out of scope\n" + "\n".join(f"• {text}" for text in goal.out_of_scope))
    if decided := of_decisions(view, goal):
        parts.append("Decided in the discussion\n" + "\n".join(each.spoken for each in decided))
    drafts = [task for task in view.tasks(goal.id) if task.status == TaskStatus.DRAFT]
    if drafts:
        parts.append("Draft tasks\n" + "\n".join(f"· {task.name_tag} {task.title}" for task in drafts))
    if goal.repository:
        parts.append(f"Worked on in the git repository {goal.repository}")
    reviewed = "reviewed by you" if is_reviewed(goal) else "still talked over" if goal.exploring else "not reviewed"
    if goal.auto_dispatched_at is not None:
        at_work = goal.status in (GoalStatus.PLANNING, GoalStatus.ACTIVE)
        then = (
            ": R recalls it"
            if at_work
            else "; recalled: only you dispatch it"
            if goal.status == GoalStatus.DRAFT
            else ""
        )
        parts.append(f"stage B dispatched it at {clock_time(goal.auto_dispatched_at)}, without you{then}")
    parts.append(f"{reviewed} · sha256 {goal.content_hash[:16]}…")
    return Block((("What it asks for", "strong"),), "\n\n".join(part for part in parts if part), "info")


def _task(view: Projection, task: Task) -> Block:
    parts = [task.intent]
    if task.end_state:
        parts.append(f"Done when\n{task.end_state}")
    if task.constraints:
        parts.append("Limits\n" + "\n".join(f"• {text}" for text in task.constraints))
    facts = []
    if task.must_haves:
        facts.append(f"covers {', '.join(task.must_haves)}")
    if task.capabilities:
        facts.append(f"needs {', '.join(task.capabilities)}")
    if waits := view.waits_for(task):
        facts.append(f"after {', '.join(cause.name_tag for cause in waits)}")
    if task.retry_of:
        facts.append(f"tries T{task.retry_of} again")
    facts.append(f"risk {task.risk}")
    if task.repository:
        facts.append(f"in {task.repository}")
    parts.append(" · ".join(facts))
    return Block((("What it asks for", "strong"),), "\n\n".join(part for part in parts if part), "info")


def _round(view: Projection, round_: Round) -> Block:
    lines = []
    for task in view.tasks(round_.goal_id):
        if task.round_id == round_.id:
            sign, word, _ = signs.of_task(task)
            lines.append(f"{sign} {task.name_tag} {task.title}  ({word})")
    parts = ["\n".join(lines) or "none"]
    goal = view.tables.get(Goal, round_.goal_id)
    if goal is not None and goal.must_haves:
        parts.append(f"What of {goal.name_tag} is covered\n" + "\n".join(s.spoken for s in of_must_haves(view, goal)))
    if goal is not None and (decided := of_decisions(view, goal)):
        parts.append("Decided in the discussion\n" + "\n".join(each.spoken for each in decided))
    return Block(((f"The tasks of round {round_.number}", "strong"),), "\n\n".join(parts), "info")
