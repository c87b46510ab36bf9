"""Whatever is typed wrongly, broken or out of reach: words and an exit code, never a traceback."""

import json
import os
import re
import resource
import shutil
import sqlite3
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from core.domain.states import GoalStatus
from tests.command_line import ARGV, a_folder, environment, opsroom
from tests.founding import as_init_makes
from tui.cli import main

Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def say(capfd: pytest.CaptureFixture[str]) -> Say:
    """Run a command line in this process: its exit code, stdout and stderr."""

    def run(*words: object) -> tuple[int, str, str]:
        capfd.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return run


@pytest.fixture
def company(tmp_path: Path) -> Path:
    folder = tmp_path / "acme"
    as_init_makes(folder, "Acme")
    return folder


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--nonsense"], "unknown option --nonsense"),
        (["stauts"], "did you mean `opsroom status`?"),
        (["status"], "DIR"),
        (["status", "x", "--jsn"], "--jsn"),
        (["goal"], "SUBCOMMAND"),
        (["org", "x", "extra"], "extra. See `opsroom org --help`."),
        (["goal", "list", "x", "extra"], "See `opsroom goal list --help`."),
        (["goal", "shwo", "x"], "shwo"),
        (["goal", "list", "x", "--stat", "draft"], "--stat"),
        (["events", "x", "--after", "one"], "one"),
        (["init", "x", "--locale", "fr"], "fr"),
    ],
)
def test_an_unknown_word_or_option_is_a_usage_error(say: Say, words: list[str], told: str) -> None:
    code, out, err = say(*words)
    assert code == 2
    assert told in err
    assert out == ""


class TestFilters:
    def test_an_unknown_status_lists_the_known_ones(self, say: Say, company: Path) -> None:
        code, _, err = say("goal", "list", company, "--status", "draft,lost")
        assert code == 2
        assert "'lost'" in err
        assert all(status in err for status in GoalStatus)

    @pytest.mark.parametrize(
        ("words", "code", "told"),
        [
            (["task", "list", "DIR", "--status", "dne"], 2, "waiting_human"),
            (["task", "list", "DIR", "--status", ""], 2, "Unknown status ''"),
            (["task", "list", "DIR", "--assignee", "nobody"], 2, "Known: none"),
            (["task", "list", "DIR", "--goal", "T1"], 2, "'T1' is no goal's id"),
            (["task", "list", "DIR", "--goal", "G9"], 1, "There is no G9"),
            (["task", "list", "DIR", "--round", "0"], 2, "counted from 1"),
            (["goal", "list", "DIR", "--origin", "moon"], 2, "operator"),
            (["goal", "show", "DIR", "G9"], 1, "There is no G9"),
            (["goal", "show", "DIR", "GG"], 2, "Type it like G1"),
            (["task", "show", "DIR", "T9"], 1, "There is no T9"),
            (["events", "DIR", "--after", "-1"], 2, "no event's number"),
            (["events", "DIR", "--filter", "colour:red"], 2, "no filter 'colour'"),
            (["events", "DIR", "--filter", "since:soon"], 2, "is no time"),
            (["approve", "DIR", "R1"], 2, "Q1 (approval)"),
            (["approve", "DIR", "Q9"], 1, "does not wait for you"),
            (["goal", "add", "DIR", ""], 2, "title"),
            (["goal", "add", "DIR", "x" * 201], 2, "title"),
            (["goal", "add", "DIR", "One", "--round-cap", "0"], 2, "round_cap"),
            (["stop", "DIR", "--reason", ""], 2, "reason"),
            (["run", "DIR"], 2, "--headless"),
            (["run", "DIR", "--headless"], 3, "opsroom start"),
            (["demo", ".", "--company", "DIR", "--headless"], 2, "is no demo"),
            (["demo", ".", "--pace", "-1"], 2, "0 to 60000"),
        ],
    )
    def test_each_wrong_value_is_named(self, say: Say, company: Path, words: list[str], code: int, told: str) -> None:
        found, out, err = say(*[str(company) if word == "DIR" else word for word in words])
        assert (found, out) == (code, "")
        assert told in err

    def test_real_lists_are_taken(self, say: Say, company: Path) -> None:
        for title in ("One", "Two"):
            assert say("goal", "add", company, title)[0] == 0
        assert say("goal", "cancel", company, "G2", "--reason", "no")[0] == 0
        listed = json.loads(say("goal", "list", company, "--status", "draft,cancelled", "--json")[1])["goals"]
        assert [goal["id"] for goal in listed] == [1, 2]
        listed = json.loads(say("goal", "list", company, "--status", "cancelled", "--json")[1])["goals"]
        assert [goal["id"] for goal in listed] == [2]


