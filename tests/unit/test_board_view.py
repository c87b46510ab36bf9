"""The board mode without a screen: its filter, columns, order, groups, and what waits for what."""

import random
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.entities import AgentRecord, Entity, Event, Goal, Round, Task, TaskDep
from core.domain.errors import Invalid
from core.domain.states import GoalStatus, OnFail, Risk, RoundStatus, TaskStatus
from tests.unit.facts import a, agent
from tui.board_look import COLUMNS, GROUPS, OVERS, BoardLook, Name
from tui.board_view import BoardView, Used, in_order, value_of
from tui.board_view_cells import ABOUT, TITLES, cells_of, columns_of
from tui.board_view_deps import DEEPEST, MOST, Links, twigs
from tui.filtering import IS_TASK, Filter, parse_filter
from tui.projection import Projection

HOUR = 3_600_000
NOW = 100 * HOUR
USED = {"goal:1": Used(9, 50_000), "task:1": Used(3, 20_000), "task:2": Used(1, 0), "task:4": Used(12, 30_000)}


def a_view(*entities: Entity) -> Projection:
    view = Projection()
    view.load(1, entities)
    view.flush()
    return view


def task(number: int, **values: Any) -> Task:
    usual = {"title": f"task {number}", "priority": 2, "created_at": NOW - number * HOUR, "updated_at": NOW - HOUR}
    return a(Task, id=number, **{**usual, **values})


def dep(number: int, waits: int, on: int, *, met: bool = False) -> TaskDep:
    return a(TaskDep, id=number, task_id=waits, depends_on=on, on_fail=OnFail.HOLD, met=met)


def the_board() -> Projection:
    """Two goals at work in rounds, a draft without a task, one that is done and one that is archived."""
    return a_view(
        agent(1, "ada"), agent(2, "bo"),
        a(Goal, id=1, title="Audit", created_at=NOW - 9 * HOUR, must_haves=({"id": "M1", "text": "x"},)),
        a(Goal, id=2, title="bravo", status=GoalStatus.DRAFT, created_by="human"),
        a(Goal, id=3, title="Over", status=GoalStatus.DONE),
        a(Goal, id=4, title="Put away", status=GoalStatus.ARCHIVED),
        a(Round, id=1, goal_id=1, number=1, status=RoundStatus.CLOSED),
        a(Round, id=2, goal_id=1, number=2),
        task(1, title="zeta", status=TaskStatus.DONE, assignee_id=1),
        task(2, title="Alpha", status=TaskStatus.WORKING, assignee_id=2, round_id=2, must_haves=("M1",), priority=0),
        task(3, title="beta", open_deps=2, round_id=2, must_haves=("M1", "M3")),
        task(4, title="gamma", status=TaskStatus.BLOCKED, assignee_id=1, round_id=2, risk=Risk.HIGH, attempts=1),
        task(5, title="delta", goal_id=3, round_id=None, status=TaskStatus.DONE),
        task(6, title="epsilon", goal_id=4, round_id=None, status=TaskStatus.CANCELLED),
        dep(1, 3, 2), dep(2, 3, 4),
    )  # fmt: skip


def refs(look: BoardLook, words: str = "", folds: dict[str, bool] | None = None) -> list[str]:
    board = BoardView(the_board(), look, parse_filter(words), folds or {}, USED)
    return [f"{'. ' * node.depth}{node.ref}" for node in board.lines().nodes]


# ------------------------------------------------------------- the filter


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("must:m1", [2, 3]), ("must:3", [3]), ("must:M4", []), ("-must:M1", [1, 4, 5, 6]),
        ("round:1", [1]), ("round:R2", [2, 3, 4]), ("round:", [1, 2, 3, 4, 5, 6]), ("-round:2", [1, 5, 6]),
        ("is:blocked", [4]), ("is:waiting", [3]), ("is:ready", []), ("is:work", [2]), ("is:over", [1, 5, 6]),
        ("is:open -is:blocked", [2, 3]), ("is:urgent", [2]), ("is:risky", [4]), ("is:retried", [4]), ("is:goal", []),
        ("agent:ada is:open", [4]), ("goal:g1 beta", [3]), ("status:waits_", []),
    ],
)  # fmt: skip
def test_the_filter_finds_tasks(words: str, found: list[int]) -> None:
    view = the_board()
    if words == "status:waits_":
        with pytest.raises(Invalid, match="no status"):
            parse_filter(words)
        return
    wanted = parse_filter(words)
    rounds = {1: 1, 2: 2}
    fits = [each.id for each in view.tables.all(Task)
            if wanted.task(each, view.slug(each.assignee_id), rounds.get(each.round_id or 0))]  # fmt: skip
    assert fits == found


