"""Changes of the organisation: proposed against the chart as it is, decided by the operator, carried out as shown."""

from pathlib import Path
from typing import Any

import pytest

from core.domain.ceo_mode import CeoMode
from core.domain.entities import AgentRecord, Approval, Company, Mention
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.organisation import changed_chart, chart_of, cycle_in, differences, drawn, same_chart
from core.domain.states import ApprovalStatus, OrgStatus, Role
from core.waiting import owed
from tests.unit.test_commands_hiring import decide, item_of, mode, propose
from tests.unit.world import World, a_company

ADA_UNDER_CORA = {"agent": "ada", "manager": "cora"}


async def reorganise(world: World, *changes: dict[str, Any], why: str = "cora knows the work") -> Approval:
    vera = await world.run("vera")
    try:
        answer = await world.do(vera, "ProposeOrganisation", changes=changes or (ADA_UNDER_CORA,), why=why)
    finally:
        await world.finish(vera)
    return await world.find(Approval, answer["id"])


async def status(world: World) -> OrgStatus:
    return (await world.all(Company))[0].org_status


async def managers(world: World) -> dict[str, str | None]:
    return {row["agent"]: row["manager"] for row in chart_of(await world.all(AgentRecord))}


def row(agent: str, manager: str | None = None, duties: str = "") -> dict[str, Any]:
    return {"agent": agent, "name": agent.title(), "role": "executor", "manager": manager, "duties": duties}


# The chart ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chart", "circle"),
    [
        ([row("a"), row("b", "a"), row("c", "b")], []),
        ([row("a", "a")], ["a", "a"]),
        ([row("a", "b"), row("b", "a")], ["a", "b", "a"]),
        ([row("x", "a"), row("a", "b"), row("b", "c"), row("c", "a")], ["a", "b", "c", "a"]),
        ([row("a", "gone")], []),
        ([], []),
    ],
)  # fmt: skip
def test_a_circle_is_found_and_named(chart: list[dict[str, Any]], circle: list[str]) -> None:
    assert cycle_in(chart) == circle


def test_a_long_line_of_managers_is_no_circle() -> None:
    chart = [row(f"a{n}", f"a{n - 1}" if n else None) for n in range(3_000)]
    assert cycle_in(chart) == []
    assert [depth for depth, _ in drawn(chart)] == list(range(3_000))


def test_changes_apply_all_at_once_and_say_what_is_different() -> None:
    before = [row("a"), row("b", "a"), row("c", "b")]
    after = changed_chart(before, [{"agent": "b", "manager": "c"}, {"agent": "c", "manager": "", "duties": "leads"}])
    assert {each["agent"]: each["manager"] for each in after} == {"a": None, "b": "c", "c": None}
    assert before[2]["duties"] == ""
    assert cycle_in(after) == []
    assert differences(before, after) == [
        "b reports to c (was a)", "c reports to nobody (was b)", "c: leads",
    ]  # fmt: skip
    assert not same_chart(before, after)
    assert same_chart(before, [{**each, "name": "Other"} for each in reversed(before)])


def test_a_chart_is_drawn_from_the_top_with_every_row_once_also_a_circle() -> None:
    chart = [row("b", "a"), row("a"), row("x", "y"), row("y", "x"), row("c", "b"), row("d", "gone")]
    lines = [(depth, each["agent"]) for depth, each in drawn(chart)]
    assert lines == [(0, "a"), (1, "b"), (2, "c"), (0, "d"), (0, "x"), (1, "y")]


# Proposed -----------------------------------------------------------------------------------------------------------


