"""The list and the thread of the room: by keys, by mouse, by pictures, and under hostile text."""

import re
import unicodedata
from collections.abc import Sequence

import pytest
from textual.app import App, ComposeResult
from textual.message import Message

from tests.flows.conftest import Picture
from tui.themes import load_themes
from tui.widgets.prose import Block, Prose
from tui.widgets.rows import Column, Row, Rows

HOME, SMALL, TINY = (120, 40), (80, 24), (40, 12)
COLUMNS = (
    Column("Id", width=6, drop_below=60),
    Column("Task", tree=True, min_width=10),
    Column("State", width=9),
    Column("Who", width=12, drop_below=70),
    Column("Age", width=4, align="right", drop_below=36),
)
HOSTILE = (
    "[/foo] [/ [red]not red[/red]",
    "[@click=app.bell]x[/]",
    "osc \x1b]52;c;cHduZWQ=\x07 \x1b]0;title\x1b\\",
    "csi \x1b[2J\x1b[?1049l \x1b[31;7;41mred",
    "c1 \x9b2J \x9d0;x\x9c",
    "\u0338bidi \u202egnp.exe\u2066",
    "zero\u200bwidth\ufeff\U000e0041",
    "two\nlines\r\nand\ta tab\b\b",
    "宽字符：黑板上的任务需要一个人来决定下一步怎么做，而且这一行很长很长很长很长很长很长",
    "👩‍🚒 ✌️ 👨‍👩‍👧‍👦 1️⃣ emoji",
    "مهمة عبرית right to left",
    "Z" + "\u0301" * 50,
)


class ListApp(App[None]):
    """A list, and a record of what it says."""

    AUTO_FOCUS = "Rows"

    def __init__(self, rows: Sequence[Row] = (), theme: str = "opsroom-dark", header: bool = True) -> None:
        super().__init__()
        for each in load_themes()[0]:
            self.register_theme(each)
        self.theme = theme
        self.heard: list[Message] = []
        self.bells = 0
        self.list = Rows(*COLUMNS, empty="No tasks yet.\nApprove the goal and dispatch it.", header=header)
        self.list.set_rows(rows)

    def compose(self) -> ComposeResult:
        yield self.list

    def on_rows_cursor_moved(self, message: Rows.CursorMoved) -> None:
        self.heard.append(message)

    def on_rows_selected(self, message: Rows.Selected) -> None:
        self.heard.append(message)

    def on_rows_expand(self, message: Rows.Expand) -> None:
        self.heard.append(message)

    def on_rows_collapse(self, message: Rows.Collapse) -> None:
        self.heard.append(message)

    def action_bell(self) -> None:
        self.bells += 1


def some_rows(count: int, prefix: str = "T") -> list[Row]:
    return [Row(f"{prefix}{i}", (f"{prefix}-{i}", f"Task number {i}", "ready", "rose", "3m")) for i in range(count)]


def a_tree() -> list[Row]:
    return [
        Row("g", ("G-1", ("Audit the folder", "strong"), ("● running", "good"), "", "2h"), 0, True, True),
        Row(
            "a",
            ("T-1", "Count the lines of every language", ("✓ done", "dim"), "inventory", "1h"),
            1,
            False,
            muted=True,
        ),
        Row("b", ("T-2", "Find files with equal bytes", ("● running", "good"), "duplicates", "3m"), 1, True, True),
        Row("c", ("T-3", "Look at the largest one", ("? asks", "warn"), "", "8s"), 2, False),
        Row("d", ("T-4", "Check the links of the README", ("! failed", "bad"), "links", "12m"), 1, True),
        Row("e", ("T-5", "黑板上的任务：检查文档 👩‍🚒 是否完整，行是否对齐", ("○ ready", "info"), "", "9d"), 1, False),
    ]


def hostile_rows() -> list[Row]:
    return [Row(f"h{i}", (text, text, (text, "warn"), text, text), i % 3, i % 2 == 0) for i, text in enumerate(HOSTILE)]


