"""Commands on goals as drafts: made, edited, reviewed, sent back to their author."""

from collections.abc import Collection, Iterable, Sequence

from pydantic import Field

from core.blackboard.queries import ALIVE_GOALS
from core.commands.must_haves import MustHaveDraft, delivered_ids
from core.commands.registry import Act, Answer, Command, Lines, Reason, Repository, Text, Title, handles, letters
from core.commands.shaping import cover_tasks, is_own_draft, require_read, text_hash
from core.commands.tasks import NewTask, add_task
from core.commands.telling import mention, say
from core.domain.actors import HUMAN, Agent, Operator
from core.domain.autonomy import is_idle
from core.domain.discussion import placeholder_key
from core.domain.entities import AgentRecord, Company, Goal, MustHave, Task
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.goal_change import Numbered, Wanted, numbered, without
from core.domain.goals import content_hash, is_reviewed, mission_is_defined
from core.domain.lifecycles import GOAL, Who
from core.domain.limits import LINES_MAX, ROUND_CAP, TASKS_AT_ONCE
from core.domain.states import (
    CommentKind,
    GoalStatus,
    Origin,
    RunKind,
    TaskStatus,
)

_TALKING = frozenset({RunKind.EXPLORE, RunKind.MENTION})


def number_must_haves(
    wanted: Iterable[MustHaveDraft | str], known: Sequence[MustHave] = (), delivered: Collection[str] = ()
) -> Numbered:
    """Must-haves with their ids: the same id or text keeps it, new ones get the next free number. Raises Invalid.

    Of a goal that was at work before, other words under an id that something delivers (`delivered`) are a new one.
    """
    asked = [
        Wanted("", must, "") if isinstance(must, str) else Wanted(must.id, must.text, must.verify) for must in wanted
    ]
    named = {must.id for must in asked} | {must.text for must in asked}
    # On a draft what is left out is gone, also if it was waived.
    before = [must for must in known if not must["waived_by"] or must["id"] in named or must["text"] in named]
    try:
        return numbered(before, asked, delivered)
    except KeyError as error:
        ids = ", ".join(must["id"] for must in known) or "none"
        raise Invalid(f"There is no must-have {error.args[0]}.", f"Known: {ids}; a new one needs no id.") from None
    except ValueError as error:
        raise Invalid(f"{error.args[0]} is named twice.", "Name each must-have once.") from None


class CreateGoal(Command):
    """Make a draft goal. Dispatching it is another act (S1-10)."""

    who = letters("HX")
    example = {
        "title": "Audit the folder",
        "must_haves": ({"text": "The number of files", "verify": "Count them again."},),
        "split": False,
    }
    title: Title
    description: Text = ""
    must_haves: tuple[MustHaveDraft | Title, ...] = Field(
        (), max_length=LINES_MAX, description="What must be delivered; each gets an id M1, M2, …"
    )
    constraints: Lines = ()
    out_of_scope: Lines = Field((), description="What it does not ask for")
    explore: bool = Field(False, description="Talk it over with the coordinator first (S2-07)")
    split: bool = Field(True, description="False: exactly one draft task with the same description (S1-12)")
    tasks: tuple[NewTask, ...] = Field((), max_length=TASKS_AT_ONCE, description="Draft tasks to begin with")
    round_cap: int = Field(ROUND_CAP, ge=1, le=100)
    repository: Repository = Field(
        "", description="For the operator: the git repository that its tasks are worked on in"
    )


@handles(CreateGoal)
def create_goal(act: Act, command: CreateGoal) -> Answer:
    by_human = isinstance(act.actor, Operator)
    if not by_human:
        _refuse_second_draft(act, command)
    must_haves = number_must_haves(command.must_haves).must_haves
    hashed = content_hash(
        command.title, command.description, must_haves, command.constraints, command.out_of_scope
    )  # fmt: skip
    goal = act.tx.insert(
        Goal,
        "GoalCreated",
        title=command.title,
        description=command.description,
        must_haves=must_haves,
        constraints=command.constraints,
        status=GoalStatus.DRAFT,
        origin=Origin.OPERATOR if by_human else Origin.CEO,
        created_by=act.label,
        content_hash=hashed,
        reviewed_by=HUMAN if by_human else None,
        reviewed_at=act.tx.now if by_human else None,
        reviewed_hash=hashed if by_human else None,
        split=command.split,
        round_cap=command.round_cap,
        paused_at=None,
        reason="",
        exploring=command.explore,
        out_of_scope=command.out_of_scope,
        repository=command.repository,
    )
    tasks = [add_task(act, goal, new, TaskStatus.DRAFT, None).id for new in command.tasks]
    if not tasks:
        tasks.append(_add_placeholder(act, goal).id)
    goal = cover_tasks(act, goal.id)
    return {"id": goal.id, "status": "draft", "content_hash": goal.content_hash, "tasks": tasks}


