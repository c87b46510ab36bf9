"""docs/agents.md as a new user tries it: its shell lines, in their order, on a machine where everything is scripted."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from core.doctor.known import known
from tests.acp.bare import bare
from tests.command_line import ROOT
from tests.models.script import Turn
from tests.models.server import ModelServer
from tui.cli import main

PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8").partition("\n## Permissions")[0]
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
HIRED = ("vera", "ada", "eli", "cyd", "bob", "dan")
CLAUDE = """#!/bin/sh
cat >/dev/null
echo '{"type":"system","subtype":"init","session_id":"s"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"OK","usage":{}}'
"""
KEPT = '#!/bin/sh\nprintf "%s\\0" "$@" >> "$SAID"; printf "\\n" >> "$SAID"\n'


def a_machine(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs of the page, scripted; `opsroom` notes what was typed, and `npm` does nothing."""
    place.mkdir()
    agent = f"#!{sys.executable}\n" + bare("CAN = {}\ndef work(prompt):\n    say('OK')\n")
    texts = {"opsroom": KEPT, "npm": "#!/bin/sh\n", "claude": CLAUDE, "claude-agent-acp": agent}
    for name, text in texts.items():
        (place / name).write_text(text)
        (place / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin")
    for provider in known().providers.values():
        monkeypatch.delenv(provider.key, raising=False)
    for name in ("PROVIDER_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, f"sk-of-the-page-{name}")


def typed(block: str, folder: Path, url: str) -> list[list[str]]:
    """What a shell makes of a block's lines: the command lines of opsroom, in their order. All else is done."""
    text = re.sub(r"\bDIR\b", shlex.quote(str(folder)), block).replace("http://127.0.0.1:8080", url)
    said = folder.parent / "said"
    said.write_text("")
    subprocess.run(["/bin/sh", "-eu"], input=text, text=True, env={**os.environ, "SAID": str(said)}, check=True)
    return [line.split("\0") for line in said.read_text().split("\0\n")[:-1]]


def test_a_new_user_plays_the_page_and_every_agent_of_it_can_be_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    a_machine(tmp_path / "bin", monkeypatch)
    with ModelServer(Turn("OK")) as server:
        for block in BLOCKS:
            for words in typed(block, folder, server.url):
                if words != [str(folder)]:  # the room itself needs a terminal
                    assert main(words) == 0, (words, capsys.readouterr().err)
        capsys.readouterr()
        main(["doctor", str(folder), "--call", "--yes", "--json"])
        found = json.loads(capsys.readouterr().out)
    assert {each["agent"]: each["missing"] for each in found["agents"]} == {name: [] for name in HIRED}
    assert {each["agent"]: each["ok"] for each in found["calls"]} == dict.fromkeys(HIRED, True), found["calls"]