def count_lines(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    drawn: list[int] = []
    draw = rows.render_line
    monkeypatch.setattr(rows, "render_line", lambda y: drawn.append(y) or draw(y))
    return drawn


def said(app: ListApp) -> list[tuple[str, str | None]]:
    heard = [(type(m).__name__, getattr(m, "row_id", None)) for m in app.heard]
    app.heard.clear()
    return heard


@pytest.mark.parametrize("size", [HOME, SMALL, TINY], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_a_tree_at_every_size(picture: Picture, size: tuple[int, int]) -> None:
    app = ListApp(a_tree())
    async with app.run_test(size=size) as pilot:
        await picture(pilot, "first-row")
        await pilot.press("j", "j", "space", "j", "j")
        await picture(pilot, "marked-and-moved")
        app.set_focus(None)
        await picture(pilot, "without-focus")
        app.list.set_rows([])
        await picture(pilot, "empty")


@pytest.mark.parametrize("theme", ["opsroom-light", "high-contrast", "colour-blind-safe"])
async def test_a_tree_in_every_theme(picture: Picture, theme: str) -> None:
    app = ListApp(a_tree(), theme)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("space", "j", "j", "j", "j")
        await picture(pilot, "tree")


async def test_without_colour_the_signs_remain(picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = ListApp(a_tree())
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("space", "j", "j", "j", "j")
        await picture(pilot, "no-colour")


async def test_a_theme_changes_what_was_drawn(picture: Picture) -> None:
    app = ListApp(a_tree())
    async with app.run_test(size=TINY) as pilot:
        await pilot.pause()
        app.theme = "opsroom-light"
        await picture(pilot, "now-light")


async def test_keys_move_the_cursor() -> None:
    app = ListApp(some_rows(100))
    async with app.run_test(size=SMALL) as pilot:
        for key, row_id in [
            ("j", "T1"),
            ("down", "T2"),
            ("k", "T1"),
            ("pagedown", "T23"),
            ("G", "T99"),
            ("down", "T99"),
        ]:
            await pilot.press(key)
            assert app.list.cursor_id == row_id
        await pilot.press("home", "up")
        assert app.list.cursor_id == "T0"
        said(app)
        await pilot.press("enter")
        await pilot.pause()
        assert said(app) == [("Selected", "T0")]


async def test_keys_fold_and_unfold_a_tree() -> None:
    app = ListApp(a_tree())
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("l", "j", "l", "h")
        assert app.list.cursor_id == "b"
        assert app.list.move_to("c")
        await pilot.press("left")
        assert app.list.cursor_id == "b"
        await pilot.pause()
        said(app)
        await pilot.press("h")
        app.list.move_to("d")
        await pilot.press("right")
        await pilot.pause()
        assert said(app) == [("Collapse", "b"), ("CursorMoved", "d"), ("Expand", "d")]


async def test_a_click_moves_and_only_a_second_one_opens() -> None:
    app = ListApp(a_tree())
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        said(app)
        await pilot.click(Rows, offset=(30, 4))
        await pilot.pause()
        assert said(app) == [("CursorMoved", "c")]
        await pilot.click(Rows, offset=(30, 4), times=2)
        await pilot.pause()
        assert said(app) == [("Selected", "c")]
        await pilot.click(Rows, offset=(30, 20))
        await pilot.click(Rows, offset=(30, 0))
        await pilot.pause()
        assert said(app) == []
        await pilot.click(Rows, offset=(12, 5))
        await pilot.pause()
        assert said(app) == [("CursorMoved", "d"), ("Expand", "d")]


async def test_the_second_click_on_another_row_does_not_open() -> None:
    app = ListApp(some_rows(10))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.click(Rows, offset=(20, 4))
        app.list.set_rows([*some_rows(2, "new"), *some_rows(10)])
        said(app)
        await pilot.click(Rows, offset=(20, 4), times=2)
        await pilot.pause()
        assert "Selected" not in {name for name, row_id in said(app) if row_id == "T3"}


async def test_the_cursor_keeps_its_row_and_its_line_while_rows_come_and_go() -> None:
    rows = some_rows(100)
    app = ListApp(rows, header=False)
    async with app.run_test(size=SMALL) as pilot:
        app.list.move_to("T50")
        await pilot.pause()
        line = 50 - app.list.scroll_offset.y
        app.list.set_rows([*some_rows(7, "new"), *rows])
        await pilot.pause()
        assert (app.list.cursor_id, 57 - app.list.scroll_offset.y) == ("T50", line)
        app.list.set_rows(rows[20:])
        await pilot.pause()
        assert (app.list.cursor_id, 30 - app.list.scroll_offset.y) == ("T50", line)


async def test_who_has_scrolled_away_from_the_cursor_keeps_the_rows_in_sight() -> None:
    rows = some_rows(100)
    app = ListApp(rows, header=False)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        app.list.scroll_to(y=40, animate=False)
        app.list.set_rows([*some_rows(5, "new"), *rows])
        await pilot.pause()
        assert (app.list.cursor_id, app.list.scroll_offset.y) == ("T0", 45)


async def test_a_cursor_whose_row_has_gone_takes_the_next_and_says_so() -> None:
    rows = some_rows(5)
    app = ListApp(rows)
    async with app.run_test(size=SMALL) as pilot:
        app.list.move_to("T2")
        app.list.toggle_mark()
        await pilot.pause()
        app.heard.clear()
        app.list.set_rows([row for row in rows if row.id != "T2"])
        await pilot.pause()
        (moved,) = app.heard
        assert isinstance(moved, Rows.CursorMoved)
        assert (moved.row_id, moved.because_gone, moved.control) == ("T3", True, app.list)
        assert app.list.marked == set()
        app.list.set_rows([])
        assert app.list.cursor_id is None
        await pilot.press("j", "enter", "space", "h", "l", "G")


@pytest.mark.usefixtures("each_paint")
async def test_ten_thousand_rows_cost_what_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = some_rows(10_000)
    app = ListApp()
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        drawn = count_lines(app.list, monkeypatch)
        app.list.set_rows(rows)
        await pilot.pause()
        assert 0 < len(drawn) <= 24

        for change, lines in [(9_000, []), (3, [4])]:
            drawn.clear()
            app.list.update_row(Row(f"T{change}", ("changed",)))
            await pilot.pause()
            assert drawn == lines

        drawn.clear()
        rows = list(app.list.rows)
        rows[5], rows[7], rows[700] = (Row(rows[i].id, ("again",)) for i in (5, 7, 700))
        app.list.set_rows(rows)
        await pilot.pause()
        assert sorted(drawn) == [6, 8]
        assert not app.list.update_row(Row("unknown", ()))


@pytest.mark.parametrize(
    "size", [(1, 1), (2, 1), (3, 2), (5, 5), (40, 12), (300, 100)], ids=lambda size: f"{size[0]}x{size[1]}"
)
async def test_no_size_is_too_small(size: tuple[int, int]) -> None:
    app = ListApp(hostile_rows())
    async with app.run_test(size=size) as pilot:
        await pilot.press("j", "G", "space", "g")
        await pilot.resize_terminal(1, 1)
        await pilot.resize_terminal(*size)
        app.list.set_rows([])
        await pilot.pause()


@pytest.mark.parametrize("size", [HOME, SMALL, TINY], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_hostile_text_is_shown_as_text(picture: Picture, size: tuple[int, int]) -> None:
    app = ListApp(hostile_rows())
    async with app.run_test(size=size) as pilot:
        await picture(pilot, "hostile")
        for x in range(2, size[0], 6):
            await pilot.click(Rows, offset=(x, 2))
        assert app.bells == 0


OURS = re.compile(r"\x1b\[(?:[\d;]*m|\d+;\d+H|\?2026[hl])|\x1b\]22;[a-z]+\x07")


class ThreadApp(App[None]):
    """A thread to read."""

    AUTO_FOCUS = "Prose"

    def __init__(self, *blocks: Block) -> None:
        super().__init__()
        for each in load_themes()[0]:
            self.register_theme(each)
        self.theme = "opsroom-dark"
        self.prose = Prose(empty="Nothing was said yet.")
        self.prose.set_blocks(blocks)

    def compose(self) -> ComposeResult:
        yield self.prose


def a_thread(count: int = 6) -> list[Block]:
    return [
        Block(
            (f"agent-{i}", ("verdict", "good" if i % 2 else "bad"), (f"{i}m ago", "dim")),
            f"{HOSTILE[(i * 5) % len(HOSTILE)]}\n\n    indented, and then a long sentence that has to be wrapped "
            f"somewhere after # not a heading, **not bold**, [not a link](x), number {i}",
            "good" if i % 2 else "bad",
        )
        for i in range(count)
    ]


@pytest.mark.parametrize("app", [ListApp(hostile_rows()), ThreadApp(*a_thread(12))], ids=["rows", "prose"])
async def test_no_control_of_foreign_text_leaves_for_the_terminal(app: App[None], wire: list[str]) -> None:
    async with app.run_test(size=(100, 200)) as pilot:
        await pilot.pause()
        await pilot.press("j", "G")
        await pilot.pause()
    sent = "".join(wire)
    assert "not red" in sent
    assert "31;7;41m" in sent  # as text
    assert "\x1b[31;7;41m" not in sent
    rest = OURS.sub("", sent)
    controls = {c for c in rest if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert controls - {"\u200d", "\n"} == set()


@pytest.mark.parametrize("size", [HOME, SMALL, TINY], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_a_thread_is_wrapped_and_literal(picture: Picture, size: tuple[int, int]) -> None:
    app = ThreadApp(*a_thread())
    async with app.run_test(size=size) as pilot:
        await picture(pilot, "start")
        await pilot.press("G")
        await picture(pilot, "end")
        app.prose.set_blocks([], thread="other")
        await picture(pilot, "empty")


async def test_a_reader_at_the_end_stays_there_and_one_above_is_left_in_peace() -> None:
    app = ThreadApp(*a_thread(10))
    prose = app.prose
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("G")
        assert prose.at_end
        prose.set_blocks(a_thread(12))
        await pilot.pause()
        assert prose.at_end
        await pilot.press("k")
        place = prose.scroll_offset.y
        prose.set_blocks(a_thread(14))
        await pilot.pause()
        assert prose.scroll_offset.y == place
        prose.set_blocks(a_thread(9), thread="another")
        await pilot.pause()
        assert prose.scroll_offset.y == 0


async def test_a_thread_keeps_its_place_when_the_width_changes() -> None:
    app = ThreadApp(*a_thread(20))
    async with app.run_test(size=HOME) as pilot:
        await pilot.pause()
        app.prose.show_block(5)
        await pilot.pause()
        before = app.prose.render_line(0).text.strip()
        assert before.startswith("agent-5")
        await pilot.resize_terminal(*TINY)
        await pilot.pause()
        assert app.prose.render_line(0).text.strip() == before
        await pilot.resize_terminal(1, 1)
        await pilot.pause()