def _add_placeholder(act: Act, goal: Goal) -> Task:
    """The one draft task that stands for the whole goal; it gives way when the goal is planned with others."""
    key = placeholder_key(goal.id)
    only = NewTask(title=goal.title, intent=goal.description or goal.title, end_state="", idempotency_key=key)
    return add_task(act, goal, only, TaskStatus.DRAFT, None)


def renew_placeholder(act: Act, goal: Goal) -> Task:
    """The one draft task of a goal that is a draft again; the one that was there before only keeps its place."""
    key = placeholder_key(goal.id)
    for before in act.tx.select(Task, "idempotency_key = :key", key=key):
        act.tx.update(before, "TaskReplaced", touch=False, idempotency_key=None)
    return _add_placeholder(act, goal)


def _refuse_second_draft(act: Act, command: CreateGoal) -> None:
    if command.repository:
        raise Forbidden("Only the operator names a repository.", "Leave it out.")
    if command.explore:
        raise Invalid("Only the operator talks a goal over.", "Leave explore out.")
    if command.split:
        raise Invalid("A CEO's draft is not split before a person has seen it.", "Send split: false (S1-11).")
    if len(command.tasks) > 1:
        raise Invalid("A CEO's draft has exactly one draft task.", "Leave tasks out; the coordinator plans them.")
    if not mission_is_defined(act.tx.get(Company, 1).mission):
        raise Conflict("The company has no mission; nothing was drafted.", "The operator sets it (S1-06).")
    open_drafts = act.tx.select(Goal, "status = 'draft' AND origin = 'ceo' LIMIT 1")
    if open_drafts:
        raise Conflict(
            f"{open_drafts[0].name_tag} is a CEO's draft that still waits for the operator.", "Edit that one (S1-18)."
        )
    _refuse_late_proposal(act)


def _refuse_late_proposal(act: Act) -> None:
    """A run that was begun because no goal was alive drafts none when one is by now (S1-01)."""
    if not isinstance(act.actor, Agent) or act.own_run().kind != RunKind.PROPOSE:
        return
    alive = act.tx.select(Goal, f"{ALIVE_GOALS} ORDER BY id")
    if not is_idle(act.tx.get(Company, 1), alive):
        raise Conflict(
            f"{alive[-1].name_tag} is alive by now; nothing was drafted.", "End this run; no goal is needed."
        )


class EditGoal(Command):
    """Change a draft. A human's edit reviews what it saved; an agent's edit clears the review (D-02)."""

    who = letters("HXC")
    example = {"goal": 3, "must_haves": ({"id": "M1", "text": "The number of files", "verify": "Count again."},)}
    goal: int
    title: Title | None = None
    description: Text | None = None
    must_haves: tuple[MustHaveDraft | Title, ...] | None = Field(
        None, max_length=LINES_MAX, description="All of them; ids stay"
    )
    constraints: Lines | None = None
    out_of_scope: Lines | None = None
    repository: Repository | None = Field(None, description="For the operator: of its tasks; '' for none")


@handles(EditGoal)
def edit_goal(act: Act, command: EditGoal) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    if goal.status != GoalStatus.DRAFT:
        raise Conflict(f"{goal.name_tag} is {goal.status}: only a draft can be edited.", GOAL.hint(goal.status))
    _require_editor(act, goal)
    moves = command.repository is not None and command.repository != goal.repository
    if command.repository is not None and moves:
        goal = _move(act, goal, command.repository)
    title = command.title if command.title is not None else goal.title
    description = command.description if command.description is not None else goal.description
    constraints = command.constraints if command.constraints is not None else goal.constraints
    out_of_scope = command.out_of_scope if command.out_of_scope is not None else goal.out_of_scope
    must_haves, replaced = Numbered(list(goal.must_haves), {})
    if command.must_haves is not None:
        must_haves, replaced = number_must_haves(command.must_haves, goal.must_haves, delivered_ids(act, goal))
    hashed = content_hash(title, description, must_haves, constraints, out_of_scope)
    if hashed == text_hash(goal):
        return {"id": goal.id, "changed": moves, "content_hash": goal.content_hash}
    by_human = isinstance(act.actor, Operator)
    act.tx.update(
        goal,
        "GoalEdited",
        title=title,
        description=description,
        must_haves=must_haves,
        constraints=constraints,
        out_of_scope=out_of_scope,
        content_hash=hashed,
        reviewed_by=HUMAN if by_human else None,
        reviewed_at=act.tx.now if by_human else None,
        reviewed_hash=hashed if by_human else None,
    )
    _follow(act, goal.id, title, description)
    _rename(act, goal.id, replaced)
    hashed = cover_tasks(act, goal.id).content_hash
    return {
        "id": goal.id, "changed": True, "content_hash": hashed, "must_haves": [dict(must) for must in must_haves]
    }  # fmt: skip


