"""A prompt in words: its layers by name, their share of the budget, what was left out. Pure; for room and shell."""

import re
from dataclasses import dataclass

from core.domain.entities import Run
from core.domain.states import RunKind, RunStatus
from core.prompting.prompt import LayerName, LeftOut
from tui.text import amount, in_words

ABOUT: dict[LayerName, str] = {
    LayerName.SELF: "who it is",
    LayerName.ROLE: "role and errand",
    LayerName.PROJECT: "company and goal",
    LayerName.TASK: "this run",
    LayerName.PREDECESSORS: "earlier tasks",
    LayerName.API: "calls",
    LayerName.GUARDRAILS: "red lines",
    LayerName.REVIEW: "how it is judged",
    LayerName.EXPERIENCES: "experiences",
    LayerName.KNOWLEDGE: "knowledge",
}
FULL, EMPTY = "━", "╌"  # told apart by their strokes, not by colour


def is_planned(run: Run) -> bool:
    """Whether it was not told anything yet."""
    return run.status in (RunStatus.QUEUED, RunStatus.STARTING) and not run.prompt_hash


def words_of_run(run: Run, slug: str, verb: str) -> str:
    """Whose prompt it is: what R12 of ada was told about T3 (execute)."""
    about = f" about {'T' if run.task_id else 'G'}{run.task_id or run.goal_id}" if run.task_id or run.goal_id else ""
    return f"what {run.name_tag} of {slug} {verb}{about} ({in_words(run.kind)})"


def words_of_plan(slug: str, task: int | None, kind: RunKind) -> str:
    """Whose prompt it would be: what ada would be told now about T3 (execute)."""
    return f"what {slug} would be told now{f' about T{task}' if task else ''} ({in_words(kind)})"


def share(tokens: int, budget: int) -> int:
    """Percent of the budget, rounded."""
    return round(100 * tokens / budget) if budget > 0 else 0


def bar_text(tokens: int, budget: int, cells: int) -> str:
    """A bar of so many cells; what is there at all has one."""
    filled = min(cells, max(round(cells * tokens / budget), 1)) if budget > 0 and tokens > 0 else 0
    return FULL * filled + EMPTY * (cells - filled)


def left_out_words(one: LeftOut) -> str:
    """What was left out, and the call with which the agent reads it."""
    return f"{one.what}: {amount(one.count)}{f' · {one.how}' if one.how else ''}"


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a layer. `label` is None for the template's own words, else that of the value's fence."""

    text: str
    label: str | None = None


def parts_of(text: str, nonce: str) -> tuple[Part, ...]:
    """A layer's text taken apart at the fences of this nonce; the parts are lines, and blank lines stay.

    What is fenced otherwise, or not closed, is text.
    """
    if not nonce:
        return (Part(text),)
    fence = re.compile(
        rf"^<data {re.escape(nonce)}(?: (?P<label>[^\n]*))?>\n(?P<value>.*?)\n</data {re.escape(nonce)}>$", re.M | re.S
    )
    found: list[Part] = []
    end = 0
    for match in fence.finditer(text):
        own = text[end : match.start()]
        if end and own.startswith("\n"):
            own = own[1:]
        if own:
            found.append(Part(own.removesuffix("\n")))
        found.append(Part(match["value"], match["label"] or ""))
        end = match.end()
    if end < len(text):
        found.append(Part(text[end:].removeprefix("\n") if end else text))
    return tuple(found)
