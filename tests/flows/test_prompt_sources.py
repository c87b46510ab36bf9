"""The prompts' screen, what prompts are made from: own texts, experiences, knowledge."""

from pathlib import Path

import pytest

from core.domain.entities import Experience
from core.prompting.templates import shipped
from tests.flows.conftest import Picture
from tests.flows.prompts_world import SIZES, a_told_company, an_editor, opened, text
from tests.flows.test_hostile_board import EVIL
from tests.flows.world import HANDOFF, HOME, a_goal_at_work, an_office, at_work, press, ready, settle, shown
from tui.screens.prompts import PromptsScreen


@SIZES
async def test_own_texts_are_seen_with_what_is_wrong_and_edited(
    tmp_path: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch, terminal: list[str], size: tuple[int, int]
) -> None:
    editor = an_editor(tmp_path, 'printf "\\nBe kind {{ agent_name }}.\\n" >> "$1"')
    monkeypatch.setenv("EDITOR", f'"{editor}"')
    async with an_office(tmp_path / "c") as office:
        own = office.company.folder / "prompts" / "roles"
        own.mkdir()
        (own / "executor.en.md").write_text("## {{ agent_name }}\n\nThe goal is {{ goal }}.\n")
        (own / "exeutor.en.md").write_text("misspelled")
        (own / "reviewer.en.md").write_text((shipped() / "roles" / "reviewer.en.md").read_text() + "Be quick.\n")
        await a_told_company(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            _, screen = await opened(pilot, office)
            await press(pilot, "2")
            assert "1 of the company's own in use, 2 problems" in shown(app)
            assert [row.cells[0] for row in screen.texts.rows[:4]] == [
                ("✗ unread", "bad"), ("✗ refused", "bad"), ("● own", "good"), ("shipped", "dim"),
            ]  # fmt: skip
            await press(pilot, "down", "enter")
            assert "line 3" in text(screen)
            assert "'goal' is undefined" in text(screen)
            await picture(pilot, "refused")
            await press(pilot, "escape", "down", "enter")
            assert "+Be quick." in text(screen)
            await picture(pilot, "own")
            await press(pilot, "o")
            assert "+Be kind {{ agent_name }}." in text(screen)
            assert "Be kind" in (own / "reviewer.en.md").read_text()


@SIZES
async def test_experiences_are_kept_and_dropped(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        links = await at_work(office, 3, "links")
        lines = "\n".join(f"💡 经验: {line}" for line in ("count before you sort", f"links may be circles {EVIL[0]}"))
        await office.do("AddComment", links, task=3, kind="handoff", body=f"{HANDOFF}\n{lines}")
        app = office.app()
        async with app.run_test(size=size) as pilot:
            _, screen = await opened(pilot, office)
            await press(pilot, "a")
            await press(pilot, "3")
            assert [row.cells[0] for row in screen.experiences.rows] == [("★ new", "warn")] * 2
            await press(pilot, "a")
            assert "✓ E2 is kept" in shown(app)
            assert [(row.id, row.cells[0][0]) for row in screen.experiences.rows] == [
                ("experience:1", "★ new"), ("experience:2", "✓ kept"),
            ]  # fmt: skip
            await press(pilot, "a")
            assert "E2 is kept already" in shown(app)
            await picture(pilot, "kept")
            await press(pilot, "b", "g", "b")
            found = await office.company.board.readers.entities(Experience, "true ORDER BY id")
            assert [each.status for each in found] == ["dropped", "dropped"]
            assert "2 dropped" in shown(app)
            await press(pilot, "enter")
            assert "No agent is told of it; a keeps it after all." in " ".join(text(screen).split())


@SIZES
async def test_knowledge_is_seen_with_what_is_left_out(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        place = office.company.folder / "knowledge"
        (place / "setup.md").write_text("First words.\n# Install\nRun make.\n# Links\nA link may lead in a circle.\n")
        (place / "photo.md").write_bytes(b"\0")
        assert office.company.knowledge is not None
        await office.company.knowledge.renew()
        app = office.app()
        async with app.run_test(size=size) as pilot:
            _, screen = await opened(pilot, office, "")
            await press(pilot, "4")
            assert "Knowledge: 3 sections, 1 file left out" in shown(app)
            await press(pilot, "enter")
            assert "it is binary" in text(screen)
            await press(pilot, "escape", "down", "down", "down", "enter")
            assert "A link may lead in a circle." in text(screen)
            await picture(pilot, "a-section")
            (place / "setup.md").write_text("# Install\nRun make twice.\n")
            await office.company.knowledge.renew()
            await press(pilot, "escape")
            assert "Knowledge: 1 section, 1 file left out" in shown(app)


async def test_own_texts_follow_the_files_while_they_are_shown(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        own = office.company.folder / "prompts" / "roles" / "executor.en.md"
        own.parent.mkdir(parents=True, exist_ok=True)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "P", "2")
            screen = app.screen
            assert isinstance(screen, PromptsScreen)
            assert "0 of the company's own in use" in shown(app)
            own.write_text("Work well.\n")
            screen.grow_older()
            await settle(pilot)
            assert "1 of the company's own in use" in shown(app)
            own.write_text("{{ nobody.knows }}\n")
            screen.grow_older()
            await settle(pilot)
            assert "1 problem" in shown(app)
