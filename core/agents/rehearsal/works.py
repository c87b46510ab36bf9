"""The works of an audit as one table, and the tasks made from it. Pure; who decides when is in `coordinator`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.agents.rehearsal.words import cut, named
from core.domain.entities import Goal, MustHave, Task
from core.domain.states import TASK_FINAL, TaskStatus

CLOSER_LOOK = "closer_look"
CHOICE = "choice"
CHOSEN_BY = ("marks", "history", "duplicates")
ATTEMPTS = 3
LEFT_OUT = "What git ignores, the .git folder and links are left out of every figure."
"""What the first seat of a discussion decides for all; each output of figures names it."""


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of audit. `words` are those by which a must-have that a person reworded is still known.

    `verify` says how one can see that the must-have is there.
    """

    kind: str
    capability: str
    must_have: str
    words: tuple[str, ...]
    title: str
    intent: str
    end_state: str
    verify: str = ""


WORKS: dict[str, Work] = {
    work.kind: work
    for work in (
        Work(
            "inventory", "inventory",
            "An inventory of the languages: files, lines and bytes of each",
            ("inventory", "languages", "语言", "盘点", "清单"),
            "Take an inventory of the languages",
            "Know what the folder is made of.",
            "One JSON output with files, lines and bytes of each language, of other files, and of all; the languages"
            " and the others add up to the total.",
            "The files, lines and bytes of a language are counted again in another way and are equal.",
        ),
        Work(
            "marks", "marks",
            "All TODO and FIXME marks with their places",
            ("todo", "fixme", "marks", "待办", "标记"),
            "Collect the TODO and FIXME marks",
            "Know what its authors left for later, and where.",
            "One JSON output with the number of marked lines and files, the first 200 places (path and line), and the"
            " ten files with most.",
            "A search for the two words in the same files finds as many marked lines.",
        ),
        Work(
            "history", "history",
            "The largest and the longest-untouched files",
            ("largest", "untouched", "oldest", "history", "历史", "最大", "最久"),
            "Find the largest and the longest-untouched files",
            "Know where the weight lies, and what nobody has looked after.",
            "One JSON output with the ten largest files (bytes, lines) and the ten longest untouched (date, and whether"
            " a commit or the file system says so).",
            "The sizes of the files that it names are read again and are equal; none that is left out is larger.",
        ),
        Work(
            "documentation", "documentation",
            "A check of the documentation: sections of the README, dead relative links in Markdown",
            ("documentation", "readme", "links", "文档", "链接"),
            "Check the documentation",
            "Know whether a newcomer finds the way.",
            "One JSON output that tells which expected sections the README has, and each relative link in Markdown that"
            " leads nowhere.",
            "Each dead link that it names is followed again, and leads nowhere.",
        ),
        Work(
            "duplicates", "duplicates",
            "The exact duplicate files",
            ("duplicate", "copies", "重复", "副本"),
            "Find exact duplicates",
            "Know what lies there more than once.",
            "One JSON output with every group of non-empty files of equal bytes, and the bytes that could be spared.",
            "The files of a group have the same hash when they are read again.",
        ),
        Work(
            CLOSER_LOOK, "closer-look",
            "A closer look at the largest finding of the first round",
            ("closer look", "largest finding", "细看", "深入"),
            "Look closer at the largest finding",
            "Know what is behind the largest finding of the round before.",
            "One JSON output on the one file that the arguments name: its size, lines, marks, repeated lines, and"
            " commits.",
            "The figures of the file that it names are computed again and are equal.",
        ),
    )
}  # fmt: skip

THE_CHOICE = Work(
    CHOICE, "closer-look", "", (),
    "Choose the file for the closer look",
    "Let the figures say which file is the largest finding, before anybody looks closer.",
    "One JSON output that names the file and why, from the approved figures of the tasks that it waits for.",
)  # fmt: skip
ALL_WORKS: dict[str, Work] = {**WORKS, CHOICE: THE_CHOICE}
"""With the choice, which delivers no must-have itself: it is a step towards the closer look."""


def work_of(must: MustHave) -> Work | None:
    """The work that delivers a must-have, by its text or, if a person reworded it, by its words."""
    text = must["text"].casefold()
    for work in WORKS.values():
        if text == work.must_have.casefold():
            return work
    # The closer look is last in the table and speaks of the largest finding, so its words are looked for first.
    for work in reversed(WORKS.values()):
        if any(word in text for word in work.words):
            return work
    return None