@pytest.mark.parametrize(
    ("words", "said"),
    [("is:sad", "no state 'sad'"), ("round:two", "no number of a round"), ("colour:red", "no filter")],
)
def test_a_filter_that_means_nothing_is_refused_and_says_what_there_is(words: str, said: str) -> None:
    with pytest.raises(Invalid, match=said) as refused:
        parse_filter(words)
    assert refused.value.hint


def test_every_state_of_a_task_is_found_by_some_word() -> None:
    states = [task(n, status=status) for n, status in enumerate(TaskStatus, 1)]
    assert all(any(asks(each) for name, asks in IS_TASK.items() if name != "task") for each in states)


# ------------------------------------------------------------- order


@pytest.mark.parametrize(
    ("name", "up", "down"),
    [
        ("number", [1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]),
        ("title", [2, 3, 5, 6, 4, 1], [1, 4, 6, 5, 3, 2]),
        ("status", [4, 2, 3, 1, 5, 6], [6, 1, 5, 3, 2, 4]),
        ("who", [1, 4, 2, 3, 5, 6], [2, 1, 4, 3, 5, 6]),
        ("priority", [2, 1, 3, 4, 5, 6], [1, 3, 4, 5, 6, 2]),
        ("round", [1, 2, 3, 4, 5, 6], [2, 3, 4, 1, 5, 6]),
        ("goal", [1, 2, 3, 4, 5, 6], [6, 5, 1, 2, 3, 4]),
        ("runs", [2, 1, 4, 3, 5, 6], [4, 1, 2, 3, 5, 6]),
        ("cost", [1, 4, 2, 3, 5, 6], [4, 1, 2, 3, 5, 6]),
        ("waits", [3, 1, 2, 4, 5, 6], [3, 1, 2, 4, 5, 6]),
        ("age", [1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]),
        ("since", [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
    ],
)
def test_tasks_are_sorted_by_any_column_with_what_is_empty_last(name: Name, up: list[int], down: list[int]) -> None:
    view = the_board()
    for descending, expected in ((False, up), (True, down)):
        look = BoardLook(sort=name, descending=descending)
        assert [each.id for each in in_order(view, view.tables.all(Task), look, USED)] == expected


TASKS = st.lists(
    st.builds(
        lambda status, who, round_, priority, title, deps, times: (status, who, round_, priority, title, deps, times),
        st.sampled_from(TaskStatus), st.sampled_from([None, 1, 2, 99]), st.sampled_from([None, 1, 2, 99]),
        st.integers(0, 4), st.sampled_from(["", "a", "B", "ä", "T1"]), st.integers(0, 3), st.integers(0, 3),
    ),
    max_size=20,
)  # fmt: skip


@given(told=TASKS, name=st.sampled_from(COLUMNS), descending=st.booleans(), seed=st.integers(0, 99))
def test_the_order_is_total_and_does_not_depend_on_what_stood_before(
    told: Sequence[tuple[Any, ...]], name: Name, descending: bool, seed: int
) -> None:
    tasks = [
        task(n, status=s, assignee_id=who, round_id=r, priority=p, title=t, open_deps=d, updated_at=at, created_at=at)
        for n, (s, who, r, p, t, d, at) in enumerate(told, 1)
    ]
    view = a_view(agent(1, "ada"), agent(2, "bo"), a(Round, id=1), a(Round, id=2, number=2), *tasks)
    used = {f"task:{n}": Used(n % 3, n % 2) for n in range(1, 20)}
    look = BoardLook(sort=name, descending=descending)
    mixed = random.Random(seed).sample(tasks, len(tasks))
    found = in_order(view, mixed, look, used)
    assert found == in_order(view, tasks, look, used)
    assert {each.id for each in found} == {each.id for each in tasks}
    values = [value_of(view, each, name, used.get(f"task:{each.id}", Used())) for each in found]
    told_values = [value for value in values if value is not None]
    assert values[len(told_values) :] == [None] * (len(values) - len(told_values))
    assert told_values == sorted(told_values, reverse=descending)
    for one, other, (before, after) in zip(values, values[1:], pairwise(found), strict=False):
        assert one != other or before.id < after.id or (name == "number" and descending)


# ------------------------------------------------------------- tree, groups, what is over


@pytest.mark.parametrize(
    ("look", "lines"),
    [
        (BoardLook(group=""), ["task:1", "task:2", "task:3", "task:4", "task:5"]),
        (
            BoardLook(),
            ["goal:1", ". task:1", ". task:2", ". task:3", ". task:4", "goal:2", "goal:3"],
        ),
        (
            BoardLook(sort="title", descending=True),
            ["goal:2", "goal:1", ". task:1", ". task:4", ". task:3", ". task:2", "goal:3"],
        ),
        (BoardLook(over="open"), ["goal:1", ". task:2", ". task:3", ". task:4", "goal:2"]),
        (
            BoardLook(over="archived"),
            ["goal:1", ". task:1", ". task:2", ". task:3", ". task:4", "goal:2", "goal:3", "goal:4"],
        ),
        (
            BoardLook(group="status"),
            ["status:blocked", ". task:4", "status:working", ". task:2", "status:pending", ". task:3", "status:done"],
        ),
        (
            BoardLook(group="who", over="open"),
            ["agent:1", ". task:4", "agent:2", ". task:2", "nobody:", ". task:3"],
        ),
        (
            BoardLook(group="round", sort="priority"),
            ["round:1", "round:2", ". task:2", ". task:3", ". task:4", "no-round:", ". task:5"],
        ),
        (
            BoardLook(view="tree", sort="title"),
            ["goal:1", ". round:1", ". round:2", ". . task:2", ". . task:3", ". . task:4", "goal:2", "goal:3"],
        ),
        (
            BoardLook(view="tree", over="open"),
            ["goal:1", ". round:2", ". . task:2", ". . task:3", ". . task:4", "goal:2"],
        ),
    ],
)
def test_the_board_is_grouped_and_shows_what_is_wished(look: BoardLook, lines: list[str]) -> None:
    assert refs(look) == lines


def test_a_filter_opens_what_it_finds_and_a_status_finds_what_is_hidden() -> None:
    assert refs(BoardLook(), "status:cancelled") == ["goal:4", ". task:6"]
    assert refs(BoardLook(over="open"), "is:over goal:1") == ["goal:1", ". task:1"]
    assert refs(BoardLook(group="status"), "zeta") == ["status:done", ". task:1"]
    assert refs(BoardLook(), "bravo") == ["goal:2"]


def test_folds_hold_in_every_view() -> None:
    folds = {"goal:1": False, "goal:3": True, "status:done": True}
    assert refs(BoardLook(), "", folds) == ["goal:1", "goal:2", "goal:3", ". task:5"]
    assert refs(BoardLook(view="tree"), "", folds) == ["goal:1", "goal:2", "goal:3", ". task:5"]
    assert ". task:1" in refs(BoardLook(group="status"), "", folds)


def test_counts_are_of_what_the_filter_left() -> None:
    lines = BoardView(the_board(), BoardLook(), parse_filter("must:M1"), {}, USED).lines()
    assert (lines.tasks, lines.counts["goal:1"]) == (2, 2)


@pytest.mark.parametrize("view", ["tree", "table"])
@pytest.mark.parametrize("group", GROUPS)
def test_every_task_that_is_not_hidden_is_there_once_however_it_is_grouped(view: Any, group: Any) -> None:
    folds = dict.fromkeys(["goal:3", "goal:4", "round:1", "status:done", "status:cancelled"], True)
    look = BoardLook(view=view, group=group, over="archived")
    found = [line for line in refs(look, "", folds) if "task:" in line]
    assert sorted(line.strip(". ") for line in found) == [f"task:{number}" for number in range(1, 7)]


def test_only_what_moves_a_line_is_a_new_place() -> None:
    view = the_board()
    board = BoardView(view, BoardLook(sort="priority", group="who"), Filter(), {}, USED)
    before = view.tables[Task][2]
    assert board.place(before) == board.place(task(2, title="other", assignee_id=2, round_id=2, priority=0))
    for moved in (
        task(2, assignee_id=1, round_id=2, priority=0), task(2, assignee_id=2, round_id=2, priority=1),
        task(2, assignee_id=2, round_id=2, priority=0, status=TaskStatus.DONE),
    ):  # fmt: skip
        assert board.place(before) != board.place(moved)


# ------------------------------------------------------------- columns and cells


def test_the_sorting_column_shows_its_direction_and_none_tells_what_is_told_elsewhere() -> None:
    titles = [column.title for column in columns_of(BoardLook(sort="cost", descending=True))]
    assert "cost↓" in titles
    assert "goal" not in titles
    assert [column.title for column in columns_of(BoardLook(view="tree"))][1] == "title"
    few = BoardLook(hidden=tuple(name for name in COLUMNS if name != "status"))
    assert few.columns == ("title", "status")
    assert set(TITLES) == set(ABOUT) == set(COLUMNS)


@pytest.mark.parametrize("look", [BoardLook(group=""), BoardLook(view="tree"), *(BoardLook(group=g) for g in GROUPS)])
def test_every_line_fills_its_columns(look: BoardLook) -> None:
    view = the_board()
    for node in BoardView(view, look, Filter(), {}, USED).lines().nodes:
        cells, _ = cells_of(view, node.ref, look, NOW, USED, 4)
        assert len(cells) == len(columns_of(look))
        assert any(cell if isinstance(cell, str) else cell[0] for cell in cells[1:])


def test_the_cells_of_a_task() -> None:
    view = the_board()
    look = BoardLook(group="")
    told = dict(zip(look.columns, cells_of(view, "task:4", look, NOW, USED)[0][1:], strict=True))
    texts = {name: cell if isinstance(cell, str) else cell[0] for name, cell in told.items()}
    assert texts == {
        "number": "T4", "title": "gamma", "status": "blocked", "who": "ada", "since": "1h", "goal": "G1", "round": "2",
        "priority": "2", "runs": "12", "cost": "$0.03", "waits": "", "age": "4h",
    }  # fmt: skip
    assert ("T2 T4", "dim") in cells_of(view, "task:3", look, NOW, USED)[0]


def test_the_look_survives_a_wrong_or_old_value_by_being_refused() -> None:
    assert BoardLook.model_validate(BoardLook(sort="age", hidden=("cost",)).model_dump(mode="json")).sort == "age"
    with pytest.raises(ValueError, match="sort"):
        BoardLook.model_validate({"sort": "colour"})
    assert OVERS[0] == "open"


# ------------------------------------------------------------- what waits for what


def drawn(view: Projection, root: int) -> list[str]:
    return [
        f"{twig.drawn}{f'T{twig.task}' if twig.task else twig.words}{' again' if twig.again else ''}"
        for twig in twigs(view, Links(), root)
    ]


def test_a_task_alone_waits_for_nothing() -> None:
    assert drawn(a_view(task(1)), 1) == ["T1", "├─ waits for no other task", "└─ no other task waits for it"]


def test_a_diamond_is_drawn_out_once() -> None:
    view = a_view(
        *map(task, range(1, 7)), dep(1, 2, 1), dep(2, 3, 1), dep(3, 4, 2), dep(4, 4, 3), dep(5, 1, 6), dep(6, 5, 4)
    )
    assert drawn(view, 4) == [
        "T4",
        "├─ waits for",
        "│  ├─ T2",
        "│  │  └─ T1",
        "│  │     └─ T6",
        "│  └─ T3",
        "│     └─ T1 again",
        "└─ these wait for it",
        "   └─ T5",
    ]
    assert drawn(view, 1)[-5:] == ["   ├─ T2", "   │  └─ T4", "   │     └─ T5", "   └─ T3", "      └─ T4 again"]


def test_a_long_chain_ends_and_says_how_deep_it_is() -> None:
    last = MOST + 500
    view = a_view(*map(task, range(1, last + 1)), *(dep(n, n + 1, n) for n in range(1, last)))
    lines = drawn(view, last)
    assert lines[2 + DEEPEST].startswith(f"│  ⋯{DEEPEST + 1} T")
    assert sum("T" in line for line in lines) == MOST + 1
    assert "… and more" in lines[-2]
    assert max(map(len, lines)) < 60
    assert drawn(view, 3)[:4] == ["T3", "├─ waits for", "│  └─ T2", "│     └─ T1"]


def test_not_even_a_cycle_in_a_broken_file_is_endless() -> None:
    view = a_view(*map(task, range(1, 4)), dep(1, 1, 2), dep(2, 2, 3), dep(3, 3, 1))
    assert len(drawn(view, 1)) < 12


def test_a_dependency_that_was_added_later_is_seen_from_both_ends() -> None:
    view, links = a_view(task(1), task(2)), Links()
    assert not links.dependents(view, 1)
    fields = asdict(dep(1, 2, 1))
    view.apply([a(Event, entity="task_deps", entity_id=1, kind="DependencyAdded", changed=fields)])
    assert links.dependents(view, 1) == [(2, False)]
    assert links.causes(view, 2) == [(1, False)]


def test_an_agent_group_names_its_agent() -> None:
    view = the_board()
    cells, _ = cells_of(view, "agent:1", BoardLook(group="who"), NOW, USED, 2)
    assert ("ada  2 tasks", "info") in cells
    assert isinstance(view.find("agent:1"), AgentRecord)
