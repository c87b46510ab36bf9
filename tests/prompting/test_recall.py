"""What agents are reminded of: kept experiences and knowledge, most relevant first (S3-09, S4-01, F12)."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.blackboard import migrations
from core.blackboard.search import TERMS_MAX, any_of, place_of, places_of, words_of
from core.domain.limits import EXPERIENCE_PREFIX
from core.prompting.recall import recall_experiences, recall_knowledge
from core.simulation.agents import HANDOFF
from tests.unit.world import World, a_company


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_company(tmp_path) as made:
        yield made


async def noted(world: World, *lines: str, status: str = "Keep") -> None:
    """Experiences of a handoff each, kept by the operator unless said otherwise."""
    task, ada = await world.a_task("working")
    assert ada is not None
    for line in lines:
        body = f"{HANDOFF}\n{EXPERIENCE_PREFIX}{line}"
        await world.do(ada, "AddComment", task=task.id, kind="handoff", body=body)
        if status:
            number = await world.read(lambda tx: tx.value("SELECT max(id) FROM experiences"))
            await world.operator(f"{status}Experience", experience=number)
    await world.finish(ada)


async def known(world: World, *sections: tuple[str, str, str]) -> None:
    named = [{"path": path, "heading": heading, "body": body} for path, heading, body in sections]
    await world.system("IndexKnowledge", sections=named)


async def experiences(world: World, words: str, limit: int = 10) -> list[str]:
    return [found.body for found in await recall_experiences(world.board.readers, words, limit)]


async def places(world: World, words: str, limit: int = 10) -> list[str]:
    return [found.place for found in await recall_knowledge(world.board.readers, words, limit)]


async def test_only_kept_experiences_are_recalled(world: World) -> None:
    await noted(world, "count links twice", status="")
    await noted(world, "count links never", status="Drop")
    await noted(world, "count links once")
    assert await experiences(world, "links") == ["count links once"]


async def test_what_shares_more_words_stands_first_and_the_newest_of_equal_ones(world: World) -> None:
    await noted(world, "sort the names", "dead links hide below", "sort the dates", "dead charts and maps")
    assert await experiences(world, "Find dead links") == ["dead links hide below", "dead charts and maps"]
    assert await experiences(world, "sort") == ["sort the dates", "sort the names"]
    assert await experiences(world, "sort", 1) == ["sort the dates"]
    assert await experiences(world, "sort", 0) == []


async def test_words_that_stand_everywhere_recall_nothing_by_themselves(world: World) -> None:
    await noted(world, "the map is of no use")
    assert await experiences(world, "count the charts of it") == []
    assert await experiences(world, "the") == ["the map is of no use"]


async def test_a_longer_word_is_found_by_its_beginning(world: World) -> None:
    await noted(world, "a file may be a link")
    assert await experiences(world, "List the Files") == ["a file may be a link"]


@pytest.mark.parametrize("word", ["表", "表格", "统计表格", "先统计", "１表"])
async def test_short_chinese_words_are_found(world: World, word: str) -> None:
    await noted(world, "先统计，再画表格。", "别的经验")
    assert await experiences(world, word) == ["先统计，再画表格。"]
    await known(world, ("knowledge/甲.md", "统计表格", "先看"), ("knowledge/乙.md", "其他", "没有"))
    assert await places(world, word) == ["knowledge/甲.md § 统计表格"]


async def test_knowledge_has_its_place_and_first_line(world: World) -> None:
    await known(
        world,
        ("knowledge/setup.md", "Install", "\n  Run make.\nThen wait."),
        ("knowledge/setup.md", "", "Everything about chairs"),
    )
    (install,) = await recall_knowledge(world.board.readers, "how to install", 5)
    assert (install.place, install.first_line) == ("knowledge/setup.md § Install", "Run make.")
    assert (install.path, install.heading) == ("knowledge/setup.md", "Install")
    assert await places(world, "chairs") == ["knowledge/setup.md"]


async def test_changed_and_removed_sections_are_recalled_as_they_are(world: World) -> None:
    await known(world, ("knowledge/a.md", "A", "whales"), ("knowledge/b.md", "B", "whales"))
    await known(world, ("knowledge/a.md", "A", "dolphins"))
    assert (await places(world, "whales"), await places(world, "dolphins")) == (
        ["knowledge/b.md § B"], ["knowledge/a.md § A"]
    )  # fmt: skip
    await world.system("IndexKnowledge", removed=[2])
    assert await places(world, "whales") == []
    # The number of the row that is gone may be given again.
    await known(world, ("knowledge/c.md", "C", "sharks"))
    assert (await places(world, "whales"), await places(world, "sharks")) == ([], ["knowledge/c.md § C"])


async def test_comments_and_tasks_with_the_same_words_are_neither_found_nor_walked_over(world: World) -> None:
    await noted(world, "count whales at noon")
    task, _ = await world.a_task(tasks=({"title": "Count whales"},))
    for number in range(20):
        await world.operator("AddComment", task=task.id, body=f"whales {number}")
    assert await experiences(world, "whales") == ["count whales at noon"]
    assert await places(world, "whales") == []
    first, last = places_of("experiences")
    assert all(place_of(table, 10**9) < first for table in ("goals", "tasks", "comments", "outputs"))
    assert last < places_of("knowledge")[0] <= place_of("knowledge", 1)


async def test_the_search_of_the_board_still_finds_them(world: World) -> None:
    await noted(world, "count whales at noon")
    await known(world, ("knowledge/a.md", "Whales", "big"))
    hits = {hit["entity"]: hit["snippet"] for hit in await world.board.readers.search("whales")}
    assert hits["experiences"] == "count whales at noon"
    assert hits["knowledge"] == "Whales big"


@given(st.text(max_size=200))
def test_no_text_acts_as_query_syntax(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE search USING fts5(words, tokenize = 'unicode61')")
    connection.execute("INSERT INTO search VALUES (?)", (words_of(text),))
    if query := any_of(text):
        connection.execute("SELECT bm25(search) FROM search WHERE search MATCH ?", (query,)).fetchall()
    assert query.count(" OR ") < TERMS_MAX
    connection.close()


@pytest.mark.parametrize("text", ["NEAR(a b)", 'x" OR words : "y', "-a ^b*", "a AND NOT b", "'; --"])
async def test_what_looks_like_syntax_is_words(world: World, text: str) -> None:
    await noted(world, "count whales")
    assert await experiences(world, f"{text} whales") == ["count whales"]


async def test_experiences_of_an_older_board_move_to_their_place_in_the_index(tmp_path: Path) -> None:
    path = tmp_path / "board.db"
    with sqlite3.connect(path, isolation_level=None) as connection:
        for number in (1, 2, 3):
            for statement in migrations.statements(migrations.steps()[number]):
                connection.execute(statement)
        for table, place in (("experiences", 7 * 16 + 5), ("comments", 7 * 16 + 3)):
            connection.execute(
                "INSERT INTO search(rowid, words, entity, entity_id) VALUES (?, 'w', ?, 7)", (place, table)
            )
        for statement in migrations.statements(migrations.steps()[4]):
            connection.execute(statement)
        rows = connection.execute("SELECT rowid, entity FROM search WHERE search MATCH 'w' ORDER BY rowid").fetchall()
    connection.close()
    assert rows == [(7 * 16 + 3, "comments"), (place_of("experiences", 7), "experiences")]
