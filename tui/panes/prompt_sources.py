"""What prompts are made from besides the board: own texts, experiences, knowledge. Rows and words for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.domain.entities import Experience
from core.domain.states import ExperienceStatus
from core.prompting.comparing import difference
from core.prompting.templates import OWN, Entry, Problem
from tui.panes.prompt_layers import Unified
from tui.text import counted
from tui.widgets.prose import Block
from tui.widgets.row import Tone
from tui.widgets.rows import Cell, Column, Row

TEXTS = (Column("state", width=10), Column("text", min_width=16), Column("lines", width=9, align="right"))
EXPERIENCES = (
    Column("state", width=9),
    Column("uses", width=4, align="right", drop_below=34),
    Column("from", width=12, drop_below=44),
    Column("experience", min_width=12),
)
KNOWLEDGE = (Column("section", min_width=16), Column("first line", min_width=8, drop_below=60))
_STANDS: dict[ExperienceStatus, tuple[str, Tone]] = {
    ExperienceStatus.NEW: ("★ new", "warn"),
    ExperienceStatus.KEPT: ("✓ kept", "good"),
    ExperienceStatus.DROPPED: ("✗ dropped", "dim"),
}
_ORDER = (ExperienceStatus.NEW, ExperienceStatus.KEPT, ExperienceStatus.DROPPED)


@dataclass(frozen=True, slots=True)
class OwnTexts:
    """All templates with a company's own ones, and what is wrong with any file."""

    entries: tuple[Entry, ...] = ()
    problems: tuple[Problem, ...] = ()
    is_known: bool = False

    @property
    def strangers(self) -> tuple[Problem, ...]:
        """Files of the company that nothing reads."""
        known = {entry.file for entry in self.entries}
        return tuple(each for each in self.problems if each.file.removesuffix(OWN) not in known)

    def entry(self, row_id: str) -> Entry | None:
        """The template of a row."""
        return next((each for each in self.entries if each.file == row_id), None)

    def problems_of(self, row_id: str) -> list[Problem]:
        """What is wrong with the files of a row."""
        return [each for each in self.problems if each.file.removesuffix(OWN) == row_id]

    def counts(self) -> str:
        """In words."""
        own = sum(entry.is_overridden for entry in self.entries)
        wrong = f", {counted(len(self.problems), 'problem')}" if self.problems else ", nothing is wrong"
        return f"{counted(len(self.entries), 'text')}, {own} of the company's own in use{wrong}"


def text_rows(found: OwnTexts) -> list[Row]:
    """What is wrong first, then the company's own, then what is as it was shipped."""
    rows = [
        (0, Row(each.file.removesuffix(OWN), (("✗ unread", "bad"), _name(each.file), ""))) for each in found.strangers
    ]
    for entry in found.entries:
        problems = found.problems_of(entry.file)
        lines = difference(entry.shipped or "", entry.own) if entry.own is not None else ()
        came, went = (sum(line.startswith(sign) for line in lines) for sign in "+-")
        changed: Cell = (f"+{came} −{went}", "info") if entry.own is not None else ""
        if problems:
            state: Cell = ("✗ refused" if entry.problem else "✗ missing", "bad")
            rows.append((0, Row(entry.file, (state, _name(entry.file), changed))))
        elif entry.is_overridden:
            rows.append((1, Row(entry.file, (("● own", "good"), _name(entry.file), changed))))
        else:
            rows.append((2, Row(entry.file, (("shipped", "dim"), _name(entry.file), ""), muted=True)))
    return [row for _, row in sorted(rows, key=lambda each: each[0])]


def _name(file: str) -> str:
    return file.removesuffix(OWN).removeprefix("prompts/").removesuffix(".md")


def text_blocks(found: OwnTexts, row_id: str) -> list[Block]:
    """What is wrong with a text, how the own one differs, or the shipped one."""
    entry = found.entry(row_id)
    blocks = [
        Block(((str(each) if not each.line else f"{each.file}, line {each.line}", "bad"),), each.what, "bad")
        for each in found.problems_of(row_id)
    ]  # fmt: skip
    if entry is None:
        return blocks
    if entry.own is not None:
        used: Cell = ("in use", "good") if entry.is_overridden else ("refused", "bad")
        heading: tuple[Cell, ...] = ((f"The company's {entry.file}", "strong"), used)
        lines = difference(entry.shipped or "", entry.own)
        return [*blocks, Block(heading, "" if lines else "the same text as shipped", "dim", Unified(lines))]
    return [*blocks, Block(((f"{entry.file}, as shipped", "strong"),), entry.shipped or "it is missing", "dim")]


# ------------------------------------------------------------- experiences


def experience_rows(experiences: Sequence[Experience]) -> list[Row]:
    """New ones first, they wait for a yes or a no; then kept, then dropped ones; each newest first."""
    ordered = sorted(experiences, key=lambda each: (_ORDER.index(each.status), -each.id))
    rows = []
    for each in ordered:
        cells: tuple[Cell, ...] = (_STANDS[each.status], (str(each.uses), "dim"), each.author, each.body)
        rows.append(Row(f"experience:{each.id}", cells, muted=each.status == ExperienceStatus.DROPPED))
    return rows


def experience_blocks(each: Experience) -> list[Block]:
    """All of one, and what its state means."""
    word, tone = _STANDS[each.status]
    means = {
        ExperienceStatus.NEW: "No agent is told of it yet: a keeps it, b drops it.",
        ExperienceStatus.KEPT: "Agents are told of it when their task is about the same; b drops it.",
        ExperienceStatus.DROPPED: "No agent is told of it; a keeps it after all.",
    }[each.status]
    heading: tuple[Cell, ...] = ((each.name_tag, "strong"), (word, tone), (f"{each.author}, T{each.task_id}", "dim"))
    return [
        Block(heading, each.body, "info"),
        Block((("What becomes of it", "dim"),), f"{means}\nIt stood in {counted(each.uses, 'prompt')}.", "dim"),
    ]


# ------------------------------------------------------------- knowledge


@dataclass(frozen=True, slots=True)
class Sections:
    """The board's copy of `knowledge/`: ids with their place and first line, and files that are left out, with why."""

    rows: tuple[tuple[int, str, str], ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    is_known: bool = False


def knowledge_rows(found: Sections) -> list[Row]:
    """What is left out first."""
    out = [Row(f"out:{path}", ((f"✗ {path}", "bad"), (why, "bad"))) for path, why in found.left_out.items()]
    return out + [Row(f"knowledge:{number}", (place, (first, "dim"))) for number, place, first in found.rows]