def _move(act: Act, goal: Goal, repository: str) -> Goal:
    """Another repository for a draft and those of its tasks that have the same. Raises Forbidden."""
    if not isinstance(act.actor, Operator):
        raise Forbidden("Only the operator names a repository.", "Leave it out.")
    for task in act.tx.select(Task, "goal_id = :goal AND status = 'draft' ORDER BY id", goal=goal.id):
        if task.repository == goal.repository:
            act.tx.update(task, "TaskEdited", touch=False, repository=repository)
    return act.tx.update(goal, "GoalMoved", touch=False, repository=repository)


def _require_editor(act: Act, goal: Goal) -> None:
    """Agents edit their own drafts; the coordinator also one that is talked over, by a run of that goal (S2-07)."""
    if not isinstance(act.actor, Agent) or is_own_draft(act, goal):
        return
    run = act.own_run()
    if Who.COORDINATOR not in act.capacities or run.goal_id != goal.id or run.kind not in _TALKING:
        raise Forbidden(f"{goal.name_tag} is not your draft.", "Comment on it instead.")
    if not goal.exploring:
        raise Forbidden(f"{goal.name_tag} is draft and not talked over.", "Comment on it; the operator may reopen it.")


def _follow(act: Act, goal_id: int, title: str, description: str) -> None:
    """What stands for the whole goal says what the goal says (S1-12)."""
    for task in act.tx.select(
        Task, "goal_id = :goal AND status = 'draft' AND idempotency_key = :key",
        goal=goal_id, key=placeholder_key(goal_id),
    ):  # fmt: skip
        intent = description or title
        if (task.title, task.intent) != (title, intent):
            act.tx.update(task, "TaskEdited", title=title, intent=intent, offer=task.offer + 1)


def _rename(act: Act, goal_id: int, replaced: dict[str, str]) -> None:
    """Drafts name the new ids of what is asked for in other words now."""
    for task in act.tx.select(Task, "goal_id = :goal AND status = 'draft' ORDER BY id", goal=goal_id):
        if replaced.keys() & set(task.must_haves):
            names = without(task.must_haves, {*task.must_haves, *replaced.values()}, replaced)
            act.tx.update(task, "TaskEdited", must_haves=names, offer=task.offer + 1)


class ReviewGoal(Command):
    """Approve exactly this content of a draft, with its draft tasks, so that it may be dispatched."""

    who = letters("H")
    goal: int
    content_hash: str | None = Field(None, description="Hash of what the person read; refused if it differs")


@handles(ReviewGoal)
def review_goal(act: Act, command: ReviewGoal) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    if goal.status != GoalStatus.DRAFT:
        raise Conflict(f"{goal.name_tag} is {goal.status}: there is no draft to review.", GOAL.hint(goal.status))
    require_read(goal, command.content_hash)
    if goal.exploring:
        raise Conflict(f"{goal.name_tag} is draft and still talked over.", "Say ready (ReadyGoal) when it is.")
    if is_reviewed(goal):
        raise Conflict(f"{goal.name_tag} is reviewed already.", "Dispatch it, edit it, or cancel it.")
    goal = act.tx.update(
        goal,
        "GoalReviewed",
        touch=False,
        reviewed_by=HUMAN,
        reviewed_at=act.tx.now,
        reviewed_hash=goal.content_hash,
    )
    return {"id": goal.id, "reviewed_hash": goal.reviewed_hash}


class ReviseGoal(Command):
    """Send a draft back to its author with a note; the author is woken with it (F22)."""

    who = letters("H")
    goal: int
    note: Reason


@handles(ReviseGoal)
def revise_goal(act: Act, command: ReviseGoal) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    if goal.status != GoalStatus.DRAFT:
        raise Conflict(f"{goal.name_tag} is {goal.status}: only a draft can be sent back.", GOAL.hint(goal.status))
    if goal.origin != Origin.CEO:
        raise Conflict(f"{goal.name_tag} is your own draft.", "Edit it.")
    comment = say(act, "GoalSentToAuthor", CommentKind.MAIL_REQUEST, command.note, goal=goal.id)
    woken = mention(act, comment, [_author_of(act, goal)])
    return {"id": goal.id, "comment": comment.id, "wakes": woken}


def _author_of(act: Act, goal: Goal) -> str:
    """Who answers for a CEO's draft: the CEO in office, also when another one made it."""
    found = act.tx.select(AgentRecord, "role = 'ceo' AND status <> 'terminated' LIMIT 1")
    return found[0].slug if found else goal.created_by