async def test_a_proposal_shows_the_chart_before_and_after_and_the_organisation_waits(world: World) -> None:
    approval = await reorganise(world, ADA_UNDER_CORA, {"agent": "cora", "duties": "leads the folder work"})
    assert approval.entity == "company:1"
    before = {each["agent"]: each for each in approval.payload["before"]}
    after = {each["agent"]: each for each in approval.payload["after"]}
    assert before["ada"]["manager"] == "vera"
    assert after["ada"] == {**before["ada"], "manager": "cora"}
    assert after["cora"] == {**before["cora"], "duties": "leads the folder work"}
    assert {slug for slug in after if after[slug] != before[slug]} == {"ada", "cora"}
    assert approval.payload["why"] == "cora knows the work"
    assert await status(world) == OrgStatus.PENDING_REVIEW
    assert (await managers(world))["ada"] == "vera"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([{"agent": "adda", "manager": "cora"}], "no agent 'adda'.*There are: ada"),
        ([{"agent": "ada", "manager": "core"}], "no agent 'core'.*cora"),
        ([{"agent": "ada", "manager": "ada"}], "circle: ada → ada"),
        ([{"agent": "vera", "manager": "ada"}], "circle: vera → ada → vera"),
        ([{"agent": "ada", "manager": "bob"}, {"agent": "bob", "manager": "ada"}], "circle"),
        ([{"agent": "ada", "manager": "vera"}], "as it is"),
        ([{"agent": "ada"}], "as it is"),
        ([{"agent": "ada", "duties": "x"}, {"agent": "ada", "manager": ""}], "named twice"),
        ([{"agent": "chad", "manager": "cora"}], "chad has retired"),
        ([{"agent": "ada", "manager": "chad"}], "chad has retired"),
        ([{"agent": "ada", "role": "ceo"}], "role"),
        ([], "changes"),
    ],
)  # fmt: skip
async def test_what_could_not_be_is_refused_and_nothing_waits(
    world: World, changes: list[dict[str, Any]], words: str
) -> None:
    await world.operator("RetireAgent", agent="chad", reason="enough")
    vera = await world.run("vera")
    with pytest.raises(Invalid, match=f"(?s){words}"):
        await world.do(vera, "ProposeOrganisation", changes=changes, why="better")
    assert await world.all(Approval) == []
    assert await status(world) == OrgStatus.SETTLED


async def test_one_proposal_waits_at_a_time_and_only_the_ceo_makes_one(world: World) -> None:
    await reorganise(world)
    with pytest.raises(Conflict, match="already asks this"):
        await reorganise(world, {"agent": "bob", "manager": "cora"})
    cora = await world.run("cora")
    with pytest.raises(Forbidden):
        await world.do(cora, "ProposeOrganisation", changes=[ADA_UNDER_CORA], why="I want to")


# Decided ------------------------------------------------------------------------------------------------------------


async def test_approved_it_is_exactly_what_was_shown(world: World) -> None:
    approval = await reorganise(world, ADA_UNDER_CORA, {"agent": "bob", "manager": "ada", "duties": "helps"})
    assert (await decide(world, approval, payload_hash=approval.payload_hash))["follow_up"] == "settled"
    assert same_chart(chart_of(await world.all(AgentRecord)), approval.payload["after"])
    assert (await world.agent("bob")).duties == "helps"
    assert (await world.find(Approval, approval.id)).status == ApprovalStatus.CONSUMED
    assert await status(world) == OrgStatus.SETTLED
    assert (await world.events("AgentReassigned")) == ["AgentReassigned"] * 2


async def test_refused_it_stays_as_it_was(world: World) -> None:
    before = await managers(world)
    await decide(world, await reorganise(world), "rejected")
    assert await managers(world) == before
    assert await status(world) == OrgStatus.SETTLED


async def test_a_chart_that_changed_meanwhile_is_not_overwritten(world: World) -> None:
    approval = await reorganise(world)
    await world.operator("EditAgent", agent="bob", manager="cora")
    with pytest.raises(Conflict, match="changed after Q1 was asked"):
        await decide(world, approval)
    assert (await managers(world))["ada"] == "vera"
    assert await world.find(Approval, approval.id) == approval
    assert await status(world) == OrgStatus.PENDING_REVIEW
    assert "changed after this was asked" in (await item_of(world, approval)).why
    answer = await world.operator("EditApproval", approval=approval.id, payload={})
    assert answer["changed"]
    await decide(world, approval)
    assert {slug: boss for slug, boss in (await managers(world)).items() if boss == "cora"} == {
        "ada": "cora", "bob": "cora",
    }  # fmt: skip


@pytest.mark.parametrize("meanwhile", ["hired", "retired"])
async def test_who_came_or_went_meanwhile_makes_it_another_chart(world: World, meanwhile: str) -> None:
    approval = await reorganise(world)
    if meanwhile == "hired":
        await world.hire("dora", manager="vera")
    else:
        await world.operator("RetireAgent", agent="cora", reason="enough")
    with pytest.raises(Conflict, match="changed after"):
        await decide(world, approval)
    await decide(world, approval, "rejected")
    assert await status(world) == OrgStatus.SETTLED


async def test_names_and_pauses_do_not_make_it_another_chart(world: World) -> None:
    approval = await reorganise(world)
    await world.operator("PauseAgent", agent="ada")
    await world.operator("EditAgent", agent="bob", name="Robert")
    await decide(world, approval)
    assert (await managers(world))["ada"] == "cora"


