"""Experiences and knowledge at the command line: listed, kept, dropped and found, without an owner."""

import asyncio
from pathlib import Path

import pytest

from core.company import OpenCompany
from core.knowledge import KnowledgeIndex
from core.simulation.agents import HANDOFF
from tests.unit.test_cli_docs import told
from tests.unit.test_cli_inbox import Play, company_where
from tui.cli import main
from tui.cli.exits import Exit

HOSTILE = "count \x1b[31mbefore\x1b[0m you sort"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A company where ada noted two experiences."""

    async def script(play: Play) -> None:
        ada = await play.working()
        body = f"{HANDOFF}\n💡 经验: {HOSTILE}\n💡 经验: links may be circles"
        await play.do("AddComment", ada, task=1, kind="handoff", body=body)

    return company_where(tmp_path / "c", script)


def index(folder: str) -> None:
    """What an owner does with the folder while the company is open."""

    async def renew() -> None:
        company = await OpenCompany.open(Path(folder), role="owner")
        try:
            assert isinstance(company.knowledge, KnowledgeIndex)
            await company.knowledge.renew()
        finally:
            await company.close()

    asyncio.run(renew())


def test_experiences_are_listed_kept_and_dropped(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    listed = told(capsys, "experience", "list", folder)["experiences"]
    assert [(e["id"], e["status"], e["uses"], e["task"], e["author"], e["body"]) for e in listed] == [
        (2, "new", 0, 1, "ada", "links may be circles"), (1, "new", 0, 1, "ada", HOSTILE),
    ]  # fmt: skip
    kept = told(capsys, "experience", "keep", folder, "E1")
    assert kept["answer"] == {"id": 1, "status": "kept", "was": "new"}
    told(capsys, "experience", "drop", folder, "2")
    assert [e["id"] for e in told(capsys, "experience", "list", folder, "--status", "kept")["experiences"]] == [1]
    assert main(["experience", "list", folder]) == Exit.OK
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "count ␛[31mbefore" in text


def test_what_is_no_experience_is_said(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experience", "keep", folder, "T1"]) == Exit.USAGE
    assert "Type it like E1" in capsys.readouterr().err
    assert main(["experience", "keep", folder, "E9"]) == Exit.REFUSED
    assert main(["experience", "drop", folder, "E1"]) == Exit.OK
    assert main(["experience", "drop", folder, "E1"]) == Exit.REFUSED
    assert "dropped already" in capsys.readouterr().err
    assert main(["experience", "list", folder, "--status", "old"]) == Exit.USAGE
    assert "Known: dropped, kept, new" in capsys.readouterr().err


def test_knowledge_is_listed_as_the_folder_and_the_board_have_it(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Path(folder) / "knowledge"
    (place / "setup.md").write_text("First.\n# Install\nRun make.\n")
    (place / "gone.md").write_text("# Gone\nx\n")
    (place / "photo.md").write_bytes(b"\0")
    assert [file["indexed"] for file in told(capsys, "knowledge", "list", folder)["files"]] == [False, False]
    index(folder)
    (place / "gone.md").unlink()
    (place / "late.md").write_text("# Late\ny\n")
    listed = told(capsys, "knowledge", "list", folder)
    assert listed == {
        "files": [
            {"path": "knowledge/gone.md", "headings": ["Gone"], "indexed": False},
            {"path": "knowledge/late.md", "headings": ["Late"], "indexed": False},
            {"path": "knowledge/setup.md", "headings": ["", "Install"], "indexed": True},
        ],
        "left_out": [{"path": "knowledge/photo.md", "why": "it is binary"}],
    }
    assert main(["knowledge", "list", folder]) == Exit.OK
    seen = capsys.readouterr()
    assert "2 files will be read while the company is open" in seen.out
    assert "knowledge/photo.md: it is binary" in seen.err


def test_knowledge_is_searched_by_any_word(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    (Path(folder) / "knowledge" / "setup.md").write_text("# Install\nRun \x1b[31mmake.\nWait.\n# 统计\n表格\n")
    index(folder)
    (found,) = told(capsys, "knowledge", "search", folder, "install whales")["sections"]
    assert (found["place"], found["first_line"]) == ("knowledge/setup.md § Install", "Run \x1b[31mmake.")
    assert told(capsys, "knowledge", "search", folder, "表")["sections"][0]["heading"] == "统计"
    assert main(["knowledge", "search", folder, "install"]) == Exit.OK
    assert "\x1b" not in capsys.readouterr().out
    assert main(["knowledge", "search", folder, "whales"]) == Exit.OK
    assert "holds any of these words" in capsys.readouterr().out
    assert main(["knowledge", "search", folder, "x", "--limit", "0"]) == Exit.USAGE
