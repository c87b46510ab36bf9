"""Outputs are hashed and verified by the program itself (S2-25, S3-11, S4-02, F9)."""

import hashlib
import os
from pathlib import Path

import pytest

from core.domain.entities import Output
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.limits import INLINE_OUTPUT_MAX
from core.domain.states import RunKind
from tests.unit.world import World


async def deliver(world: World, **arguments: object) -> dict[str, object]:
    task, ada = await world.a_task("working")
    assert ada is not None
    try:
        return await world.do(ada, "AddOutput", task=task.id, type="data", title="Figures", **arguments)
    finally:
        await world.operator("CancelTask", task=task.id, reason="the next try begins")


async def test_content_is_hashed_as_its_bytes(world: World) -> None:
    answer = await deliver(world, content="数字 42")
    assert answer["sha256"] == hashlib.sha256("数字 42".encode()).hexdigest()
    assert answer["size"] == len("数字 42".encode())


async def test_a_file_below_the_outputs_folder_is_hashed_as_it_is(world: World) -> None:
    (world.folder / "outputs" / "a").mkdir()
    (world.folder / "outputs" / "a" / "big.csv").write_bytes(b"1,2\n" * 50_000)
    answer = await deliver(world, path="a/big.csv")
    assert answer["sha256"] == hashlib.sha256(b"1,2\n" * 50_000).hexdigest()
    found = (await world.all(Output))[0]
    assert (found.path, found.content, found.size) == ("a/big.csv", None, 200_000)


@pytest.mark.parametrize("content", ["", "   ", "\n\t\n", "\udc80", "x" * (INLINE_OUTPUT_MAX + 1)])
async def test_empty_half_or_too_large_content_is_refused(world: World, content: str) -> None:
    with pytest.raises(Invalid):
        await deliver(world, content=content)
    assert await world.all(Output) == []


def _make(folder: Path, outside: Path) -> None:
    (folder / "empty").touch()
    (folder / "folder").mkdir()
    (folder / "link-out").symlink_to(outside)
    (folder / "link-folder").symlink_to(outside.parent)
    (folder / "circle").symlink_to("circle")
    (folder / "gone").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")


REFUSED = [
    "../secret", "/etc/passwd", "a/../../secret", "link-out", "link-folder/secret", "circle", "gone", "missing",
    "empty", "folder", "", ".", "pipe", "nul\0byte", "x" * 5000, "half\udc80",
]  # fmt: skip


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: ascii(path[:20]))
async def test_what_is_no_full_file_inside_the_folder_is_refused(world: World, path: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    _make(world.folder / "outputs", secret)
    with pytest.raises(Invalid):
        await deliver(world, path=path)
    assert await world.all(Output) == []


async def test_an_output_has_content_or_a_path_and_one_subject(world: World) -> None:
    with pytest.raises(Invalid, match="content or a path"):
        await deliver(world)
    with pytest.raises(Invalid, match="content or a path"):
        await deliver(world, content="x", path="y")
    with pytest.raises(Invalid, match="a task or to a goal"):
        await deliver(world, content="x", goal=1)


async def test_only_the_current_run_delivers_and_only_while_it_works(world: World) -> None:
    task, ada = await world.a_task("claimed")
    assert ada is not None
    figures = {"task": task.id, "type": "data", "title": "x", "content": "x"}
    with pytest.raises(Conflict, match="is claimed"):
        await world.do(ada, "AddOutput", **figures)
    with pytest.raises(Forbidden):
        await world.do(await world.run("bob"), "AddOutput", **figures)
    with pytest.raises(Forbidden):
        await world.operator("AddOutput", **figures)


async def test_a_report_belongs_to_the_goal_of_its_run(world: World) -> None:
    one, two = await world.an_active_goal(), await world.an_active_goal()
    cora = await world.run("cora", RunKind.REPORT, goal_id=one.id)
    report = {"type": "document", "title": "Report", "content": "# Report"}
    with pytest.raises(Forbidden, match=f"not about G{two.id}"):
        await world.do(cora, "AddOutput", goal=two.id, **report)
    await world.do(cora, "AddOutput", goal=one.id, **report)
