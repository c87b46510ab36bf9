"""The board's copy of `knowledge/`: what is there, what changes, what is gone, and what is left out with its reason."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import core.knowledge as module
from core.blackboard.fold import rebuild_and_compare
from core.commands.knowledge import IndexKnowledge
from core.company import OpenCompany, create_company
from core.config import Config
from core.domain.entities import Event, Knowledge
from core.domain.errors import Forbidden
from core.knowledge import FILE_MAX, KnowledgeIndex
from tests.unit.world import World


def index_of(world: World) -> KnowledgeIndex:
    (world.folder / "knowledge").mkdir(exist_ok=True)
    return KnowledgeIndex(world.folder, world.board.readers, world.door)


def write(world: World, name: str, text: str | bytes) -> Path:
    file = world.folder / "knowledge" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


async def told(world: World) -> list[str]:
    return [section.place for section in await world.all(Knowledge, "true ORDER BY path, id")]


async def found(world: World, words: str) -> list[int]:
    return [hit["entity_id"] for hit in await world.board.readers.search(words) if hit["entity"] == "knowledge"]


async def test_files_are_copied_section_by_section(world: World) -> None:
    index = index_of(world)
    write(world, "setup.md", b"\xef\xbb\xbfFirst words.\r\n# Install\r\nRun make.\r\n# Install\r\nAgain.\r\n")
    write(world, "deep/more.MD", "# 统计\n表格在这里\n")
    write(world, "empty.md", "")
    write(world, "picture.png", b"\0")
    write(world, ".hidden.md", "no")
    assert await index.renew() == 4
    assert await told(world) == [
        "knowledge/deep/more.MD § 统计", "knowledge/setup.md", "knowledge/setup.md § Install",
        "knowledge/setup.md § Install (2)",
    ]  # fmt: skip
    sections = await world.all(Knowledge, "path = 'knowledge/setup.md' ORDER BY id")
    assert [section.body for section in sections] == ["First words.", "Run make.", "Again."]
    assert index.left_out == {}
    assert await world.read(lambda tx: rebuild_and_compare(tx.connection)) == []


async def test_only_what_changed_is_written(world: World) -> None:
    index = index_of(world)
    file = write(world, "a.md", "# One\n1\n# Two\n2\n# Three\n3\n")
    write(world, "b.md", "# Other\nx\n")
    await index.renew()
    before = await world.events()
    assert await index.renew() == 0
    file.write_text("# One\n1\n# Two\nzwei\n# Four\n4\n")
    assert await index.renew() == 3
    assert (await world.events())[len(before) :] == ["KnowledgeRemoved", "KnowledgeIndexed", "KnowledgeIndexed"]
    # Another owner begins without a memory, and finds all as it should be.
    assert await index_of(world).renew() == 0
    file.touch()
    assert await index.renew() == 0
    assert len(await world.events()) == len(before) + 3
    assert await world.read(lambda tx: rebuild_and_compare(tx.connection)) == []


async def test_deleted_and_renamed_files_are_found_no_more_by_their_old_words(world: World) -> None:
    index = index_of(world)
    write(world, "gone.md", "# A\nvanishing\n")
    old = write(world, "old.md", "# B\nstaying\n")
    await index.renew()
    assert await found(world, "vanishing")
    (world.folder / "knowledge" / "gone.md").unlink()
    old.rename(old.with_name("new.md"))
    # Also by an owner that never saw them.
    assert await index_of(world).renew() == 3
    assert await told(world) == ["knowledge/new.md § B"]
    assert await found(world, "vanishing") == []
    (hit,) = await found(world, "staying")
    assert (await world.find(Knowledge, hit)).path == "knowledge/new.md"
    assert await world.read(lambda tx: rebuild_and_compare(tx.connection)) == []


async def test_what_cannot_be_told_is_left_out_with_its_reason_and_the_rest_is_there(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    index = index_of(world)
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret\nkey\n")
    (tmp_path / "elsewhere").mkdir()
    write(world, "good.md", "# Good\nx\n")
    write(world, "binary.md", b"a\0b")
    write(world, "latin.md", "one\ntwo\nth\xe9\n".encode("latin-1"))
    write(world, "huge.md", b"x" * (FILE_MAX + 1))
    (world.folder / "knowledge" / "link.md").symlink_to(secret)
    (world.folder / "knowledge" / "folder").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(world.folder / "knowledge" / "pipe.md")
    await index.renew()
    assert index.left_out == {
        "knowledge/binary.md": "it is binary",
        "knowledge/folder": "it is a link; links are not followed",
        "knowledge/huge.md": "it has more than 256 KiB",
        "knowledge/latin.md": "line 3 is no UTF-8",
        "knowledge/link.md": "it is a link; links are not followed",
        "knowledge/pipe.md": "it is no file",
    }
    assert await told(world) == ["knowledge/good.md § Good"]
    warned = len(caplog.records)
    await index.renew()
    assert warned == len(caplog.records) == 6  # five and how many more, once


async def test_a_file_that_went_bad_is_gone_and_a_mended_one_is_back(world: World) -> None:
    index = index_of(world)
    file = write(world, "a.md", "# One\n1\n")
    await index.renew()
    file.write_bytes(b"# One\n\xff")
    await index.renew()
    assert (await told(world), index.left_out) == ([], {"knowledge/a.md": "line 2 is no UTF-8"})
    file.write_text("# One\nagain\n")
    await index.renew()
    assert (await told(world), index.left_out) == (["knowledge/a.md § One"], {})


async def test_a_folder_that_cannot_be_read_takes_nothing_away(world: World, tmp_path: Path) -> None:
    index = index_of(world)
    write(world, "sub/a.md", "# One\n1\n")
    gone = write(world, "b.md", "# Two\n2\n")
    await index.renew()
    folder = world.folder / "knowledge"
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    (tmp_path / "moved" / gone.name).unlink()
    await index.renew()
    assert "link" in index.left_out["knowledge"]
    assert len(await told(world)) == 2
    folder.unlink()
    (tmp_path / "moved").rename(folder)
    await index.renew()
    assert await told(world) == ["knowledge/sub/a.md § One"]


async def test_a_linked_folder_and_an_unreadable_one_spare_nothing_beside_them(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = index_of(world)
    write(world, "closed/a.md", "# One\n1\n")
    write(world, "moved/b.md", "# Two\n2\n")
    gone = write(world, "gone.md", "# Three\n3\n")
    await index.renew()
    folder = world.folder / "knowledge"
    (folder / "moved").rename(tmp_path / "moved")
    (folder / "moved").symlink_to(tmp_path / "moved")
    gone.unlink()
    scandir = os.scandir

    def refusing(path: Path) -> Any:
        if path.name == "closed":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    await index.renew()
    assert await told(world) == ["knowledge/closed/a.md § One"]
    assert index.left_out == {
        "knowledge/closed": "it cannot be read: Permission denied",
        "knowledge/moved": "it is a link; links are not followed",
    }
    # Nor does another owner, which begins without a memory, take away what it cannot see.
    await index_of(world).renew()
    assert await told(world) == ["knowledge/closed/a.md § One"]


async def test_a_missing_folder_holds_nothing(world: World) -> None:
    index = index_of(world)
    file = write(world, "a.md", "# One\n1\n")
    await index.renew()
    file.unlink()
    file.parent.rmdir()
    assert await index.renew() == 1
    assert (await told(world), index.left_out) == ([], {})


async def test_many_sections_come_in_small_commands_between_which_others_are_served(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = index_of(world)
    for number in range(30):
        write(world, f"{number:02}.md", "".join(f"# H{i}\n{'word ' * 200}{number} {i}\n" for i in range(20)))
    sent: list[int] = []
    execute = world.door.execute

    async def counting(actor: Any, command: Any, **more: Any) -> Any:
        assert isinstance(command, IndexKnowledge)
        sent.append(sum(len(section.body) for section in command.sections))
        return await execute(actor, command, **more)

    monkeypatch.setattr(world.door, "execute", counting)
    assert await index.renew() == 600
    assert len(sent) > 10
    assert max(sent) <= module._BATCH_CHARACTERS


async def test_what_failed_in_the_middle_goes_on_at_the_next_look(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = index_of(world)
    for name in ("a", "b", "c"):
        write(world, f"{name}.md", f"# {name}\nx\n")
    monkeypatch.setattr(module, "_FILES_AT_ONCE", 1)
    execute, sent = world.door.execute, [0]

    async def failing(actor: Any, command: Any, **more: Any) -> Any:
        sent[0] += 1
        if sent[0] == 2:
            raise OSError("no space")
        return await execute(actor, command, **more)

    monkeypatch.setattr(world.door, "execute", failing)
    with pytest.raises(OSError, match="no space"):
        await index.renew()
    assert await index.renew() == 2
    assert len(await told(world)) == 3


async def test_only_the_system_writes_knowledge(world: World) -> None:
    section = {"path": "knowledge/a.md", "heading": "", "body": "obey"}
    with pytest.raises(Forbidden):
        await world.do(await world.run("vera"), "IndexKnowledge", sections=[section])
    with pytest.raises(Forbidden):
        await world.operator("IndexKnowledge", sections=[section])
    assert await told(world) == []


async def test_an_open_company_looks_at_the_start_and_after_a_tick_and_a_reader_never(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE_S", 0.01)
    folder = tmp_path / "c"
    await create_company(folder, Config(name="Acme"))
    (folder / "knowledge" / "a.md").write_text("# One\n1\n")
    owner = await OpenCompany.open(folder, role="owner")
    reader = await OpenCompany.open(folder, role="reader")
    try:
        assert reader.knowledge is None
        first, second = indexed(owner, "knowledge/a.md"), indexed(owner, "knowledge/b.md")
        await owner.start()
        await asyncio.wait_for(first.wait(), 20)
        (folder / "knowledge" / "b.md").write_text("# Two\n2\n")
        assert owner.ticker is not None
        await owner.ticker.tick()
        await asyncio.wait_for(second.wait(), 20)
    finally:
        await reader.close()
        await owner.close()


def indexed(company: OpenCompany, path: str) -> asyncio.Event:
    """Set when a section of the file is on the board."""
    seen = asyncio.Event()

    def hear(events: Sequence[Event]) -> None:
        if any(event.kind == "KnowledgeIndexed" and event.changed.get("path") == path for event in events):
            seen.set()

    company.board.follow(hear)
    return seen
