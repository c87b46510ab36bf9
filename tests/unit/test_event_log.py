"""The log by a filter: what each part finds on a real board, in pages, in both directions, and what was before."""

from pathlib import Path

import pytest

from core.blackboard import event_log
from core.blackboard.event_log import EventLog, facts_before
from core.domain.entities import Event
from core.domain.event_filter import parse_events
from tests.flows.world import Office, a_busy_board, an_office

EVERY = 10_000


async def found(office: Office, typed: str, limit: int = EVERY) -> list[Event]:
    """The events that fit, newest first; the same as oldest first turned around."""
    log = EventLog(office.company.board.readers, parse_events(typed, office.clock.ms))
    down = list((await log.older(2**62, limit)).events)
    if limit == EVERY:
        assert list((await log.newer(0, limit)).events) == down[::-1]
    return down


async def test_each_part_finds_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "STRETCH", 7)
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        every = await found(office, "")
        assert [event.id for event in every] == list(range(len(every), 0, -1))

        by_people = await found(office, "actor:me")
        assert by_people == [event for event in every if event.actor == "human"]
        assert await found(office, "-actor:human -actor:system") == [
            event for event in every if event.actor not in ("human", "system")
        ]
        assert [event.kind for event in await found(office, "kind:tasksub")] == ["TaskSubmitted"]
        decided = {event.kind for event in await found(office, "is:decision")}
        assert {"GoalReviewed", "GoalDispatched", "TaskReviewed", "AgentHired"} <= decided
        assert "RunQueued" not in decided

        of_task = await found(office, "T3")
        assert {event.entity for event in of_task} == {"tasks", "runs", "comments"}
        assert {event.entity_id for event in of_task if event.entity == "tasks"} == {3}
        of_goal = await found(office, "goal:G1")
        assert {event.id for event in of_task} < {event.id for event in of_goal}
        assert {"goals", "rounds", "reviews", "outputs", "approvals", "comments"} <= {each.entity for each in of_goal}
        assert {event.entity_id for event in of_goal if event.entity == "goals"} == {1}
        assert {event.id for event in await found(office, "-goal:G1")} == {each.id for each in every} - {
            each.id for each in of_goal
        }
        [asked] = await found(office, "question:Q1")
        assert asked.kind == "ApprovalRequested"
        by_links = await found(office, "agent:links")
        assert {event.id for event in every if event.actor == "links"} < {event.id for event in by_links}
        assert await found(office, "agent:nobody") == []
        assert await found(office, "-agent:nobody") == every
        of_run = await found(office, "run:R2")
        assert all(event.run_id == 2 or (event.entity, event.entity_id) == ("runs", 2) for event in of_run)

        assert {event.kind for event in await found(office, "markdown files are")} == {"CommentAdded"}
        assert await found(office, "50%_\\'") == []
        assert await found(office, "since:#5 until:#9") == every[-9:-4]
        late = await found(office, "since:60s")
        assert late == [event for event in every if event.at >= office.clock.ms - 60_000]
        assert 0 < len(late) < len(every)
        assert await found(office, "until:60s") == [each for each in every if each.at <= office.clock.ms - 60_000]
        assert await found(office, "since:2h until:1h") == []


async def test_pages_join_and_tell_how_far_the_search_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "STRETCH", 10)
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        whole = await found(office, "actor:human")
        log = EventLog(office.company.board.readers, parse_events("actor:human", office.clock.ms))
        heard: list[int] = []
        pages, place = [], await office.events() + 1
        while True:
            page = await log.older(place, 4, heard.append)
            pages.append(page)
            if page.next is None:
                break
            place = page.next
        assert [event for page in pages for event in page.events] == whole
        assert all(len(page.events) == 4 for page in pages[:-1])
        assert heard == sorted(heard, reverse=True)
        assert heard[-1] == 1


async def test_what_was_there_before_an_event(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        readers = office.company.board.readers
        [submitted] = await found(office, "kind:TaskSubmitted")
        assert (await facts_before(readers, submitted))["status"] == "working"
        [created] = await found(office, "kind:GoalCreated G1")
        assert await facts_before(readers, created) == {}
        [reviewed] = await found(office, "kind:GoalReviewed")
        assert (await facts_before(readers, reviewed))["reviewed_by"] is None
