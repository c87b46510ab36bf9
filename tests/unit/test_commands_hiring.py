"""Hires: asked with what they mean, once a name, edited, decided, carried out in the transaction that uses them."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.domain.ceo_mode import CeoMode, CeoModeContext, resolve_ceo_mode
from core.domain.entities import AgentRecord, Approval, Comment, Company, Mention
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.inbox import InboxItem
from core.domain.limits import PENDING_HIRES
from core.domain.states import ApprovalStatus, Role, RunKind
from core.waiting import owed
from tests.unit.world import World, a_company

DORA: dict[str, Any] = {
    "slug": "dora", "name": "Dora", "role": "executor", "capabilities": ("charts",), "why": "nobody draws charts",
}  # fmt: skip


async def propose(world: World, **more: Any) -> Approval:
    vera = await world.run("vera")
    try:
        answer = await world.do(vera, "ProposeHire", **{**DORA, **more})
    finally:
        await world.finish(vera)
    return await world.find(Approval, answer["id"])


async def decide(world: World, approval: Approval, decision: str = "approved", **more: Any) -> dict[str, Any]:
    note = {} if decision == "approved" else {"note": "because"}
    return await world.operator("DecideApproval", approval=approval.id, decision=decision, **{**note, **more})


async def mode(world: World) -> CeoMode:
    context = CeoModeContext(
        agent=await world.agent("vera"),
        company=(await world.all(Company))[0],
        active_agents=await world.all(AgentRecord),
        pending_approvals=await world.all(Approval, "status = 'pending'"),
    )
    return resolve_ceo_mode(context).mode


async def item_of(world: World, approval: Approval) -> InboxItem:
    return next(item for item in await owed(world.board.readers) if item.id == f"approval:{approval.id}")


# What is asked ------------------------------------------------------------------------------------------------------


async def test_a_hire_is_asked_whole_with_what_is_lacking_and_what_it_costs(world: World) -> None:
    await world.an_active_goal(tasks=({"title": "Draw it", "capabilities": ("charts", "colours")},))
    approval = await propose(world, budget_micros=2_500_000, max_runs=2)
    assert approval.entity == "hire:dora"
    assert (approval.requested_by, approval.status) == ("vera", ApprovalStatus.PENDING)
    payload = approval.payload
    assert {name: payload[name] for name in ("slug", "name", "role", "manager", "runner", "max_runs")} == {
        "slug": "dora", "name": "Dora", "role": "executor", "manager": "vera", "runner": {"kind": "rehearsal"},
        "max_runs": 2,
    }  # fmt: skip
    assert (payload["lacking"], payload["still_lacking"]) == (["charts"], ["colours"])
    assert "at most $2.50 a day" in payload["cost"]
    assert "2 runs at once" in payload["cost"]
    assert payload["why"] == "nobody draws charts"


async def test_a_must_have_asks_for_a_capability_by_its_words(world: World) -> None:
    await world.a_goal(must_haves=("Pie charts of every folder",))
    assert (await propose(world)).payload["lacking"] == ["charts"]
    await world.hire("carl", can=("charts",))
    again = await propose(world, slug="dirk", name="Dirk", capabilities=("charts", "maps"))
    assert again.payload["lacking"] == []


async def test_idle_agents_that_can_do_it_are_only_noted(world: World) -> None:
    await world.hire("carl", can=("charts",))
    assert (await propose(world)).payload["alike"] == ["carl"]
    await world.run("carl")
    assert (await propose(world, slug="dirk", name="Dirk", manager="cora")).payload["alike"] == []


async def test_what_its_role_has_cost_so_far_is_told(world: World) -> None:
    await world.finish(await world.run("ada", RunKind.BROADCAST), cost_micros=7_000_000)
    assert "an agent of this role costs $1.00 a day so far" in (await propose(world)).payload["cost"]
    world.clock.advance(8 * 86_400_000)
    assert "so far" not in (await propose(world, slug="dirk", name="Dirk", manager="cora")).payload["cost"]


async def test_only_the_ceo_proposes_hires(world: World) -> None:
    for actor in (await world.run("cora"), await world.run("ada"), await world.run("rita")):
        with pytest.raises(Forbidden):
            await world.do(actor, "ProposeHire", **DORA)
    with pytest.raises(Forbidden):
        await world.operator("ProposeHire", **DORA)


async def test_several_hires_may_wait_at_once_and_end_the_wait_one_by_one(tmp_path: Path) -> None:
    async with a_company(tmp_path, staff={"vera": Role.CEO}) as world:
        first = await propose(world)
        second = await propose(world, slug="emil", name="Emil", role="reviewer", capabilities=())
        assert await mode(world) == CeoMode.AWAITING_HIRE
        await decide(world, first, "rejected")
        assert await mode(world) == CeoMode.AWAITING_HIRE
        await decide(world, second)
        assert await mode(world) == CeoMode.OPERATING
        assert [agent.slug for agent in await world.all(AgentRecord)] == ["vera", "emil"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "already asks this about hire:dora"),
        ({"name": "Other", "capabilities": ("maps",)}, "already asks this about hire:dora"),
        ({"slug": "dora-2", "capabilities": ("maps",)}, "already asks for one of that name"),
        ({"slug": "dora-2", "name": " DORA ", "capabilities": ("maps",)}, "already asks for one of that name"),
        ({"slug": "dora-2", "name": "Dora 2"}, "already asks for exactly that, as dora"),
    ],
)  # fmt: skip
async def test_the_same_hire_is_not_asked_twice_under_any_name(world: World, more: dict[str, Any], words: str) -> None:
    await propose(world)
    with pytest.raises(Conflict, match=words):
        await propose(world, **more)
    assert len(await world.all(Approval)) == 1


@pytest.mark.parametrize(
    ("more", "error", "words"),
    [
        ({"slug": "ada"}, Conflict, "already has that name"),
        ({"name": "ada"}, Conflict, "already has that name"),
        ({"role": "ceo"}, Conflict, "already the CEO"),
        ({"slug": "human"}, Invalid, "reserved"),
        ({"slug": "../etc"}, Invalid, "slug"),
        ({"manager": "nobody"}, Invalid, "no agent 'nobody'"),
        ({"runner": {}}, None, ""),
        ({"runner": {"model": "x"}}, Invalid, "no kind"),
        ({"why": " "}, Invalid, "why"),
        ({"max_runs": 0}, Invalid, "max_runs"),
        ({"budget_micros": -1}, Invalid, "budget_micros"),
    ],
)  # fmt: skip
async def test_what_could_never_be_hired_is_not_asked(
    world: World, more: dict[str, Any], error: type[Exception] | None, words: str
) -> None:
    if error is None:
        assert (await propose(world, **more)).payload["runner"] == {"kind": "rehearsal"}
        return
    with pytest.raises(error, match=words):
        await propose(world, **more)
    assert await world.all(Approval) == []


async def test_so_many_hires_wait_and_no_more(world: World) -> None:
    for number in range(PENDING_HIRES):
        await propose(world, slug=f"a{number}", name=f"Agent {number}", capabilities=(f"c{number}",))
    with pytest.raises(Conflict, match=f"{PENDING_HIRES} hires wait"):
        await propose(world)


@pytest.mark.parametrize("kind", ["hire_agent", "org_change"])
async def test_hires_and_the_organisation_are_asked_by_the_ceo_and_by_their_own_commands_only(
    world: World, kind: str
) -> None:
    asked = {"kind": kind, "entity": "company:1", "title": "Harmless", "payload": {**DORA, "role": "ceo"}}
    vera, cora = await world.run("vera"), await world.run("cora")
    for actor in (vera, cora):
        with pytest.raises(Invalid, match="not asked like this"):
            await world.do(actor, "RequestApproval", **asked)
    with pytest.raises(Forbidden):
        await world.do(cora, "ProposeHire", **DORA)
    assert await world.pending("company:1") == []


# Decided ------------------------------------------------------------------------------------------------------------


async def test_no_row_is_there_before_the_approval_is_consumed_in_the_same_transaction(world: World) -> None:
    approval = await propose(world, budget_micros=1_000_000)
    assert await world.all(AgentRecord, "slug = 'dora'") == []
    assert (await decide(world, approval, payload_hash=approval.payload_hash))["follow_up"] == "hired dora"
    dora = await world.agent("dora")
    assert (dora.role, dora.capabilities, dora.budget_micros) == (Role.EXECUTOR, ("charts",), 1_000_000)
    assert dora.manager_id == (await world.agent("vera")).id
    used = await world.find(Approval, approval.id)
    assert (used.status, used.consumed_at, used.decided_by) == (ApprovalStatus.CONSUMED, world.clock.now, "human")
    kinds = await world.events("ApprovalApproved", "AgentHired", "ApprovalConsumed")
    assert kinds[-3:] == ["ApprovalApproved", "AgentHired", "ApprovalConsumed"]
    with pytest.raises(Conflict, match="already decided: consumed"):
        await decide(world, approval)
    assert len(await world.all(AgentRecord, "slug = 'dora'")) == 1


async def test_a_refused_hire_leaves_nobody_and_the_ceo_can_read_why(world: World) -> None:
    approval = await propose(world)
    await decide(world, approval, "rejected", note="too dear")
    assert await world.all(AgentRecord, "slug = 'dora'") == []
    letter = (await world.all(Comment))[-1]
    assert (letter.kind, letter.goal_id, letter.task_id) == ("mail_inform", None, None)
    assert "@vera" in letter.body
    assert "too dear" in letter.body
    assert await world.all(Mention) == []


async def test_a_hire_sent_back_wakes_the_ceo_with_the_note(world: World) -> None:
    approval = await propose(world)
    await decide(world, approval, "revision_requested", note="two capabilities, please")
    mention = (await world.all(Mention))[0]
    assert (mention.agent_id, mention.goal_id, mention.status) == ((await world.agent("vera")).id, None, "pending")
    letter = await world.find(Comment, mention.comment_id)
    assert "two capabilities, please" in letter.body
    await world.finish(await world.run("vera", RunKind.MENTION, mention_id=mention.id))
    assert (await propose(world, capabilities=("charts", "maps"))).status == ApprovalStatus.PENDING


async def test_the_ceo_that_asked_has_retired_its_successor_is_told(world: World) -> None:
    approval = await propose(world)
    await world.operator("RetireAgent", agent="vera", reason="enough")
    await world.hire("victor", Role.CEO)
    await decide(world, approval, "revision_requested", note="why?")
    assert [mention.agent_id for mention in await world.all(Mention)] == [(await world.agent("victor")).id]


async def test_the_slug_was_taken_meanwhile_nothing_half_done_and_edited_it_can_be(world: World) -> None:
    approval = await propose(world)
    await world.hire("dora")
    before = await world.all(AgentRecord)
    with pytest.raises(Conflict, match="cannot be carried out any more: A7 Dora") as refused:
        await decide(world, approval)
    assert "Edit the hire" in refused.value.hint
    assert (await world.find(Approval, approval.id)) == approval
    assert await world.all(AgentRecord) == before
    assert "by now: edit it, or reject it" in (await item_of(world, approval)).why
    await world.operator("EditApproval", approval=approval.id, payload={"slug": "dora-2", "name": "Dora the second"})
    await decide(world, approval)
    assert (await world.agent("dora-2")).name == "Dora the second"


async def test_the_manager_retired_meanwhile(world: World) -> None:
    approval = await propose(world, manager="cora")
    await world.operator("RetireAgent", agent="cora", reason="enough")
    assert "Cora, its manager, has retired" in (await item_of(world, approval)).why
    with pytest.raises(Conflict, match=r"cannot be carried out any more: Cora .* has retired"):
        await decide(world, approval)
    assert (await world.find(Approval, approval.id)).status == ApprovalStatus.PENDING
    await world.operator("EditApproval", approval=approval.id, payload={"manager": "vera"})
    await decide(world, approval)
    assert (await world.agent("dora")).manager_id == (await world.agent("vera")).id


# Edited -------------------------------------------------------------------------------------------------------------


async def test_an_edited_hire_has_a_new_hash_and_the_event_keeps_what_was_asked(world: World) -> None:
    approval = await propose(world)
    answer = await world.operator("EditApproval", approval=approval.id, payload={"budget_micros": 500_000})
    edited = await world.find(Approval, approval.id)
    assert answer["payload_hash"] == edited.payload_hash != approval.payload_hash
    assert "at most $0.50 a day" in edited.payload["cost"]
    assert edited.payload["why"] == DORA["why"]
    told = await world.read(lambda tx: tx.value("SELECT changed FROM events WHERE kind = 'ApprovalEdited'"))
    assert json.loads(told)["asked"] == approval.payload
    with pytest.raises(Conflict, match="changed since you read it"):
        await decide(world, approval, payload_hash=approval.payload_hash)
    assert await world.all(AgentRecord, "slug = 'dora'") == []
    await decide(world, approval, payload_hash=edited.payload_hash)
    assert (await world.agent("dora")).budget_micros == 500_000


async def test_two_rooms_edit_the_first_wins(world: World) -> None:
    approval = await propose(world)
    seen = {"approval": approval.id, "payload_hash": approval.payload_hash}
    await world.operator("EditApproval", payload={"max_runs": 2}, **seen)
    with pytest.raises(Conflict, match="changed since you read it"):
        await world.operator("EditApproval", payload={"max_runs": 3}, **seen)


async def test_equal_values_change_nothing(world: World) -> None:
    approval = await propose(world)
    answer = await world.operator("EditApproval", approval=approval.id, payload=dict(approval.payload))
    assert answer["changed"] is False
    assert await world.find(Approval, approval.id) == approval


@pytest.mark.parametrize(
    ("payload", "error", "words"),
    [
        ({"slug": "ada"}, Conflict, "already has that name"),
        ({"slug": "emil"}, Conflict, "already asks this about hire:emil"),
        ({"role": "ceo"}, Conflict, "already the CEO"),
        ({"wage": 3}, Invalid, "wage"),
        ({"manager": "nobody"}, Invalid, "no agent"),
        ({"why": 3}, Invalid, "text"),
    ],
)  # fmt: skip
async def test_an_edit_is_held_to_the_rules_of_hires(
    world: World, payload: dict[str, Any], error: type[Exception], words: str
) -> None:
    approval = await propose(world)
    await propose(world, slug="emil", name="Emil", capabilities=())
    with pytest.raises(error, match=words):
        await world.operator("EditApproval", approval=approval.id, payload=payload)
    assert await world.find(Approval, approval.id) == approval


async def test_what_is_decided_or_no_hire_is_not_edited_and_nobody_else_edits(world: World) -> None:
    approval = await propose(world)
    vera = await world.run("vera")
    with pytest.raises(Forbidden):
        await world.do(vera, "EditApproval", approval=approval.id, payload={"max_runs": 2})
    await decide(world, approval, "rejected")
    with pytest.raises(Conflict, match="is rejected"):
        await world.operator("EditApproval", approval=approval.id, payload={"max_runs": 2})
    await world.a_task("waiting_human")
    question = (await world.all(Approval, "kind = 'question'"))[0]
    with pytest.raises(Conflict, match="cannot be edited"):
        await world.operator("EditApproval", approval=question.id, payload={})


async def test_the_inbox_says_what_the_keys_of_a_hire_do(world: World) -> None:
    item = await item_of(world, await propose(world))
    assert {choice.key: choice.effect for choice in item.choices} == {
        "a": "the agent is hired exactly as shown",
        "b": "nobody is hired; the CEO reads why",
        "r": "nobody is hired; the CEO is woken with your note and may ask anew",
        "e": "you change it first, then decide",
    }
    assert item.why == "vera asks: nobody draws charts"
