"""The one place that decides which mode the CEO is in, and why (S0-01…08). Derived, never stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.domain.entities import AgentRecord, Approval, Company
from core.domain.states import AgentStatus, ApprovalKind, ApprovalStatus, OrgStatus, Role


class CeoMode(StrEnum):
    """Exactly four (S0-02)."""

    TEAM_BUILDING = "team_building"
    AWAITING_HIRE = "awaiting_hire"
    AWAITING_ORG = "awaiting_org"
    OPERATING = "operating"


class Trigger(StrEnum):
    """What a run of the CEO was begun by."""

    HEARTBEAT = "heartbeat"
    IDLE = "idle"
    MENTION = "mention"
    OPERATOR = "operator"


# The names of the files in `prompts/ceo-modes`.
SLUGS: dict[CeoMode, str] = {
    CeoMode.TEAM_BUILDING: "team-building",
    CeoMode.AWAITING_HIRE: "awaiting-hire",
    CeoMode.AWAITING_ORG: "awaiting-org",
    CeoMode.OPERATING: "operating",
}
_FIRST_ACTS: dict[CeoMode, str] = {
    CeoMode.TEAM_BUILDING: "Nobody reports to you: propose the first hire that the mission needs.",
    CeoMode.AWAITING_HIRE: "Your hires wait for the operator: answer what was asked about them, or end.",
    CeoMode.AWAITING_ORG: "The organisation waits for the operator: answer what was asked about it, or end.",
    CeoMode.OPERATING: "The company operates: deal with what this run was begun for.",
}
_PROPOSE = {"en": "Propose exactly one draft.", "zh": "提出恰好一份草案。"}
_BEGUN_BY: dict[Trigger, str] = {
    Trigger.HEARTBEAT: "This is your heartbeat, and it has an agenda.",
    Trigger.IDLE: "No goal is alive.",
    Trigger.MENTION: "Somebody named you on the board.",
    Trigger.OPERATOR: "The operator called you.",
}
# The same in Chinese. A mode that has no words here yet is told in English.
_FIRST_ACTS_ZH: dict[CeoMode, str] = {
    CeoMode.TEAM_BUILDING: "还没有人向你汇报：提出使命所需的第一个招聘。",
    CeoMode.AWAITING_HIRE: "你的招聘在等操作员：答复有关的提问，否则结束。",
    CeoMode.AWAITING_ORG: "组织架构在等操作员：答复有关的提问，否则结束。",
    CeoMode.OPERATING: "公司正常运行：处理本次运行所为之事。",
}
_BEGUN_BY_ZH: dict[Trigger, str] = {
    Trigger.HEARTBEAT: "这是你的心跳，附有议程。",
    Trigger.IDLE: "没有进行中的目标。",
    Trigger.MENTION: "有人在黑板上叫了你。",
    Trigger.OPERATOR: "操作员叫了你。",
}
if set(SLUGS) != set(CeoMode) or set(_FIRST_ACTS) != set(CeoMode):
    raise RuntimeError("a mode of the CEO has no file name or no cue: see docs/ceo-modes.md")


def ceo_mode_cue(mode: CeoMode, trigger: Trigger, locale: str = "en") -> str:
    """The first words to a CEO's run, from the same mode as its prompt (S0-13), in the company's language (D-06)."""
    if trigger == Trigger.IDLE and mode == CeoMode.OPERATING:
        return _BEGUN_BY_ZH[trigger] + _PROPOSE["zh"] if locale == "zh" else f"{_BEGUN_BY[trigger]} {_PROPOSE['en']}"
    if locale == "zh" and mode in _FIRST_ACTS_ZH:
        return f"{_BEGUN_BY_ZH[trigger]}{_FIRST_ACTS_ZH[mode]}"
    return f"{_BEGUN_BY[trigger]} {_FIRST_ACTS[mode]}"


@dataclass(frozen=True, slots=True)
class CeoModeContext:
    """S0-03. `execution_mode` is informative: tools and mode are decoupled (S0-21)."""

    agent: AgentRecord
    company: Company
    active_agents: Sequence[AgentRecord]
    pending_approvals: Sequence[Approval]
    execution_mode: str = "interactive"


@dataclass(frozen=True, slots=True)
class CeoModeAnswer:
    """The mode and the facts that decided it, for people."""

    mode: CeoMode
    reasons: tuple[str, ...]


def resolve_ceo_mode(context: CeoModeContext) -> CeoModeAnswer:
    """The mode by S0-07's priority, first match wins. Raises ValueError for an agent that is no CEO (S0-04)."""
    if context.agent.role != Role.CEO:
        raise ValueError(f"resolve_ceo_mode was asked about {context.agent.slug}, whose role is {context.agent.role}")
    reports = [
        agent
        for agent in context.active_agents
        if agent.manager_id == context.agent.id and agent.status != AgentStatus.TERMINATED
    ]
    hires = [
        approval
        for approval in context.pending_approvals
        if approval.kind == ApprovalKind.HIRE_AGENT and approval.status == ApprovalStatus.PENDING
    ]
    team = f"{len(reports)} report{'' if len(reports) == 1 else 's'} to the CEO"
    waiting = f"{len(hires)} hire{'' if len(hires) == 1 else 's'} waiting for the operator"
    if not reports and not hires:
        return CeoModeAnswer(CeoMode.TEAM_BUILDING, (team, waiting))
    if not reports:
        return CeoModeAnswer(CeoMode.AWAITING_HIRE, (team, waiting))
    more = (waiting,) if hires else ()
    if context.company.org_status == OrgStatus.PENDING_REVIEW:
        return CeoModeAnswer(CeoMode.AWAITING_ORG, (team, *more, "the organisation waits for the operator's review"))
    return CeoModeAnswer(CeoMode.OPERATING, (team, *more, "the organisation is settled"))
