"""docs/cli.md is what the program does: its commands, options and exit codes, and the keys of its JSON."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import ROOT, a_finished_demo
from tui.cli import main
from tui.cli.exits import MEANING, Exit
from tui.cli.table import SUBCOMMANDS
from tui.cli.table.row import Subcommand

PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
HEADINGS = re.findall(r"^### `opsroom (.+)`$", PAGE, re.MULTILINE)
SHAPES = {name: json.loads(text) for name, text in re.findall(r"^```json (.+?)\n(.*?)^```$", PAGE, re.DOTALL | re.M)}
FREE = {"languages", "goals", "tasks", "runs", "answers", "changed", "arguments", "answer", "payload"}


def heading_of(subcommand: Subcommand) -> str:
    """What the table makes of a subcommand's heading."""
    words = [subcommand.name]
    for argument in subcommand.arguments:
        name, options = argument.names[-1], argument.options
        if not name.startswith("-"):
            words.append(f"[{options['metavar']}]" if options.get("nargs") == "?" else options["metavar"])
        elif options.get("action") == "store_true":
            words.append(f"[{name}]")
        else:
            words.append(f"[{name} {options.get('metavar', name.strip('-').upper())}]")
    return " ".join(words)


def test_every_subcommand_and_option_is_described_and_nothing_else() -> None:
    assert sorted(HEADINGS) == sorted(heading_of(subcommand) for subcommand in SUBCOMMANDS)


def test_the_exit_codes_are_those_of_the_program() -> None:
    assert {int(code): words for code, words in re.findall(r"^\| (\d+) \| (.+) \|$", PAGE, re.MULTILINE)} == {
        int(code): words for code, words in MEANING.items()
    }


def test_every_command_with_json_shows_its_shape() -> None:
    with_json = {sub.name for sub in SUBCOMMANDS if any("--json" in argument.names for argument in sub.arguments)}
    assert set(SHAPES) == with_json


def test_help_names_every_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    told = capsys.readouterr().out
    assert all(re.search(rf"^ +{subcommand.words[0]}( |$)", told, re.MULTILINE) for subcommand in SUBCOMMANDS)


@pytest.mark.parametrize("subcommand", SUBCOMMANDS, ids=lambda subcommand: subcommand.name)
def test_every_subcommand_has_help(subcommand: Subcommand, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*subcommand.words, "--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    options = [argument.names[-1] for argument in subcommand.arguments if argument.names[-1].startswith("-")]
    assert [option for option in options if option not in told] == []


def keys_of(value: Any, path: str = "") -> set[str]:
    """The paths of all keys; a list is known by its first element, and maps with free keys by their name alone."""
    if isinstance(value, list):
        return keys_of(value[0], f"{path}[]") if value else set()
    if not isinstance(value, dict):
        return set()
    found = {f"{path}.{key}" for key in value}
    for key, inner in value.items():
        if not (key in FREE and isinstance(inner, dict)):
            found |= keys_of(inner, f"{path}.{key}")
    return found


def agree(name: str, told: str) -> None:
    """Every key that is printed is documented, and every documented one is printed where its place is not empty."""
    value = json.loads(told.splitlines()[0])
    printed, documented = keys_of(value), keys_of(SHAPES[name])
    assert printed <= documented, f"{name} prints {sorted(printed - documented)}, which is not documented"
    places = {path.rpartition(".")[0] for path in printed} | {""}
    missing = {path for path in documented - printed if path.rpartition(".")[0] in places}
    assert not missing, f"{name} does not print {sorted(missing)}"


def told(capsys: pytest.CaptureFixture[str], *words: str, code: Exit = Exit.OK) -> Any:
    """What a command prints as JSON, as docs/cli.md says."""
    capsys.readouterr()
    assert main([*words, "--json"]) == code
    out = capsys.readouterr().out
    agree(" ".join(words[:2]), out)
    return json.loads(out)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A finished demo and its JSON."""
    audited, done = a_finished_demo(tmp_path_factory)
    assert done.returncode == 0, done.stderr
    # These tests act on it, and others look at it too.
    company = tmp_path_factory.mktemp("docs") / "c"
    shutil.copytree(audited.parent / "as it ended", company)
    return company, done.stdout


class TestTheKeys:
    def test_of_a_finished_demo(self, demo: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
        company, told = demo
        agree("demo", told)
        for words in (
            ["status"], ["goal list"], ["goal show", "G1"], ["goal outputs", "G1"], ["task list"], ["task show", "T2"],
            ["task show", "T7"],
            ["events"], ["inbox"], ["doctor"], ["backup"], ["run", "--headless"], ["stop"], ["start"],
        ):  # fmt: skip
            main([*words[0].split(), str(company), *words[1:], "--json"])
            agree(words[0], capsys.readouterr().out)

    def test_of_acts_on_a_new_company(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        folder = str(tmp_path / "c")
        for name, words in (
            ("init", ["init", folder]),
            ("goal add", ["goal", "add", folder, "One"]),
            ("start", ["start", folder]),
            ("inbox", ["inbox", folder]),
            ("run", ["run", folder, "--headless"]),
            ("goal dispatch", ["goal", "dispatch", folder, "G1", "--no-discussion"]),
            ("status", ["status", folder]),
            ("goal cancel", ["goal", "cancel", folder, "G1", "--reason", "enough"]),
            ("goal archive", ["goal", "archive", folder, "G1"]),
            ("goal add", ["goal", "add", folder, "Two"]),
            ("goal explore", ["goal", "explore", folder, "Three"]),
            ("say", ["say", folder, "G3", "What is it for?"]),
            ("goal edit", ["goal", "edit", folder, "G3", "--must", "a list :: it names every file"]),
            ("goal ready", ["goal", "ready", folder, "G3"]),
            ("goal waive", ["goal", "waive", folder, "G3", "M1"]),
            ("goal dispatch", ["goal", "dispatch", folder, "G3"]),
            ("goal end-discussion", ["goal", "end-discussion", folder, "G3"]),
            ("goal pause", ["goal", "pause", folder, "G2"]),
            ("goal resume", ["goal", "resume", folder, "G2"]),
            ("budget set", ["budget", "set", folder, "company", "2.50"]),
            ("budget raise", ["budget", "raise", folder, "company", "0.50", "--once"]),
            ("budget set", ["budget", "set", folder, "G2", "3", "--period", "total"]),
            ("budget show", ["budget", folder]),
            ("block", ["block", folder, "G2", "--note", "no"]),
            ("agent hire", ["agent", "hire", folder, "vera", "--role", "ceo", "--budget", "2.50"]),
            ("company", ["company", folder, "--mission", "Know every map"]),
            ("heartbeat", ["heartbeat", folder]),
            ("autonomy", ["autonomy", folder, "B"]),
            ("agent hire", ["agent", "hire", folder, "ada", "--role", "executor", "--manager", "vera"]),
            ("agent edit", ["agent", "edit", folder, "ada", "--duties", "draws", "--capabilities", "charts,maps"]),
            ("agent list", ["agent", "list", folder]),
            ("agent show", ["agent", "show", folder, "vera"]),
            ("org", ["org", folder]),
            ("agent pause", ["agent", "pause", folder, "ada"]),
            ("agent resume", ["agent", "resume", folder, "ada"]),
            ("agent retire", ["agent", "retire", folder, "ada", "--reason", "enough"]),
        ):
            main([*words, "--json"])
            agree(name, capsys.readouterr().out)

    def test_of_a_simulation(self, capsys: pytest.CaptureFixture[str]) -> None:
        main(["simulate", "--goals", "1", "--ticks", "2", "--json"])
        agree("simulate", capsys.readouterr().out)
