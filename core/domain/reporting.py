"""The report on a goal as Markdown: composed by the program from the board, so that it says what is there (S2-14).

Texts of agents are data: they become plain words in it, never structure, and the whole has a size that it keeps to.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from core.domain.coverage import Coverage, Covered
from core.domain.discussion import is_placeholder
from core.domain.entities import Goal, Output, Round, Task
from core.domain.plain_markdown import fenced, line, paragraphs
from core.domain.states import TaskStatus

# How many items a list has and how many characters a text, tried in turn until the whole fits.
_SCALES = ((500, 4_000), (200, 1_500), (100, 600), (50, 300), (25, 150), (10, 100), (5, 60), (2, 40))


@dataclass(frozen=True, slots=True)
class Spent:
    """What the runs of a goal took: counts, tokens, millionths of a dollar, and their time in ms."""

    runs: int
    tokens_in: int
    tokens_out: int
    cost_micros: int
    worked_ms: int


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """All that a report tells. `outputs` need no content; `excerpts` has the beginning of inline ones by id."""

    goal: Goal
    version: int
    now: int
    summary: str
    findings: Sequence[str]
    not_done: Sequence[str]
    coverage: Coverage
    tasks: Sequence[Task]
    outputs: Sequence[Output]
    excerpts: Mapping[int, str]
    rounds: Sequence[Round]
    notes: Sequence[str]
    spent: Spent
    red_lines: Sequence[str] = ()  # acts that were refused or blocked there, a sentence each


@dataclass(frozen=True, slots=True)
class _Scale:
    items: int
    chars: int

    def listed(self, items: Sequence[str], none: str) -> list[str]:
        """The lines of a list, cut, with how much is left out."""
        if not items:
            return [none]
        cut = [*items[: self.items]]
        return cut if len(cut) == len(items) else [*cut, f"- … and {len(items) - len(cut)} more, left out here"]


def report_title(goal_id: int, version: int) -> str:
    """What the report is called on the board."""
    return f"Report on G{goal_id}, version {version}"


def report_file(goal_id: int, version: int) -> str:
    """The name of its file in the folder `reports/`."""
    return f"G{goal_id}-v{version}.md"


def compose(facts: ReportFacts, most: int) -> str:
    """The report, at most `most` bytes of UTF-8. What does not fit is left out, and the report says how much."""
    for items, chars in _SCALES:
        text = _composed(facts, _Scale(items, chars))
        if len(text.encode()) <= most:
            return text
    end = "\n\n… the rest is left out: it is too long.\n"
    return text.encode()[: most - len(end.encode())].decode(errors="ignore") + end


def _composed(facts: ReportFacts, scale: _Scale) -> str:
    sections: tuple[tuple[str, Callable[[ReportFacts, _Scale], list[str]]], ...] = (
        ("Summary", lambda facts, scale: [paragraphs(facts.summary, scale.chars * 5)]),
        ("Coverage of the must-haves", _coverage),
        ("Key findings", lambda facts, scale: _bullets(facts.findings, scale, "None was named.")),
        ("Decisions", _decisions),
        ("What was not done", _not_done),
        ("Sent back before", _notes),
        ("Cost and time", _cost),
        ("Outputs", _outputs),
    )
    lines = [f"# {report_title(facts.goal.id, facts.version)}", "", f"**{line(facts.goal.title, 200)}**", ""]
    for title, section in sections:
        found = section(facts, scale)
        if found:
            lines += [f"## {title}", "", *found, ""]
    return "\n".join(lines)


def _bullets(texts: Iterable[str], scale: _Scale, none: str) -> list[str]:
    return scale.listed([f"- {line(text, scale.chars)}" for text in texts if text.strip()], none)


def _coverage(facts: ReportFacts, scale: _Scale) -> list[str]:
    musts = facts.coverage.must_haves
    if not musts:
        return ["The goal names none."]
    outputs = {output.id: output for output in facts.outputs}
    head = ["| Must-have | What | State | Delivered by |", "|---|---|---|---|"]
    rows = [
        f"| {line(must.id, 20)} | {line(must.text, scale.chars)} | {_state(must)} | {_links(must, outputs, scale)} |"
        for must in musts[: scale.items]
    ]
    more = len(musts) - len(rows)
    return [*head, *rows, *(["", f"… and {more} more must-haves, left out here."] if more else [])]


def _state(covered: Covered) -> str:
    return f"waived by {line(covered.waived_by, 40)}" if covered.waived_by else covered.state


def _links(covered: Covered, outputs: Mapping[int, Output], scale: _Scale) -> str:
    shown = [_link(outputs[output], scale) for output in covered.outputs[: scale.items] if output in outputs]
    more = len(covered.outputs) - len(shown)
    return ", ".join([*shown, *([f"and {more} more"] if more else [])]) or "–"


def _link(output: Output, scale: _Scale) -> str:
    """A link to the delivered file beside the report's folder, or to the excerpt in this report."""
    target = f"#o{output.id}" if output.path is None else f"../outputs/{quote(output.path)}"
    return f"[{output.name_tag} {line(output.title, min(scale.chars, 80))}]({target})"