class TestDecisions:
    def test_a_refusal_needs_its_reason(self, say: Say, company: Path) -> None:
        say("goal", "add", company, "One")
        assert say("reject", company, "G1")[0] == 2
        code, out, _ = say("block", company, "G1", "--note", "not now")
        assert code == 0
        assert "reject" in out
        assert json.loads(say("goal", "show", company, "G1", "--json")[1])["reason"] == "not now"

    def test_what_is_decided_differently_says_how(self, say: Say, company: Path) -> None:
        say("goal", "add", company, "One")
        code, _, err = say("approve", company, "G1")
        assert code == 1
        assert f"opsroom goal dispatch {company} G1" in err


class TestFolders:
    @pytest.mark.parametrize("command", [["status"], ["inbox"], ["goal", "list"], ["start"], ["backup"], ["room"]])
    def test_a_folder_without_a_company(self, say: Say, tmp_path: Path, command: list[str]) -> None:
        for place in (tmp_path, tmp_path / "missing"):
            code, out, err = say(*command, place)
            assert (code, out) == (2, "")
            assert "holds no company" in err

    def test_the_room_of_a_folder_without_a_company_or_without_a_terminal(self, say: Say, company: Path) -> None:
        assert say(company.parent)[0] == 2
        code, _, err = say(company)
        assert code == 2
        assert "needs a terminal" in err

    def test_a_second_company_in_one_folder(self, say: Say, company: Path) -> None:
        code, _, err = say("init", company)
        assert code == 2
        assert "holds a company already" in err

    def test_a_refused_name_leaves_nothing(self, say: Say, tmp_path: Path) -> None:
        assert say("init", tmp_path / "new", "--name", " ")[0] == 2
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("text", ["name = [", "nam = 'x'", "[rehearsal]\nfolder = 1", "\xff\xfe"])
    def test_a_broken_company_toml(self, say: Say, company: Path, text: str) -> None:
        (company / "company.toml").write_bytes(text.encode("latin-1"))
        for command in (["status"], ["start"], ["run", "--headless"]):
            code, _, err = say(command[0], company, *command[1:])
            assert code == 2
            assert "company.toml" in err
        code, out, _ = say("doctor", company)
        assert code == 1
        assert re.search(r"fail +config", out)

    def test_a_broken_guardrails_yaml(self, say: Say, company: Path) -> None:
        assert re.search(r"ok +guardrails +guardrails.yaml has 6 red lines", say("doctor", company)[1])
        (company / "guardrails.yaml").write_text("red_lines:\n  - nam: one\n")
        code, out, _ = say("doctor", company)
        assert code == 1
        assert re.search(r"fail +guardrails +guardrails.yaml, line 2, column 5: unknown key 'nam'", out)
        code, _, err = say("start", company)
        assert code == 1
        assert "line 2, column 5" in err
        (company / "guardrails.yaml").write_text("red_lines: []\n")
        code, out, _ = say("doctor", company)
        assert code == 0
        assert re.search(r"warn +guardrails .*data_deletion", out)
        assert say("start", company)[0] == 0

    def test_a_missing_board(self, say: Say, company: Path) -> None:
        (company / "board.db").unlink()
        assert say("status", company)[0] == 1

    def test_a_corrupt_board(self, say: Say, company: Path) -> None:
        (company / "board.db").write_bytes(b"not a database" * 1000)
        for command in ("status", "start"):
            code, _, err = say(command, company)
            assert code == 1
            assert "board.db" in err
        assert say("doctor", company)[0] == 1

    def test_a_board_of_a_newer_program(self, say: Say, company: Path) -> None:
        with sqlite3.connect(company / "board.db") as board:
            board.execute("PRAGMA user_version = 999")
        board.close()
        code, _, err = say("status", company)
        assert code == 1
        assert "newer" in err

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_folder_without_write_permission(self, say: Say, company: Path) -> None:
        company.chmod(0o500)
        try:
            assert say("start", company)[0] == 1
            assert say("init", company / "inner")[0] == 2
        finally:
            company.chmod(0o700)

    def test_a_backup_never_overwrites(self, say: Say, company: Path) -> None:
        target = company.parent / "copy.db"
        assert say("backup", company, target)[0] == 0
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
        assert say("backup", company, target)[0] == 1
        assert say("backup", company, company.parent / "no" / "such" / "copy.db")[0] == 1


