"""The board as it was: at the last event it is the board, at any event the fold of all before it."""

import random
import sqlite3
from pathlib import Path

import pytest

from core.blackboard import past as module
from core.blackboard.files import uri_of
from core.blackboard.fold import Tables, fold, rebuild_and_compare
from core.blackboard.past import Folding, Past, Stopped
from core.domain.entities import Event, Goal, Output, Task
from core.domain.errors import BoardError
from tests.flows.world import Office, a_busy_board, an_office


async def history(office: Office) -> list[Event]:
    """All events, without the text of outputs: the past leaves it on the board."""
    events = await office.company.board.readers.events_after(0, 10_000)
    for event in events:
        if event.entity == "outputs" and event.changed.get("content"):
            event.changed["content"] = ""
    return events


def rows(tables: Tables) -> dict[str, list[object]]:
    return {name: sorted(of_table.values(), key=lambda row: row.id) for name, of_table in tables.rows.items()}


async def test_at_the_last_event_it_is_the_board(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        readers, path = office.company.board.readers, office.company.board.path
        last = await readers.last_event()
        then = Past(path).at(last)
        assert list(then[Task].values()) == await readers.entities(Task, "true ORDER BY id")
        assert list(then[Goal].values()) == await readers.entities(Goal, "true ORDER BY id")
        _, kept = await readers.snapshot()
        assert {(type(row), row.id): row for row in kept} == {
            (type(row), row.id): row for row in then if (type(row), row.id) in {(type(each), each.id) for each in kept}
        }
        with sqlite3.connect(uri_of(path, "ro"), uri=True) as connection:
            assert rebuild_and_compare(connection) == []


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("back_costs", [0, 10_000], ids=["backwards", "forwards"])
async def test_at_any_event_it_is_the_fold_of_all_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, back_costs: int
) -> None:
    monkeypatch.setattr(module, "PAGE", 5)
    monkeypatch.setattr(module, "BACK_COSTS", back_costs)
    choose = random.Random(seed)
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        events = await history(office)
        past = Past(office.company.board.path)
        places = [0, len(events), *(choose.randint(0, len(events)) for _ in range(6))]
        for place in places:
            for number in (place, max(0, place - 1), min(len(events), place + 1)):
                assert rows(past.at(number)) == rows(fold(events[:number])), (number, places)
                past.at(number)[Task].clear()  # the caller's own
        assert len(past._spread) <= 2 * module.SPREAD + 1
        assert len(past._near) <= module.NEAR_KEPT


async def test_only_the_wanted_tables_and_no_text_of_outputs(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        then = Past(office.company.board.path, {"tasks", "outputs"}).at(await office.events())
        assert then[Task]
        assert not then[Goal]
        assert [output.content for output in then.all(Output)] == [""]


async def test_it_can_be_stopped_and_goes_on_from_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FORWARDS", module._FORWARDS.replace(f"LIMIT {module.PAGE}", "LIMIT 10"))
    monkeypatch.setattr(module, "PAGE", 10)

    class Impatient(Folding):
        def step(self, by: int = 1) -> None:
            self.stopped = self.done + by >= 40
            super().step(by)

    async with an_office(tmp_path / "c") as office:
        await a_busy_board(office)
        events = await history(office)
        past, folding = Past(office.company.board.path), Impatient()
        number = len(events) - 1
        monkeypatch.setattr(module, "BACK_COSTS", 10_000)
        with pytest.raises(Stopped):
            past.at(number, folding)
        assert 40 <= folding.done < folding.total == number
        again = Folding()
        assert rows(past.at(number, again)) == rows(fold(events[:number]))
        assert again.total == number - folding.done


def test_a_board_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BoardError):
        Past(tmp_path / "board.db").at(1)
