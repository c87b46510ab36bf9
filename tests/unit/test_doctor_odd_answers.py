"""What the doctor finds that is not what it seems: a git of another kind, and models without a name."""

import json
import os
import shutil
import signal
from pathlib import Path

import psutil
import pytest

from core.doctor.servers import find_servers
from core.worktrees import git
from tests.models.server import ModelServer
from tests.unit.test_doctor_finds import ports
from tui.cli import care, main, opening

pytestmark = pytest.mark.skipif(shutil.which("setsid") is None, reason="its stand-ins for git call setsid")


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "bin" / "git"
    place.parent.mkdir()
    place.touch(0o755)
    monkeypatch.setenv("PATH", f"{place.parent}{os.pathsep}{os.defpath}")
    ports(monkeypatch)
    return place


@pytest.mark.parametrize(
    ("does", "verdict", "told"),
    [
        (r"printf '\377\033[31mgit version 9\n'", "ok", "\N{REPLACEMENT CHARACTER}git version 9."),
        ("true", "ok", "It is there, and tells no version."),
        ("exec yes", "warn", "git does not run: git answers with more than 1,000 bytes."),
        ("echo fatal: no >&2; exit 3", "warn", "git does not run: no."),
        ("sleep 7351 & wait", "warn", "git version took longer than 0.5 s and was ended."),
    ],
)
def test_a_git_of_any_kind_is_told_in_a_line(
    stand_in: Path, does: str, verdict: str, told: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    stand_in.write_text(f"#!/bin/sh\n{does}\n")
    if verdict == "warn":
        monkeypatch.setattr(care, "_VERSION_S", 0.5 if "sleep" in does else 30)
    main(["doctor", "--json"])
    (found,) = [each for each in json.loads(capsys.readouterr().out)["checks"] if each["name"] == "git"]
    assert (found["verdict"], found["text"]) == (verdict, told)
    if "7351" in does:  # the other cases may be tried beside it
        alive = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
        assert not any(line and "7351" in line for line in alive)


def test_whoever_holds_gits_pipes_when_it_has_ended_is_not_waited_for(stand_in: Path, tmp_path: Path) -> None:
    stand_in.write_text("#!/bin/sh\nsetsid sleep 7352 &\necho $!\n")
    said = git.ask(tmp_path, "version", within_s=30)
    os.kill(int(said.text), signal.SIGKILL)
    assert said.code == 0


def test_a_model_whose_name_cannot_be_printed_is_not_offered() -> None:
    odd = ("a\ud800b", "a\x1b[31mb", "a\nb", "a\u202eb", "a\0b")
    with ModelServer(models=("qwen3", *odd)) as server:
        (found,) = opening.run(find_servers({"odd": int(server.url.rpartition(":")[2].partition("/")[0])}))
    assert found.models == ("qwen3",)
