"""The report as Markdown: true figures from approved outputs. Pure; all text of the folder is escaped."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.agents.rehearsal.words import counted, markdown, named, number
from core.domain.entities import Goal, Review, Round, Task
from core.domain.states import TaskStatus, Verdict

GROUPS_SHOWN = 100
LINKS_SHOWN = 200
Rows = Iterable[Sequence[Any]]
Figures = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a report is made from. `figures` are approved results by kind of work."""

    goal: Goal
    folder: str
    version: int
    tasks: tuple[Task, ...]
    rounds: tuple[Round, ...]
    reviews: tuple[Review, ...]
    figures: Mapping[str, Figures]
    quotes: tuple[Figures, ...]
    notes: tuple[str, ...]
    names: Mapping[int, str]


def page(facts: Facts) -> str:
    """The whole report."""
    sections = [
        [f"# {markdown(facts.goal.title)}", "", f"Folder: {markdown(facts.folder)}", "", *_lead(facts)],
        _notes(facts),
        *(
            ["", f"## {title}", "", *write(facts.figures[kind])]
            for kind, (title, write) in _SECTIONS.items()
            if kind in facts.figures
        ),
        _quotes(facts),
        _must_haves(facts),
        _people(facts),
        _rounds(facts),
        _left_out(facts),
    ]
    return "\n".join(line for section in sections for line in section) + "\n"


def summary(facts: Facts) -> str:
    """What the operator should know first, in plain text."""
    return " ".join([f"{facts.goal.title}, version {facts.version} of the report.", *_said(facts.figures)])


def _said(figures: Mapping[str, Figures]) -> list[str]:
    said = []
    if inventory := figures.get("inventory"):
        total = inventory["total"]
        sizes = [counted(total[figure], figure[:-1]) for figure in ("files", "lines", "bytes")]
        said.append(f"{', '.join(sizes)} in {counted(len(inventory['languages']), 'language')}.")
    if marks := figures.get("marks"):
        said.append(f"{counted(marks['lines'], 'TODO or FIXME mark')} in {counted(marks['files'], 'file')}.")
    if documentation := figures.get("documentation"):
        readme = "A README" if documentation["readme"] else "No README"
        said.append(f"{readme}, {counted(len(documentation['dead_links']), 'dead link')}.")
    if duplicates := figures.get("duplicates"):
        said.append(f"{counted(len(duplicates['groups']), 'group')} of equal files.")
    if look := figures.get("closer_look"):
        said.append(f"Looked closer at {named(look['path'])}." if look.get("path") else "No file to look closer at.")
    return said


def findings(facts: Facts) -> list[str]:
    """What the operator should look at, a line each, in plain text."""
    said = []
    figures = facts.figures
    for row in figures.get("marks", {}).get("top_files", [])[:1]:
        said.append(f"Most marks: {named(row['path'])} ({counted(row['lines'], 'line')}).")
    for row in figures.get("history", {}).get("largest", [])[:1]:
        said.append(f"Largest file: {named(row['path'])} ({counted(row['bytes'], 'byte')}).")
    for row in figures.get("history", {}).get("untouched", [])[:1]:
        said.append(f"Longest untouched: {named(row['path'])} ({row['date'][:10]}).")
    links = figures.get("documentation", {}).get("dead_links", [])
    if links:
        said.append(f"{counted(len(links), 'dead link')}, e.g. in {named(links[0]['file'])}.")
    if (spare := figures.get("duplicates", {}).get("spare_bytes", 0)) > 0:
        said.append(f"{counted(spare, 'byte')} could be spared: equal files lie there more than once.")
    return said


def left_undone(facts: Facts) -> list[str]:
    """What the audits could not read, and what they never look at."""
    results = facts.figures.values()
    skipped = [row for result in results for row in result.get("skipped", {}).get("first", [])]
    said = sorted({f"{named(row['path'])} was not read: {row['reason']}" for row in skipped})
    return [*said[:20], *sorted({note for result in results for note in result.get("notes", [])})[:10]]


