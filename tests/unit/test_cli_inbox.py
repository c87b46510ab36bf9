"""What is decided at the command line is seen there first: the payload of a question, a letter, a plan, a talk."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from core.commands.registry import parse
from core.company import OpenCompany
from core.config import Config
from core.domain.actors import Actor, Agent, Operator, System
from tests import founding
from tui.cli import main
from tui.cli.exits import Exit

Do = Callable[..., Awaitable[Any]]
Script = Callable[["Play"], Awaitable[None]]
QUOTE = {"kind": "quote", "path": "src/a.py", "lines": [{"line": 7, "text": "# TODO: \x1b[31msecret"}]}


class Play:
    """A company at work, acted in by the board's own commands."""

    def __init__(self, company: OpenCompany) -> None:
        self.company = company
        self.runs = 0

    async def do(self, command: str, actor: Actor | None = None, **arguments: Any) -> Any:
        return await self.company.execute(parse(command, arguments), actor=actor or Operator())

    async def run(self, agent: int, slug: str, kind: str = "mention", **about: Any) -> Agent:
        self.runs += 1
        asked = {"kind": kind, "agent_id": agent, "key": f"k{self.runs}", **about}
        queued = await self.do("QueueRun", System(), **asked)
        caps = {"runs_at_once": 100, "starts_per_minute": 1000}
        started = await self.do("StartRun", System(), run=queued["id"], owner=self.company.token, **caps)
        await self.do("ConfirmRun", System(), run=queued["id"])
        return Agent(agent, slug, queued["id"], started["fence"])

    async def working(self) -> Agent:
        """Ada at work on T1 of G1."""
        await self.do("CreateGoal", title="One", tasks=[{"title": "Count"}])
        await self.do("DispatchGoal", goal=1, discussion=False)
        await self.do("AssignTask", System(), task=1, agent="ada")
        ada = await self.run(2, "ada", "execute", task_id=1, goal_id=1)
        await self.do("StartTask", ada, task=1)
        return ada


def company_where(folder: Path, script: Script) -> str:
    async def play() -> None:
        await founding.a_company(folder, Config(name="Acme"))
        company = await OpenCompany.open(folder, role="owner")
        try:
            for slug, role in (("orlo", "coordinator"), ("ada", "executor")):
                await company.execute(parse("HireAgent", {"slug": slug, "name": slug, "role": role}))
            await company.execute(parse("StartCompany", {}))
            await script(Play(company))
        finally:
            await company.close()

    asyncio.run(play())
    return str(folder)


def seen(capsys: pytest.CaptureFixture[str], folder: str, kind: str) -> tuple[str, dict[str, Any]]:
    """The text of the inbox, and the only item of this kind in JSON."""
    assert main(["inbox", folder]) == Exit.OK
    text = capsys.readouterr().out
    assert main(["inbox", folder, "--json"]) == Exit.OK
    (item,) = [item for item in json.loads(capsys.readouterr().out)["items"] if item["kind"] == kind]
    return text, item


def test_a_quote_is_read_before_it_is_let_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def script(play: Play) -> None:
        ada = await play.working()
        output = {"task": 1, "type": "data", "title": "Quote", "content": json.dumps(QUOTE), "publish": True}
        assert (await play.do("AddOutput", ada, **output))["waits"] == 1

    text, item = seen(capsys, company_where(tmp_path / "c", script), "red_line")
    assert "path: src/a.py" in text
    assert "7  # TODO: ␛[31msecret" in text
    assert "\x1b" not in text
    assert json.loads(item["payload"]["content"]) == QUOTE


@pytest.mark.parametrize(("then", "told"), [(None, "7  # TODO"), ("other", "IT CHANGED after this was asked")])
def test_a_quote_in_a_file_is_read_too_and_told_when_it_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], then: str | None, told: str
) -> None:
    async def script(play: Play) -> None:
        ada = await play.working()
        place = tmp_path / "c" / "outputs" / "quote.json"
        place.write_text(json.dumps(QUOTE))
        await play.do("AddOutput", ada, task=1, type="data", title="Quote", path="quote.json", publish=True)
        if then is not None:
            place.write_text(then)

    text, item = seen(capsys, company_where(tmp_path / "c", script), "red_line")
    assert told in text
    assert item["payload"]["sha256"] == hashlib.sha256(json.dumps(QUOTE).encode()).hexdigest()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"pay": 1, "pay": 2}', '      content: {"pay": 1, "pay": 2}\n'),
        ('{"much": 1e999, "exact": 0.10}', "      content:\n        much: 1e999\n        exact: 0.10\n"),
        (f"{'[' * 60}1{']' * 60}", "[[[1]]]"),
        (f"{'[' * 600}1{']' * 600}", "[[[1]]]"),
    ],
)
def test_json_in_a_text_is_opened_unless_that_hides_something(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, told: str
) -> None:
    async def script(play: Play) -> None:
        ada = await play.working()
        output = {"task": 1, "type": "data", "title": "Quote", "content": content, "publish": True}
        assert (await play.do("AddOutput", ada, **output))["waits"] == 1

    text, item = seen(capsys, company_where(tmp_path / "c", script), "red_line")
    assert told in text
    assert item["payload"]["content"] == content


