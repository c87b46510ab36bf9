"""The CEO's heartbeat: an agenda that has something new gets one run, an idle company one proposal, else nothing."""

from collections.abc import Iterator
from typing import Any

from core.domain import agenda as found
from core.domain.autonomy import is_idle
from core.domain.company_items import mission_missing
from core.domain.entities import AgentRecord
from core.domain.facts import PROPOSE, Facts
from core.domain.goals import mission_is_defined
from core.domain.limits import HEARTBEAT_MS, RUN_ATTEMPTS
from core.domain.states import GoalStatus, Origin, Role, RunKind
from core.domain.tick.actions import Action, Held, Item, Step, pick, queue
from core.domain.tick.rounds import is_asked


def is_due(heartbeat_at: int | None, called: bool, now: int) -> bool:
    """Whether the last heartbeat is long enough ago, or the operator called the CEO since (S1-05)."""
    return called or heartbeat_at is None or now - heartbeat_at >= HEARTBEAT_MS


def heartbeat(facts: Facts, now: int) -> Iterator[Item]:
    """What the CEO is called for is decided here, without a model (S1-01, F6)."""
    if not facts.company.dispatching:
        return
    # After a crash or a closed room nobody waits a quarter of an hour for what had begun already.
    idle = is_idle(facts.company, facts.goals)
    is_cut_off = facts.proposal_cut_off and idle and mission_is_defined(facts.company.mission)
    is_cut_off = is_cut_off and facts.proposing.failed < RUN_ATTEMPTS
    if not is_due(facts.heartbeat_at, facts.heartbeat_called, now) and not is_cut_off:
        return
    ceo = pick(facts, (Role.CEO,))
    if ceo is None or any(run.agent_id == ceo.id for run in facts.runs):
        return
    if idle:
        yield from _refill(facts, ceo, now, is_cut_off)
    else:
        yield from _look_after(facts, ceo, now)


def _look_after(facts: Facts, ceo: AgentRecord, now: int) -> Iterator[Item]:
    """A goal is alive: one run with exactly the agenda, if there is anything new on it."""
    living = facts.living or found.Living()
    everything = found.agenda(living)
    # Who calls the CEO wants it to look again at what it has seen before, too.
    if everything and (facts.heartbeat_called or found.news(everything, living.told)):
        items = found.chosen(everything, living.told)
        result = f"{len(everything)} on the agenda"
        result += f", the first {len(items)} of them now" if len(items) < len(everything) else ""
        agenda = [item.told() for item in items]
        yield _note(facts, found.AGENDA, result, agenda=agenda)
        brief = {"agenda": agenda, "called": facts.heartbeat_called}
        yield queue(Step.HEARTBEAT, RunKind.HEARTBEAT, ceo, f"heartbeat:{now}", result, brief=brief)
        return
    waiting = [goal.name_tag for goal in facts.goals if goal.status == GoalStatus.DRAFT and goal.origin == Origin.CEO]
    result = f"normal; draft {', '.join(waiting)} waits for the operator" if waiting else "normal"
    yield _note(facts, found.NORMAL, result)


def _refill(facts: Facts, ceo: AgentRecord, now: int, is_cut_off: bool) -> Iterator[Item]:
    """No goal is alive: with a mission one run proposes the next; without one that is told once (S1-06, F18)."""
    if not mission_is_defined(facts.company.mission):
        if facts.mission_told:
            yield _note(facts, found.NORMAL, "still no mission is set")
        else:
            yield _note(facts, found.MISSION_MISSING, mission_missing(facts.company.locale))
    elif facts.nothing_to_propose and not facts.heartbeat_called and not is_cut_off:
        yield _note(facts, found.NORMAL, "no goal is alive, and the CEO had none to propose; nothing changed since")
    elif facts.proposing.failed >= RUN_ATTEMPTS and not facts.heartbeat_called:
        yield from _ask_about_proposals(facts, ceo)
    else:
        yield _note(facts, found.IDLE, "no goal is alive")
        brief = {"called": facts.heartbeat_called}
        yield queue(Step.HEARTBEAT, RunKind.PROPOSE, ceo, f"propose:{now}", "no goal is alive", brief=brief)


def _ask_about_proposals(facts: Facts, ceo: AgentRecord) -> Iterator[Item]:
    """As often as anything may be tried, it failed: the operator decides whether it is tried again (F23)."""
    result = f"no goal is alive; {ceo.name} failed {facts.proposing.failed} times to propose one"
    yield _note(facts, found.NORMAL, result)
    entity = f"company:{facts.company.id}"
    if not facts.proposing.asked and not is_asked(facts, entity):
        title = f"{ceo.name} failed {facts.proposing.failed} times to propose the next goal"
        payload = {"what": "try_again", "base": PROPOSE}
        arguments = {"kind": "question", "entity": entity, "title": title[:200], "payload": payload}
        yield Action(Step.HEARTBEAT, "RequestApproval", arguments, title)
    said_no = "the operator said no; a call of the CEO tries again"
    yield Held(entity, said_no if facts.proposing.refused else "it waits for the operator's answer")


def _note(facts: Facts, kind: str, result: str, **more: Any) -> Action:
    told = {"tick": facts.tick, "result": result, **more}
    return Action(Step.HEARTBEAT, "NoteTick", {"kind": kind, "facts": told}, result)
