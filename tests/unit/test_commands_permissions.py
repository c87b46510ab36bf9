"""A permission lives as long as its run, is decided once, and stands at the red lines first (D-03, S4-08)."""

from pathlib import Path
from typing import Any

import pytest

from core.commands.registry import parse
from core.domain.actors import Agent
from core.domain.entities import Approval, Comment
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.inbox import inbox
from core.domain.limits import PERMISSIONS_PER_RUN
from core.domain.permission_items import told
from core.domain.permissions import Change, Wish, asked
from core.domain.states import ApprovalStatus
from core.guardrails import shipped
from tests.unit.world import OPERATOR, World, a_company

TESTS = Wish("Run the tests", "command", "/src", command="npm test")


@pytest.fixture
async def world(tmp_path: Path) -> Any:
    async with a_company(tmp_path) as made:
        made.door.book.current = shipped()
        yield made


async def ask(world: World, run: Agent, wish: Wish, **more: Any) -> dict[str, Any]:
    return await world.door.execute(run, parse("AskPermission", {**asked(wish), **more}))


async def answer(world: World, number: int, permit: str, **more: Any) -> dict[str, Any]:
    return await world.door.execute(OPERATOR, parse("AnswerPermission", {"approval": number, "permit": permit, **more}))


def run_command(text: str) -> Wish:
    return Wish("Run it", "command", "/src", command=text)


async def test_a_yes_once_is_used_up_by_being_given(world: World) -> None:
    ada = await world.run("ada")
    first = await ask(world, ada, TESTS)
    assert (await answer(world, first["waits"], "once"))["permit"] == "once"
    assert (await world.find(Approval, first["waits"])).status == ApprovalStatus.CONSUMED
    assert "waits" in await ask(world, ada, TESTS)


async def test_the_first_decision_wins(world: World) -> None:
    ada = await world.run("ada")
    number = (await ask(world, ada, TESTS))["waits"]
    await answer(world, number, "refused", note="no")
    for permit in ("once", "run", "refused"):
        with pytest.raises(Conflict, match="already decided: rejected by human"):
            await answer(world, number, permit, note="yes")


async def test_a_yes_for_the_run_ends_with_the_run_and_is_no_one_elses(world: World) -> None:
    ada, bob = await world.run("ada"), await world.run("bob")
    number = (await ask(world, ada, TESTS))["waits"]
    await answer(world, number, "run")
    assert (await ask(world, ada, run_command("npm test -- a")))["permit"] == "run"
    with pytest.raises(Conflict, match="already decided"):
        await answer(world, number, "refused", note="not any more")
    other = (await ask(world, bob, TESTS))["waits"]
    await world.finish(ada)
    assert (await world.find(Approval, number)).status == ApprovalStatus.CONSUMED
    assert (await world.find(Approval, other)).status == ApprovalStatus.PENDING
    again = await world.run("ada")
    assert "waits" in await ask(world, again, TESTS)


async def test_what_was_seen_is_what_is_allowed(world: World) -> None:
    ada = await world.run("ada")
    found = await ask(world, ada, TESTS)
    for permit in ("once", "run", "refused"):
        with pytest.raises(Conflict, match="changed since you read it"):
            await answer(world, found["waits"], permit, note="so", payload_hash="0" * 64)
    await answer(world, found["waits"], "run", payload_hash=found["payload_hash"])


async def test_a_refusal_needs_a_reason_and_nothing_is_sent_back(world: World) -> None:
    ada = await world.run("ada")
    number = (await ask(world, ada, TESTS))["waits"]
    with pytest.raises(Invalid, match="needs a reason"):
        await answer(world, number, "refused")
    with pytest.raises(Conflict, match="not sent back"):
        await world.operator("DecideApproval", approval=number, decision="revision_requested", note="how?")
    await world.operator("DecideApproval", approval=number, decision="approved")
    assert (await world.find(Approval, number)).status == ApprovalStatus.CONSUMED


