"""Wrong files are told with the file, the line, and what is wrong there."""

from pathlib import Path

import pytest

from core.domain.errors import Invalid
from core.evals.contestants import read_replies
from core.evals.evaluation import chosen
from core.evals.expecting import Call
from core.evals.places import lines_of
from core.evals.scenario import read_scenarios
from tests.evals.world import FIRST, calls, replied, written

STEP = '\n[[steps]]\ndo = "CreateGoal"\nwith = { title = "Mine" }\nname = "goal"\n'


def line_of(text: str, part: str) -> int:
    """The line on which a part of the text stands."""
    return text[: text.index(part)].count("\n") + 1


WRONG = [
    (FIRST.replace('"vera ceo"', '"vera ceo'), 'staff = ["vera', "is not valid TOML"),
    (FIRST + "colour = 3\n", "colour", "there is no such setting"),
    (FIRST.replace("vera ceo", "vera queen"), "staff", "there is no role 'queen'"),
    (FIRST.replace("vera ceo", "Vera the CEO"), "staff", "is not of the form"),
    (FIRST.replace('["vera ceo"]', '["ada executor under vera", "vera ceo"]'), "staff", "was not named before"),
    (FIRST.replace("team_building", "dreaming"), "mode", "team_building"),
    (FIRST.replace('mode = "team_building"\n', ""), "agent =", "a run of the CEO has a mode"),
    (FIRST.replace('agent = "vera"', 'agent = "zoe"'), "agent", "nobody of the staff is called 'zoe'"),
    (FIRST.replace('run = "propose"', 'run = "dance"'), "run =", "begin.run"),
    (FIRST.replace('"ProposeHire"', '"HireHim"'), "[[expect]]", "there is no command 'HireHim'"),
    (FIRST + "with.colour = 3\n", "[[expect]]", "ProposeHire has no colour"),
    (FIRST + 'with.why.matches = "("\n', "[[expect]]", "is no regular expression"),
    (FIRST + 'with.why.like = "x"\n', "[[expect]]", "there is no condition like"),
    (FIRST + 'with.why.one_of = "x"\n', "[[expect]]", "one_of takes a list"),
    (FIRST + 'with.why.at_least = "x"\n', "[[expect]]", "at_least takes a number"),
    (FIRST + 'never = "CreateGoal"\n', "[[expect]]", "exactly one of call, never, only, told, untold, task"),
    (FIRST + "times = 1\nat_most = 2\n", "[[expect]]", "times says both bounds"),
    (FIRST + '\n[[expect]]\nnever = "CreateGoal"\ntimes = 1\n', '[[expect]]\nnever', "go with call"),
    (FIRST + '\n[[expect]]\nnever = "CreateGoal"\ntried = true\n', '[[expect]]\nnever', "tried go with call"),
    (FIRST + '\n[[expect]]\ntask = 1\n', "[[expect]]\ntask", "task and status go together"),
    (FIRST + '\n[[expect]]\ntask = "$goal"\nstatus = "done"\n', "[[expect]]\ntask", "$goal is the answer of no step"),
    (FIRST + '\n[[expect]]\nuntold = "x"\nwith.why = "x"\n', "[[expect]]\nuntold", "with goes with call or never"),
    (FIRST + '\n[[expect]]\nonly = []\nwith.why = "x"\n', "[[expect]]\nonly", "with goes with call or never"),
    (FIRST + '\n[[expect]]\ncall = "AddComment"\nwith.goal = "$goal"\n', '[[expect]]\ncall = "AddC',
     "$goal is the answer"),
    (FIRST + '\n[[steps]]\ndo = "Dance"\n', 'do = "Dance"', "there is no command 'Dance'"),
    (FIRST + '\n[[steps]]\nby = "zoe"\ndo = "StartCompany"\n', 'by = "zoe"', "'zoe' is neither"),
    (FIRST + '\n[[steps]]\ndo = "StopCompany"\nticks = 1\n', "[[steps]]", "exactly one of do, wait_minutes, ticks"),
    (FIRST + '\n[[steps]]\ndo = "ReviewGoal"\nwith = { goal = "$goal" }\n' + STEP, "[[steps]]", "no earlier step"),
    (FIRST.partition("[[expect]]")[0], "[begin]", "nothing is expected"),
    (FIRST.replace('run = "propose"', 'run = "propose"\ngoal = "$goal"'), "goal =", "$goal is the answer of no step"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "part", "problem"), WRONG, ids=[problem[:30] for _, _, problem in WRONG])
