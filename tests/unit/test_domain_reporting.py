"""The report as Markdown: it tells what is on the board, stays whole whatever the texts are, and keeps to its size."""

from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from core.domain.coverage import cover
from core.domain.discussion import placeholder_key
from core.domain.entities import Decision, Goal, Output, Round, Task
from core.domain.limits import INLINE_OUTPUT_MAX
from core.domain.plain_markdown import fenced, line, paragraphs
from core.domain.reporting import ReportFacts, Spent, compose, duration, report_file
from core.domain.states import OutputType, RoundDecision, TaskStatus
from tests.unit.facts import NOW, a

NASTY = (
    "a|b `c` \n| d | ```\n# head <script>alert(1)</script> [x](javascript:y) \x1b[31m\x00\u202e *b* \\| ![i](u) &amp;"
)
SPENT = Spent(runs=3, tokens_in=1234, tokens_out=56, cost_micros=1_500_000, worked_ms=125_000)


def must(number: int, text: str = "count", waived_by: str = "") -> dict[str, str]:
    return {"id": f"M{number}", "text": text, "waived_by": waived_by}


def facts(text: str = "count", musts: int = 1, tasks: int = 1, **more: object) -> ReportFacts:
    goal = a(
        Goal, title=text, must_haves=tuple(must(i, text) for i in range(1, musts + 1)), created_at=NOW,
        out_of_scope=(text,),
    )  # fmt: skip
    named = tuple(f"M{i}" for i in range(1, musts + 1))
    done = [a(Task, id=i, title=text, status=TaskStatus.DONE, must_haves=named) for i in range(1, tasks + 1)]
    failed = [a(Task, id=tasks + i, title=text, status=TaskStatus.FAILED, reason=text) for i in range(1, tasks + 1)]
    outputs = [
        a(Output, id=i, goal_id=1, task_id=1, title=text, type=OutputType.DATA, path="a b/ü.md" if i % 2 else None,
          must_haves=(f"M{i}",), created_by="ada", size=10)
        for i in range(1, musts + 1)
    ]  # fmt: skip
    decisions = [a(Decision, id=1, goal_id=1, text=text, covered_by=(1,))]
    usual = {
        "goal": goal, "version": 2, "now": NOW + 3_725_000, "summary": text, "findings": (text,), "not_done": (text,),
        "coverage": cover(goal, done, outputs, decisions), "tasks": (*done, *failed), "outputs": outputs,
        "excerpts": dict.fromkeys(range(1, musts + 1), text), "notes": (text,), "spent": SPENT,
        "rounds": [a(Round, decision=RoundDecision.REPORT, answers={"next_step": text})],
    }  # fmt: skip
    return ReportFacts(**{**usual, **more})  # type: ignore[arg-type]


