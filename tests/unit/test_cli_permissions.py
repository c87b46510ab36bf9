"""What a run's program asks is read and answered at the command line: once, for its run, or refused."""

import json
from pathlib import Path

import pytest

from core import headless
from core.agents.runner import Assignment, Desk, Outcome
from core.commands.registry import parse
from core.company import OpenCompany
from core.config import Config
from core.domain.permissions import Change, Permission, Wish, asked
from tests import founding
from tests.unit.test_cli_inbox import Play, company_where, seen
from tui.cli import main
from tui.cli.exits import Exit

EDIT = Wish(
    "Mend it\x1b[31m", "edit", "/src",
    changes=(Change("a.py", "one\ntwo\n", "one\n2 [bold]\n"),), details="It is wrong.\nSo.",
)  # fmt: skip


def asks(wish: Wish, folder: Path) -> str:
    """A company in which ada's program waits for this."""

    async def script(play: Play) -> None:
        ada = await play.working()
        await play.company.execute(parse("AskPermission", asked(wish)), actor=ada)

    return company_where(folder, script)


def test_it_is_read_with_its_difference_and_allowed_for_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = asks(EDIT, tmp_path / "c")
    text, item = seen(capsys, folder, "permission")
    for line in (
        "Q1  permission: Mend it␛[31m", "      wants to change files in /src", "      a.py (+1 −1)", "        -two",
        "        +2 [bold]", "      | It is wrong.", "      | So.",
        "      for this run would cover: every change of /src/a.py",
        f"    for this run: opsroom approve {folder} Q1 --for-run", f"    allow once: opsroom approve {folder} Q1",
        f"    refuse: opsroom reject {folder} Q1 --note 'why'",
    ):  # fmt: skip
        assert line in text.split("\n"), line
    assert "unanswered, it waits as long as its run lives" in text
    assert "\x1b" not in text
    assert item["payload"]["files"][0]["difference"].split("\n")[-1] == "+2 [bold]"
    assert item["choices"][1]["arguments"]["permit"] == "run"

    assert main(["approve", folder, "Q1", "--for-run", "--json"]) == Exit.OK
    assert json.loads(capsys.readouterr().out)["answer"]["permit"] == "run"
    assert main(["reject", folder, "Q1", "--note", "no"]) == Exit.REFUSED
    assert "Q1 does not wait for you" in capsys.readouterr().err


def test_it_is_allowed_once_or_refused_with_a_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = asks(Wish("Delete", "command", "/src", command="rm -rf src"), tmp_path / "c")
    text, _ = seen(capsys, folder, "permission")
    assert "! Q1  permission: Delete" in text
    assert "at the red line data_deletion: Data is deleted" in text
    assert main(["approve", folder, "Q1", "--for-run"]) == Exit.REFUSED
    assert "is not possible" in capsys.readouterr().err
    assert main(["reject", folder, "Q1"]) == Exit.USAGE
    assert "needs a reason" in capsys.readouterr().err
    assert main(["reject", folder, "Q1", "--note", "keep it"]) == Exit.OK
    assert "refuse; its program is told why" in capsys.readouterr().out


class Asks:
    """A runner whose program wants to do something first."""

    def __init__(self) -> None:
        self.answers: list[Permission] = []

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        self.answers.append(await desk.ask_permission(EDIT))
        return Outcome()


async def test_approve_all_allows_no_program_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headless, "_SETTLE_S", 0.1)
    await founding.a_company(tmp_path / "c", Config(name="Acme"))
    runner = Asks()
    company = await OpenCompany.open(tmp_path / "c", {"test": runner}, role="owner")
    try:
        await company.start()
        for command, arguments in (
            ("HireAgent", {"slug": "cora", "name": "Cora", "role": "coordinator", "runner": {"kind": "test"}}),
            ("StartCompany", {}), ("CreateGoal", {"title": "One"}), ("DispatchGoal", {"goal": 1}),
        ):  # fmt: skip
            await company.execute(parse(command, arguments))
        ended = await headless.Headless(company, approve_all=True, patience_s=20).run()
    finally:
        await company.close()
    assert (ended.how, [item.kind for item in ended.owed]) == (headless.Ending.WAITS, ["permission"])
    assert not any(answer.is_allowed for answer in runner.answers)
