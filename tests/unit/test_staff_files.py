"""An agent's folder: made once from what was approved, made good at the start, never over what is there."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from core.company import OpenCompany, create_company
from core.config import Config
from core.domain.staff_files import FILES, staff_files
from core.domain.states import Role
from core.staff_files import StaffFiles
from tests.unit.test_commands_hiring import decide, propose
from tests.unit.world import STAFF, World, a_company

HIRE: dict[str, Any] = {
    "slug": "dora", "name": "Dora", "role": "executor", "capabilities": ("charts",), "runner": {"kind": "rehearsal"},
    "max_runs": 2, "budget_micros": 1_500_000,
}  # fmt: skip


def files_of(world: World) -> StaffFiles:
    return StaffFiles(world.folder, world.board.readers)


def texts_in(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}


async def test_what_was_approved_is_what_stands_in_the_files(world: World) -> None:
    approval = await propose(world, why="nobody draws *charts*")
    await world.operator("EditApproval", approval=approval.id, payload={"budget_micros": 1_500_000, "manager": "cora"})
    files = files_of(world)
    await files.make_good()
    assert not (files.folder / "dora").exists()
    await decide(world, approval)
    await files.make_good()
    texts = texts_in(files.folder / "dora")
    assert sorted(texts) == sorted(FILES)
    assert "nobody draws \\*charts\\*" in texts["SOUL.md"]
    for line in ("Role: executor", "Capabilities: charts", "Reports to: cora", "Budget a day: $1.50"):
        assert f"- {line}\n" in texts["IDENTITY.md"]
    assert "Dora remembers" in texts["MEMORY.md"]


async def test_later_edits_of_an_agent_change_nothing_that_is_written(world: World) -> None:
    files = files_of(world)
    await files.make_good()
    before = texts_in(files.folder / "ada")
    await world.operator("EditAgent", agent="ada", manager="cora", name="Ada Lovelace")
    (files.folder / "ada" / "IDENTITY.md").unlink()
    assert [path.name for path in await files.make_good()] == ["IDENTITY.md"]
    assert texts_in(files.folder / "ada") == before


async def test_what_is_there_is_never_overwritten_and_what_is_missing_is_made_good(world: World) -> None:
    files = files_of(world)
    await files.make_good()
    memory, soul = (files.folder / "ada" / name for name in ("MEMORY.md", "SOUL.md"))
    memory.write_text("I have learned this", encoding="utf-8")
    soul.unlink()
    assert await files.make_good() == [soul]
    assert await files.make_good() == []
    assert memory.read_text(encoding="utf-8") == "I have learned this"
    assert memory.stat().st_mode & 0o077 == 0
    assert not list(files.folder.rglob("*.part"))


async def test_a_broken_link_is_something_that_is_there(world: World) -> None:
    files = files_of(world)
    (files.folder / "ada").mkdir(parents=True)
    (files.folder / "ada" / "SOUL.md").symlink_to(world.folder / "nowhere")
    await files.make_good()
    assert (files.folder / "ada" / "SOUL.md").is_symlink()
    assert not (world.folder / "nowhere").exists()


@pytest.mark.parametrize("link", ["agents", "agents/ada"])
async def test_a_folder_that_leads_elsewhere_is_refused_and_the_company_goes_on(world: World, link: str) -> None:
    elsewhere = world.folder / "elsewhere"
    elsewhere.mkdir()
    place = world.folder / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(elsewhere)
    files = files_of(world)
    await files.finish()
    assert all("is a link" in warning for warning in files.warnings)
    assert list(elsewhere.iterdir()) == []
    slugs = {warning.split()[2].rstrip(":") for warning in files.warnings}
    assert slugs == (set(STAFF) if link == "agents" else {"ada"})
    for slug in set(STAFF) - slugs:
        assert sorted(texts_in(files.folder / slug)) == sorted(FILES)
    place.unlink()
    await files.make_good()
    assert files.warnings == ()
    assert sorted(texts_in(files.folder / "ada")) == sorted(FILES)


async def test_a_file_in_the_place_of_a_folder_keeps_nobody_else_from_theirs(world: World) -> None:
    files = files_of(world)
    files.folder.mkdir()
    (files.folder / "vera").write_text("mine", encoding="utf-8")
    await files.make_good()
    assert [warning.split(":")[0] for warning in files.warnings] == ["files of vera"]
    assert (files.folder / "vera").read_text(encoding="utf-8") == "mine"
    assert sorted(texts_in(files.folder / "bob")) == sorted(FILES)


async def test_who_has_retired_gets_no_new_folder_and_keeps_the_old_one(world: World) -> None:
    files = files_of(world)
    await files.make_good()
    for slug in ("ada", "bob"):
        await world.operator("RetireAgent", agent=slug, reason="enough")
    (files.folder / "bob" / "SOUL.md").unlink()
    assert await files.make_good() == []
    assert sorted(texts_in(files.folder / "ada")) == sorted(FILES)


async def test_a_hire_is_heard_and_half_written_parts_are_swept_away(tmp_path: Path) -> None:
    async with a_company(tmp_path, staff={"vera": Role.CEO}) as world:
        files = files_of(world)
        await files.finish()
        part = files.folder / "vera" / ".SOUL.md.x.part"
        part.write_text("half", encoding="utf-8")
        unfollow = world.board.follow(files.hear)
        job = asyncio.create_task(files.run())
        await world.hire("dora")
        memory = files.folder / "dora" / "MEMORY.md"
        for _ in range(1_000):
            if memory.exists() and not part.exists():
                break
            await asyncio.sleep(0.01)
        assert (part.exists(), memory.exists()) == (False, True)
        job.cancel()
        await asyncio.gather(job, return_exceptions=True)
        unfollow()


async def test_the_owner_writes_them_when_the_company_is_opened(tmp_path: Path) -> None:
    from core.commands.company import HireAgent

    folder = tmp_path / "c"
    await create_company(folder, Config(name="Acme", locale="zh"))
    company = await OpenCompany.open(folder, role="owner")
    await company.execute(HireAgent(slug="dora", name="Dora", role=Role.EXECUTOR))
    try:
        await company.start()
    finally:
        await company.close()
    assert "角色: executor" in (folder / "agents" / "dora" / "IDENTITY.md").read_text(encoding="utf-8")


async def test_what_could_not_be_written_is_told_once(tmp_path: Path) -> None:
    from core.commands.company import HireAgent

    folder = tmp_path / "c"
    await create_company(folder, Config(name="Acme"))
    (folder / "agents").mkdir(exist_ok=True)
    (folder / "agents" / "dora").write_text("mine", encoding="utf-8")
    company = await OpenCompany.open(folder, role="owner")
    try:
        for slug in ("dora", "emil"):
            await company.execute(HireAgent(slug=slug, name=slug.title(), role=Role.EXECUTOR))
        await company.start()
        told: list[str] = []
        for _ in range(1_000):
            told += company.take_warnings()
            if told and (folder / "agents" / "emil" / "MEMORY.md").exists():
                break
            await asyncio.sleep(0.01)
        assert ["dora" in words for words in told] == [True]
        await company.execute(HireAgent(slug="finn", name="Finn", role=Role.EXECUTOR))
    finally:
        await company.close()
    assert company.take_warnings() == []
    assert (folder / "agents" / "finn" / "SOUL.md").exists()


def test_texts_of_agents_stay_words() -> None:
    texts = staff_files({**HIRE, "name": "# <b>Dora</b>\n- x", "capabilities": ()}, "fr", "# not a heading\n[x](y)")
    assert texts["SOUL.md"].count("\n# ") == 0
    assert "\\# not a heading" in texts["SOUL.md"]
    assert "\\[x\\]\\(y\\)" in texts["SOUL.md"]
    assert "none named" in texts["IDENTITY.md"]
    assert json.dumps(texts)
    assert "由操作者直接聘用" in staff_files(HIRE, "zh")["SOUL.md"]
