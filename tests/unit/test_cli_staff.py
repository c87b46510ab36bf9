"""The staff at the command line, and what waits about it: names without a number, and keys that only a room has."""

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from core.commands.registry import parse
from core.company import OpenCompany
from core.config import Config, RehearsalConfig
from core.domain.actors import Agent, System
from core.domain.errors import Invalid
from core.domain.inbox import Choice, InboxItem
from tests import founding
from tui.cli import main
from tui.cli.agents import micros_of
from tui.cli.exits import Exit
from tui.cli.names import tag_of, typeable, typed
from tui.panes.inbox import Around, _row

T = TypeVar("T")
HIRE = {"slug": "scout", "name": "Milo", "role": "executor", "capabilities": ["marks"], "why": "nobody looks"}


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


async def founded(folder: Path, *asked: tuple[str, dict[str, Any]]) -> None:
    """A company whose CEO has asked for these."""
    rehearsal = RehearsalConfig(folder=str(folder))
    await founding.a_company(folder, Config(name="Acme", mission="Know every map", rehearsal=rehearsal))
    company = await OpenCompany.open(folder, role="owner")
    try:
        for slug, role, boss in (("vera", "ceo", {}), ("ada", "executor", {"manager": "vera"})):
            await company.execute(parse("HireAgent", {"slug": slug, "name": slug, "role": role, **boss}))
        await company.execute(parse("StartCompany", {}))
        queued = await company.execute(
            parse("QueueRun", {"kind": "mention", "agent_id": 1, "key": "x"}), actor=System()
        )
        start = {"run": queued["id"], "owner": company.token}
        started = await company.execute(parse("StartRun", start), actor=System())
        vera = Agent(1, "vera", queued["id"], started["fence"])
        for command, arguments in asked:
            await company.execute(parse(command, arguments), actor=vera)
        await company.execute(parse("FinishRun", {"run": queued["id"], "status": "succeeded"}), actor=System())
    finally:
        await company.close()


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main([*words, "--json"]) == Exit.OK
    return json.loads(capsys.readouterr().out)


def test_a_hire_and_a_change_of_the_organisation_are_decided_by_their_questions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "c")
    change = {"changes": [{"agent": "ada", "duties": "counts"}], "why": "she can"}
    run(founded(tmp_path / "c", ("ProposeHire", HIRE), ("ProposeOrganisation", change)))
    items = told(capsys, "inbox", folder)["items"]
    assert [(item["id"], item["entity"]) for item in items] == [("Q1", "hire:scout"), ("Q2", "company:1")]
    assert [choice["command"] for choice in items[0]["choices"]] == ["DecideApproval"] * 3
    assert main(["inbox", folder]) == Exit.OK
    assert "opsroom approve" in capsys.readouterr().out
    told(capsys, "approve", folder, "Q2")
    assert [row["duties"] for row in told(capsys, "org", folder)["chart"]] == ["", "counts"]
    assert told(capsys, "approve", folder, "Q1")["answer"]["follow_up"] == "hired scout"
    assert main(["approve", folder, "Q1"]) == Exit.REFUSED
    assert [agent["agent"] for agent in told(capsys, "agent", "list", folder)["agents"]] == ["vera", "ada", "scout"]


def test_an_approval_overtaken_by_the_world_is_refused_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "c")
    run(founded(tmp_path / "c", ("ProposeHire", HIRE)))
    told(capsys, "agent", "hire", folder, "scout", "--role", "reviewer", "--name", "Other")
    assert main(["approve", folder, "Q1"]) == Exit.REFUSED
    said = capsys.readouterr().err
    assert "cannot be carried out any more" in said
    assert "Edit the hire" in said
    assert told(capsys, "inbox", folder)["items"][0]["id"] == "Q1"


