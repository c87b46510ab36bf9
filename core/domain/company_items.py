"""What the company as a whole lacks before anything can begin: a mission for its CEO, programs for its agents. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from core.domain.autonomy import is_idle
from core.domain.entities import AgentRecord, Company, Goal
from core.domain.goals import mission_is_defined
from core.domain.inbox_item import Choice, InboxItem
from core.domain.states import GOAL_FINAL, AgentStatus, GoalStatus, Role

NO_MISSION = "no mission"
NO_RUNNER = "no runner"
RUNNER_EXAMPLE = '{"kind": "chat", "url": "http://127.0.0.1:8080/v1", "model": "qwen3"}'
_NEEDED = {"acp": ("command",), "chat": ("url", "model"), "command": ("command",)}
_NAMED = 3


def mission_missing(locale: str) -> str:
    """The notice of S1-06 in the company's language."""
    if locale == "zh":
        return "公司使命未设置，无法自主立项，需要人类补充"
    return "no mission is set: the CEO proposes no goal before you say what the company is for"


def runner_missing(runner: Mapping[str, object], kinds: Collection[str]) -> str:
    """Why nothing with these settings can run here, where these kinds of runners can; empty if it can."""
    kind = runner.get("kind", "")
    if kind in kinds:
        # A program of the catalogue brings its command along.
        needed = () if runner.get("program", "script") != "script" else _NEEDED.get(str(kind), ())
        lacks = [name for name in needed if not runner.get(name)]
        return f"its runner of kind {str(kind)!r} has no {' and no '.join(lacks)}" if lacks else ""
    known = f"it has: {', '.join(sorted(kinds))}" if kinds else "it has none for this company"
    return f"there is no runner of kind {str(kind)!r} in this program; {known}"


def default_runner(
    agents: Sequence[AgentRecord], manager: str | None, kinds: Collection[str]
) -> Mapping[str, object] | None:
    """What a new agent runs on unless it is said: what its manager does, or else the first hired whose runner can.

    None where nothing is known that could run.
    """
    if "rehearsal" in kinds:
        return {"kind": "rehearsal"}
    able = [each for each in agents if each.status != AgentStatus.TERMINATED and not runner_missing(each.runner, kinds)]
    able.sort(key=lambda each: (each.slug != manager, each.id))
    return able[0].runner if able else None


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
            Choice("M", "set it", "EditCompany", {}, "the CEO works for it from its next heartbeat on",
                   "mission", undoable=False),
        ),
    )  # fmt: skip


def _runners(company: Company, active: list[AgentRecord], kinds: Collection[str]) -> Iterator[InboxItem]:
    idle = [agent for agent in active if runner_missing(agent.runner, kinds)]
    if not idle:
        return
    names = ", ".join(agent.slug for agent in idle[:_NAMED]) + (" and more" if len(idle) > _NAMED else "")
    missing = runner_missing(idle[0].runner, kinds)
    yield InboxItem(
        id="runners:company:1", entity="company:1", kind=NO_RUNNER, title=f"Nothing runs for {names}",
        why=f"{missing}; their runs fail until they get another runner: A, then e; or"
            f" opsroom agent edit DIR {idle[0].slug} --runner '{RUNNER_EXAMPLE}'", since=company.updated_at,
    )  # fmt: skip
