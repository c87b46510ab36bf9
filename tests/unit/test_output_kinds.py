"""An output is code, a document, data, a config or something else, with title, content and summary (S4-02)."""

import pytest

from core.domain.entities import Output
from core.domain.errors import Invalid
from core.domain.states import OutputType
from tests.unit.world import World


async def test_an_output_is_of_one_of_five_kinds_and_keeps_its_four_parts(world: World) -> None:
    assert [str(kind) for kind in OutputType] == ["code", "document", "data", "config", "other"]
    task, ada = await world.a_task("working")
    assert ada is not None
    for kind in OutputType:
        await world.do(ada, "AddOutput", task=task.id, type=kind, title=f"A {kind}", content="42", summary="all files")
    kept = [(output.type, output.title, output.content, output.summary) for output in await world.all(Output)]
    assert kept == [(kind, f"A {kind}", "42", "all files") for kind in OutputType]


@pytest.mark.parametrize("lacks", [{"type": "picture"}, {"type": ""}, {"title": " "}])
async def test_an_output_of_no_kind_or_without_a_title_is_refused(world: World, lacks: dict[str, str]) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    with pytest.raises(Invalid):
        await world.do(ada, "AddOutput", task=task.id, **{"type": "data", "title": "x", "content": "42", **lacks})
    assert await world.all(Output) == []