@pytest.mark.parametrize("end", ["finished", "killed", "lost"])
async def test_a_question_ends_with_its_run(world: World, end: str) -> None:
    ada = await world.run("ada")
    number = (await ask(world, ada, TESTS))["waits"]
    match end:
        case "finished":
            await world.finish(ada)
        case "killed":
            await world.operator("KillRun", run=ada.run_id)
        case "lost":
            await world.system("LoseRun", run=ada.run_id, why="gone")
    assert (await world.find(Approval, number)).status == ApprovalStatus.CANCELLED
    for permit in ("once", "run", "refused"):
        with pytest.raises(Conflict, match=rf"R{ada.run_id} .*Nothing was allowed"):
            await answer(world, number, permit, note="so")
    with pytest.raises(Conflict, match="was already decided: cancelled"):
        await world.operator("DecideApproval", approval=number, decision="approved")


@pytest.mark.parametrize(
    ("wish", "line"),
    [
        (run_command("rm -rf src"), "data_deletion"),
        (run_command("git push origin main"), "outside_publication"),
        (Wish("Drop", "edit", "/src", changes=(Change("a.sql", None, "drop table users;"),)), "data_deletion"),
        (Wish("Key", "edit", "/src", changes=(Change("a", None, "password='Secret-1234-abcd'"),)), "secret_exposure"),
    ],
)  # fmt: skip
async def test_at_a_red_line_each_act_asks(world: World, wish: Wish, line: str) -> None:
    ada = await world.run("ada")
    number = (await ask(world, ada, wish))["waits"]
    payload = (await world.find(Approval, number)).payload
    assert (payload["red_line"]["name"], payload["for_run"]) == (line, "")
    with pytest.raises(Conflict, match="asks each time"):
        await answer(world, number, "run")
    await answer(world, number, "once")
    assert "waits" in await ask(world, ada, wish)


async def test_a_yes_for_the_run_covers_nothing_at_a_red_line(world: World) -> None:
    ada = await world.run("ada")
    number = (await ask(world, ada, run_command("make test")))["waits"]
    await answer(world, number, "run")
    assert (await ask(world, ada, run_command("make test -k")))["permit"] == "run"
    show = (await ask(world, ada, run_command("git log --oneline")))["waits"]
    await answer(world, show, "run")
    blocked = await ask(world, ada, run_command("git log --grep 'api_key=Secret1234abcd'"))
    assert (blocked["permit"], "secret_exposure" in blocked["note"]) == ("refused", True)
    assert "waits" in await ask(world, ada, run_command("git log --grep 'drop table'"))


@pytest.mark.parametrize(("kind", "word"), [("delete", "delete files"), ("move", "move files")])
async def test_to_delete_or_move_a_file_asks_each_time(world: World, kind: str, word: str) -> None:
    ada = await world.run("ada")
    edit = Wish("Change it", "edit", "/src", changes=(Change("tmp/a.py", "a\n", "b\n"),))
    await answer(world, (await ask(world, ada, edit))["waits"], "run")
    wish = Wish("Clear up", kind, "/src", changes=(Change("tmp/a.py", "", ""),))
    number = (await ask(world, ada, wish))["waits"]
    with pytest.raises(Conflict, match="deletes or moves: such an act asks each time"):
        await answer(world, number, "run")
    assert (f"wants to {word} in /src", "strong") in told(await world.find(Approval, number))
    await answer(world, number, "once")
    assert "waits" in await ask(world, ada, wish)


@pytest.mark.parametrize(
    ("kind", "path", "line"),
    [
        ("delete", "customers.csv", "data_deletion"), ("delete", "/src/customers.csv", "data_deletion"),
        ("delete", "tmp/../a", "data_deletion"), ("delete", "/src/tmp/a.py", None), ("move", "a.py", None),
    ],
)  # fmt: skip
async def test_a_file_that_is_deleted_stands_at_the_line_of_rm(
    world: World, kind: str, path: str, line: str | None
) -> None:
    ada = await world.run("ada")
    number = (await ask(world, ada, Wish("Clear up", kind, "/src", changes=(Change(path, "", ""),))))["waits"]
    found = (await world.find(Approval, number)).payload["red_line"]
    assert (found["name"] if found else None) == line


