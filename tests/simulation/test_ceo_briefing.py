"""What a CEO's run is told about its mode, and what is checked when a company is opened (S0-10…13, S0-22)."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from core.agents.runner import Assignment, Desk, Outcome
from core.company import OpenCompany, create_company
from core.config import Config
from core.domain.ceo_mode import CeoMode
from core.domain.errors import Invalid
from core.domain.states import Role
from core.prompting import templates
from core.prompting.templates import ceo_text, shipped_library
from core.simulation.simulator import a_simulation

PROMPTS = Path(__file__).resolve().parents[2] / "prompts"


async def assignments(folder: Path, locale: str) -> dict[Role, Assignment]:
    """What the first runs of an idle company, and of one with a draft of a person, are given."""
    seen: dict[Role, Assignment] = {}
    async with a_simulation(folder, mission="Know every folder") as simulation:

        async def run(assignment: Assignment, desk: Desk) -> Outcome:
            seen.setdefault(assignment.agent.role, assignment)
            return Outcome(exit_kind="no_reply")

        simulation.agents.run = run  # type: ignore[method-assign]
        await simulation.operator("EditCompany", locale=locale)
        await simulation.step()
        await simulation.operator("CreateGoal", title="Mine")
        await simulation.step()
    return seen


@pytest.mark.parametrize("locale", ["en", "zh"])
async def test_a_ceo_is_told_its_mode_in_the_companys_language_and_nobody_else_is(tmp_path: Path, locale: str) -> None:
    seen = await assignments(tmp_path, locale)
    ceo = seen[Role.CEO]
    # Nobody reports to the CEO of a simulation.
    told = [part.text for part in ceo_text(shipped_library(), CeoMode.TEAM_BUILDING, locale)]
    assert all(text in ceo.prompt.system for text in told)
    assert ceo.run.brief["mode"] == CeoMode.TEAM_BUILDING
    assert ceo.run.brief["cue"].startswith({"en": "No goal is alive.", "zh": "没有进行中的目标"}[locale])
    assert str(ceo.run.brief["cue"]) in ceo.prompt.user
    assert not any(text in seen[Role.COORDINATOR].prompt.text for text in told)
    assert seen[Role.COORDINATOR].run.brief == {}


@pytest.fixture
def prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the prompts that a test may spoil."""
    copy = tmp_path / "prompts"
    shutil.copytree(PROMPTS, copy)
    monkeypatch.setattr(templates, "shipped", lambda: copy)
    return copy


async def opened(folder: Path) -> Any:
    await create_company(folder, Config(name="Test"))
    company = await OpenCompany.open(folder)
    await company.close()
    return company


async def test_a_company_opens_without_a_warning_when_every_text_is_there(tmp_path: Path, prompts: Path) -> None:
    assert (await opened(tmp_path / "company")).warnings == ()


async def test_a_text_that_a_language_lacks_is_a_warning(tmp_path: Path, prompts: Path) -> None:
    (prompts / "ceo-modes" / "operating.zh.md").unlink()
    company = await opened(tmp_path / "company")
    assert [warning.split(" ")[0] for warning in company.warnings] == ["prompts/ceo-modes/operating.zh.md"]


async def test_a_missing_english_text_stops_the_start_with_the_files_name(tmp_path: Path, prompts: Path) -> None:
    (prompts / "ceo-modes" / "operating.en.md").unlink()
    (prompts / "ceo-modes" / "operating.zh.md").unlink()
    with pytest.raises(Invalid, match=r"ceo-modes/operating\.en\.md is missing"):
        await opened(tmp_path / "company")
