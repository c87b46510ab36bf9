"""How an agent is and why: a table of what the room knows of it, and the group in which the roster shows it."""

from typing import Any

import pytest

from core.domain.entities import Run, Task
from core.domain.health import SILENT_MS, STATES, AgentFacts, Condition, Health, condition
from core.domain.states import AgentStatus, BlockKind, RunStatus, TaskStatus
from tests.unit.facts import NOW, a, agent

MINUTE = 60_000


def run(number: int = 7, **values: Any) -> Run:
    usual: dict[str, Any] = {"paused_at": None, "lease_until": NOW, "goal_id": 1, "ended_at": None}
    return a(Run, **{**usual, "id": number, **values})


def task(number: int = 4, **values: Any) -> Task:
    return a(Task, **{"plan_until": None, "block_kind": None, "title": "Count", "id": number, **values})


def of(**values: Any) -> Condition:
    record = agent(1, **{"cooldown_until": None, **values.pop("agent", {})})
    return condition(AgentFacts(agent=record, **values), NOW)


QUEUED = run(8, status=RunStatus.QUEUED)
FAILED = run(9, status=RunStatus.FAILED, detail="exit code 2", exit_kind="exit", ended_at=NOW - MINUTE)
ASKED = {"run:7": ("approval:3", "Q3")}
BUDGET = {"agent:1": ("approval:5", "Q5")}
PAUSED = {"status": AgentStatus.PAUSED}
HELD = task(status=TaskStatus.WORKING)
BLOCKED = task(status=TaskStatus.BLOCKED, block_kind=BlockKind.NEEDS_INPUT, reason="Which languages?")
WITH_YOU = task(status=TaskStatus.WAITING_HUMAN, reason="May I delete it?")
SILENT = run(lease_until=NOW - SILENT_MS)

