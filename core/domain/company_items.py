"""What the company as a whole lacks before anything can begin: a mission for its CEO, programs for its agents. Pure."""

from collections.abc import Collection, Iterable, Iterator

from core.domain.autonomy import is_idle
from core.domain.entities import AgentRecord, Company, Goal
from core.domain.goals import mission_is_defined
from core.domain.inbox import Choice, InboxItem
from core.domain.states import GOAL_FINAL, AgentStatus, GoalStatus, Role

NO_MISSION = "no mission"
NO_RUNNER = "no runner"
_NAMED = 3


def mission_missing(locale: str) -> str:
    """The notice of S1-06 in the company's language."""
    if locale == "zh":
        return "公司使命未设置，无法自主立项，需要人类补充"
    return "no mission is set: the CEO proposes no goal before you say what the company is for"


def runner_missing(kind: object, kinds: Collection[str]) -> str:
    """Why nothing with this kind of runner can run here, where these kinds can; empty if it can."""
    if kind in kinds:
        return ""
    known = f"it has: {', '.join(sorted(kinds))}" if kinds else "it has none for this company"
    return f"there is no runner of kind {str(kind)!r} in this program; {known}"


def notices(
    company: Company | None,
    goals: Iterable[Goal],
    agents: Iterable[AgentRecord],
    kinds: Collection[str] | None = None,
) -> list[InboxItem]:
    """What a started company waits for in vain. `kinds` are the runners that it has; None if that is not known."""
    if company is None or not company.dispatching:
        return []
    active = [agent for agent in agents if agent.status == AgentStatus.ACTIVE]
    alive = [goal for goal in goals if goal.status not in GOAL_FINAL and goal.status != GoalStatus.ARCHIVED]
    return [*_mission(company, alive, active), *([] if kinds is None else _runners(company, active, kinds))]


def _mission(company: Company, alive: list[Goal], active: list[AgentRecord]) -> Iterator[InboxItem]:
    has_ceo = any(agent.role == Role.CEO for agent in active)
    if not has_ceo or mission_is_defined(company.mission) or not is_idle(company, alive):
        return
    yield InboxItem(
        id="mission:company:1", entity="company:1", kind=NO_MISSION, title="The company has no mission",
        why=mission_missing(company.locale), since=company.updated_at,
        choices=(
            Choice("M", "set it", "EditCompany", {}, "the CEO proposes a goal from it at its next heartbeat",
                   "mission", undoable=False),
        ),
    )  # fmt: skip


def _runners(company: Company, active: list[AgentRecord], kinds: Collection[str]) -> Iterator[InboxItem]:
    idle = [agent for agent in active if runner_missing(agent.runner.get("kind", ""), kinds)]
    if not idle:
        return
    names = ", ".join(agent.slug for agent in idle[:_NAMED]) + (" and more" if len(idle) > _NAMED else "")
    missing = runner_missing(idle[0].runner.get("kind", ""), kinds)
    yield InboxItem(
        id="runners:company:1", entity="company:1", kind=NO_RUNNER, title=f"Nothing runs for {names}",
        why=f"{missing}; their runs fail until they get another runner", since=company.updated_at,
    )  # fmt: skip
