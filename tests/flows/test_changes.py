"""What an agent changed in its work tree is seen in the task's outputs: as it is, and anew when somebody looks."""

from pathlib import Path

import pytest

from core.agents.workplaces import workplace_of
from core.domain.entities import Run
from tests.flows.conftest import Picture
from tests.flows.world import HOME, SMALL, Office, an_office, press, ready, settle, shown
from tests.repositories import a_repository, committed, git, written

PAGE = "<p>Hello</p>\n<p>[red]Opens at 9[/red] [@click=app.quit]x[/]</p>\n<p>It closes at 16.</p>\n"


async def in_a_tree(office: Office, repository: str = "../site") -> Path:
    """A task at work in a work tree of a repository with two files."""
    await office.do("CreateGoal", title="Greet the visitors", tasks=[{"title": "Say when it is open"}], split=False)
    await office.do("EditTask", task=1, repository=repository)
    await office.do("DispatchGoal", goal=1, discussion=False)
    await office.do("AssignTask", task=1, agent="links")
    agent = await office.agent("links", "execute", task_id=1)
    await office.do("StartTask", agent, task=1)
    readers, door = office.company.board.readers, office.company.local_door
    assert door is not None
    run = (await readers.entities(Run, "id = :id", id=agent.run_id))[0]
    told: list[str] = []
    task = await office.task(1)
    folder = await workplace_of(readers, door, office.company.folder, run, task, "command", told.append)
    assert (folder is not None, told) == (True, [])
    assert folder is not None
    return folder


@pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])
async def test_the_changes_of_a_task_are_shown_as_they_are(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    a_repository(tmp_path / "site")
    async with an_office(tmp_path / "c") as office:
        folder = await in_a_tree(office)
        committed(folder, {"src/page.html": PAGE}, "Say when it is open")
        written(folder, {"notes.txt": "-- ask about Sundays\n\x1b[2Jand \u202eTuesdays\n"})
        (folder / "logo.png").write_bytes(b"\x89PNG\0\0")
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to("task:1")
            await press(pilot, "2")
            await press(pilot, "enter")
            await picture(pilot, "the-changes")
            await press(pilot, "end")
            await picture(pilot, "the-difference")


async def test_they_are_read_anew_when_somebody_looks(tmp_path: Path) -> None:
    a_repository(tmp_path / "site")
    async with an_office(tmp_path / "c") as office:
        folder = await in_a_tree(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.board.list.focus()
            app.room.board.list.move_to("task:1")
            await press(pilot, "2", "enter")
            await settle(pilot)
            assert "Nothing is changed yet." in shown(app)
            written(folder, {"hours.txt": "9 to 16\n"})
            await press(pilot, "1", "2")
            await settle(pilot)
            assert "hours.txt  +1 -0  not committed" in shown(app)
            written(folder, {"long.txt": "a line of it\n" * 10_000})
            await press(pilot, "1", "2", "end")
            await settle(pilot)
            assert "+a line of it" in shown(app)
            await press(pilot, "home")
            await settle(pilot)
            assert "The difference is cut after 64 KiB" in " ".join(shown(app).split())
            git(tmp_path / "site", "worktree", "lock", str(folder))
            (tmp_path / "site").rename(tmp_path / "moved")
            await press(pilot, "1", "2")
            await settle(pilot)
            assert "is not there any more" in shown(app)
