"""The CEO: its mode, why it is in it, its heartbeat and agenda, and what stage B has done today."""

from collections.abc import Mapping, Sequence
from typing import Any

from textual.content import Content
from textual.widgets import Static

from core.domain.autonomy import is_idle
from core.domain.ceo_mode import CeoMode, Trigger, ceo_mode_cue
from core.domain.entities import AgentRecord, Company, Event, Goal
from core.domain.limits import AUTO_IN_A_ROW, HEARTBEAT_MS
from core.domain.states import GOAL_FINAL, AgentStatus, Autonomy, GoalStatus
from tui import signs
from tui.panes.words import entitle, line, money, put, said, tally
from tui.projection import Projection
from tui.text import ago, in_words

MEANS = {
    CeoMode.TEAM_BUILDING: "it looks for people to hire",
    CeoMode.AWAITING_HIRE: "it waits for you to decide on its hires",
    CeoMode.AWAITING_ORG: "it waits for you to review the organisation",
    CeoMode.OPERATING: "it proposes a goal when none is alive",
}
_BEATS = {"HeartbeatIdle": "no goal is alive", "MissionMissing": "no mission is set"}
_TEAM = ("working", "asks", "waiting", "cooling", "paused", "idle")
_LETTERS = {"task": "T", "goal": "G", "round": "N"}


class CeoPane(Static):
    """Three lines at the top of the room, what matters most first; all of it and the team where there is room."""

    def __init__(self) -> None:
        super().__init__(id="ceo", classes="pane slim")
        entitle(self, Content("CEO"))
        self._shown: tuple[Projection, int] | None = None

    def on_resize(self) -> None:
        """The reasons as long as there is room for."""
        if self._shown is not None:
            self.show(*self._shown)

    def show(self, view: Projection, now: int) -> None:
        """Say what `resolve_ceo_mode` says, with its reasons."""
        self._shown = (view, now)
        answer = view.ceo()
        if answer is None or view.company is None:
            entitle(self, Content("CEO"))
            put(self, said("No CEO is hired.", "dim"))
            return
        ceo, mode = answer
        is_paused = ceo.status == AgentStatus.PAUSED
        at_b = view.company.autonomy == Autonomy.B
        stage = said("  stage B", "warn") if at_b else Content("")
        word = said("paused", "warn") if is_paused else said(in_words(mode.mode), "info")
        entitle(self, Content.assemble("CEO  ", word, stage))
        words = said(means_words(view), "warn" if is_paused else None)
        means = line(words, "  ", _team(view, now, self.size.width - words.cell_length - 2))
        room = self.size.width if self.styles.text_wrap == "nowrap" else 0
        since = said(since_words(mode.reasons, room), "dim")
        heart = said(*_heart(view, now))
        # Three lines show where room is scarce: of stage B its count, and in each stage the reasons of the mode.
        first = [said(stage_words(view), "warn"), since, heart, means] if at_b else [means, since, heart]
        lines = [
            *first,
            *([] if at_b else [said(stage_words(view), "dim")]),
            *(said(f"  {words}") for words in agenda_lines(view.heartbeat)),
            said(f"next cue: {cue(view)}", "dim"),
            Content(""),
            *(
                _agent(view, each, now)
                for each in view.tables.all(AgentRecord)
                if each.status != AgentStatus.TERMINATED
            ),
        ]
        put(self, Content("\n").join(lines))


_SHORTER = (
    (" to the CEO", ""),
    (" waiting for the operator", " waiting"),
    ("the organisation waits for the operator's review", "chart under review"),
    ("the organisation is settled", "chart settled"),
)


def since_words(reasons: Sequence[str], width: int) -> str:
    """The reasons of a mode in a line; in fewer words where they would be cut. 0 when there is no such width."""
    words = f"since {'; '.join(reasons)}"
    if not width or len(words) <= width:
        return words
    for long, short in _SHORTER:
        words = words.replace(long, short)
    return words


