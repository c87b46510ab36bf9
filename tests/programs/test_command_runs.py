"""Programs at work through the dispatcher: over HTTP with their run's token, under their reaper."""

import asyncio
import json
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from core.agents.programs.catalogue import program_of
from core.agents.programs.ending import no_board_call
from core.agents.programs.settings import place_of, settings_of
from core.config import Config, runner_kinds
from core.domain.entities import AgentRecord, Comment, Run
from core.domain.errors import Invalid
from core.domain.states import RunStatus, TaskStatus
from core.runners import runners_for
from tests.programs.company import BEGIN, CLAIM, DELIVER, HANDOFF, an_office
from tests.programs.processes import marked

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
DOCUMENT = Path(__file__).parents[2] / "docs" / "agents.md"
KEY = "sk-of-the-program-0123456789"


async def test_a_script_claims_delivers_and_hands_off(tmp_path: Path) -> None:
    code = CLAIM + 'print("I begin with", PROMPT.count("M1") > 0)\n' + DELIVER + 'print("It is handed in.")\n'
    async with an_office(tmp_path, code) as office:
        claimed = await office.ended("broadcast")
        assert (claimed.status, claimed.exit_kind, claimed.detail) == (RunStatus.SUCCEEDED, "done", "")
        done = await office.ended("execute")
        assert (done.status, done.exit_kind, done.detail) == (RunStatus.SUCCEEDED, "done", "")
        assert (await office.task()).status == TaskStatus.REVIEW
        assert HANDOFF in [comment.body for comment in await office.all(Comment)]
        told = [json.loads(line) for line in (await office.transcript(done)).splitlines()]
        assert [each["text"] for each in told if each["kind"] == "text"] == ["I begin with True", "It is handed in."]
        calls = [each["command"] for each in told if each["kind"] == "call"]
        assert calls == ["StartTask", "AddOutput", "AddComment", "SubmitTask"]
        assert done.pid is not None
    assert marked(str(tmp_path)) == []


@pytest.mark.skipif(shutil.which("curl") is None, reason="the documented script calls curl")
async def test_the_documented_script_does_a_task(tmp_path: Path) -> None:
    script = DOCUMENT.read_text().split("<<'END'\n")[1].split("END\n")[0]
    async with an_office(tmp_path, "", command=["./agent.sh"], env=[]) as office:
        (tmp_path / "agent.sh").write_text(script)
        (tmp_path / "agent.sh").chmod(0o700)
        assert (await office.ended("broadcast")).exit_kind == "done"
        assert (await office.ended("execute")).exit_kind == "done"
        assert (await office.task()).status == TaskStatus.REVIEW


@pytest.mark.parametrize(("settings", "told"), [({"model": "best"}, "best"), ({}, "none")])
async def test_a_script_is_told_its_model(tmp_path: Path, settings: dict[str, str], told: str) -> None:
    code = BEGIN + 'print("its model is", os.environ.get("OPSROOM_MODEL", "none"))\nprint("NO_REPLY")\n'
    async with an_office(tmp_path, code, {"OPSROOM_MODEL": "ours"}, **settings) as office:
        run = await office.ended("broadcast")
        assert run.exit_kind == "no_reply"
        assert f"its model is {told}" in await office.transcript(run)


async def test_a_script_of_json_lines_tells_its_usage_and_its_session(tmp_path: Path) -> None:
    code = CLAIM + '''
def tell(**facts):
    print(json.dumps(facts), flush=True)
tell(type="session", id="s-1")
tell(type="text", text="to work")
tell(type="usage", tokens_in=100, tokens_out=10, cost_micros=5)
tell(type="usage", tokens_in=200, tokens_out=20, cost_micros=7)
tell(type="tool_call", id="1", name="shell", arguments={"command": "ls"})
tell(type="tool_result", id="1", text="agent.py")
print("a word beside")
''' + DELIVER  # fmt: skip
    async with an_office(tmp_path, code, output="json") as office:
        await office.ended("broadcast")
        run = await office.ended("execute")
        assert (run.status, run.tokens_in, run.tokens_out, run.cost_micros) == (RunStatus.SUCCEEDED, 300, 30, 12)
        assert run.session == "s-1"
        told = await office.transcript(run)
        assert all(text in told for text in ("to work", "a word beside", '"name": "shell"'))