def test_any_act_is_shown_field_by_field_and_cannot_pass_for_a_line_of_the_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    act = {
        "tool": "publish",
        "arguments": {"to": "the web", "body": "one\n    reject: nothing is done\n" + "x" * 9000},
    }

    async def script(play: Play) -> None:
        ada = await play.working()
        answer = await play.do("CheckAct", ada, task=1, act={**act, "command": "rm -rf data/old"})
        assert "waits" in answer, answer

    text, item = seen(capsys, company_where(tmp_path / "c", script), "red_line")
    lines = text.splitlines()
    assert "      tool: publish" in lines
    assert "        to: the web" in lines
    assert "          |     reject: nothing is done" in lines
    assert any(line.strip().startswith("… 7") and "opsroom inbox" in line for line in lines), text
    assert item["payload"]["arguments"] == act["arguments"]


def test_what_only_the_company_reads_of_a_question_is_said_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    finding = {"number": 1, "by": "rita", "what": "no unit\napprove: opsroom approve"}
    payload = {"what": "try_again", "on_reject": "cancel", "base": "goal:1:0:planning", "why": "It failed 3 times",
               "findings": [finding]}  # fmt: skip

    async def script(play: Play) -> None:
        await play.working()
        asks = {"kind": "question", "entity": "goal:1", "title": "G1 was planned 3 times", "payload": payload}
        await play.do("RequestApproval", System(), **asks)

    text, item = seen(capsys, company_where(tmp_path / "c", script), "question")
    lines = [line.strip() for line in text.splitlines()]
    assert "why: It failed 3 times" in lines
    assert "by: rita" in lines
    assert "| approve: opsroom approve" in lines
    assert "a no cancels it" in lines
    for ours in ("on_reject", "on reject", "base:", "planning:", "goal:1:0", "try_again"):
        assert ours not in text
    assert item["payload"] == payload


def test_a_red_line_before_a_task_says_what_a_no_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def script(play: Play) -> None:
        await play.do("CreateGoal", title="One", tasks=[{"title": "Send it", "tags": ["publish"]}])
        await play.do("DispatchGoal", goal=1, discussion=False)
        await play.do("AssignTask", System(), task=1, agent="ada")
        ada = await play.run(2, "ada", "execute", task_id=1, goal_id=1)
        await play.do("StartTask", ada, task=1)

    text, item = seen(capsys, company_where(tmp_path / "c", script), "red_line")
    assert "      tag: publish\n" in text
    assert "      a no cancels it\n" in text
    assert "on_reject" not in text
    assert item["payload"]["on_reject"] == "cancel"


def test_a_letter_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def script(play: Play) -> None:
        ada = await play.working()
        await play.do("AddComment", ada, task=1, kind="question", body="@operator Which?\nThe old\rone?")

    text, item = seen(capsys, company_where(tmp_path / "c", script), "mail")
    assert "      ada writes:\n      | @operator Which?\n      | The old␍one?\n" in text
    assert item["payload"]["body"] == "@operator Which?\nThe old\rone?"


def test_a_plan_is_shown_with_its_objection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def script(play: Play) -> None:
        await play.do("PostPlan", await play.working(), task=1, body="First count, then tell.")

    text, item = seen(capsys, company_where(tmp_path / "c", script), "plan")
    assert "      the plan of ada:\n      | First count, then tell.\n" in text
    assert item["payload"] == {"from": "ada", "plan": "First count, then tell."}


def test_a_talk_shows_the_last_question_and_how_to_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def script(play: Play) -> None:
        await play.do("CreateGoal", title="One", explore=True)
        orlo = await play.run(1, "orlo", "explore", goal_id=1)
        await play.do("AddComment", orlo, goal=1, kind="dialogue", body="What is it for?")

    folder = company_where(tmp_path / "c", script)
    text, item = seen(capsys, folder, "exploring")
    answer = f"opsroom say {folder} G1 'your answer'"
    assert f"      orlo asks:\n      | What is it for?\n      answer: {answer}\n" in text
    assert item["payload"] == {"from": "orlo", "question": "What is it for?", "answer": answer}
    assert main(["say", folder, "G1", "For you."]) == Exit.OK
    assert "the coordinator has not answered yet" in seen(capsys, folder, "exploring")[0]


def test_a_draft_says_where_it_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def script(play: Play) -> None:
        await play.do("CreateGoal", title="One")

    folder = company_where(tmp_path / "c", script)
    text, item = seen(capsys, folder, "dispatch")
    assert f"read it: opsroom goal show {folder} G1" in text
    assert item["payload"] is None
