"""The board's copy of the company's `knowledge/` folder, section by section: written by the owner alone."""

import hashlib

from pydantic import BaseModel, ConfigDict, Field

from core.commands.registry import Act, Answer, Command, handles, letters
from core.domain.entities import Knowledge
from core.domain.limits import TITLE_MAX

PATH_MAX = 500  # characters
SECTION_MAX = 8_000  # characters of a section's body
SECTIONS_AT_ONCE = 100  # in one command: the writer serves everybody


class Section(BaseModel):
    """A section as its file has it. `heading` is unique within the file, and empty for what stands before the first."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    path: str = Field(min_length=1, max_length=PATH_MAX)
    heading: str = Field(max_length=TITLE_MAX + 20)
    body: str = Field(min_length=1, max_length=SECTION_MAX)


class IndexKnowledge(Command):
    """Bring the board's copy of some sections up to date: `sections` are as they are now, `removed` are ids."""

    who = letters("S")
    sections: tuple[Section, ...] = Field((), max_length=SECTIONS_AT_ONCE)
    removed: tuple[int, ...] = Field((), max_length=SECTIONS_AT_ONCE)


@handles(IndexKnowledge)
def index_knowledge(act: Act, command: IndexKnowledge) -> Answer:
    removed = [known for number in command.removed if (known := act.tx.find(Knowledge, number)) is not None]
    for known in removed:
        act.tx.delete(known, "KnowledgeRemoved")
    written = sum(_write(act, section) for section in command.sections)
    return {"written": written, "removed": len(removed)}


def _write(act: Act, section: Section) -> bool:
    sha256 = digest(section.body)
    found = act.tx.select(Knowledge, "path = :p AND heading = :h", p=section.path, h=section.heading)
    if not found:
        act.tx.insert(Knowledge, "KnowledgeIndexed", **section.model_dump(), sha256=sha256)
    elif found[0].sha256 != sha256:
        act.tx.update(found[0], "KnowledgeIndexed", body=section.body, sha256=sha256)
    else:
        return False
    return True


def digest(body: str) -> str:
    """The sha256 of a section's body, in hexadecimal."""
    return hashlib.sha256(body.encode()).hexdigest()