def ceo_lines(view: Projection, now: int) -> list[str]:
    """All that is known about the CEO's work, for its detail view; empty when there is none."""
    answer = view.ceo()
    if answer is None:
        return []
    _, mode = answer
    agenda = agenda_lines(view.heartbeat)
    return [
        f"mode: {in_words(mode.mode)}, {means_words(view)}",
        *(f"  because: {reason}" for reason in mode.reasons),
        heartbeat_words(view, now),
        *(f"  {words}" for words in agenda),
        f"cue of its next run: {cue(view)}",
        stage_words(view),
    ]


def means_words(view: Projection) -> str:
    """What the CEO does in its mode; or that it does nothing, since it is paused."""
    answer = view.ceo()
    if answer is None:
        return ""
    ceo, mode = answer
    if ceo.status == AgentStatus.PAUSED:
        return f"{ceo.name} is paused: nothing is asked of it"
    return MEANS[mode.mode]


def cue(view: Projection) -> str:
    """The first words that a run of the CEO would get if its heartbeat were now."""
    answer, company = view.ceo(), view.company
    if answer is None or company is None:
        return ""
    idle = is_idle(company, [goal for goal in view.tables.all(Goal) if _is_alive(goal)])
    return ceo_mode_cue(answer[1].mode, Trigger.IDLE if idle else Trigger.HEARTBEAT, company.locale)


def _is_alive(goal: Goal) -> bool:
    return goal.status not in GOAL_FINAL and goal.status != GoalStatus.ARCHIVED


def stage_words(view: Projection) -> str:
    """Who dispatches the CEO's drafts, and how far stage B has come."""
    company = view.company
    if company is None:
        return ""
    spent = spent_words(company, view.spent_by_b)
    if company.autonomy != Autonomy.B:
        return "stage A: you dispatch what it drafts" + (f"; stage B {spent}" if view.spent_by_b else "")
    return f"stage B: {company.auto_in_a_row} of {AUTO_IN_A_ROW} in a row · {spent}"


def spent_words(company: Company, spent: int | None) -> str:
    """What goals of stage B have cost today, of what they may."""
    so_far = "…" if spent is None else money(spent)
    return f"spent {so_far} of {money(company.budget_micros)} today"


def heartbeat_words(view: Projection, now: int) -> str:
    """When the last heartbeat was, what it found, and when the next one is."""
    return _heart(view, now)[0]


def _heart(view: Projection, now: int) -> tuple[str, Any]:
    event = view.heartbeat
    if view.company is None or not view.company.dispatching:
        return "♥ rests while the company is stopped", "dim"
    if event is None:
        return "♥ first heartbeat at the next tick", "dim"
    left = max(0, event.at + HEARTBEAT_MS - now)
    due = f"next in {-(-left // 60_000)}m" if left > 60_000 else f"next in {left // 1000}s"
    found = _BEATS.get(event.kind) or str(event.changed.get("result", "normal"))
    first = agenda_lines(event)[:1]
    return f"♥ last {ago(now, event.at)} ago: {found} · {due}" + (f" · {first[0]}" if first else ""), None


def agenda_lines(event: Event | None) -> Sequence[str]:
    """What the last heartbeat's agenda holds, a line an item."""
    agenda = event.changed.get("agenda") if event is not None else None
    return [_item(each) for each in agenda if isinstance(each, Mapping)] if isinstance(agenda, (list, tuple)) else []


def _item(item: Mapping[str, Any]) -> str:
    kind, _, number = str(item.get("entity", "")).partition(":")
    return f"{_LETTERS.get(kind, kind)}{number} {item.get('title', '')}: {item.get('why', '')}"


def _team(view: Projection, now: int, room: int) -> Content:
    team = view.team(now)
    return tally([(signs.AGENT[state], team[state]) for state in _TEAM if team[state]], room)


def _agent(view: Projection, agent: AgentRecord, now: int) -> Content:
    state = view.agent_state(agent, now)
    sign, word, tone = signs.AGENT[state]
    return line(said(f"{sign} ", tone), said(f"{agent.slug:<14} "), said(f"{agent.role:<12} ", "dim"), said(word, tone))
