"""The verdicts on a thing: on a task stage by stage, with what was answered to them; on rounds the three answers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.company import OpenCompany
from core.domain.entities import Review, Round, Task
from core.domain.reviewing import AUTHENTICITY, HANDOFF, standing
from core.domain.states import Dimension, RebuttalAnswer, ReviewStep, Verdict
from tui import signs
from tui.panes.words import clock_time
from tui.projection import Projection
from tui.text import in_words
from tui.widgets.prose import Block
from tui.widgets.row import Cell, Tone

MOST = 200
VERDICTS: dict[str, tuple[str, Tone]] = {
    Verdict.APPROVED: ("✓ approved", "good"),
    Verdict.REJECTED: ("✗ rejected", "bad"),
    Verdict.NEEDS_REVISION: ("↺ needs revision", "warn"),
}
STAGES: dict[str, str] = {
    ReviewStep.REVIEW: "first look",
    ReviewStep.SECOND: "second look",
    ReviewStep.REPLY: "reply to the rebuttal",
    ReviewStep.RULING: "ruling",
}
ASKED_OF_ALL = frozenset({HANDOFF, AUTHENTICITY, *(str(dimension) for dimension in Dimension)})
_ANSWERS: dict[str, str] = {
    RebuttalAnswer.ACCEPT: "accepts it",
    RebuttalAnswer.REJECT: "rejects it",
    RebuttalAnswer.PARTIAL: "accepts a part of it",
}


async def read_reviews(company: OpenCompany, view: Projection, kind: str, number: int) -> list[Block]:
    """What was judged about one thing, the first verdict first."""
    blocks: list[Block] = []
    if kind in ("goal", "round"):
        found = view.tables.get(Round, number)
        rounds = view.rounds(number) if kind == "goal" else [found] if found else []
        blocks += [_round(one) for one in rounds if one.answers or one.decision]
    where = f"subject = :kind AND subject_id = :id ORDER BY id LIMIT {MOST}"
    reviews = await company.board.readers.entities(Review, where, kind=kind, id=number)
    task = view.tables.get(Task, number) if kind == "task" else None
    numbers = {id(each.finding): each.number for each in standing(reviews)}
    for review in reviews:
        blocks += _review(review, numbers)
    if task is not None and task.criteria:
        blocks.append(_criteria(task))
    return blocks


def _round(round_: Round) -> Block:
    sign, word, tone = signs.ROUND[round_.status]
    decided = f"→ {in_words(round_.decision)}" if round_.decision else ""
    heading: tuple[Cell, ...] = ((f"Round {round_.number}", "strong"), (f"{sign} {word}", tone), (decided, "info"))
    body = "\n".join(f"{in_words(name)}: {text}" for name, text in round_.answers.items())
    return Block(heading, body, tone)


def _criteria(task: Task) -> Block:
    """What later verdicts may name; it was frozen so that a reviewer cannot ask for more each time (F8)."""
    heading: tuple[Cell, ...] = (("Judged by", "strong"), ("frozen at the first verdict", "dim"))
    own = [f"{in_words(each['id'])}: {each['text']}" for each in task.criteria if each["id"] not in ASKED_OF_ALL]
    same = [in_words(each["id"]) for each in task.criteria if each["id"] in ASKED_OF_ALL]
    return Block(heading, "\n".join([*own, *([f"as of every task: {', '.join(same)}"] if same else [])]), "dim")


def _review(review: Review, numbers: Mapping[int, int]) -> Iterator[Block]:
    verdict, tone = VERDICTS[review.verdict]
    stage: Cell = (STAGES.get(review.stage, review.stage), "info")
    if not review.settled:
        stage = ("◷ waits for a second look", "warn")
    heading: tuple[Cell, ...] = ((verdict, tone), review.reviewer, stage, (clock_time(review.created_at), "dim"))
    yield Block(heading, "\n".join(_lines(review, numbers)), tone)
    if review.rebuttal_answer:
        answer = _ANSWERS.get(review.rebuttal_answer, review.rebuttal_answer)
        said: tuple[Cell, ...] = (
            (f"⇄ {review.rebuttal_answer}", "warn"), (f"{review.rebutted_by} {answer}", "strong"),
        )  # fmt: skip
        yield Block(said, review.rebuttal, "warn")


def _lines(review: Review, numbers: Mapping[int, int]) -> Iterator[str]:
    if summary := review.dimensions.get("summary"):
        yield summary
    for name, text in review.dimensions.items():
        if name != "summary":
            yield f"{in_words(name)}: {text}"
    if review.findings:
        yield ""
    for finding in review.findings:
        yield from _finding(finding, numbers.get(id(finding)))
    opened = ", ".join(f"O{number}" for number in review.opened_outputs)
    yield "\n" + f"attempt {review.attempt}" + (f" · opened {opened}" if opened else "")


def _finding(finding: Mapping[str, Any], number: int | None) -> Sequence[str]:
    """What, where, change to what, because; by which criterion, and under which number later verdicts name it."""
    if "follow_up" in finding:
        # 0 until the verdict is settled: a task of its own would tell the second reviewer what the first one found
        taken_up = f"T{finding['follow_up']} takes up" if finding["follow_up"] else "to become a task"
        begins = f"→ {taken_up}: "
    elif finding.get("earlier") is not None:
        begins = f"finding {finding['earlier']} stands: "
    else:
        begins = f"finding {number}: " if number is not None else "• "
    criterion = f"  [{in_words(finding['criterion'])}]" if finding.get("criterion") else ""
    lines = [f"{begins}{finding.get('what', '')}{criterion}"]
    lines += [f"  {name}: {finding[name]}" for name in ("where", "change", "because") if finding.get(name)]
    return lines