@pytest.mark.parametrize("kind", ["delete", "move"])
async def test_the_companys_own_files_are_not_deleted_or_moved(world: World, kind: str) -> None:
    ada = await world.run("ada")
    found = await ask(world, ada, Wish("Clear up", kind, "/src", changes=(Change("guardrails.yaml", "", ""),)))
    assert found["permit"] == "refused"


async def test_what_has_more_arguments_than_its_command_is_covered_by_the_same_again_alone(world: World) -> None:
    ada = await world.run("ada")
    await answer(world, (await ask(world, ada, TESTS))["waits"], "run")
    more = Wish("Run it", "command", "/src", command="npm test", details='{"sandbox": "off"}', has_more=True)
    number = (await ask(world, ada, more))["waits"]
    assert ("it says, with more arguments:", "dim") in told(await world.find(Approval, number))
    await answer(world, number, "run")
    assert (await ask(world, ada, more))["permit"] == "run"
    other = Wish("Run it", "command", "/src", command="npm test", details='{"sandbox": "on"}', has_more=True)
    assert "waits" in await ask(world, ada, other)


async def test_an_act_at_a_line_that_blocks_is_refused_and_told(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    for _ in range(2):
        found = await ask(world, ada, Wish("Read it", "read", "/src", changes=(Change(".env", None, ""),)))
        assert (found["permit"], "waits" in found) == ("refused", False)
    notes = [comment.body for comment in await world.all(Comment) if "was blocked" in comment.body]
    assert len(notes) == 1
    assert task.name_tag in notes[0]
    assert ".env" not in notes[0]


async def test_what_was_refused_is_not_asked_again_and_a_run_asks_so_often(world: World) -> None:
    ada = await world.run("ada")
    number = (await ask(world, ada, TESTS))["waits"]
    with pytest.raises(Conflict, match="already asks this"):
        await ask(world, ada, run_command("npm install"))
    await answer(world, number, "refused", note="no")
    assert (await ask(world, ada, TESTS))["permit"] == "refused"
    for count in range(PERMISSIONS_PER_RUN - 1):
        number = (await ask(world, ada, run_command(f"npm test {count}")))["waits"]
        await answer(world, number, "once")
    last = await ask(world, ada, run_command("npm test last"))
    assert last["permit"] == "refused"
    assert f"has asked {PERMISSIONS_PER_RUN} times" in last["note"]


async def test_only_its_own_run_takes_a_question_back(world: World) -> None:
    ada, bob = await world.run("ada"), await world.run("bob")
    number = (await ask(world, ada, TESTS))["waits"]
    with pytest.raises(Forbidden):
        await world.do(bob, "WithdrawPermission", approval=number)
    with pytest.raises(Forbidden):
        await world.do(ada, "AnswerPermission", approval=number, permit="once")
    await world.do(ada, "WithdrawPermission", approval=number)
    with pytest.raises(Conflict, match="took the question back"):
        await answer(world, number, "once")


async def test_a_question_of_another_kind_is_no_permission(world: World) -> None:
    vera = await world.run("vera")
    other = await world.do(vera, "RequestApproval", kind="permission", entity="company:1", title="May I?")
    with pytest.raises(Invalid, match="DecideApproval"):
        await answer(world, other["id"], "once")


async def test_an_item_shows_what_is_hidden_in_a_command(world: World) -> None:
    ada = await world.run("ada")
    long = "npm test " + " ".join(f"--option-{n}='a b'" for n in range(9))
    for text, expected in ((long, "      --option-0='a b'"), ("ls \u200bx\nls y", "  > ls y")):
        number = (await ask(world, ada, run_command(text)))["waits"]
        approval = await world.find(Approval, number)
        lines = [line for line, _ in told(approval)]
        assert expected in lines
        assert ("the command holds 1 hidden character, drawn as a mark" in lines) is ("\u200b" in text)
        (item,) = [each for each in inbox(None, [], [], [], [], [approval], []) if each.kind == "permission"]
        assert [choice.key for choice in item.choices] == ["a", "f", "b"]
        await answer(world, number, "once")
