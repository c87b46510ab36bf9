"""`opsroom config`, as a person types it."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.command_line import opsroom
from tui.cli import main


class Told(NamedTuple):
    """How a command ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[[str], Told]:
    """`opsroom config` in this process, with the settings of a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def run(word: str) -> Told:
        capfd.readouterr()
        return Told(main(["config", word]), *capfd.readouterr())

    return run


def test_a_file_with_comments_is_written_once_checked_and_shown(tmp_path: Path, config: Callable[[str], Told]) -> None:
    place = tmp_path / "xdg" / "opsroom" / "config.toml"
    assert "There is no" in config("check").stdout
    written = opsroom(tmp_path, "config", "write", XDG_CONFIG_HOME=str(tmp_path / "xdg"))
    assert (written.returncode, written.stderr) == (0, "")
    assert '# approve = "a"  # Approve' in place.read_text()
    assert config("show").stdout == place.read_text()
    assert "is well" in config("check").stdout

    mine = place.read_text().replace('# approve = "a"', 'approve = "n"')
    place.write_text(mine)
    again = config("write")
    assert again.returncode == 1
    assert "nothing was written" in again.stderr
    assert place.read_text() == mine
    line = mine[: mine.index('approve = "n"')].count("\n") + 1
    wrong = config("check")
    assert wrong.returncode == 2
    assert f"line {line}, column 1: keys.room.approve: n is the key of new_goal" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_text_that_would_act_is_drawn_and_a_wrong_theme_is_named(tmp_path: Path, config: Callable[[str], Told]) -> None:
    folder = tmp_path / "xdg" / "opsroom"
    (folder / "themes").mkdir(parents=True)
    (folder / "config.toml").write_text('[keys.room]\n"\\u001b]0;x\\u0007" = "f6"\nwatch = "\\u001b[2J"\n')
    wrong = config("check")
    assert (wrong.returncode, "line 2" in wrong.stderr, "line 3" in wrong.stderr) == (2, True, True)
    assert wrong.stderr.rstrip("\n").isprintable()
    (folder / "config.toml").write_text('theme = "nowhere"\n')
    assert "opsroom-dark" in config("check").stderr
    (folder / "config.toml").write_text("")
    (folder / "themes" / "mine.toml").write_text("name = 'mine'\nprimary = 'no colour'\n")
    told = config("check")
    assert (told.returncode, "mine.toml: primary" in told.stderr) == (1, True)