TABLE: list[tuple[str, dict[str, Any], Health, str, str]] = [
    ("at work", {"live": [run()]}, Health.WORKING, "working", ""),
    ("at work while another is queued", {"live": [run(), QUEUED]}, Health.WORKING, "working", ""),
    ("at work while the company stops", {"live": [run()], "stopped": "by you"}, Health.WORKING, "working", ""),
    ("at work for an agent that was paused", {"live": [run()], "agent": PAUSED}, Health.WORKING, "working", ""),
    ("its run asks", {"live": [run()], "items": ASKED}, Health.WAITING, "asks", "R7 waits for your word on Q3"),
    ("one of two is paused", {"live": [run(), run(8, paused_at=NOW)]}, Health.WORKING, "working", ""),
    ("its only run is paused", {"live": [run(paused_at=NOW - 3 * MINUTE)]}, Health.PAUSED, "paused",
     "you paused R7 3m ago"),
    ("its run is silent", {"live": [SILENT]}, Health.STUCK, "silent", "no sign of life of R7 for 2m"),
    ("one of two is silent", {"live": [SILENT, run(8)]}, Health.WORKING, "working", ""),
    ("a lease that has just lapsed", {"live": [run(lease_until=NOW - 1)]}, Health.WORKING, "working", ""),
    ("paused", {"agent": PAUSED, "left": "holidays"}, Health.PAUSED, "paused", "holidays"),
    ("paused with a queued run", {"agent": PAUSED, "live": [QUEUED]}, Health.PAUSED, "paused", "you paused it"),
    ("retired", {"agent": {"status": AgentStatus.TERMINATED}, "lacks": "x"}, Health.RETIRED, "retired",
     "it has retired"),
    ("nothing here can run it", {"lacks": "there is no runner"}, Health.STUCK, "no runner", "there is no runner"),
    ("its task waits for a person", {"tasks": [WITH_YOU], "items": {"task:4": ("approval:2", "Q2")}}, Health.WAITING,
     "needs you", "T4 waits for you (Q2): May I delete it?"),
    ("its plan stands open", {"tasks": [task(status=TaskStatus.WORKING, plan_until=NOW + 4 * MINUTE)]}, Health.WAITING,
     "plan", "its plan for T4 stands open for objection, 4m left"),
    ("its task is blocked", {"tasks": [BLOCKED]}, Health.STUCK, "blocked",
     "T4 is blocked (needs input): Which languages?"),
    ("blocked, and another run is queued", {"tasks": [BLOCKED], "live": [QUEUED]}, Health.WAITING, "queued",
     "R8 is queued: about to start"),
    ("its budget is used up", {"live": [QUEUED], "budgets": BUDGET, "held": {8: "no room"}}, Health.WAITING, "budget",
     "R8 is held back by a budget: Q5"),
    ("somebody else's budget is", {"live": [QUEUED], "budgets": {"agent:2": ("", "Q6")}}, Health.WAITING, "queued",
     "R8 is queued: about to start"),
    ("the caps hold it", {"live": [QUEUED], "held": {8: "4 runs are at work"}}, Health.WAITING, "queued",
     "R8 is queued: 4 runs are at work"),
    ("the company is stopped", {"live": [QUEUED], "stopped": "by you"}, Health.WAITING, "stopped",
     "R8 is queued; the company is stopped: by you"),
    ("it cools down", {"agent": {"cooldown_until": NOW + 90_000}}, Health.WAITING, "cooling",
     "what it runs on asked to wait: 1m left"),
    ("it cooled down", {"agent": {"cooldown_until": NOW}}, Health.IDLE, "idle", "nothing has run for it yet"),
    ("it holds a task without a run", {"tasks": [HELD]}, Health.WAITING, "claimed",
     "it holds T4; its run is queued at the next tick"),
    ("one run ended badly", {"ended": [FAILED]}, Health.IDLE, "idle", "R9 failed 1m ago"),
    ("three in a row did", {"ended": [FAILED] * 3}, Health.STUCK, "fails",
     "its last 3 runs ended badly; R9: exit code 2"),
    ("three, and a good one since", {"ended": [run(status=RunStatus.SUCCEEDED, ended_at=NOW), FAILED, FAILED]},
     Health.IDLE, "idle", "R7 succeeded 0s ago"),
    ("it went in circles", {"ended": [run(status=RunStatus.FAILED, exit_kind="stuck")]}, Health.STUCK, "in circles",
     "R7 went in circles and was ended"),
    ("no other try will do", {"ended": [run(status=RunStatus.FAILED, exit_kind="auth", detail="401")]}, Health.STUCK,
     "cannot run", "R7 failed, and so will the next: 401"),
    ("its task is in review", {"tasks": [task(status=TaskStatus.REVIEW)]}, Health.IDLE, "idle",
     "T4 waits for its verdict"),
    ("nothing ever ran", {}, Health.IDLE, "idle", "nothing has run for it yet"),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "health", "state", "why"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_how_it_is(facts: dict[str, Any], health: Health, state: str, why: str) -> None:
    found = of(**facts)
    assert (found.health, found.state, found.why) == (health, state, why)


@pytest.mark.parametrize(
    ("facts", "item"),
    [
        ({"live": [run()], "items": ASKED}, "approval:3"),
        ({"live": [QUEUED], "budgets": BUDGET}, "approval:5"),
        ({"tasks": [WITH_YOU], "items": {"task:4": ("wait:task:4", "")}}, "wait:task:4"),
        ({"tasks": [BLOCKED], "items": {"task:4": ("wait:task:4", "")}}, "wait:task:4"),
        ({"live": [QUEUED]}, ""),
    ],
)
def test_what_waits_for_a_person_names_what_would_end_it(facts: dict[str, Any], item: str) -> None:
    assert of(**facts).item == item


def test_every_state_can_be_named_in_a_filter() -> None:
    assert {row[3] for row in TABLE} == {*STATES, *Health} - {Health.STUCK, Health.WAITING}