def table(head: Sequence[str], rows: Rows, right: frozenset[int] = frozenset()) -> list[str]:
    """A Markdown table; the cells are escaped already. Without rows: 'None.'"""
    body = [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
    if not body:
        return ["None."]
    rule = " | ".join("---:" if at in right else "---" for at in range(len(head)))
    return [f"| {' | '.join(head)} |", f"| {rule} |", *body]


def _lead(facts: Facts) -> list[str]:
    return [" ".join(markdown(sentence) for sentence in _said(facts.figures)) or "There are no figures."]


def _notes(facts: Facts) -> list[str]:
    if not facts.notes:
        return []
    lead = f"Version {facts.version}. Every figure below was computed again after the last note."
    lines = [f"* {markdown(note)}" for note in facts.notes]
    return ["", "## The operator's notes", "", *([lead, ""] if facts.version > 1 else []), *lines]


def _inventory(result: Figures) -> list[str]:
    counts = ("files", "lines", "bytes")
    rows = [
        (markdown(name), *(number(group[count]) for count in counts))
        for name, group in sorted(result["languages"].items(), key=lambda item: (-item[1]["bytes"], item[0]))
    ]
    rows += [(f"other {kind} files", *(number(result["other"][kind][count]) for count in counts))
             for kind in ("text", "binary") if result["other"][kind]["files"]]  # fmt: skip
    rows.append(("**all**", *(f"**{number(result['total'][count])}**" for count in counts)))
    return table(("Language", "Files", "Lines", "Bytes"), rows, frozenset({1, 2, 3}))


def _marks(result: Figures) -> list[str]:
    top = [(markdown(row["path"]), number(row["lines"])) for row in result["top_files"]]
    places = [(markdown(row["path"]), row["line"]) for row in result["places"]]
    more = result["lines"] - len(places)
    return [
        f"{counted(result['lines'], 'marked line')} in {counted(result['files'], 'file')}.",
        "",
        *table(("File", "Marked lines"), top, frozenset({1})),
        *(["", "Places:", "", *table(("File", "Line"), places, frozenset({1}))] if places else []),
        *(["", f"And {number(more)} more."] if more > 0 else []),
    ]


def _history(result: Figures) -> list[str]:
    largest = [(markdown(row["path"]), number(row["bytes"]), number(row["lines"])) for row in result["largest"]]
    untouched = [(markdown(row["path"]), row["date"], row["by"]) for row in result["untouched"]]
    return [
        *("### Largest", "", *table(("File", "Bytes", "Lines"), largest, frozenset({1, 2}))),
        *("", "### Longest untouched", "", *table(("File", "Last change", "Told by"), untouched)),
    ]


def _documentation(result: Figures) -> list[str]:
    readme = result["readme"]
    if readme is None:
        lines = ["There is no README."]
    else:
        said = {"heading": "a heading", "text": "only in the text", None: "missing"}
        sections = [(name, said.get(where, str(where))) for name, where in readme["sections"].items()]
        lines = [f"README: {markdown(readme['path'])}", "", *table(("Section", "Found"), sections)]
    links = [(markdown(link["file"]), markdown(link["target"])) for link in result["dead_links"][:LINKS_SHOWN]]
    more = len(result["dead_links"]) - len(links)
    return [
        *lines,
        *("", f"### Dead relative links ({counted(result['markdown_files'], 'Markdown file')} read)", ""),
        *table(("File", "Target"), links),
        *(["", f"And {number(more)} more."] if more > 0 else []),
    ]


def _duplicates(result: Figures) -> list[str]:
    groups = result["groups"]
    rows = [(at, "<br>".join(markdown(path) for path in group)) for at, group in enumerate(groups[:GROUPS_SHOWN], 1)]
    more = len(groups) - len(rows)
    return [
        f"{counted(len(groups), 'group')}, {counted(result['files'], 'file')};"
        f" {counted(result['spare_bytes'], 'byte')} could be spared.",
        "",
        *table(("Group", "Files of equal bytes"), rows, frozenset({0})),
        *(["", f"And {counted(more, 'more group', 'more groups')}."] if more > 0 else []),
    ]


def _closer_look(result: Figures) -> list[str]:
    if result.get("path") is None:
        return ["The folder holds no file to look at."]
    commits, longest = result["commits"], result["longest_line"]
    rows: list[tuple[str, Any]] = [
        ("File", markdown(result["path"])),
        ("Language", markdown(result["language"] or "not known")),
        ("Bytes", number(result["bytes"])),
        ("Lines", number(result["lines"])),
        ("Blank lines", number(result["blank_lines"])),
        ("Longest line", f"{number(longest['line'])} ({counted(longest['bytes'], 'byte')})" if longest else "none"),
        ("Marked lines", number(result["marks"])),
        ("Repeated lines", f"{result['repeated_share']:.1%}"),
        (
            "Commits",
            f"{number(commits['count'])}, {commits['first']} to {commits['last']}" if commits else "none known",
        ),
    ]
    return table(("Figure", "Found"), rows)


def _quotes(facts: Facts) -> list[str]:
    lines: list[str] = []
    for quote in facts.quotes:
        rows = [(row["line"], markdown(row["text"])) for row in quote["lines"]]
        approved = f", approved as Q{quote['approval']}" if quote.get("approval") else ""
        lines += ["", f"### Quoted from {markdown(quote['path'])}{approved}", ""]
        lines += table(("Line", "Text"), rows, frozenset({0}))
    return lines


def _must_haves(facts: Facts) -> list[str]:
    rows = []
    for must in facts.goal.must_haves:
        done = [
            task.name_tag for task in facts.tasks if task.status == TaskStatus.DONE and must["id"] in task.must_haves
        ]
        by = "waived by the operator" if must["waived_by"] else ", ".join(done) or "not covered"
        rows.append((must["id"], markdown(must["text"]), by))
    return ["", "## Must-haves", "", *table(("Id", "What", "Covered by"), rows)] if rows else []


def _people(facts: Facts) -> list[str]:
    rows = []
    for task in facts.tasks:
        reviews = [review for review in facts.reviews if review.subject_id == task.id]
        approved = [review.reviewer for review in reviews if review.verdict == Verdict.APPROVED]
        back = len(reviews) - len(approved)
        reviewed = ", ".join(approved) + (f" (sent back {back} times before)" if back > 1 else "")
        reviewed += " (sent back once before)" if back == 1 else ""
        who = facts.names.get(task.assignee_id or 0, "nobody")
        rows.append((task.name_tag, markdown(task.title), str(task.status), markdown(who), reviewed or "nobody"))
    return ["", "## Who did what", "", *table(("Task", "Title", "Status", "Done by", "Reviewed by"), rows)]


def _rounds(facts: Facts) -> list[str]:
    rows = [
        (
            round_.number,
            round_.total_tasks,
            str(round_.decision or round_.status),
            markdown(round_.answers.get("covered", round_.answers.get("operator", ""))),
        )
        for round_ in facts.rounds
    ]
    return ["", "## Rounds", "", *table(("Round", "Tasks", "Decision", "Covered"), rows, frozenset({0, 1}))]


def _left_out(facts: Facts) -> list[str]:
    notes = sorted({note for result in facts.figures.values() for note in result.get("notes", [])})
    skipped = {
        (row["path"], row["reason"])
        for result in facts.figures.values()
        for row in result.get("skipped", {}).get("first", [])
    }
    if not notes and not skipped:
        return []
    rows = [(markdown(path), markdown(why)) for path, why in sorted(skipped)]
    lines = [f"* {markdown(note)}" for note in notes]
    return ["", "## Left out", "", *(table(("Path", "Why"), rows) if rows else []), *([""] if rows else []), *lines]


_SECTIONS = {
    "inventory": ("Languages", _inventory),
    "marks": ("TODO and FIXME marks", _marks),
    "history": ("Largest and longest untouched files", _history),
    "documentation": ("Documentation", _documentation),
    "duplicates": ("Exact duplicates", _duplicates),
    "closer_look": ("A closer look", _closer_look),
}