def test_a_wrong_scenario_is_told_with_file_and_line(tmp_path: Path, text: str, part: str, problem: str) -> None:
    with pytest.raises(Invalid) as told:
        written(tmp_path, text)
    assert str(tmp_path / "mine.toml") in told.value.message
    assert f"line {line_of(text, part)}" in told.value.message
    assert problem in told.value.message
    assert "docs/evals.md" in told.value.hint


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        (STEP + '\n[[steps]]\ndo = "AcceptGoal"\nwith = { goal = "$goal" }\n', "step 2 (AcceptGoal by operator)"),
        (STEP + '\n[[steps]]\ndo = "ReviewGoal"\nwith = { goal = "$goal.colour" }\n', "$goal.colour is in no answer"),
        (STEP + '\n[[steps]]\nby = "vera"\ndo = "ReviewGoal"\nwith = { goal = "$goal" }\n', "(ReviewGoal by vera)"),
        (STEP + '\n[[steps]]\nby = "vera"\nrun = "execute"\ntask = "$goal.tasks.0"\ndo = "StartTask"\n'
         'with = { task = "$goal.tasks.0" }\n', "(StartTask by vera)"),
    ],
)  # fmt: skip
async def test_a_step_that_is_refused_is_told_with_its_line(tmp_path: Path, steps: str, problem: str) -> None:
    text = FIRST + steps
    with pytest.raises(Invalid) as told:
        await replied(tmp_path, written(tmp_path, text), [])
    second = text.index("[[steps]]", text.index("[[steps]]") + 1)
    assert f"mine.toml, line {text[:second].count(chr(10)) + 1}: " in told.value.message
    assert problem in told.value.message


CASES = (
    FIRST.partition("[begin]")[0]
    + """
[[cases]]
name = "asks"
begin = { agent = "vera", run = "propose" }

[[cases.expect]]
call = "ProposeHire"

[[cases.expect]]
only = ["ProposeHire"]

[[cases]]
name = "waits"
about = "A mission that is not known."
mission = ""
begin = { agent = "vera", run = "propose", never = true }

[[cases.steps]]
do = "StopCompany"
"""
)


STEPPED = CASES.replace("\n[[cases]]", STEP + "\n[[cases]]", 1)


def test_the_cases_of_a_file_are_scenarios_that_share_what_it_says(tmp_path: Path) -> None:
    written(tmp_path, CASES)
    asks, waits = read_scenarios(tmp_path)
    assert [(one.name, one.about, one.mission) for one in (asks, waits)] == [
        ("mine-asks", "A first run.", "Know every folder"), ("mine-waits", "A mission that is not known.", ""),
    ]  # fmt: skip
    assert [len(one.expect) for one in (asks, waits)] == [2, 0]
    assert [len(one.steps) for one in (asks, waits)] == [0, 1]
    assert asks.state_hash != waits.state_hash
    assert [one.name for one in chosen([asks, waits], "mine")] == ["mine-asks", "mine-waits"]
    assert [one.name for one in chosen([asks, waits], "mine-waits")] == ["mine-waits"]


@pytest.mark.parametrize(
    ("text", "part", "problem"),
    [
        (CASES.replace('only = ["ProposeHire"]', 'only = ["HireHim"]'), "only", "there is no command 'HireHim'"),
        (CASES.replace("StopCompany", "Dance"), 'do = "Dance"', "there is no command 'Dance'"),
        (STEPPED.replace("StopCompany", "Dance"), 'do = "Dance"', "there is no command 'Dance'"),
        (CASES.replace('mission = ""', "colour = 3"), "colour", "there is no such setting"),
        (CASES.replace('"waits"', '"asks"'), '[[cases]]\nname = "asks"\nabout', "there is a case asks already"),
        (CASES.replace('"waits"', '"Wait a bit"'), '[[cases]]\nname = "Wait', "a case has a name of small letters"),
        (CASES.replace('name = "waits"\n', ""), '[[cases]]\nabout', "a case has a name"),
        (FIRST.replace("about", 'cases = []\nabout'), "cases", "is to be a list"),
    ],
)  # fmt: skip
def test_a_wrong_case_is_told_with_its_line(tmp_path: Path, text: str, part: str, problem: str) -> None:
    with pytest.raises(Invalid) as told:
        written(tmp_path, text)
    line = line_of(text, part)
    # An expectation's place is the line of its table.
    assert f"mine.toml, line {line}" in told.value.message or f"mine.toml, line {line - 1}:" in told.value.message
    assert problem in told.value.message