async def test_the_operator_edits_the_changes_and_decides_on_the_new_chart(world: World) -> None:
    approval = await reorganise(world)
    changes = [{"agent": "bob", "manager": "cora"}]
    await world.operator("EditApproval", approval=approval.id, payload={"changes": changes})
    with pytest.raises(Conflict, match="changed since you read it"):
        await decide(world, approval, payload_hash=approval.payload_hash)
    edited = await world.find(Approval, approval.id)
    assert edited.payload["why"] == "cora knows the work"
    await decide(world, approval, payload_hash=edited.payload_hash)
    assert (await managers(world))["ada"] == "vera"
    assert (await managers(world))["bob"] == "cora"
    with pytest.raises(Conflict, match="is consumed"):
        await world.operator("EditApproval", approval=approval.id, payload={"changes": changes})


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({"changes": [{"agent": "ada", "manager": "ada"}]}, "circle"),
        ({"who": 1}, "no who"),
        ({"changes": 3}, "changes"),
    ],
)
async def test_an_edit_is_held_to_the_rules_of_proposals(world: World, payload: dict[str, Any], words: str) -> None:
    approval = await reorganise(world)
    with pytest.raises(Invalid, match=words):
        await world.operator("EditApproval", approval=approval.id, payload=payload)
    assert await world.find(Approval, approval.id) == approval


async def test_sent_back_the_ceo_is_woken_and_it_stays_under_review_until_somebody_settles_it(world: World) -> None:
    await decide(world, await reorganise(world), "revision_requested", note="why cora?")
    assert [mention.agent_id for mention in await world.all(Mention)] == [(await world.agent("vera")).id]
    assert await status(world) == OrgStatus.PENDING_REVIEW
    item = next(item for item in await owed(world.board.readers) if item.id == "review:company:1")
    assert [choice.command for choice in item.choices] == ["SettleOrganisation"]
    again = await reorganise(world)
    assert [item.kind for item in await owed(world.board.readers)] == ["org_change"]
    with pytest.raises(Conflict, match="asks for a change"):
        await world.operator("SettleOrganisation")
    await decide(world, again, "revision_requested", note="still why?")
    await world.operator("SettleOrganisation")
    assert await status(world) == OrgStatus.SETTLED
    assert await owed(world.board.readers) == []


# The CEO's modes follow (S0-16, S0-05, S0-17) -------------------------------------------------------------------------


async def test_the_mode_goes_from_building_to_waiting_and_back(tmp_path: Path) -> None:
    async with a_company(tmp_path, staff={"vera": Role.CEO}) as world:
        assert await mode(world) == CeoMode.TEAM_BUILDING
        hire = await propose(world)
        assert await mode(world) == CeoMode.AWAITING_HIRE
        await decide(world, hire, "rejected")
        assert await mode(world) == CeoMode.TEAM_BUILDING
        hire = await propose(world)
        await world.operator("EditApproval", approval=hire.id, payload={"slug": "doris", "name": "Doris"})
        assert await mode(world) == CeoMode.AWAITING_HIRE
        await decide(world, hire, "revision_requested")
        assert await mode(world) == CeoMode.TEAM_BUILDING
        await decide(world, await propose(world))
        assert await mode(world) == CeoMode.OPERATING
        change = await reorganise(world, {"agent": "dora", "duties": "draws"})
        assert await mode(world) == CeoMode.AWAITING_ORG
        await decide(world, change)
        assert await mode(world) == CeoMode.OPERATING
        await decide(world, await reorganise(world, {"agent": "dora", "duties": "draws more"}), "rejected")
        assert await mode(world) == CeoMode.OPERATING


async def test_only_who_reports_to_the_ceo_and_has_not_retired_counts(tmp_path: Path) -> None:
    async with a_company(tmp_path, staff={"vera": Role.CEO, "ada": Role.EXECUTOR, "bob": Role.EXECUTOR}) as world:
        await world.operator("PauseAgent", agent="ada")
        assert await mode(world) == CeoMode.OPERATING
        await world.operator("EditAgent", agent="bob", manager="ada")
        await world.operator("EditAgent", agent="ada", manager="")
        assert await mode(world) == CeoMode.TEAM_BUILDING
        await world.operator("EditAgent", agent="ada", manager="vera")
        await world.operator("RetireAgent", agent="ada", reason="enough")
        assert await mode(world) == CeoMode.OPERATING  # bob reports to ada's manager now
        await world.operator("RetireAgent", agent="bob", reason="enough")
        assert await mode(world) == CeoMode.TEAM_BUILDING
        await propose(world)
        assert await mode(world) == CeoMode.AWAITING_HIRE