def wanted(goal: Goal) -> dict[str, tuple[str, ...]]:
    """The kinds of work that a goal needs, in order, with the must-haves that each covers; all without any."""
    if not goal.must_haves:
        return dict.fromkeys(WORKS, ())
    found: dict[str, tuple[str, ...]] = {}
    for must in goal.must_haves:
        work = work_of(must)
        if work is not None and not must["waived_by"]:
            found[work.kind] = (*found.get(work.kind, ()), must["id"])
    return {kind: found[kind] for kind in WORKS if kind in found}


def beyond_us(goal: Goal) -> list[MustHave]:
    """Must-haves that no rehearsal agent can deliver and no person waived."""
    return [must for must in goal.must_haves if not must["waived_by"] and work_of(must) is None]


def first_kinds(goal: Goal) -> list[str]:
    """What is done before the closer look; for that alone, the works that it chooses its file by."""
    kinds = [kind for kind in wanted(goal) if kind != CLOSER_LOOK]
    return kinds or (["marks", "history"] if wanted(goal) else [])


def planned_kinds(goal: Goal) -> list[str]:
    """The works of round 1: the first ones, and the choice where a closer look is wanted."""
    return [*first_kinds(goal), *([CHOICE] if CLOSER_LOOK in wanted(goal) else [])]


def serves(goal: Goal, kind: str) -> tuple[str, ...]:
    """The must-haves that a task of this kind is for: those it delivers, or else the closer look's."""
    found = wanted(goal)
    return found.get(kind) or found.get(CLOSER_LOOK, ())


def key_of(goal: Goal, kind: str, version: int = 1, attempt: int = 1) -> str:
    """The idempotency key of a task: whoever makes it, it is made once."""
    return f"rehearsal:G{goal.id}:v{version}:{kind}:{attempt}"


def of_version(tasks: Iterable[Task], kind: str, version: int) -> list[Task]:
    """The tasks of one kind of work for one version of the report, oldest first."""
    return [
        task
        for task in tasks
        if task.arguments.get("audit") == kind and task.arguments.get("version", 1) == version
    ]  # fmt: skip


def is_done(tasks: Iterable[Task]) -> bool:
    """Whether one of them is done."""
    return any(task.status == TaskStatus.DONE for task in tasks)


def is_settled(tasks: Sequence[Task]) -> bool:
    """Done, or tried as often as it may be."""
    return is_done(tasks) or (len(tasks) >= ATTEMPTS and all(task.status in TASK_FINAL for task in tasks))


def new_task(
    goal: Goal, kind: str, version: int, earlier: Sequence[Task] = (), *, note: str = "", path: str | None = None,
    finding: str = "",
) -> dict[str, Any]:  # fmt: skip
    """The arguments of a new task; after earlier ones it is a retry that says why they ended."""
    work = ALL_WORKS[kind]
    last = earlier[-1] if earlier else None
    intent, arguments, title = work.intent, {"audit": kind, "version": version}, work.title
    if kind == CLOSER_LOOK:
        arguments["path"] = path
        intent += f" The largest finding: {finding}."
        title = f"Look closer at {named(path, 120)}" if path else "Say that there is nothing to look closer at"
    if kind not in wanted(goal) and kind != CHOICE and wanted(goal):
        arguments["step"] = True
    if note:
        intent += f" The operator sent the report back: “{note}” Every figure is computed again."
    if last is not None:
        intent += f" {last.name_tag} ended as {last.status}: {cut(last.reason, 300)}"
    return {
        "title": title if last is None else f"{title} (attempt {len(earlier) + 1})",
        "intent": intent,
        "end_state": work.end_state,
        "constraints": ("Read only: nothing in the folder is changed.",),
        "must_haves": serves(goal, kind),
        "capabilities": (work.capability,),
        "arguments": arguments,
        "retry_of": None if last is None else last.id,
        "idempotency_key": key_of(goal, kind, version, len(earlier) + 1),
    }


def largest_finding(figures: Mapping[str, Mapping[str, Any]], barred: frozenset[str]) -> tuple[str | None, str]:
    """The file that deserves a closer look and why, from the real figures of the round; None in an empty folder."""
    for row in figures.get("marks", {}).get("top_files", []):
        if row["path"] not in barred:
            return row["path"], f"{named(row['path'])} holds most TODO and FIXME marks ({row['lines']} lines)"
    for row in figures.get("history", {}).get("largest", []):
        if row["path"] not in barred:
            return row["path"], f"{named(row['path'])} is the largest file ({row['bytes']} bytes)"
    for group in figures.get("duplicates", {}).get("groups", []):
        for path in group:
            if path not in barred:
                return path, f"{named(path)} is there {len(group)} times"
    return None, "the folder holds no file to look at"
