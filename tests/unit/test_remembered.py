"""What the room remembers between starts, in a real file."""

import json
import os
from pathlib import Path

import pytest

from tui.remembered import Layout, Memory, Snoozed, Told


async def test_what_is_kept_is_there_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "state.json"
    memory = Memory.read(path)
    memory.keep(mode="agents")
    memory.keep(layout=Layout(left=30, hidden=("inbox",)), reasons=("too \x1b]52;c;x\x07 early",))
    await memory.settle()
    again = Memory.read(path)
    assert again.now == memory.now
    assert again.now.mode == "agents"
    assert again.now.layout == Layout(left=30, hidden=("inbox",))
    assert not again.problem
    assert sorted(each.name for each in path.parent.iterdir()) == ["state.json", "state.json.lock"]


async def test_two_rooms_keep_what_each_changed(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    one, other = Memory.read(path), Memory.read(path)
    one.keep(mode="mail")
    other.keep(theme="opsroom-light")
    await one.settle()
    await other.settle()
    now = Memory.read(path).now
    assert (now.mode, now.theme) == ("mail", "opsroom-light")


async def test_two_rooms_on_two_companies_keep_what_each_told(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    one, other = Memory.read(path), Memory.read(path)
    one.keep(told={"room /a": Told(event=7, items=("x",))})
    await one.settle()
    other.keep(told={"room /b": Told(event=3)})
    await other.settle()
    one.keep(told={"room /a": Told(event=9)})
    await one.settle()
    now = Memory.read(path).now.told
    assert {name: each.event for name, each in now.items()} == {"room /a": 9, "room /b": 3}
    for number in range(300):
        one.keep(told={f"room /{number}": Told(event=number)})
    await one.settle()
    told = Memory.read(path).now.told
    assert len(told) == 200
    assert told["room /299"].event == 299


async def test_what_another_version_wrote_stays(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text('{"later": [1, 2], "mode": "board"}')
    memory = Memory.read(path)
    memory.keep(theme="x")
    await memory.settle()
    assert json.loads(path.read_text()) == {"later": [1, 2], "mode": "board", "theme": "x"}


@pytest.mark.parametrize("text", ["", "{", "[1]", "\udcff", "[" * 100_000, "null"])
def test_a_broken_file_is_told_and_put_aside(tmp_path: Path, text: str) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    memory = Memory.read(path)
    assert memory.now == Memory().now
    assert "put aside" in memory.problem
    assert not path.exists()
    assert (tmp_path / "state.json.broken").read_bytes() == text.encode("utf-8", "surrogateescape")


def test_one_wrong_field_does_not_cost_the_others(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text('{"mode": "mail", "layout": {"left": 900}, "reasons": "none"}')
    memory = Memory.read(path)
    assert memory.now.mode == "mail"
    assert memory.now.layout is None
    assert "layout, reasons" in memory.problem


async def test_a_place_that_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    memory = Memory(tmp_path / "file" / "state.json")
    told: list[str] = []
    memory.tell = told.append
    memory.keep(mode="mail")
    await memory.settle()
    memory.keep(mode="home")
    await memory.settle()
    assert len(told) == 1
    assert "cannot be written" in told[0]
    assert memory.now.mode == "home"
    assert os.listdir(tmp_path) == ["file"]


async def test_what_is_put_off_is_kept_company_by_company(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    one, other = Memory.read(path), Memory.read(path)
    one.keep(snoozed={"/srv/acme": [Snoozed(item="approval:4", shown="ab12", until=5)]})
    other.keep(snoozed={"/srv/lamp": [Snoozed(item="wait:task:3", shown="cd34")]})
    await one.settle()
    await other.settle()
    one.keep(snoozed={"/srv/acme": []})
    await one.settle()
    now = Memory.read(path).now
    assert now.snoozed == {"/srv/lamp": (Snoozed(item="wait:task:3", shown="cd34"),), "/srv/acme": ()}
