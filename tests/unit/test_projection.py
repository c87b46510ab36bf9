"""The room's memory: what it derives from a snapshot and the events after it."""

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from core.blackboard.fold import fold
from core.domain.actors import System
from core.domain.entities import AgentRecord, Event, Experience, Knowledge, Task
from core.domain.errors import Invalid
from core.staffing import left_since
from tests.flows.situations import a_changed_goal, a_finished_round, a_plan, a_stalled_round
from tests.flows.world import (
    NOON,
    Office,
    a_busy_board,
    a_draft,
    a_goal_at_work,
    an_office,
    approved,
    at_work,
    handed_in,
)
from tui.came_back import SENT_BACK
from tui.filtering import Filter, parse_filter
from tui.projection import Projection
from tui.tree import nodes


async def with_a_plan(office: Office) -> None:
    await a_goal_at_work(office)
    await a_plan(office)


async def told(office: Office) -> list[Event]:
    return await office.company.board.readers.events_after(0, 10_000)


async def seen(office: Office) -> Projection:
    """From the first event on, without a snapshot."""
    view = Projection()
    view.load(0, ())
    view.apply(await told(office))
    view.flush()
    return view


async def loaded(office: Office) -> Projection:
    view = Projection()
    view.load(*await office.company.board.readers.snapshot())
    view.flush()
    return view