def _decisions(facts: ReportFacts, scale: _Scale) -> list[str]:
    outputs = {output.id: output for output in facts.outputs}
    said = [
        f"- {line(decision.text, scale.chars)} ({_landed(decision, outputs, scale)})"
        for decision in facts.coverage.decisions
    ]
    rounds = [
        f"- Round {round_.number}: {round_.decision}: {line(round_.answers.get('next_step', ''), scale.chars)}"
        for round_ in facts.rounds
        if round_.decision is not None
    ]
    return scale.listed(said + rounds, "None was recorded.")


def _landed(decision: Covered, outputs: Mapping[int, Output], scale: _Scale) -> str:
    return _state(decision) if decision.waived_by else f"in {_links(decision, outputs, scale)}"


def _not_done(facts: ReportFacts, scale: _Scale) -> list[str]:
    said = [f"- {line(text, scale.chars)}" for text in facts.not_done if text.strip()]
    waived = [
        f"- {line(must.id, 20)} {line(must.text, scale.chars)}: {_state(must)}"
        for must in facts.coverage.must_haves
        if must.waived_by
    ]
    ended = [
        f"- {task.name_tag} {line(task.title, scale.chars)}: {task.status}"
        + (f", {line(task.reason, scale.chars)}" if task.reason.strip() else "")
        for task in facts.tasks
        if task.status in (TaskStatus.FAILED, TaskStatus.CANCELLED) and not is_placeholder(task)
    ]
    scope = [f"- Out of scope from the start: {line(text, scale.chars)}" for text in facts.goal.out_of_scope]
    held = [f"- {line(text, scale.chars)}" for text in facts.red_lines]
    return scale.listed(said + waived + ended + held + scope, "Everything that was asked for was done.")


def _notes(facts: ReportFacts, scale: _Scale) -> list[str]:
    return _bullets(facts.notes, scale, "") if facts.notes else []


def _cost(facts: ReportFacts, scale: _Scale) -> list[str]:
    spent, done = facts.spent, sum(task.status == TaskStatus.DONE for task in facts.tasks)
    return [
        f"- {_many(len(facts.rounds), 'round')}, {_many(len(facts.tasks), 'task')}, {done} done",
        f"- {_many(spent.runs, 'run')}, together {duration(spent.worked_ms)} of work",
        f"- {spent.tokens_in:,} tokens read, {spent.tokens_out:,} written, ${spent.cost_micros / 1_000_000:,.2f}",
        f"- {duration(facts.now - facts.goal.created_at)} from the goal's draft to this report",
    ]


def _outputs(facts: ReportFacts, scale: _Scale) -> list[str]:
    """The inline outputs that the coverage links to: where they come from, and how they begin."""
    by_id = {output.id: output for output in facts.outputs}
    linked = dict.fromkeys(output for must in facts.coverage.must_haves for output in must.outputs)
    inline = [by_id[output] for output in linked if output in by_id and by_id[output].path is None]
    lines = []
    for output in inline[: scale.items]:
        title = line(output.title, min(scale.chars, 200))
        lines += [
            f"### O{output.id}",
            "",
            f"{title} ({output.type}, {output.size:,} bytes, by {line(output.created_by, 40)})",
        ]
        lines += ["", *fenced(facts.excerpts.get(output.id, ""), min(scale.chars, 600)), ""]
    if len(inline) > scale.items:
        lines += [f"… and {len(inline) - scale.items} more, left out here."]
    return lines


def _many(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def duration(ms: int) -> str:
    """A span of time for people: `2 h 5 min`, `3 min 7 s`, `12 s`."""
    seconds = max(ms, 0) // 1000
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes} min"
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