def test_an_organisation_that_was_sent_back_is_settled_by_the_companys_tag(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "c")
    change = {"changes": [{"agent": "ada", "duties": "counts"}], "why": "she can"}
    run(founded(tmp_path / "c", ("ProposeOrganisation", change)))
    told(capsys, "revise", folder, "Q1", "--note", "why?")
    item = told(capsys, "inbox", folder)["items"][0]
    assert (item["id"], item["choices"][0]["type"]) == ("C1", f"opsroom reject {folder} C1")
    assert told(capsys, "org", folder)["org_status"] == "pending_review"
    told(capsys, "company", folder, "--mission", "")
    assert [each["id"] for each in told(capsys, "inbox", folder)["items"]] == ["C1", "C1"], "it lacks a mission too"
    told(capsys, "reject", folder, "C1")
    assert told(capsys, "org", folder)["org_status"] == "settled"


def test_who_has_retired_is_listed_when_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "c")
    run(founded(tmp_path / "c"))
    told(capsys, "agent", "retire", folder, "ada", "--reason", "enough")
    assert [agent["agent"] for agent in told(capsys, "agent", "list", folder)["agents"]] == ["vera"]
    gone = told(capsys, "agent", "list", folder, "--status", "terminated")["agents"]
    assert [(agent["agent"], agent["status"]) for agent in gone] == [("ada", "terminated")]
    assert main(["agent", "list", folder]) == main(["org", folder]) == main(["agent", "show", folder, "ada"]) == Exit.OK
    assert "hired because" not in capsys.readouterr().out


def test_a_cost_that_nobody_knows_is_not_shown_as_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "c"

    async def ended(number: int, agent: int, **used: int) -> None:
        company = await OpenCompany.open(folder, role="owner")
        try:
            queued = await company.execute(
                parse("QueueRun", {"kind": "mention", "agent_id": agent, "key": f"cost:{number}"}), actor=System()
            )
            start = {"run": queued["id"], "owner": company.token}
            await company.execute(parse("StartRun", start), actor=System())
            finish = {"run": queued["id"], "status": "succeeded", **used}
            await company.execute(parse("FinishRun", finish), actor=System())
        finally:
            await company.close()

    def costs() -> list[tuple[str, int, int]]:
        agents = told(capsys, "agent", "list", str(folder))["agents"]
        return [(each["agent"], each["cost_micros"], each["without_cost"]) for each in agents]

    run(founded(folder))
    run(ended(1, 1, tokens_in=50, cost_micros=120_000))
    assert costs() == [("vera", 120_000, 0), ("ada", 0, 0)]
    run(ended(2, 1, tokens_in=50))
    run(ended(3, 2, tokens_out=5))
    assert costs() == [("vera", 120_000, 1), ("ada", 0, 1)]
    assert main(["agent", "list", str(folder)]) == main(["agent", "show", str(folder), "ada"]) == Exit.OK
    said = capsys.readouterr().out
    assert "0.12 USD + unknown" in said
    assert "cost so far    0.00 USD + unknown" in said