async def test_a_hire_that_is_refused_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"mine\.toml, line 5: bob was not hired: .*CEO"):
        await replied(tmp_path, written(tmp_path, FIRST.replace('["vera ceo"]', '["vera ceo", "bob ceo"]')), [])


async def test_what_an_expectation_names_must_be_in_an_answer(tmp_path: Path) -> None:
    scenario = written(tmp_path, FIRST + 'with.slug = "$goal.colour"\n' + STEP)
    with pytest.raises(Invalid, match=r"mine\.toml, line 11: \$goal\.colour is in no answer"):
        await replied(tmp_path, scenario, [])


def test_a_folder_without_scenarios_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="holds no scenario"):
        read_scenarios(tmp_path)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("mine = 3\n", 1, "is to be a list of calls"),
        ("\n[[mine]]\nsay = 1\n", 3, "there is no such setting"),
        ("[[mine]]\ncall = 'A'\n[[mine]]\ncall = 3\n", 4, "string"),
        ("[[mine]]\ncall = 'A'\nrepetition = 0\n", 3, "greater than or equal to 1"),
        ("[[mine]\n", 1, "is not valid TOML"),
    ],
)
def test_wrong_replies_are_told_with_file_and_line(tmp_path: Path, text: str, line: int, problem: str) -> None:
    path = tmp_path / "replies.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Invalid) as told:
        read_replies(path)
    assert str(path) in told.value.message
    assert f"line {line}" in told.value.message
    assert problem in told.value.message


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "holds no replies for mine"),
        ("[[mine]]\ncall = 'AddComment'\nwith.goal = '$goal'\n", r"mine has no \$goal"),
    ],
)
async def test_replies_must_fit_their_scenario(tmp_path: Path, text: str, problem: str) -> None:
    from core.evals.evaluation import evaluate

    scenario = written(tmp_path, FIRST)
    path = tmp_path / "replies.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Invalid, match=problem):
        await evaluate([scenario], read_replies(path), tmp_path)


def test_lines_are_those_of_the_file_and_not_of_texts_in_it() -> None:
    text = 'a = """\nb = 1\n[c]\n"""\nb = 2\n[c]\n[[d.e]]\nf.g = 1\n[[d.e]]\nf = 2\n'
    assert lines_of(text) == {
        ("a",): 1, ("b",): 5, ("c",): 6, ("d", "e", "0"): 7, ("d", "e", "0", "f"): 8, ("d", "e", "0", "f", "g"): 8,
        ("d", "e", "1"): 9, ("d", "e", "1", "f"): 10,
    }  # fmt: skip
    assert lines_of("[[a]]\n[[a.b]]\n[[a.b]]\n[[a]]\n[[a.b]]\nc = 1\n[a.d]\n") == {
        ("a", "0"): 1, ("a", "0", "b", "0"): 2, ("a", "0", "b", "1"): 3, ("a", "1"): 4, ("a", "1", "b", "0"): 5,
        ("a", "1", "b", "0", "c"): 6, ("a", "1", "d"): 7,
    }  # fmt: skip


async def test_a_name_in_a_text_is_written_out_and_two_dollars_are_one(tmp_path: Path) -> None:
    text = FIRST.replace('call = "ProposeHire"', 'call = "AddComment"').replace("propose", "mention") + STEP
    text += '\n[[steps]]\ndo = "AddComment"\n'
    text += 'with = { goal = "$goal", kind = "question", body = "@vera what does G$goal cost, $$5?" }\n'
    made = calls(("AddComment", {"goal": "$goal", "body": "G$goal, $$goal"}))
    report = await replied(tmp_path, written(tmp_path, text), made)
    assert report.results[0].runs[0].calls == (Call("AddComment", {"goal": 1, "body": "G1, $goal"}),)
    assert report.ok
