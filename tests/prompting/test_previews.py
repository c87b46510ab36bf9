"""What an agent would be told is what it is told then, and only of runs that are ever made."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.domain.errors import Invalid
from core.domain.states import Role, RunKind
from core.prompting.builder import KINDS, build_prompt, preview_prompt
from core.prompting.templates import shipped_library
from tests.prompting.facts import commission
from tests.unit.world import World, a_company


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_company(tmp_path) as made:
        yield made


@pytest.mark.parametrize("locale", ["en", "zh"])
async def test_a_broadcast_is_told_beforehand_as_it_will_be(world: World, locale: str) -> None:
    await world.operator("EditCompany", locale=locale)
    task, _ = await world.a_task(
        must_haves=("Every folder counted", "Every link followed"), tasks=({"title": "Count", "must_haves": ("M2",)},)
    )
    await world.operator("AddComment", task=task.id, body="The archives count too.")
    readers, kind = world.board.readers, RunKind.BROADCAST
    before = await preview_prompt(readers, shipped_library(), world.folder, "bob", task.id, kind=kind)
    about = await commission(world, await world.run("bob", kind, offers=[task.id]))
    run = await build_prompt(readers, shipped_library(), about)
    assert before.text.replace(before.nonce, "") == run.text.replace(run.nonce, "")
    assert "The archives count too." in before.text


@pytest.mark.parametrize(
    ("slug", "kind"),
    [("ada", RunKind.PROPOSE), ("ada", RunKind.REVIEW), ("rita", RunKind.REPORT), ("cora", RunKind.EXECUTE)],
)
async def test_a_run_that_is_never_made_is_not_shown(world: World, slug: str, kind: RunKind) -> None:
    with pytest.raises(Invalid, match=f"never gets a run of kind '{kind}'") as refused:
        await preview_prompt(world.board.readers, shipped_library(), world.folder, slug, kind=kind)
    assert "mention" in str(refused.value)


def test_each_kind_of_run_is_of_a_role_and_everybody_can_be_called() -> None:
    assert set(KINDS) == set(Role)
    assert set().union(*KINDS.values()) == set(RunKind)
    assert all(RunKind.MENTION in kinds for kinds in KINDS.values())