async def test_the_transcript_keeps_what_its_calls_said_long_texts_by_their_beginning(tmp_path: Path) -> None:
    long = 'call("AddComment", task=1, kind="note", body="so " + "long " * 3000)\n'
    async with an_office(tmp_path, CLAIM + long + DELIVER) as office:
        await office.ended("broadcast")
        run = await office.ended("execute")
        calls = [json.loads(line) for line in (await office.transcript(run)).splitlines()]
        told = {each["command"]: each["arguments"] for each in calls if each["kind"] == "call"}
        assert (told["AddOutput"]["task"], told["AddOutput"]["must_haves"]) == (1, ["M1"])
        bodies = [each["arguments"]["body"] for each in calls if each.get("command") == "AddComment"]
        assert any(body.startswith("so long") and len(body) < 600 for body in bodies)


async def test_words_without_the_call_that_is_owed_are_a_violation(tmp_path: Path) -> None:
    async with an_office(tmp_path, CLAIM + 'print("I am sure that it is done.")') as office:
        await office.ended("broadcast")
        run = await office.ended("execute")
        assert (run.status, run.exit_kind) == (RunStatus.PROTOCOL_VIOLATION, "no_board_call")
        assert "I am sure that it is done." in run.detail


def test_long_last_words_are_told_from_the_begin_of_a_word_on() -> None:
    told = no_board_call("begin " + "wholeword " * 100, 0).detail
    assert "this run: … wholeword wholeword" in told
    assert told.endswith("wholeword")


async def test_silence_is_an_answer_where_it_may_be(tmp_path: Path) -> None:
    async with an_office(tmp_path, 'print("NO_REPLY")') as office:
        run = await office.ended("broadcast")
        assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "no_reply")


@pytest.mark.parametrize(
    ("code", "exit_kind", "detail"),
    [
        ("import sys; print('no disk', file=sys.stderr); sys.exit(3)", "exit", "exit code 3: no disk"),
        ("import os; print('half a', flush=True); os.kill(os.getpid(), 9)", "signal", "signal 9: half a"),
        ("import os; os.kill(os.getppid(), 9); import time; time.sleep(9)", "no_supervisor", "supervisor was killed"),
    ],
)
async def test_a_program_that_dies_in_the_middle_fails_with_its_last_words(
    tmp_path: Path, code: str, exit_kind: str, detail: str
) -> None:
    async with an_office(tmp_path, code) as office:
        run = await office.ended("broadcast")
        assert (run.status, run.exit_kind) == (RunStatus.FAILED, exit_kind)
        assert detail in run.detail


async def test_trouble_after_the_work_is_done_does_not_undo_it(tmp_path: Path) -> None:
    async with an_office(tmp_path, CLAIM + DELIVER + "sys.exit(9)") as office:
        await office.ended("broadcast")
        run = await office.ended("execute")
        assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "done")
        assert "exit code 9" in run.detail


async def test_its_own_result_counts_and_a_limited_provider_costs_no_attempt(tmp_path: Path) -> None:
    code = """print('{"type": "result", "status": "rate_limited", "reason": "full", "retry_at": 4102444800000}')"""
    async with an_office(tmp_path, code, output="json") as office:
        run = await office.ended("broadcast")
        assert (run.status, run.detail) == (RunStatus.RATE_LIMITED, "full")
        ada = (await office.all(AgentRecord, "slug = 'ada'"))[0]
        assert ada.cooldown_until is not None
        assert ada.cooldown_until > office.clock() + 60_000


async def test_a_silent_program_and_a_long_one_are_ended_with_their_children(tmp_path: Path) -> None:
    code = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
