"""Completions of the shells, tried in the shells themselves; and the help that a person reads first."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command_line import opsroom
from tui.cli.help import SECTIONS, WIDTH
from tui.cli.table import SUBCOMMANDS

# Asks bash's own machinery what it offers for the last word, as the tab key does.
ASK_BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
compopt() { :; }
eval "$(complete -p opsroom | sed -E 's/.*-F ([^ ]+) .*/\\1/')" opsroom "${COMP_WORDS[COMP_CWORD]}" "" 2>&1
printf '%s\\n' "${COMPREPLY[@]}"
"""
ASK_FISH = 'source "$argv[1]"; complete -C "$argv[2]"'


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the completions of all three shells, and two things to complete."""
    home = tmp_path_factory.mktemp("shells")
    for shell in ("bash", "zsh", "fish"):
        done = opsroom(home, "completion", shell)
        assert (done.returncode, done.stderr) == (0, "")
        (home / f"opsroom.{shell}").write_text(done.stdout)
    (home / "work" / "acme").mkdir(parents=True)
    (home / "work" / "acme.txt").touch()
    return home


def ran(home: Path, *words: str) -> list[str]:
    done = subprocess.run(words, cwd=home / "work", capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split("\n")


def shell_or_skip(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.mark.parametrize(
    ("typed", "offered", "not_offered"),
    [
        (["inb"], ["inbox"], ["init"]),
        (["goal", "end"], ["end-discussion"], ["edit"]),
        (["goal", "add", "--mu"], ["--must"], ["--constraint"]),
        (["company", ".", "--locale", ""], ["en", "zh"], ["--json"]),
        (["completion", "z"], ["zsh"], ["bash"]),
        (["status", "ac"], ["acme"], ["acme.txt"]),
        (["eval", "--record", "ac"], ["acme.txt"], []),
    ],
    ids=lambda words: "-".join(words),
)
def test_bash_completes(written: Path, typed: list[str], offered: list[str], not_offered: list[str]) -> None:
    bash = shell_or_skip("bash")
    found = ran(written, bash, "-c", ASK_BASH, "bash", str(written / "opsroom.bash"), "opsroom", *typed)
    assert set(offered) <= {word.rstrip("/ ") for word in found}
    assert not {word.rstrip("/ ") for word in found} & set(not_offered)


def test_fish_completes(written: Path) -> None:
    fish = shell_or_skip("fish")
    for typed, offered in (("inb", "inbox"), ("goal end", "end-discussion"), ("status ac", "acme/")):
        found = ran(written, fish, "-c", ASK_FISH, str(written / "opsroom.fish"), f"opsroom {typed}")
        assert offered in [line.split("\t")[0] for line in found]


def test_zsh_understands_its_completions(written: Path) -> None:
    zsh = shell_or_skip("zsh")
    ran(written, zsh, "-f", "-n", str(written / "opsroom.zsh"))
    assert "everything that waits for you" in (written / "opsroom.zsh").read_text()


def test_an_unknown_shell_is_refused_with_those_that_are_known(tmp_path: Path) -> None:
    done = opsroom(tmp_path, "completion", "csh")
    assert done.returncode == 2
    assert all(shell in done.stderr for shell in ("bash", "zsh", "fish"))


def test_the_help_has_each_subcommand_once_and_fits_a_small_terminal(tmp_path: Path) -> None:
    done = opsroom(tmp_path, "--help", COLUMNS="200")
    names = [name for _, names in SECTIONS for name in names]
    assert sorted(names) == sorted({sub.words[0] for sub in SUBCOMMANDS})
    assert all(sum(line.startswith(f"  {name} ") for line in done.stdout.splitlines()) == 1 for name in names)
    assert max(map(len, done.stdout.splitlines())) <= WIDTH < 80
    assert "usage: opsroom goal" in opsroom(tmp_path, "goal", "--help").stdout
