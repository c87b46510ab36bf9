"""The status bar: the company, whether it runs, the CEO, the tick, the runs, the cost, and whose room this is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from textual.content import Content
from textual.widgets import Static

from core.domain.budgets import with_unknown
from core.domain.limits import TICK_MS
from core.domain.states import AgentStatus, Autonomy
from tui.panes.words import line, money, put, said, tokens
from tui.projection import Projection
from tui.text import counted, fit, in_words
from tui.widgets.row import Tone


@dataclass(frozen=True, slots=True)
class Standing:
    """What the bar tells beside the board: the tick's clock and whose room this is."""

    now: int = 0
    due_in_ms: int | None = None
    owner_pid: int | None = None  # of another room, when this one only follows
    quiet: str = ""  # that nobody is to be disturbed, in words


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of the bar. Where there is no room, the highest rank is shortened first, and then goes first.

    One that `stretches` may be cut anywhere: it takes what the others leave.
    """

    rank: int
    words: Content
    short: Content | None = None
    stretches: bool = False


class StatusBar(Static):
    """One line; what matters less goes first when there is no room."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self._parts: list[_Part] = []

    def show(self, view: Projection, standing: Standing) -> None:
        """Say how things stand now."""
        self._parts = _parts(view, standing)
        self._draw()

    def on_resize(self) -> None:
        """Leave out as much as the new width asks for."""
        self._draw()

    def _draw(self) -> None:
        parts = _fitted(self._parts, self.size.width)
        # the last one, whose room this is, stands at the right
        width, used = self.size.width - 2, _width(parts)
        contents = [part.words for part in parts]
        if len(contents) > 1 and used < width:
            contents[-1] = line(" " * (width - used), contents[-1])
        put(self, Content("  ").join(contents))


_LEAST = 12  # cells of a cut text that still tell something


def _fitted(whole: Sequence[_Part], width: int) -> list[_Part]:
    """The parts that have room, shortened where they must be; what is left over goes to those that were."""
    shown = list(whole)
    for place, part in sorted(enumerate(whole), key=lambda each: -each[1].rank):
        if _width(shown) <= width:
            break
        if part.short is not None:
            shown[place] = replace(part, words=part.short)
    while sum(bool(part.words) for part in shown) > 1 and _width(shown) > width:
        place = max((place for place, part in enumerate(shown) if part.words), key=lambda place: shown[place].rank)
        shown[place] = replace(shown[place], words=Content(""), short=None)
    for place, part in sorted(enumerate(shown), key=lambda each: each[1].rank):
        if part.short is not None and part.words is part.short:
            gap = 0 if part.words else 2
            room = width - _width(shown) + part.words.cell_length - gap
            if whole[place].words.cell_length <= room:
                shown[place] = whole[place]
            elif part.stretches and room >= _LEAST:
                shown[place] = replace(part, words=whole[place].words.truncate(room, ellipsis=True))
    return [part for part in shown if part.words]


def _width(parts: Sequence[_Part]) -> int:
    return sum(part.words.cell_length + 2 for part in parts if part.words) - 2


def _parts(view: Projection, standing: Standing) -> list[_Part]:
    """The parts from left to right."""
    company = view.company
    if company is None:
        return [_Part(0, Content("Opsroom")), _Part(1, said("loading the board…", "dim"))]
    parts = [
        _Part(5, said(company.name, "strong"), said(fit(company.name, min(12, len(company.name))), "strong"), True)
    ]
    if company.dispatching:
        parts.append(_Part(0, said("● STARTED", "good"), said("●", "good")))
    else:
        parts.append(_Part(0, said("■ STOPPED", "warn")))
        if company.stop_reason:
            parts.append(_Part(9, said(company.stop_reason, "dim"), Content(""), stretches=True))
    if company.autonomy == Autonomy.B:
        # what goes on without a person is told at every width
        parts.append(_Part(1, said("stage B", "warn")))
    else:
        parts.append(_Part(8, said(f"stage {company.autonomy}"), Content("")))
    if (ceo := view.ceo()) is not None:
        paused = ceo[0].status == AgentStatus.PAUSED
        parts.append(_Part(2, said("CEO paused", "warn") if paused else said(f"CEO {in_words(ceo[1].mode)}")))
    if standing.due_in_ms is not None:
        # counted from the company's first day: the number that a person can compare
        number = max(0, standing.now // TICK_MS - company.created_at // TICK_MS)
        due = f"in {-(-standing.due_in_ms // 1000)}s"
        parts.append(_Part(6, said(f"tick {number} {due}"), said(f"tick {due}")))
    totals = view.totals()
    tone: Tone | None = "good" if totals.live else None
    runs = counted(totals.live, "run")
    if totals.queued:
        whole, short = f"{runs} +{totals.queued} queued", f"{runs} +{totals.queued}"
        parts.append(_Part(4, said(whole, tone), said(short, tone)))
    else:
        parts.append(_Part(4, said(runs, tone)))
    cost = with_unknown(money(totals.cost_micros), totals.without_cost, short=True)
    parts.append(_Part(3, said(f"{tokens(totals.tokens)} · {cost}")))
    if standing.quiet:
        parts.append(_Part(2, said(standing.quiet, "warn")))
    parts.append(_role(standing))
    return parts


def _role(standing: Standing) -> _Part:
    if standing.owner_pid is None:
        return _Part(7, said("owner", "dim"), Content(""))
    return _Part(1, said(f"following pid {standing.owner_pid}" if standing.owner_pid else "following", "warn"))