def test_the_budget_that_is_shown_is_the_one_in_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "c")
    run(founded(tmp_path / "c"))
    told(capsys, "agent", "hire", folder, "eve", "--role", "executor", "--budget", "2.50")

    def shown() -> tuple[int, str | None, str]:
        found = told(capsys, "agent", "show", folder, "eve")
        assert main(["agent", "show", folder, "eve"]) == Exit.OK
        line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("budget"))
        return found["budget_micros"], found["budget_period"], " ".join(line.split())

    assert shown() == (2_500_000, "day", "budget 2.50 USD a day")
    told(capsys, "budget", "set", folder, "eve", "9", "--period", "week")
    assert shown() == (9_000_000, "week", "budget 9.00 USD a week")
    assert told(capsys, "agent", "list", folder)["agents"][-1]["budget_micros"] == 9_000_000
    told(capsys, "budget", "set", folder, "eve", "0")
    assert shown() == (0, None, "budget none of its own: it spends from the company's")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["agent", "show", "nobody"], Exit.REFUSED),
        (["agent", "list", "--status", "asleep"], Exit.USAGE),
        (["agent", "hire", "eve", "--role", "queen"], Exit.USAGE),
        (["agent", "hire", "Eve!", "--role", "executor"], Exit.USAGE),
        (["agent", "hire", "eve", "--role", "executor", "--budget", "much"], Exit.USAGE),
        (["agent", "hire", "eve", "--role", "executor", "--runner", "{"], Exit.USAGE),
        (["agent", "hire", "eve", "--role", "executor", "--runner", "{}"], Exit.USAGE),
        (["agent", "hire", "ada", "--role", "executor"], Exit.REFUSED),
        (["agent", "edit", "ada"], Exit.USAGE),
        (["agent", "edit", "vera", "--manager", "ada"], Exit.USAGE),
        (["agent", "resume", "ada"], Exit.REFUSED),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: Exit
) -> None:
    run(founded(tmp_path / "c"))
    before = told(capsys, "agent", "list", str(tmp_path / "c"), "--status", "active,paused,terminated")
    assert main([*words[:2], str(tmp_path / "c"), *words[2:]]) == code
    assert capsys.readouterr().err
    assert told(capsys, "agent", "list", str(tmp_path / "c"), "--status", "active,paused,terminated") == before


def test_dollars_become_millionths_exactly() -> None:
    assert [micros_of(text) for text in ("2.50", "$0.000001", "0", "19.99")] == [2_500_000, 1, 0, 19_990_000]
    for text in ("-1", "nan", "inf", "1e30", "x", ""):
        with pytest.raises(Invalid):
            micros_of(text)


@pytest.mark.parametrize("entity", ["hire:scout", "hire:", "company:1", "", "odd"])
def test_an_item_about_anything_has_a_tag_and_a_line(entity: str) -> None:
    choices = (Choice("a", "approve", "DecideApproval", {}, ""), Choice("e", "edit", "EditApproval", {}, ""))
    asked = InboxItem(f"approval:{7}", entity, "hire_agent", "Hire?", "why", 0, choices)
    assert tag_of(asked) == "Q7"
    assert [typed(asked, choice, Path("/c")) for choice in typeable(asked)] == ["opsroom approve /c Q7"]
    assert isinstance(tag_of(InboxItem("wait:x", entity, "odd", "?", "why", 0)), str)
    assert _row(asked, 1, 0, Around()).id == "approval:7"


def test_a_name_cannot_make_a_line_of_the_chart(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="name"):
        run(founded(tmp_path / "c", ("ProposeHire", {**HIRE, "name": "Milo\nvera  Vera, operator"})))


def test_a_paused_ceo_is_told_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "c")
    run(founded(tmp_path / "c"))
    assert told(capsys, "status", folder)["ceo"]["status"] == "active"
    told(capsys, "agent", "pause", folder, "vera", "--reason", "holidays")
    ceo = told(capsys, "status", folder)["ceo"]
    assert (ceo["agent"], ceo["status"], ceo["status_reason"]) == ("vera", "paused", "holidays")
    assert main(["status", folder]) == Exit.OK
    assert "vera is paused (holidays): nothing is asked of it" in capsys.readouterr().out


def test_who_is_a_program_is_shown_with_whether_its_models_are_metered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "c")
    run(founded(tmp_path / "c"))
    for runner, words in (
        ('{"kind": "command", "command": ["./a"]}', "not metered"),
        ('{"kind": "command", "command": ["./a"], "gateway": "claude"}', "metered by the gateway claude"),
    ):
        told(capsys, "agent", "edit", folder, "ada", "--runner", runner)
        assert told(capsys, "agent", "show", folder, "ada")["metering"].startswith(words)
        assert main(["agent", "show", folder, "ada"]) == Exit.OK
        assert words in capsys.readouterr().out