def rows_of(markdown: str) -> list[list[str]]:
    """The cells of the first table, as a reader of Markdown sees them."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    begin = next(i for i, token in enumerate(tokens) if token.type == "table_open")
    rows: list[list[str]] = []
    for i, token in enumerate(tokens[begin:], begin):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("td_open", "th_open"):
            rows[-1].append(tokens[i + 1].content)
        elif token.type == "table_close":
            break
    return rows


def headings(markdown: str) -> list[str]:
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    return [
        tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h2"
    ]


def test_it_tells_what_was_asked_for_what_is_there_and_what_it_took() -> None:
    text = compose(facts(musts=2), INLINE_OUTPUT_MAX)
    assert text.startswith("# Report on G1, version 2\n")
    assert headings(text) == [
        "Summary", "Coverage of the must-haves", "Key findings", "Decisions", "What was not done", "Sent back before",
        "Cost and time", "Outputs",
    ]  # fmt: skip
    rows = rows_of(text)
    assert [row[0] for row in rows] == ["Must-have", "M1", "M2"]
    assert "(../outputs/a%20b/%C3%BC.md)" in rows[1][3]
    assert "(#o2)" in rows[2][3]
    assert "### O2" in text
    assert "T2 count: failed, count" in text
    assert "$1.50" in text
    assert "1 h 2 min" in text
    assert "2 min 5 s" in text


def test_a_waived_must_have_is_told_as_not_done() -> None:
    goal = a(Goal, must_haves=(must(1, "sizes", "human"),))
    text = compose(facts(goal=goal, coverage=cover(goal, [], [], [])), INLINE_OUTPUT_MAX)
    assert rows_of(text)[1][2] == "waived by human"
    assert "- M1 sizes: waived by human" in text


def test_the_task_that_only_stood_for_the_whole_goal_is_no_gap() -> None:
    gone = {"status": TaskStatus.CANCELLED, "reason": "superseded"}
    stood = a(Task, id=1, goal_id=1, title="all of it", idempotency_key=placeholder_key(1), **gone)
    dropped = a(Task, id=2, goal_id=1, title="the rest", **gone)
    text = compose(replace(facts(), tasks=(stood, dropped)), INLINE_OUTPUT_MAX)
    assert "all of it" not in text
    assert "- T2 the rest: cancelled, superseded" in text


def test_hostile_texts_stay_words() -> None:
    calm, hostile = compose(facts(musts=3), INLINE_OUTPUT_MAX), compose(facts(NASTY, musts=3), INLINE_OUTPUT_MAX)
    assert [len(row) for row in rows_of(hostile)] == [4, 4, 4, 4]
    assert headings(hostile) == headings(calm)
    tokens = MarkdownIt("commonmark").enable("table").parse(hostile)
    kinds = {token.type for token in tokens} | {child.type for token in tokens for child in token.children or ()}
    assert not kinds & {"html_block", "html_inline", "image", "code_inline"}
    links = [child.attrGet("href") for token in tokens for child in token.children or () if child.type == "link_open"]
    assert all(str(link).startswith(("../outputs/", "#o")) for link in links)
    assert not any(char in hostile for char in "\x1b\x00\u202e")


@pytest.mark.parametrize(
    "text", ["- a\n- b", "1. x", "=====\n---", "    code", "> quote", "| a | b |\n|---|---|", "```\nx"]
)
def test_paragraphs_hold_no_structure_but_plain_lists(text: str) -> None:
    kinds = {token.type for token in MarkdownIt("commonmark").enable("table").parse(paragraphs(text, 500))}
    assert kinds <= {"paragraph_open", "paragraph_close", "inline", "bullet_list_open", "bullet_list_close",
                     "list_item_open", "list_item_close"}  # fmt: skip


@pytest.mark.parametrize("text", ["```", "x\n````\ny", "`" * 50, ""])
def test_nothing_closes_a_code_block_from_within(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse("\n".join(fenced(text, 500)))
    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].content.rstrip("\n") == text


def test_a_line_is_one_line_and_is_cut_where_it_says() -> None:
    assert "\n" not in line("a\r\nb\u2028c\x0bd", 100)
    assert line("x" * 100, 10) == "x" * 9 + "…"


@pytest.mark.soak
def test_a_huge_goal_has_a_report_that_fits_and_says_how_much_is_left_out() -> None:
    text = compose(facts("many words | " * 300, musts=300, tasks=300), INLINE_OUTPUT_MAX)
    assert len(text.encode()) <= INLINE_OUTPUT_MAX
    assert "left out" in text
    assert {len(row) for row in rows_of(text)} == {4}
    assert "Cost and time" in headings(text)
    assert len(compose(facts("界" * 20_000, musts=50), 2_000).encode()) <= 2_000


@pytest.mark.parametrize(
    ("ms", "said"), [(-5, "0 s"), (59_999, "59 s"), (60_000, "1 min 0 s"), (7_260_000, "2 h 1 min")]
)
def test_spans_of_time(ms: int, said: str) -> None:
    assert duration(ms) == said


def test_the_files_name_has_numbers_alone() -> None:
    assert report_file(12, 3) == "G12-v3.md"