class TestDemoFolders:
    def test_missing_no_folder_or_empty_name(self, say: Say, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        for folder, told in ((tmp_path / "none", "does not exist"), (tmp_path / "file", "not a folder"), ("", "empty")):
            code, out, err = say("demo", folder, "--headless", "--company", tmp_path / "c")
            assert (code, out) == (2, "")
            assert told in err
        assert not (tmp_path / "c").exists()

    def test_the_company_never_lives_in_what_it_audits(self, say: Say, tmp_path: Path) -> None:
        audited = a_folder(tmp_path / "src", git=False)
        (tmp_path / "link").symlink_to(audited)
        for place in (audited, audited / "c", tmp_path / "link" / "c"):
            code, _, err = say("demo", audited, "--headless", "--company", place)
            assert code == 2
            assert "audit" in err

    def test_a_place_that_holds_something_else(self, say: Say, tmp_path: Path) -> None:
        (tmp_path / "c").mkdir()
        (tmp_path / "c" / "mine").write_text("x")
        assert say("demo", a_folder(tmp_path / "src", git=False), "--headless", "--company", tmp_path / "c")[0] == 2
        assert [path.name for path in (tmp_path / "c").iterdir()] == ["mine"]

    def test_a_name_with_a_newline_and_markup_an_empty_folder_and_its_first_decision(
        self, say: Say, tmp_path: Path
    ) -> None:
        audited = tmp_path / "a\n[b]\x1b]52;c;eA==\x07"
        audited.mkdir()
        code, _, err = say("demo", audited, "--headless", "--company", tmp_path / "c")
        assert code == 3
        assert "\x1b" not in err
        assert "\x07" not in err
        _, out, _ = say("goal", "list", tmp_path / "c")
        assert "\x1b" not in out
        assert len(out.splitlines()) == 2
        other = a_folder(tmp_path / "src", git=False)
        code, _, err = say("demo", other, "--headless", "--company", tmp_path / "c")
        assert code == 2
        assert "the demo of" in err

    def test_a_folder_whose_name_is_no_utf8(self, tmp_path: Path) -> None:
        folder = os.fsencode(tmp_path) + b"/\xff\xfe"
        os.mkdir(folder)
        done = subprocess.run(
            [*map(os.fsencode, ARGV), b"demo", folder, b"--headless"], env=environment(tmp_path), cwd=tmp_path,
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert b"Traceback" not in done.stderr
        assert rb"\xff\xfe" in done.stderr


class TestStreams:
    def test_a_reader_that_goes_away_is_no_fault(self, company: Path, tmp_path: Path) -> None:
        script = f"{' '.join(ARGV)} events {company} | true; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(
            ["bash", "-c", script], env=environment(tmp_path), capture_output=True, text=True, check=False
        )
        assert (done.stdout, done.stderr) == ("0\n", "")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
    def test_a_full_disk_under_stdout_is_told(self, company: Path, tmp_path: Path) -> None:
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [*ARGV, "status", str(company)], env=environment(tmp_path), stdout=full, stderr=subprocess.PIPE,
                text=True, check=False,
            )  # fmt: skip
        assert done.returncode == 1
        assert "No space left" in done.stderr
        assert "Traceback" not in done.stderr

    def test_names_that_no_encoding_can_carry(self, say: Say, company: Path, tmp_path: Path) -> None:
        say("goal", "add", company, "审计 [/x] \x1b[31mred")
        done = opsroom(tmp_path, "goal", "list", company, PYTHONIOENCODING="ascii")
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout
        as_json = opsroom(tmp_path, "goal", "list", company, "--json", PYTHONIOENCODING="ascii")
        assert json.loads(as_json.stdout)["goals"][0]["title"] == "审计 [/x] \x1b[31mred"

    @pytest.mark.soak
    def test_a_file_size_limit_loses_nothing(self, company: Path, tmp_path: Path) -> None:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        # Without bytecode: the limit would cut it too, for every program after this one.
        done = subprocess.run(
            [*ARGV, "goal", "add", str(company), "One"], preexec_fn=limit,
            env=environment(tmp_path, PYTHONDONTWRITEBYTECODE="1"),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert opsroom(tmp_path, "goal", "add", company, "Two").returncode == 0


def test_the_version_is_told_quickly_without_the_room(tmp_path: Path) -> None:
    script = "import sys; sys.argv = ['opsroom', '--version']\nfrom tui.cli import main\ntry: main()\nfinally: "
    script += "assert not {'textual', 'pydantic', 'core.company', 'uvicorn'} & set(sys.modules), sys.modules"
    done = subprocess.run(
        [ARGV[0], "-c", script], env=environment(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"opsroom \d+\.\d+\.\d+\n", done.stdout)


def test_reading_loads_neither_the_room_nor_the_server(tmp_path: Path, company: Path) -> None:
    script = "import sys\nfrom tui.cli import main\nmain(['status', sys.argv[1]])\n"
    script += "assert not {'textual', 'uvicorn', 'starlette', 'httpx2', 'core.company'} & set(sys.modules)"
    done = subprocess.run(
        [ARGV[0], "-c", script, str(company)], env=environment(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_git_that_is_missing_is_a_warning(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name, **_where: None)
    code, out, _ = say("doctor")
    assert code == 0
    assert re.search(r"warn +git", out)
