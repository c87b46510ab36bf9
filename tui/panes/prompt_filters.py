"""What the lists of the prompts can be filtered by, page by page."""

from tui.filter_pane import FilterPane
from tui.filter_words import Keys, Values
from tui.widgets.row import Cell, Row
from tui.widgets.rows import Rows

TOLD_KEYS: Keys = {"is": ("now", "told"), "agent": (), "task": (), "goal": ()}
TEXT_KEYS: Keys = {"is": ("own", "shipped", "refused", "missing", "unread")}
EXPERIENCE_KEYS: Keys = {"is": ("new", "kept", "dropped"), "from": ()}
KNOWLEDGE_KEYS: Keys = {"is": ("read", "left out")}


def panes_of(told: Rows, texts: Rows, experiences: Rows, knowledge: Rows) -> tuple[FilterPane, ...]:
    """The panes of the four pages, in their order."""
    return (
        FilterPane("Whose", told, TOLD_KEYS, told_facts, id="told", classes=_of_page(1)),
        FilterPane("The texts of prompts", texts, TEXT_KEYS, state_facts, id="texts", classes=_of_page(2)),
        FilterPane("Experiences", experiences, EXPERIENCE_KEYS, state_facts, id="experiences", classes=_of_page(3)),
        FilterPane("Knowledge", knowledge, KNOWLEDGE_KEYS, knowledge_facts, id="knowledge", classes=_of_page(4)),
    )


def _of_page(number: int) -> str:
    return f"prompts-page prompts-page-{number}"


def told_facts(row: Row) -> Values:
    """Of a prompt: whether it was told, to whom, about what."""
    about = _word(row.cells[3])
    return {
        "is": ("told" if row.id.startswith("run:") else "now",), "agent": (_text(row.cells[2]),),
        "task": (about,) if about.startswith("T") else (), "goal": (about,) if about.startswith("G") else (),
    }  # fmt: skip


def state_facts(row: Row) -> Values:
    """Of a text or an experience: its state without the sign."""
    return {"is": (_text(row.cells[0]).rpartition(" ")[2],), "from": (_text(row.cells[2]),)}


def knowledge_facts(row: Row) -> Values:
    """Of a section: whether agents can read it."""
    return {"is": ("left out" if row.id.startswith("out:") else "read",)}


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell[0]


def _word(cell: Cell) -> str:
    return _text(cell).partition(" ")[0]
