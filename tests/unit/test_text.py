"""What text of others may look like on the screen, whatever was written."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.text import ago, amount, fit, left, one_line, plain, wrap

CONTROL_OR_FORMAT = {"Cc", "Cf", "Cs", "Zl", "Zp"}
NASTY = st.sampled_from(
    [
        *"\x00\x07\x08\t\n\r\x1b\x7f\x9b\u200b\u200d\u202e\u2066\u2028\ufe0f\ufeff\u0301\ud800👩🚒日é─[]",
        "\r\n",
        "\x1b]52;c;",
    ]
)
foreign_text = st.lists(st.one_of(NASTY, st.text(st.characters(exclude_categories=[])))).map("".join)


@pytest.mark.parametrize(
    ("foreign", "shown"),
    [
        ("hello", "hello"),
        ("two\nlines", "two\nlines"),
        ("dos\r\nlines", "dos\nlines"),
        ("bare\rreturn", "bare␍return"),
        ("a\tb", "a   b"),
        ("\x1b]52;c;cHduZWQ=\x07", "␛]52;c;cHduZWQ=␇"),
        ("\x9b31mred", "�31mred"),
        ("del\x7f", "del␡"),
        ("\u202egnp.exe", "�gnp.exe"),
        ("z\u200bw", "z�w"),
        ("a\u200db", "a�b"),
        ("lone \ud800 half", "lone � half"),
        ("line\u2028para\u2029", "line�para�"),
        ("tag\U000e0041", "tag�"),
        ("hangul\u3164filler", "hangul�filler"),
        ("日本 👩‍🚒 ✌️ 1️⃣ 👍🏽", "日本 👩‍🚒 ✌️ 1️⃣ 👍🏽"),
        ("─\u200d─", "─�─"),
        ("\ufe0f✌\u200d", "�✌�"),
        ("e\u0301", "e\u0301"),
        ("\u0338x\n\u0338y", "◌\u0338x\n◌\u0338y"),
        ("Z" + "\u0301" * 40, "Z" + "\u0301" * 4 + "�"),
        ("[@click=app.bell]x[/]", "[@click=app.bell]x[/]"),
    ],
)
def test_foreign_text_is_drawn_and_does_not_act(foreign: str, shown: str) -> None:
    assert plain(foreign) == shown


def test_no_code_point_of_a_control_category_is_left_alone() -> None:
    every = (chr(code) for code in range(0x110000) if code != 0x0A)
    assert not [c for c in every if unicodedata.category(c) in CONTROL_OR_FORMAT and c in plain(c)]


@given(foreign_text)
def test_nothing_but_a_joiner_inside_an_emoji_survives(foreign: str) -> None:
    shown = plain(foreign)
    for before, char, after in zip(" " + shown, shown, shown[1:] + " ", strict=False):
        if char == "\u200d":
            assert unicodedata.category(before) in {"So", "Sm", "Sk", "Mn", "Po", "Cn", "Ll", "Pd"}
            assert ord(after) > 0xA8
        elif char != "\n":
            assert unicodedata.category(char) not in CONTROL_OR_FORMAT


@given(foreign_text)
def test_plain_text_stays_as_it_is(foreign: str) -> None:
    assert plain(plain(foreign)) == plain(foreign)


@given(foreign_text)
def test_one_line_is_one_line(foreign: str) -> None:
    assert len(one_line(foreign).splitlines()) <= 1


@given(foreign_text, st.integers(-1, 30))
def test_fit_never_exceeds_its_cells(foreign: str, cells: int) -> None:
    assert cell_len(fit(one_line(foreign), cells)) <= max(cells, 0)
    assert cell_len(fit(one_line(foreign), cells, pad=True)) == max(cells, 0)


@pytest.mark.parametrize(
    ("text", "cells", "cut"),
    [
        ("short", 10, "short"),
        ("rather long", 6, "rathe…"),
        ("a word", 3, "a…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("👩‍🚒👩‍🚒", 3, "👩‍🚒…"),
        ("cafe\u0301s", 5, "cafe\u0301s"),
        ("x", 0, ""),
    ],
)
def test_fit_cuts_between_characters(text: str, cells: int, cut: str) -> None:
    assert fit(text, cells) == cut


@given(foreign_text, st.integers(2, 30))
def test_wrapped_lines_fit_and_lose_no_word(foreign: str, cells: int) -> None:
    lines = wrap(plain(foreign), cells)
    assert all(cell_len(line) <= cells for line in lines)
    assert "".join("".join(lines).split()) == "".join(plain(foreign).split())


def test_wrap_breaks_between_words_and_keeps_indentation() -> None:
    assert wrap("    one two three\n\nfour", 9) == ["    one", "two three", "", "four"]
    assert wrap("日本語のテスト", 6) == ["日本語", "のテス", "ト"]


def test_fit_pads_on_either_side() -> None:
    assert fit("日", 4, pad=True) == "日  "
    assert fit("7", 4, pad=True, right=True) == "   7"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "0s"),
        (3, "3s"),
        (59, "59s"),
        (60, "1m"),
        (3_599, "59m"),
        (4 * 3_600, "4h"),
        (9 * 86_400, "9d"),
        (800 * 86_400, "2y"),
    ],
)
def test_ago_names_one_unit(seconds: int, shown: str) -> None:
    assert ago(1_000_000_000_000 + seconds * 1000, 1_000_000_000_000) == shown


@pytest.mark.parametrize(
    ("ms", "shown"),
    [(-5_000, "0:00"), (0, "0:00"), (1, "0:01"), (59_001, "1:00"), (299_000, "4:59"), (3_600_000, "60:00")],
)
def test_left_counts_down_in_minutes_and_seconds(ms: int, shown: str) -> None:
    assert left(1_000_000, 1_000_000 + ms) == shown


def test_thousands_are_set_apart() -> None:
    assert [amount(n) for n in (0, 999, 1_234_567)] == ["0", "999", "1,234,567"]
