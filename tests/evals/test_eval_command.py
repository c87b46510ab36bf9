"""`opsroom eval` from the command line: tables, JSON, exit codes, recording and comparing."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.domain.ceo_mode import SLUGS, CeoMode
from tests.evals.world import FIRST, GOOD
from tests.unit.test_cli_docs import agree
from tui.cli import main

Told = pytest.CaptureFixture[str]
NAME = "operating-blocked-for-now"


def evaluated(capsys: Told, *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON."""
    code = main(["eval", *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def replies(folder: Path, text: str) -> str:
    path = folder / "replies.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_recorded_and_compared(tmp_path: Path, capsys: Told) -> None:
    baseline = str(tmp_path / "before.json")
    words = ("--mode", str(CeoMode.AWAITING_HIRE), "--replies")
    code, first = evaluated(capsys, *words, str(GOOD), "--record", baseline)
    assert (code, first["passed"], first["agreement"]) == (0, True, None)
    assert (first["runner"], first["model"], len(first["scenarios"])) == ("recorded", "good.toml", 3)

    code, again = evaluated(capsys, *words, str(GOOD), "--against", baseline)
    assert (code, again["agreement"]["ok"], again["agreement"]["differences"]) == (0, True, [])
    assert again["agreement"]["groups"] == [{"group": CeoMode.AWAITING_HIRE, "percent": 100.0, "ok": True}]

    # A baseline is a file of replies too.
    code, replayed = evaluated(capsys, *words, baseline, "--against", baseline)
    assert (code, replayed["passed"]) == (0, True)

    worse = GOOD.read_text(encoding="utf-8").replace("awaiting-hire-two-wait = []\n", "")
    worse += '\n[[awaiting-hire-two-wait]]\ncall = "CreateGoal"\nwith = { title = "Maps", split = false }\n'
    code, changed = evaluated(capsys, *words, replies(tmp_path, worse), "--against", baseline)
    assert (code, changed["agreement"]["ok"]) == (1, False)
    assert changed["agreement"]["groups"][0]["percent"] == 66.66
    assert [each["scenario"] for each in changed["agreement"]["differences"]] == ["awaiting-hire-two-wait"]
    agree("eval", json.dumps(changed))

    assert main(["eval", *words, replies(tmp_path, worse), "--against", baseline]) == 1
    told = capsys.readouterr().out
    assert "BELOW THE BAR" in told
    assert "66.66 %" in told
    assert "CreateGoal was called; nothing was to be" in told


def test_a_baseline_decides_and_not_what_passed(tmp_path: Path, capsys: Told) -> None:
    baseline = str(tmp_path / "before.json")
    silent = replies(tmp_path, f"{NAME} = []\n")
    words = ("--scenario", NAME, "--replies", silent)
    assert evaluated(capsys, *words, "--record", baseline)[0] == 1
    code, again = evaluated(capsys, *words, "--against", baseline)
    assert (code, again["passed"], again["agreement"]["ok"]) == (0, False, True)


def test_repetitions_of_the_rehearsal_agents(capsys: Told) -> None:
    assert main(["eval", "--scenario", NAME, "--repeat", "2"]) == 0
    told, progress = capsys.readouterr()
    assert "2 of 2" in told
    assert progress.count(f"{NAME}, repetition") == 2


def test_scenarios_of_ones_own(tmp_path: Path, capsys: Told) -> None:
    (tmp_path / "mine.toml").write_text(FIRST, encoding="utf-8")
    never = FIRST + '\n[[expect]]\nnever = "ProposeHire"\n'
    (tmp_path / "other.toml").write_text(never, encoding="utf-8")
    code, told = evaluated(capsys, "--folder", str(tmp_path))
    # A rehearsal CEO without a team proposes a hire.
    assert (code, [(each["name"], each["passed"]) for each in told["scenarios"]]) == (
        1, [("mine", True), ("other", False)],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--repeat", "0"], "--repeat 0 is not possible"),
        (["--repeat", "101"], "--repeat 101 is not possible"),
        (["--scenario", "none"], "There is no scenario 'none'"),
        (["--mode", "none"], "There is no mode 'none'"),
        (["--mode", SLUGS[CeoMode.AWAITING_ORG], "--scenario", NAME], "does not begin in the mode"),
        (["--runner", "none"], "There is no runner 'none'"),
        (["--runner", "recorded"], "--runner recorded and --replies FILE go together"),
        (["--runner", "chat"], "OPSROOM_CHAT_URL names no model server"),
        (["--runner", "rehearsal", "--replies", "x.toml"], "go together"),
        (["--replies", "none.toml"], "none.toml cannot be read"),
        (["--against", "none.json"], "none.json cannot be read"),
        (["--record", "none/before.json"], "none/before.json cannot be written"),
        (["--record", "."], ". cannot be written"),
        (["--folder", "none"], "none holds no scenario"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_played(
    capsys: Told, monkeypatch: pytest.MonkeyPatch, words: list[str], problem: str
) -> None:
    monkeypatch.delenv("OPSROOM_CHAT_URL", raising=False)
    assert main(["eval", *words]) == 2
    out, error = capsys.readouterr()
    assert problem in error
    assert out == ""
    assert "repetition 1" not in error