async def test_a_snapshot_and_the_events_tell_the_same(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        one, other = await seen(office), await loaded(office)
        assert one.inbox() == other.inbox()
        assert one.totals() == other.totals()
        assert one.progress(None) == other.progress(None)
        assert one.ceo() == other.ceo()
        assert nodes(one, Filter(), {}) == nodes(other, Filter(), {})
        assert one.tables.all(Task) == other.tables.all(Task) == fold(await told(office)).all(Task)


async def test_totals_count_runs_that_the_snapshot_left_out(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        view = Projection()
        view.load(*await office.company.board.readers.snapshot(), tokens=100, cost=7)
        before = view.totals()
        assert (before.tokens, before.cost_micros) == (11_700, 35_207)
        last = view.last_event
        await handed_in(office, 2, "inventory")
        view.apply(await office.company.board.readers.events_after(last))
        assert view.totals().tokens == before.tokens + 6_100


async def test_an_agents_state_comes_from_its_runs(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        agent = await at_work(office, 2, "inventory")
        await office.do("PauseAgent", agent="links")
        view = await seen(office)
        states = {each.slug: view.agent_state(each, NOON) for each in view.tables.all(AgentRecord)}
        assert (states["inventory"], states["links"], states["ceo"]) == ("working", "paused", "idle")
        await office.end(agent)
        view.apply((await told(office))[-20:])
        assert view.agent_state(view.tables[AgentRecord][3], NOON) != "working"


async def test_only_what_was_touched_is_dirty(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        view = await seen(office)
        assert not view.is_dirty
        last = view.last_event
        await office.do("AddComment", task=3, kind="note", body="hello")
        view.apply(await office.company.board.readers.events_after(last))
        assert "task:3" in view.flush()
        assert view.flush() == frozenset()


async def test_experiences_are_live_and_knowledge_is_only_said_to_have_changed(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        ada = await at_work(office, 2, "inventory")
        body = "Counted all files twice, and both counts agree with each other.\n💡 经验: count twice"
        await office.do("AddComment", ada, task=2, kind="handoff", body=body)
        view = await loaded(office)
        (noted,) = view.tables.all(Experience)
        last = view.last_event
        await office.do("KeepExperience", experience=noted.id)
        section = {"path": "knowledge/a.md", "heading": "", "body": "x"}
        await office.do("IndexKnowledge", System(), sections=[section])
        await office.do("IndexKnowledge", System(), removed=[1])
        view.apply(await office.company.board.readers.events_after(last))
        assert view.flush() >= {f"experience:{noted.id}", "knowledge:1"}
        assert [(each.body, each.status) for each in view.tables.all(Experience)] == [("count twice", "kept")]
        assert (await seen(office)).tables.all(Experience) == view.tables.all(Experience)
        assert view.tables.all(Knowledge) == fold(await told(office)).all(Knowledge) == []


async def test_why_things_wait(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        view = await seen(office)
        now = office.clock()
        assert view.why("task:3", now).next.startswith("links works on it (R5) since")
        assert "asks and waits" in view.why("task:4", now).why
        assert "shown 0 of 3 times" in view.why("task:5", now).why
        assert view.why("goal:1", now).why == "round 1: 1 of 4 tasks are over"
        assert "not on this board" in view.why("task:99", now).why
        view.note_waits({"task:5": "the company is stopped: lunch"}, {})
        assert view.why("task:5", now).next == "held back at the last tick: the company is stopped: lunch"


async def test_why_names_what_is_waited_for(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        assert "T2 (pending)" in (await seen(office)).why("task:5", NOON).why
        await handed_in(office, 2, "inventory")
        await approved(office, 2)
        assert "T2" not in (await seen(office)).why("task:5", NOON).why


async def test_the_tree_hides_what_is_over(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        await office.do("CancelGoal", goal=goal, reason="no")
        await a_draft(office, title="Another one")
        view = await seen(office)
        assert [node.ref for node in nodes(view, Filter(), {})] == ["goal:2", "task:2", "goal:1"]
        assert "task:1" in [node.ref for node in nodes(view, Filter(), {"goal:1": True})]
        await office.do("ArchiveGoal", goal=goal)
        view = await seen(office)
        assert [node.ref for node in nodes(view, Filter(), {})] == ["goal:2", "task:2"]
        assert [node.ref for node in nodes(view, parse_filter("status:archived"), {})] == ["goal:1"]


@pytest.mark.parametrize("text", ["colour:red", "status:nonsense"])
def test_an_unknown_filter_is_an_error(text: str) -> None:
    with pytest.raises(Invalid):
        parse_filter(text)


def test_the_memory_knows_nothing_of_textual() -> None:
    code = "import sys, tui.projection, tui.tree, tui.holding, tui.actions; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_a_draft_that_came_back_says_so(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)

        async def versions() -> set[tuple[int, str]]:
            other = await loaded(office)
            other.came_back.load(await office.company.board.readers.all(SENT_BACK))
            views = (await seen(office), other)
            return {(view.came_back.version(goal), view.inbox()[0].why.partition(";")[0]) for view in views}

        assert {version for version, _ in await versions()} == {0}
        await office.do("ReviseGoal", goal=goal, note="say which folder")
        assert {version for version, _ in await versions()} == {0}
        ceo = await office.agent("ceo", "mention", goal_id=goal)
        await office.do("EditGoal", ceo, goal=goal, description="The folder archive, and nothing else.")
        assert await versions() == {(2, "it came back, version 2")}
        await office.do("ReviseGoal", goal=goal, note="once more")
        assert {version for version, _ in await versions()} == {0}


async def test_why_an_agent_is_paused_is_told_with_it(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await office.do("PauseAgent", agent="links", reason="holidays")
        links = (await office.company.board.readers.entities(AgentRecord, "slug = 'links'"))[0]
        after = Projection()
        left = {agent: each.reason for agent, each in (await left_since(office.company.board.readers)).items()}
        after.load(*await office.company.board.readers.snapshot(), left=left)
        for view in (await seen(office), after):
            assert view.why(f"agent:{links.id}", NOON).why == "executor: paused because: holidays"
        await office.do("ResumeAgent", agent="links")
        assert "holidays" not in (await seen(office)).why(f"agent:{links.id}", NOON).why


@pytest.mark.parametrize("situation", [a_busy_board, a_finished_round, a_changed_goal, with_a_plan, a_stalled_round])
async def test_the_inbox_that_is_kept_is_the_one_that_would_be_made_after_each_event(
    tmp_path: Path, situation: Callable[[Office], Awaitable[object]]
) -> None:
    async with an_office(tmp_path / "c") as office:
        await situation(office)
        events = await told(office)
        kept = Projection()
        kept.load(0, ())
        was_full = 0
        for number, event in enumerate(events, 1):
            kept.apply([event])
            kept.flush()
            anew = Projection()
            anew.load(0, ())
            anew.apply(events[:number])
            assert kept.inbox() == anew.inbox(), event
            was_full += bool(kept.inbox())
        assert was_full


async def test_changes_of_tasks_that_nobody_waits_for_leave_the_inbox_as_it_is(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        view = await loaded(office)
        before, last = view.inbox(), view.last_event
        for number in range(50):
            await office.do("EditTask", task=5, title=f"Another {number}")
        view.apply(await office.company.board.readers.events_after(last))
        assert len(view.flush()) > 0
        assert view.inbox() is before, "it was not worked out again"