LOOP
"""
    silent, wordy = code.replace("LOOP", "time.sleep(600)"), code.replace(
        "LOOP", "for _ in range(6000): print('still', flush=True); time.sleep(0.1)"
    )  # fmt: skip
    for name, text, limits, exit_kind in (
        ("silent", silent, {"silence_s": 0.5}, "silence"), ("wordy", wordy, {"wall_s": 1.0}, "wall_time")
    ):  # fmt: skip
        async with an_office(tmp_path / name, text, **limits) as office:
            run = await office.ended("broadcast")
            assert (run.status, run.exit_kind) == (RunStatus.TIMED_OUT, exit_kind)
            assert marked(str(tmp_path / name)) == []


async def test_a_killed_run_leaves_no_process(tmp_path: Path) -> None:
    code = "import os, time\nif os.fork() == 0: os.setsid()\nprint('ready', flush=True); time.sleep(600)"
    async with an_office(tmp_path, code) as office:
        await office.begin()
        async with asyncio.timeout(60):
            while len(marked(str(tmp_path))) < 3:  # noqa: ASYNC110 - the reaper, the program and its child
                await asyncio.sleep(0.02)
        run = (await office.all(Run, "kind = 'broadcast'"))[0]
        await office.do("KillRun", run=run.id, reason="enough")
        await office.idle()
        assert marked(str(tmp_path)) == []
        assert (await office.all(Run, "id = :id", id=run.id))[0].status == RunStatus.KILLED


USES = """
def used(count):
    for _ in range(count):
        os.write(1, b'{"type": "usage", "tokens_in": 1, "tokens_out": 2, "cost_micros": 3}\\n')
"""


async def test_what_is_told_with_every_line_is_put_on_the_board_together(tmp_path: Path) -> None:
    async with an_office(tmp_path, BEGIN + USES + "used(2000)\nprint('NO_REPLY')", output="json") as office:
        run = await office.ended("broadcast")
        assert (run.tokens_in, run.tokens_out, run.cost_micros) == (2000, 4000, 6000)
        written = await office.company.board.readers.value("SELECT count(*) FROM events WHERE kind = 'RunCostTold'")
        assert 1 <= written < 200


async def test_what_a_killed_run_told_last_counts(tmp_path: Path) -> None:
    code = BEGIN + USES + "used(50)\nprint('ready', flush=True)\ntime.sleep(600)"
    async with an_office(tmp_path, code, output="json") as office:
        await office.begin()
        run = (await office.all(Run, "kind = 'broadcast'"))[0]
        async with asyncio.timeout(60):
            while not any("ready" in path.read_text() for path in (tmp_path / "runs").glob("*.jsonl")):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        await office.do("KillRun", run=run.id, reason="enough")
        await office.idle()
        killed = (await office.all(Run, "id = :id", id=run.id))[0]
        assert (killed.status, killed.cost_micros) == (RunStatus.KILLED, 150)


async def test_the_same_error_again_and_again_is_stuck_and_its_task_blocked(tmp_path: Path) -> None:
    code = (
        CLAIM
        + """
call("StartTask", task=1)
for _ in range(300):
    call("SubmitTask", task=1, nonsense=True)
    time.sleep(0.05)
"""
    )
    async with an_office(tmp_path, code) as office:
        await office.ended("broadcast")
        run = await office.ended("execute")
        assert "the same error 3 times" in (run.detail or (await office.task()).blocked_reason)
        assert (await office.task()).status == TaskStatus.BLOCKED


async def test_floods_long_lines_and_colours_are_read(tmp_path: Path) -> None:
    code = (
        BEGIN
        + r"""
for number in range(5000):
    print("x" * 60)
sys.stdout.write("y" * 20 * 1024 * 1024 + "\n")
for number in range(30000):
    print("noise " * 10, file=sys.stderr)
print("\x1b[31mred\x1b[0m")
print("NO_REPLY", flush=True)
"""
    )
    async with an_office(tmp_path, code) as office:
        run = await office.ended("broadcast")
        assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "no_reply")
        told = await office.transcript(run)
        assert "a line of 20,971,520 bytes was skipped" in told
        assert '"red"' in told
        kept = (tmp_path / "runs" / f"{run.id}.stderr").stat()
        assert 900_000 < kept.st_size < 1_100_000
        assert kept.st_mode & 0o777 == 0o600


async def test_a_program_that_never_reads_its_prompt_is_not_waited_for(tmp_path: Path) -> None:
    async with an_office(tmp_path, "print('NO_REPLY')", prompt_tokens=60_000) as office:
        assert (await office.ended("broadcast")).exit_kind == "no_reply"


async def test_it_gets_the_variables_that_were_named_and_no_others(tmp_path: Path) -> None:
    code = (
        BEGIN
        + """
