"""The door of this folder: the prompt of a run, and of one that is only thought of."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from core.blackboard.queries import PENDING_APPROVALS
from core.blackboard.readers import Readers
from core.domain.ceo_mode import CeoModeContext, Trigger, ceo_mode_cue, resolve_ceo_mode
from core.domain.entities import AgentRecord, Approval, Company, Goal, Round, Run, Task
from core.domain.errors import Invalid, NotFound
from core.domain.guardrails import RedLine
from core.domain.limits import PROMPT_TOKENS, PROMPT_TOKENS_MIN
from core.domain.states import Role, RunKind, TaskStatus
from core.prompting.budget import fitted, size_of
from core.prompting.facts import Commission, PromptFacts, texts_in
from core.prompting.fence import Randomness, draw_nonce, unused
from core.prompting.gathering import gather_prompt
from core.prompting.layers import Writer
from core.prompting.prompt import Prompt
from core.prompting.templates import Library
from core.reading.offered import KINDS

__all__ = [
    "KINDS",
    "Commission",
    "budget_of",
    "build_prompt",
    "commission_of",
    "kind_now",
    "kind_of",
    "preview_prompt",
    "run_prompt",
    "written",
]

_BEGUN_BY = {
    RunKind.HEARTBEAT: Trigger.HEARTBEAT, RunKind.PROPOSE: Trigger.IDLE, RunKind.MENTION: Trigger.OPERATOR,
}  # fmt: skip


def budget_of(agent: AgentRecord, budget: int = PROMPT_TOKENS) -> int:
    """The most tokens of a prompt: the agent's own (`prompt_tokens` of its runner's settings) before the company's."""
    own = agent.runner.get("prompt_tokens")
    return max(own if isinstance(own, int) and not isinstance(own, bool) else budget, PROMPT_TOKENS_MIN)


async def build_prompt(
    readers: Readers, library: Library, about: Commission, *,
    budget: int = PROMPT_TOKENS, red_lines: Iterable[RedLine] = (), draw: Randomness = draw_nonce,
) -> Prompt:  # fmt: skip
    """What a run is told. `budget` is the company's, in tokens. Raises BoardError; Invalid for a missing template."""
    facts = await gather_prompt(readers, about, red_lines)
    # Counting and rendering keep a processor busy for some milliseconds, the first time for longer.
    return await asyncio.to_thread(_written_now, facts, library, budget_of(about.agent, budget), draw)


async def commission_of(readers: Readers, folder: Path, run: Run) -> Commission:
    """What a run is about, as the board is now; `folder` is the company's. Raises BoardError."""
    company = (await readers.entities(Company, "id = 1"))[0]
    agent = (await readers.entities(AgentRecord, "id = :id", id=run.agent_id))[0]
    tasks = await readers.entities(Task, "id = :id", id=run.task_id)
    goals = await readers.entities(Goal, "id = :id", id=run.goal_id)
    rounds = await readers.entities(Round, "id = :id", id=run.round_id)
    return Commission(
        agent, run.kind, company, folder, task=next(iter(tasks), None), goal=next(iter(goals), None),
        round=next(iter(rounds), None), run_id=run.id, brief=run.brief,
    )  # fmt: skip


async def preview_prompt(
    readers: Readers, library: Library, folder: Path, agent: str, task: int | None = None, *,
    kind: RunKind | None = None, budget: int = PROMPT_TOKENS, red_lines: Iterable[RedLine] = (),
    draw: Randomness = draw_nonce,
) -> Prompt:  # fmt: skip
    """What the agent of this short name would be told now about a task, or without one when it is next called.

    `kind` is that of the run; unless named, it follows from the role and the task's state (`kind_of`).
    Raises NotFound for an agent or a task that this board does not have, Invalid for a kind that its role never gets;
    else as `build_prompt`.
    """
    company = (await readers.entities(Company, "id = 1"))[0]
    record, about_task = await _found(readers, agent, task)
    if kind is not None and kind not in KINDS[record.role]:
        raise Invalid(
            f"{record.name} is of role {record.role!s} and never gets a run of kind {kind.value!r}.",
            f"It can get: {', '.join(KINDS[record.role])}.",
        )
    kind = kind or kind_of(record, about_task)
    brief = await _mode_now(readers, record, company, kind) if record.role == Role.CEO else {}
    about = Commission(record, kind, company, folder, task=about_task, brief=brief)
    return await build_prompt(readers, library, about, budget=budget, red_lines=red_lines, draw=draw)


