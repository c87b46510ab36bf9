"""The CEO: its mode, why it is in it, what that means, and its heartbeat."""

from textual.content import Content
from textual.widgets import Static

from core.domain.ceo_mode import CeoMode
from core.domain.entities import AgentRecord, Event
from core.domain.limits import HEARTBEAT_MS
from tui import signs
from tui.panes.words import entitle, line, put, said
from tui.projection import Projection
from tui.text import ago

MEANS = {
    CeoMode.TEAM_BUILDING: "it looks for people to hire",
    CeoMode.AWAITING_HIRE: "it waits for you to decide on its hires",
    CeoMode.AWAITING_ORG: "it waits for you to review the organisation",
    CeoMode.OPERATING: "it proposes a goal when none is alive",
}
_BEATS = {"HeartbeatIdle": "no goal is alive", "MissionMissing": "no mission is set"}
_TEAM = ("working", "waiting", "cooling", "paused", "idle")


class CeoPane(Static):
    """Three lines at the top of the room; the team below them where there is room."""

    def __init__(self) -> None:
        super().__init__(id="ceo", classes="pane slim")
        entitle(self, Content("CEO"))

    def show(self, view: Projection, now: int) -> None:
        """Say what `resolve_ceo_mode` says, with its reasons."""
        answer = view.ceo()
        if answer is None:
            entitle(self, Content("CEO"))
            put(self, said("No CEO is hired.", "dim"))
            return
        _, mode = answer
        entitle(self, Content.assemble("CEO  ", said(mode.mode.replace("_", " "), "info")))
        lines = [
            line(said(MEANS[mode.mode]), "  ", _team(view, now)),
            said(f"since {'; '.join(mode.reasons)}", "dim"),
            _heartbeat(view.heartbeat, now, view),
            Content(""),
            *(_agent(view, agent, now) for agent in view.tables.all(AgentRecord)),
        ]
        put(self, Content("\n").join(lines))


def _heartbeat(event: Event | None, now: int, view: Projection) -> Content:
    if view.company is None or not view.company.dispatching:
        return said("♥ rests while the company is stopped", "dim")
    if event is None:
        return said("♥ first heartbeat at the next tick", "dim")
    left = max(0, event.at + HEARTBEAT_MS - now)
    due = f"next in {-(-left // 60_000)}m" if left > 60_000 else f"next in {left // 1000}s"
    found = _BEATS.get(event.kind) or str(event.changed.get("result", "normal"))
    return said(f"♥ {ago(now, event.at)} ago: {found} · {due}")


def _team(view: Projection, now: int) -> Content:
    team = view.team(now)
    parts = [
        said(f"{signs.AGENT[state][0]} {team[state]} {state}", signs.AGENT[state][2]) for state in _TEAM if team[state]
    ]
    return Content(" ").join(parts)


def _agent(view: Projection, agent: AgentRecord, now: int) -> Content:
    state = view.agent_state(agent, now)
    sign, word, tone = signs.AGENT[state]
    return line(said(f"{sign} ", tone), said(f"{agent.slug:<14} "), said(f"{agent.role:<12} ", "dim"), said(word, tone))
