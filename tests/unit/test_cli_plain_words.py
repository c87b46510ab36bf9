"""What the command line says of words that are wrong or missing: in plain words, with what is right."""

import asyncio
import json
from pathlib import Path

import pytest

from core.company import create_company
from core.config import Config, read_config
from core.domain.errors import Invalid
from tests.unit.test_company_lacks import said
from tui.cli.exits import Exit
from tui.cli.parser import parse


@pytest.fixture
def folder(tmp_path: Path) -> str:
    asyncio.run(create_company(tmp_path / "c", Config(name="Acme")))
    return str(tmp_path / "c")


def test_a_hash_is_too_short_or_that_of_something_else(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "goal", "add", folder, "One")
    hashed = json.loads(said(capsys, "goal", "show", folder, "G1", "--json"))["content_hash"]
    for words in (["goal", "review"], ["goal", "dispatch"]):
        short = said(capsys, *words, folder, "G1", "--hash", hashed[:15], code=Exit.REFUSED)
        assert "is too short for a hash: it has at least 16 signs" in short
    wrong = said(capsys, "goal", "review", folder, "G1", "--hash", "d" * 16, code=Exit.REFUSED)
    assert f"is not the hash of what stands there; it is {hashed[:16]}" in wrong
    said(capsys, "goal", "dispatch", folder, "G1", "--hash", hashed[:16])
    said(capsys, "goal", "explore", folder, "Two")
    said(capsys, "goal", "edit", folder, "G2", "--must", "a list :: it names every file")
    hashed = json.loads(said(capsys, "goal", "show", folder, "G2", "--json"))["content_hash"]
    wrong = said(capsys, "goal", "ready", folder, "G2", "--hash", "d" * 16, code=Exit.REFUSED)
    assert f"is not the hash of what stands there; it is {hashed[:16]}" in wrong
    assert json.loads(said(capsys, "goal", "show", folder, "G2", "--json"))["exploring"] is True
    said(capsys, "goal", "ready", folder, "G2", "--hash", hashed[:16])


def test_a_reason_is_a_note_and_an_error_points_to_its_own_help(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(["reject", folder, "--reason"])
    assert "See `opsroom reject --help`." in capsys.readouterr().err
    with pytest.raises(SystemExit):
        parse(["goal", "review", folder])
    assert "See `opsroom goal review --help`." in capsys.readouterr().err
    assert parse(["reject", folder, "G1", "--reason", "too much"]).note == "too much"
    with pytest.raises(SystemExit):
        parse(["--help"])
    assert "prompts     check, show" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ('[prompts]\nbudget = "x"', 'prompts.budget: it is a whole number, not "x"'),
        ("[prompts]\nbudget = 1", "prompts.budget: it is at least"),
        ("[prompts]\nbugdet = 9000", "prompts.bugdet: there is no such setting"),
        ("prompts = 3", "prompts: it is a table, not 3"),
        ("[rehearsal]\npace_ms = 1", "rehearsal.folder: it is needed"),
        ("name = 3", "name: it is a text in quotes, not 3"),
    ],
)
def test_a_wrong_setting_is_told_in_plain_words(tmp_path: Path, toml: str, told: str) -> None:
    (tmp_path / "company.toml").write_text(toml)
    with pytest.raises(Invalid) as refused:
        read_config(tmp_path)
    assert told in str(refused.value)


def test_an_agent_without_files_is_told_to_have_none_yet(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "agent", "hire", folder, "boss", "--role", "ceo")
    assert "boss has no files in" in said(capsys, "prompts", "show", folder, "--agent", "boss")
    made = Path(folder, "agents", "boss")
    made.mkdir(parents=True, exist_ok=True)
    assert "boss has no files in" not in said(capsys, "prompts", "show", folder, "--agent", "boss")


def test_knowledge_of_an_empty_company_and_of_no_words(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"put Markdown files into {folder}/knowledge" in said(capsys, "knowledge", "list", folder)
    for words in ("", " "):
        assert "no words to search for" in said(capsys, "knowledge", "search", folder, words, code=Exit.USAGE)