async def kind_now(readers: Readers, agent: str, task: int | None = None) -> RunKind:
    """The kind of run in which `preview_prompt` tells it. Raises NotFound."""
    return kind_of(*await _found(readers, agent, task))


async def _found(readers: Readers, agent: str, task: int | None) -> tuple[AgentRecord, Task | None]:
    staff = await readers.entities(AgentRecord, "slug = :slug", slug=agent)
    if not staff:
        raise NotFound(f"There is no agent {agent!r} on this board.", "Use the short name of one that is hired.")
    tasks = await readers.entities(Task, "id = :id", id=task) if task is not None else []
    if task is not None and not tasks:
        raise NotFound(f"There is no T{task} on this board.", "List what there is and use an id from it.")
    return staff[0], tasks[0] if tasks else None


async def run_prompt(
    readers: Readers, library: Library, folder: Path, run: Run, *,
    budget: int = PROMPT_TOKENS, red_lines: Iterable[RedLine] = (), draw: Randomness = draw_nonce,
) -> Prompt:  # fmt: skip
    """What this run would be told if it began now: one that is queued, or one of before again. As `build_prompt`."""
    about = await commission_of(readers, folder, run)
    return await build_prompt(readers, library, about, budget=budget, red_lines=red_lines, draw=draw)


async def _mode_now(readers: Readers, agent: AgentRecord, company: Company, kind: RunKind) -> dict[str, str]:
    """The mode in which a CEO's run would begin now, and its first words."""
    staff = await readers.entities(AgentRecord, "status <> 'terminated' ORDER BY id")
    asked = await readers.entities(Approval, f"{PENDING_APPROVALS} ORDER BY id")
    mode = resolve_ceo_mode(CeoModeContext(agent, company, staff, asked)).mode
    return {"mode": str(mode), "cue": ceo_mode_cue(mode, _BEGUN_BY[kind], company.locale)}


def kind_of(agent: AgentRecord, task: Task | None) -> RunKind:
    """The kind of run in which an agent would be told about a task as it is now."""
    if task is None:
        return RunKind.HEARTBEAT if agent.role == Role.CEO else RunKind.MENTION
    match agent.role, task.status:
        case Role.EXECUTOR, TaskStatus.DRAFT | TaskStatus.PENDING:
            return RunKind.BROADCAST
        case Role.EXECUTOR, TaskStatus.CLAIMED | TaskStatus.WORKING:
            return RunKind.EXECUTE
        case ((Role.REVIEWER | Role.CHALLENGER), TaskStatus.REVIEW):
            return RunKind.REVIEW
        case Role.COORDINATOR, TaskStatus.REVIEW:
            return RunKind.RULE
        case Role.COORDINATOR, TaskStatus.PENDING:
            return RunKind.STALL
        case _:
            return RunKind.MENTION


def written(facts: PromptFacts, library: Library, budget: int, nonce: str) -> Prompt:
    """The prompt from its facts, within the budget. The templates are as `library` last read them; else pure."""
    writer = Writer(facts, library, nonce)
    layers, cut = fitted(writer, budget)
    warnings = list(writer.warnings)
    if (size := size_of(layers)) > budget:
        warnings.append(f"What must always be told has {size} tokens, more than the budget of {budget}.")
    used = tuple(one.id for one in facts.experiences[: cut.experiences])
    return Prompt(layers, budget, nonce, facts.commission.company.locale, used, tuple(warnings))


def _written_now(facts: PromptFacts, library: Library, budget: int, draw: Randomness) -> Prompt:
    library.refresh()
    return written(facts, library, budget, unused(draw, texts_in(facts)))
