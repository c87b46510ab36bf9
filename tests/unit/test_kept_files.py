"""Files made once from the board: never over what is there, whoever was first, and nothing where links lead."""

import asyncio
from pathlib import Path

from core.kept_files import KeptFiles
from tests.unit.world import World


class Notes(KeptFiles):
    name, heard, told = "notes", "NoteKept", "notes"

    async def make_good(self) -> list[Path]:
        (missing,) = await self.missing([self.folder / "n.md"])
        missing.parent.mkdir(exist_ok=True)
        missing.write_text("somebody was first", encoding="utf-8")
        return await self.write({missing: "from the board"})


async def test_who_was_first_between_the_look_and_the_write_keeps_the_name(world: World) -> None:
    notes = Notes(world.folder, world.board.readers)
    assert await notes.make_good() == []
    assert (notes.folder / "n.md").read_text(encoding="utf-8") == "somebody was first"
    assert [file.name for file in notes.folder.iterdir()] == ["n.md"]


async def test_what_is_half_written_is_swept_away_but_not_where_a_link_leads(world: World) -> None:
    notes = Notes(world.folder, world.board.readers)
    elsewhere = world.folder / "elsewhere"
    parts = [folder / ".n.md.x.part" for folder in (notes.folder, notes.folder / "ada", elsewhere)]
    for part in parts:
        part.parent.mkdir()
        part.write_text("half", encoding="utf-8")
    (notes.folder / "bob").symlink_to(elsewhere)
    job = asyncio.create_task(notes.run())
    for _ in range(1_000):
        if (notes.folder / "n.md").exists():
            break
        await asyncio.sleep(0.01)
    job.cancel()
    await asyncio.gather(job, return_exceptions=True)
    assert [part.exists() for part in parts] == [False, False, True]
