"""`opsroom config`, as a person types it."""

from pathlib import Path

from tests.command_line import opsroom


def test_a_file_with_comments_is_written_once_checked_and_shown(tmp_path: Path) -> None:
    place = tmp_path / "xdg" / "opsroom" / "config.toml"
    settings = {"XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    assert "There is no" in opsroom(tmp_path, "config", "check", **settings).stdout
    written = opsroom(tmp_path, "config", "write", **settings)
    assert (written.returncode, written.stderr) == (0, "")
    assert '# approve = "a"  # Approve' in place.read_text()
    assert opsroom(tmp_path, "config", "show", **settings).stdout == place.read_text()
    assert "is well" in opsroom(tmp_path, "config", "check", **settings).stdout

    mine = place.read_text().replace('# approve = "a"', 'approve = "n"')
    place.write_text(mine)
    again = opsroom(tmp_path, "config", "write", **settings)
    assert again.returncode == 1
    assert "nothing was written" in again.stderr
    assert place.read_text() == mine
    line = mine[: mine.index('approve = "n"')].count("\n") + 1
    wrong = opsroom(tmp_path, "config", "check", **settings)
    assert wrong.returncode == 2
    assert f"line {line}, column 1: keys.room.approve: n is the key of new_goal" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_text_that_would_act_is_drawn_and_a_wrong_theme_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "xdg" / "opsroom"
    (folder / "themes").mkdir(parents=True)
    settings = {"XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    (folder / "config.toml").write_text('[keys.room]\n"\\u001b]0;x\\u0007" = "f6"\nwatch = "\\u001b[2J"\n')
    wrong = opsroom(tmp_path, "config", "check", **settings)
    assert (wrong.returncode, "line 2" in wrong.stderr, "line 3" in wrong.stderr) == (2, True, True)
    assert wrong.stderr.rstrip("\n").isprintable()
    (folder / "config.toml").write_text('theme = "nowhere"\n')
    assert "opsroom-dark" in opsroom(tmp_path, "config", "check", **settings).stderr
    (folder / "config.toml").write_text("")
    (folder / "themes" / "mine.toml").write_text("name = 'mine'\nprimary = 'no colour'\n")
    told = opsroom(tmp_path, "config", "check", **settings)
    assert (told.returncode, "mine.toml: primary" in told.stderr) == (1, True)
