"""Hires, agents and reorganisations as lines: read back as they were; what is wrong is named, the untouched stays."""

from typing import Any

import pytest

from core.domain.states import BudgetPeriod
from tui.panes.differences import of_charts
from tui.staff_text import HIRE, PROPOSED, changed, changes_text, lines_of, read_amount, read_changes, read_lines, usd

HIRED: dict[str, Any] = {
    "name": "Milo", "slug": "scout", "role": "executor", "capabilities": ("marks", "links"), "manager": "ceo",
    "budget_micros": 1_250_000, "max_runs": 2, "runner": {"kind": "rehearsal", "pace": "slow"},
    "why": "Nobody looks for marks.\nname: the second line begins like one of ours",
}  # fmt: skip


def test_a_hire_is_read_back_as_it_was() -> None:
    assert read_lines(PROPOSED, lines_of(PROPOSED, HIRED)) == (HIRED, [])


def test_only_what_was_touched_is_sent() -> None:
    begun = lines_of(PROPOSED, {**HIRED, "why": "\x1b]52;c;aGk=\x07 and [/b]"})
    assert "\x1b" not in begun
    assert changed(PROPOSED, begun, begun) == ({}, [])
    assert changed(PROPOSED, begun, begun.replace("can: marks, links", "can: marks")) == (
        {"capabilities": ("marks",)},
        [],
    )


@pytest.mark.parametrize(
    ("line", "instead", "words"),
    [
        ("role: executor", "role: boss", "line 3: there is no role 'boss'"),
        ("short name: scout", "short name: The Scout", "line 2: a short name has small letters"),
        ("usd a day: 1.25", "usd a day: a lot", "line 6: 'a lot' is no amount"),
        ("runs at once: 2", "runs at once: many", "line 7: 'many' is no whole number"),
        ("name: Milo", "nickname: Milo", "line 1: begin it with one of: name"),
        ("name: Milo", "name:", "line 1: what is it called?"),
        ("can: marks, links", "", "the line can: is missing"),
        ("can: marks, links", "role: ceo", "line 4: role is there twice"),
    ],
)
def test_what_cannot_be_understood_is_named(line: str, instead: str, words: str) -> None:
    _, problems = read_lines(HIRE, lines_of(HIRE, HIRED).replace(line, instead, 1))
    assert any(words in str(problem) for problem in problems), problems


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("5", (5_000_000, None)),
        ("$2.50 week", (2_500_000, BudgetPeriod.WEEK)),
        ("1,000 USD a month", (1_000_000_000, BudgetPeriod.MONTH)),
        ("100 in all", (100_000_000, BudgetPeriod.TOTAL)),
        ("0", (0, None)),
        ("0.000001 day", (1, BudgetPeriod.DAY)),
        ("-1", None),
        ("5 fortnight", None),
        ("1e3", None),
        ("", None),
        ("99999999999", None),
    ],
)
def test_amounts(text: str, found: tuple[int, BudgetPeriod | None] | None) -> None:
    assert read_amount(text) == found


@pytest.mark.parametrize("micros", [0, 1, 5_000_000, 1_250_000, 999_999])
def test_an_amount_is_read_back(micros: int) -> None:
    assert read_amount(usd(micros)) == (micros, None)


def test_changes_are_read_back_as_they_were() -> None:
    payload = {
        "why": "it is better\nfor all",
        "changes": [
            {"agent": "links", "manager": "ceo", "duties": "every link\nof every file"},
            {"agent": "inventory", "manager": ""},
            {"agent": "why", "duties": "it explains"},
        ],
    }
    assert read_changes(changes_text(payload)) == (payload, [])


def test_changes_that_say_nothing_are_named() -> None:
    _, problems = read_changes("why: because\nlinks to ceo\n")
    assert [problem.line for problem in problems] == [2, 1]


def test_the_charts_stand_side_by_side() -> None:
    def row(agent: str, manager: str | None, duties: str = "") -> dict[str, Any]:
        return {"agent": agent, "name": agent, "role": "executor", "manager": manager, "duties": duties}

    before = [row("ceo", None), row("links", "ceo"), row("figures", "ceo"), row("files", "figures")]
    after = [row("ceo", None), row("links", "figures"), row("figures", "ceo"), row("files", "figures", "Every file")]
    ((_, found),) = of_charts(before, after).sections
    assert [(each.kind, each.before, each.after) for each in found] == [
        ("same", "ceo", "ceo"),
        ("removed", "  links", ""),
        ("same", "  figures", "  figures"),
        ("added", "", "    links"),
        ("changed", "    files", "    files: Every file"),
    ]
