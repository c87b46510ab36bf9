"""Companies that were opened before: how they are listed, and what one is told without a terminal."""

import os
from pathlib import Path

import pytest

from core.config import CONFIG
from tests.command_line import opsroom
from tui.cli import main
from tui.recent import MOST, at_home, known, with_newest
from tui.remembered import Remembered


def test_the_newest_stands_first_and_once_and_the_list_has_an_end() -> None:
    recent: tuple[str, ...] = ()
    for number in range(MOST + 5):
        recent = with_newest(recent, Path(f"/srv/{number}"))
    recent = with_newest(recent, Path("/srv/10"))
    assert recent[:3] == ("/srv/10", "/srv/16", "/srv/15")
    assert (len(recent), len(set(recent))) == (MOST, MOST)
    assert with_newest(recent, Path(os.fsdecode(b"/srv/\xff"))) == recent, "the file of what is remembered is text"
    assert Remembered(recent=recent).recent == recent


def test_what_became_of_a_company_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    assert main(["init", str(folder), "--name", "Acme Maps"]) == 0
    assert (known(str(folder)).name, known(str(folder)).problem) == ("Acme Maps", "")
    (folder / CONFIG).write_text("nonsense = 1\n")
    broken = known(str(folder))
    assert (broken.gone, "nonsense" in broken.why) == (False, True)
    (folder / CONFIG).unlink()
    (folder / "board.db").unlink()
    assert (known(str(folder)).gone, known(str(folder)).problem) == (True, "it holds no company now")
    assert (known(str(tmp_path / "never")).gone, known("/").gone) == (True, True)


def test_a_path_is_short_at_home_and_only_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert [at_home(path) for path in ("/home/me/acme", "/home/me", "/home/men", "/srv")] == [
        "~/acme", "~", "/home/men", "/srv",
    ]  # fmt: skip
    monkeypatch.setenv("HOME", "/")
    assert at_home("/srv") == "/srv"


def test_without_a_company_and_without_a_terminal_the_ways_are_told(tmp_path: Path) -> None:
    done = opsroom(tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert all(words in done.stderr for words in ("no company", "opsroom demo", "opsroom init DIR", "opsroom DIR"))
    assert "Traceback" not in done.stderr
    named = opsroom(tmp_path, ".")
    assert (named.returncode, "holds no company" in named.stderr) == (2, True), "a folder that is named is meant"
