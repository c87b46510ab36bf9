"""`opsroom simulate`: the same seed gives the same life, a policy is checked, and a broken law is told (S2-39)."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.blackboard.transaction import Transaction
from core.domain.errors import Invalid
from core.simulation import simulator
from core.simulation.habits import GOOD, USUAL, Habits
from core.simulation.laws import FORBIDDEN, LAWS
from core.simulation.policy import Policy, read_policy
from tui.cli import main

POLICY = """
[habits]
wrong = 0.3
crash = 0.1
mention = 0.5
object = 0.3
rebut = 0.5

[operator]
manner = "random"
"""


def simulated(capsys: pytest.CaptureFixture[str], *options: object) -> tuple[int, str]:
    """The exit code and what was printed."""
    code = main(["simulate", "--ticks", "10", *map(str, options)])
    return code, capsys.readouterr().out


@pytest.mark.soak
def test_a_seed_gives_the_same_life_to_the_letter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    shared = ("--goals", 1, "--ticks", 4, "--policy", policy)
    first = simulated(capsys, "--seed", 5, *shared)
    assert simulated(capsys, "--seed", 5, *shared) == first
    assert first[1] != simulated(capsys, "--seed", 6, *shared)[1]
    assert first[0] == 0


def test_it_tells_each_number_and_each_law(capsys: pytest.CaptureFixture[str]) -> None:
    code, told = simulated(capsys, "--goals", 1)
    assert code == 0
    for name in ("ticks to done", "runs", "model calls", "duplicate work", "interventions"):
        assert f"\n{name} " in told
    assert all(f"\n{law} " in told for law in LAWS)


def test_good_agents_need_only_the_last_word_of_the_operator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "good.toml"
    policy.write_text("[habits]\n")
    code, told = simulated(capsys, "--goals", 2, "--policy", policy, "--json")
    result = json.loads(told)
    # What waits is the notice that a simulated company has no mission.
    assert (code, result["goals"], result["waits"]) == (0, {"done": 2}, 1)
    assert (result["interventions"], result["duplicates"], result["refused"]) == (2, 0, 0)
    assert result["model_calls"] == sum(result["runs"].values())


def test_an_absent_operator_finds_everything_in_the_inbox(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = tmp_path / "absent.toml"
    policy.write_text("[habits]\n[operator]\nmanner = 'absent'\n")
    code, told = simulated(capsys, "--goals", 1, "--policy", policy, "--json")
    result = json.loads(told)
    assert (code, result["ticks"], result["goals"]) == (0, None, {"reporting": 1})
    assert (result["interventions"], result["waits"]) == (0, 1)


def test_a_broken_law_is_told_and_ends_with_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    law = next(iter(FORBIDDEN))

    def broken(tx: Transaction) -> list[tuple[str, str]]:
        return [(law, "task_id 7")] if tx.value("SELECT count(*) FROM runs WHERE kind = 'execute'") else []

    monkeypatch.setattr(simulator, "broken_laws", broken)
    code, told = simulated(capsys, "--goals", 1, "--json")
    assert code == 1
    assert [(each["law"], each["where"][:9]) for each in json.loads(told)["invariants"] if not each["ok"]] == [
        (law, "task_id 7")
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[habits]\nwrong = 1.5\n", "line 2, habits.wrong: Input should be less than or equal to 1"),
        ("[habits]\nfail = 0.1\n\nwrogn = 0.5\n", "line 4, habits.wrogn: there is no such setting"),
        ("[habits]\nfail = 0.6\nhang = 0.6\n", "line 1, habits: wrong, fail"),
        ("[operator]\nmanner = 'cruel'\n", "line 2, operator.manner: Input should be 'kindly', 'random' or 'absent'"),
        ("[caps]\nruns_at_once = 'many'\n", "line 2, caps.runs_at_once: Input should be a valid integer"),
        ("[moods]\nsad = 1\n", "line 1, moods: there is no such setting"),
        ("habits = 3\n", "line 1, habits: Input should be a valid dictionary"),
        ("[habits]\nwrong = \n", "is not valid TOML: Invalid value (at line 2, column 9)"),
    ],
)
def test_a_wrong_policy_is_told_with_its_line(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with pytest.raises(Invalid) as refused:
        read_policy(file)
    assert str(file) in str(refused.value)
    assert told in str(refused.value)
    assert main(["simulate", "--policy", str(file)]) == 2


def test_a_policy_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"policy\.toml cannot be read: No such file"):
        read_policy(tmp_path / "policy.toml")


@pytest.mark.parametrize("option", ["--goals", "--ticks", "--agents", "--tasks"])
def test_a_size_that_cannot_be_is_told(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", option, "-1"]) == 2
    assert f"{option} -1 is not possible" in capsys.readouterr().err


def test_what_a_policy_leaves_out(tmp_path: Path) -> None:
    def of(text: str) -> Policy:
        (tmp_path / "p.toml").write_text(text)
        return read_policy(tmp_path / "p.toml")

    assert of("").habits == USUAL
    assert of("[habits]\nwrong = 0.5\n").habits == GOOD.but(wrong=0.5)
    assert of("[caps]\nround_cap = 2\n").operator.manner == "kindly"
    changed: dict[str, Any] = dict.fromkeys(Habits.model_fields, 0.1)
    assert of("[habits]\n" + "\n".join(f"{name} = 0.1" for name in changed)).habits == Habits(**changed)
