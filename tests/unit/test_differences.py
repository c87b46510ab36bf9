"""Before and after of a changed goal: what is matched with what, and how it is drawn."""

from typing import Any

import pytest
from rich.cells import cell_len

from tui.panes.differences import SIDE_BY_SIDE, Differences, of_payload

M1 = {"id": "M1", "text": "Count the files", "waived_by": ""}
M2 = {"id": "M2", "text": "Check the links", "waived_by": ""}


def changed(before: list[Any], after: list[Any], **more: Any) -> Differences:
    found = of_payload({"before": {"must_haves": before}, "after": {"must_haves": after}, **more})
    assert found is not None
    return found


def kinds(differences: Differences) -> list[tuple[str, str, str]]:
    return [(each.kind, each.before, each.after) for _, found in differences.sections for each in found]


def drawn(differences: Differences, width: int) -> list[str]:
    return ["".join(text for text, _ in line) for line in differences.lines(width)]


@pytest.mark.parametrize(
    ("before", "after", "more", "expected"),
    [
        ([M1], [M1], {}, [("same", "M1 Count the files", "M1 Count the files")]),
        ([M2], [], {}, [("removed", "M2 Check the links", "")]),
        ([M1], [{**M1, "text": "Count all"}], {}, [("changed", "M1 Count the files", "M1 Count all")]),
        (
            [M1],
            [{**M1, "verify": "wc"}],
            {},
            [("changed", "M1 Count the files", "M1 Count the files (how to verify: wc)")],
        ),
        ([M1], [{**M2, "id": "M3"}], {}, [("removed", "M1 Count the files", ""), ("added", "", "M3 Check the links")]),
        (
            [M1],
            [{**M1, "id": "M3", "text": "Count all"}],
            {"replaced": {"M1": "M3"}},
            [("changed", "M1 Count the files", "M3 Count all")],
        ),
        ([], [{"text": "New"}], {}, [("added", "", "New")]),
    ],
)  # fmt: skip
def test_must_haves_are_matched_by_their_ids(
    before: list[Any], after: list[Any], more: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    assert kinds(changed(before, after, **more)) == expected


def test_what_stays_is_named_and_what_differs_is_told() -> None:
    found = of_payload({
        "before": {"description": "a", "must_haves": [M1], "constraints": ["x"], "out_of_scope": []},
        "after": {"description": "b", "must_haves": [M1], "constraints": ["x"], "out_of_scope": []},
    })  # fmt: skip
    assert found is not None
    assert [title for title, _ in found.sections] == ["Description", "Must deliver"]
    assert found.same == ("Limits", "Out of scope")
    assert found.counts() == "1 changed"


@pytest.mark.parametrize("payload", [{}, {"before": {}}, {"before": 1, "after": {}}, {"before": [], "after": []}])
def test_other_payloads_have_no_sides(payload: dict[str, Any]) -> None:
    assert of_payload(payload) is None


@pytest.mark.parametrize("width", [4, 20, SIDE_BY_SIDE - 1, SIDE_BY_SIDE, 55, 104])
def test_every_line_fits_its_width_whatever_the_text(width: int) -> None:
    texts = ["很长的中文文字" * 9, "x" * 200, "two words", "bad \x1b]52;c;AAAA\x07 and \x9b31m"]
    before = [{"id": f"M{n}", "text": text} for n, text in enumerate(texts)]
    lines = drawn(changed(before, [{**before[0], "text": "短" * 50}, *before[2:]]), width)
    assert all(cell_len(line) <= max(width, 12) for line in lines)
    assert not any(ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0 for line in lines for letter in line)


def test_a_narrow_place_has_one_side_below_the_other() -> None:
    found = changed([M1], [{**M1, "text": "Count all"}, M2])
    assert drawn(found, 40) == [
        "Must deliver",
        "± was M1 Count the files",
        "  now M1 Count all",
        "+ M2 Check the links",
    ]
    assert drawn(found, 60)[2].split("│")[1].strip() == "± M1 Count all"


def test_what_is_all_new_needs_no_column_for_before() -> None:
    found = of_payload({"before": {"can": None}, "after": {"can": ["links", "marks"]}})
    assert found is not None
    assert drawn(found, 60) == ["can", "+ links", "+ marks"]
