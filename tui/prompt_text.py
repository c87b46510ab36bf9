"""A prompt in words: its layers by name, their share of the budget, what was left out. Pure; for room and shell."""

from core.prompting.prompt import LayerName, LeftOut
from tui.text import amount

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


def share(tokens: int, budget: int) -> int:
    """Percent of the budget, rounded."""
    return round(100 * tokens / budget) if budget > 0 else 0


def bar_text(tokens: int, budget: int, cells: int) -> str:
    """A bar of so many cells; what is there at all has one."""
    filled = min(cells, max(round(cells * tokens / budget), 1)) if budget > 0 and tokens > 0 else 0
    return FULL * filled + EMPTY * (cells - filled)


def left_out_words(one: LeftOut) -> str:
    """What was left out, and the call with which the agent reads it."""
    return f"{amount(one.count)} {one.what}{f': {one.how}' if one.how else ''}"
