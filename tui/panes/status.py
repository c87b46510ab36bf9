"""The status bar: the company, whether it runs, the CEO, the tick, the runs, the cost, and whose room this is."""

from dataclasses import dataclass

from textual.content import Content
from textual.widgets import Static

from core.domain.limits import TICK_MS
from tui.panes.words import line, money, put, said, tokens
from tui.projection import Projection


@dataclass(frozen=True, slots=True)
class Standing:
    """What the bar tells beside the board: the tick's clock and whose room this is."""

    now: int = 0
    due_in_ms: int | None = None
    owner_pid: int | None = None  # of another room, when this one only follows


class StatusBar(Static):
    """One line; what matters less goes first when there is no room."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self._parts: list[tuple[int, Content]] = []

    def show(self, view: Projection, standing: Standing) -> None:
        """Say how things stand now."""
        self._parts = _parts(view, standing)
        self._draw()

    def on_resize(self) -> None:
        """Leave out as much as the new width asks for."""
        self._draw()

    def _draw(self) -> None:
        width = self.size.width - 2
        parts = list(self._parts)
        while len(parts) > 1 and sum(part.cell_length + 2 for _, part in parts) - 2 > width:
            parts.remove(max(parts, key=lambda part: part[0]))
        # the last one, whose room this is, stands at the right
        used = sum(part.cell_length + 2 for _, part in parts) - 2
        contents = [part for _, part in parts]
        if len(contents) > 1 and used < width:
            contents[-1] = line(" " * (width - used), contents[-1])
        put(self, Content("  ").join(contents))


def _parts(view: Projection, standing: Standing) -> list[tuple[int, Content]]:
    """The parts from left to right, each with its rank; the highest rank goes first."""
    company = view.company
    if company is None:
        return [(0, Content("Opsroom")), (1, said("loading the board…", "dim"))]
    parts = [(2, said(company.name, "strong"))]
    if company.dispatching:
        parts.append((0, said("● STARTED", "good")))
    else:
        parts.append((0, said("■ STOPPED", "warn")))
        if company.stop_reason:
            parts.append((9, said(company.stop_reason, "dim")))
    parts.append((6, said(f"stage {company.autonomy}")))
    if (ceo := view.ceo()) is not None:
        parts.append((7, said(f"CEO {_spoken(ceo[1].mode)}")))
    if standing.due_in_ms is not None:
        # counted from the company's first day: the number that a person can compare
        number = max(0, standing.now // TICK_MS - company.created_at // TICK_MS)
        parts.append((3, said(f"tick {number} in {-(-standing.due_in_ms // 1000)}s")))
    totals = view.totals()
    runs = f"{totals.live} run{'' if totals.live == 1 else 's'}"
    queued = f" +{totals.queued} queued" if totals.queued else ""
    parts.append((4, said(runs + queued, "good" if totals.live else None)))
    parts.append((5, said(f"{tokens(totals.tokens)} · {money(totals.cost_micros)}")))
    parts.append((1, _role(standing)))
    return parts


def _spoken(word: str) -> str:
    return word.replace("_", " ")


def _role(standing: Standing) -> Content:
    if standing.owner_pid is None:
        return said("owner", "dim")
    return said(f"following pid {standing.owner_pid}" if standing.owner_pid else "following", "warn")