print(sorted(os.environ))
print(os.environ.get("ITS_KEY"), os.environ["OPSROOM_TOKEN"])
print(os.environ.get("ITS_KEY"), file=sys.stderr)
print("NO_REPLY")
"""
    )
    ours = {"ITS_KEY": KEY, "ANOTHER_KEY": "sk-of-another-agent-987654", "LANG": "C.UTF-8"}
    async with an_office(tmp_path, code, ours, env=["ITS_KEY", "NOT_SET"]) as office:
        run = await office.ended("broadcast")
        told = await office.transcript(run)
        assert "'ITS_KEY'" in told
        assert "'OPSROOM_URL'" in told
        assert "ANOTHER_KEY" not in told
        assert "the variable NOT_SET is not set" in told
        assert "[secret removed] [secret removed]" in told
    assert await asyncio.to_thread(_files_with, tmp_path, KEY) == []


def _files_with(folder: Path, text: str) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"command": []}, "names no command"),
        ({"command": ["no-such-program-here"]}, "There is no program 'no-such-program-here' on the PATH"),
        ({"command": ["./missing.sh"]}, "is no program that can be run"),
        ({"program": "hal"}, "There is no program 'hal' in the catalogue"),
        ({"cwd": "nowhere"}, "is not there"),
        ({"speed": 9}, "speed: there is no such setting"),
        ({"env": ["KEY=sk-very-secret"]}, "one of its entries is no name"),
        ({"env": ["OPSROOM_CHAT_KEY"]}, "is Opsroom's own"),
        ({"silence_s": 0}, "silence_s"),
    ],
)
async def test_wrong_settings_say_what_is_wrong(tmp_path: Path, settings: dict[str, object], words: str) -> None:
    async def checked() -> None:
        given = settings_of({"kind": "command", "command": [sys.executable], **settings})
        program_of(given)
        await place_of(given, tuple(given.command), tmp_path, "ada")

    with pytest.raises(Invalid) as told:
        await checked()
    assert words in str(told.value)
    assert told.value.hint
    assert "sk-very-secret" not in str(told.value)


async def test_a_run_with_wrong_settings_fails_and_says_why(tmp_path: Path) -> None:
    async with an_office(tmp_path, "", speed=9) as office:
        run = await office.ended("broadcast")
        assert (run.status, run.exit_kind) == (RunStatus.FAILED, "invalid")
        assert "speed" in run.detail


async def test_where_nobody_serves_the_company_it_says_how_to(tmp_path: Path) -> None:
    async with an_office(tmp_path, "print('NO_REPLY')", served=False) as office:
        run = await office.ended("broadcast")
        assert run.status == RunStatus.FAILED
        assert "opsroom serve" in run.detail


def test_every_company_can_run_programs() -> None:
    config = Config(name="x")
    assert "command" in runner_kinds(config)
    assert set(runners_for(config)) == set(runner_kinds(config))


@pytest.mark.parametrize("settings", [{"command": ["./gone"]}, {"tokens": "many"}])
async def test_one_that_cannot_run_is_called_once_a_turn_and_its_colleagues_talk_on(
    tmp_path: Path, settings: dict[str, object]
) -> None:
    async with an_office(tmp_path, "", **settings) as office:
        await office.do(
            "HireAgent", slug="bob", name="Bob", role="executor", manager="vera", runner={"kind": "silent"}
        )  # fmt: skip
        goal = await office.do("CreateGoal", title="Talk it over", must_haves=["a sign"])
        await office.do("DispatchGoal", goal=goal["id"])
        for _ in range(12):
            await office.step()
            await office.at_once()
        talks = await office.all(Run, "kind = 'discuss' ORDER BY id")
        calls = Counter((run.agent_id, run.idempotency_key.split(":")[1]) for run in talks)
        assert set(calls.values()) == {1}
        assert len({turn for _, turn in calls}) > 2
        (ada,) = await office.all(AgentRecord, "slug = 'ada'")
        assert {run.exit_kind for run in talks if run.agent_id == ada.id and run.status == RunStatus.FAILED} == {
            "invalid"
        }
