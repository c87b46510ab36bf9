"""What of a thing can be copied: its id, title, text, hash, path, and all of it as Markdown. Pure.

Texts are given exactly as the board has them; whoever shows them draws them through `plain`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.domain.entities import AgentRecord, Approval, Entity, Goal, Round, Run, Task
from tui.goal_text import draft_of, to_text
from tui.panes.questions import about_what
from tui.projection import Projection
from tui.targets import tag_of, words_of
from tui.targets import thing as named
from tui.text import amount, in_words
from tui.widgets.prose import Block

MOST = 1_000_000  # characters; no terminal takes more
SURE = 75_000  # what the stricter terminals take
_WIDTH = 100  # of what is drawn only for a width


@dataclass(frozen=True, slots=True)
class Form:
    """One way to copy a thing: its name for people, and the text."""

    name: str
    text: str


def forms(view: Projection, ref: str, folder: Path, shown: Sequence[Block] = ()) -> list[Form]:
    """The forms that a thing has. `folder` is the company's; `shown` is what the screen shows of it."""
    thing = named(view, ref)
    tag = tag_of(view, ref)
    title = words_of(view, ref)
    found = [
        Form("id", tag),
        Form("id and title", f"{tag} {title}".strip()),
        Form("title", title),
        Form("text", text_of(thing)),
        Form("hash", str(getattr(thing, "content_hash", "") or getattr(thing, "payload_hash", ""))),
        Form("path", _path(thing, folder)),
        Form("Markdown", markdown(view, ref)),
        Form("what is shown", as_text(shown)),
    ]
    return [form for form in found if form.text]


def text_of(thing: Entity | None) -> str:
    """What somebody wrote as the thing's text, whole."""
    match thing:
        case Goal():
            return to_text(draft_of(thing))
        case Task():
            return "\n\n".join(part for part in (thing.intent, thing.end_state) if part)
        case Approval():
            return about_what(thing)
        case AgentRecord():
            return thing.duties
        case Run():
            return ""
        case _:
            return str(getattr(thing, "mission", ""))


def _path(thing: Entity | None, folder: Path) -> str:
    match thing:
        case Run():
            return str(folder / "runs" / f"{thing.id}.jsonl")
        case AgentRecord():
            return str(folder / "agents" / thing.slug)
        case Goal() | Task():
            return thing.repository or ""
        case _:
            return ""


def markdown(view: Projection, ref: str) -> str:
    """The thing as a piece of Markdown: a heading, its facts, its text. Empty for what the memory does not hold."""
    thing = named(view, ref)
    if thing is None:
        return ""
    facts = "".join(f"- {name}: {value}\n" for name, value in _facts(view, thing) if value)
    heading = f"# {tag_of(view, ref)} {words_of(view, ref)}".rstrip()
    parts = (heading, facts.rstrip(), text_of(thing))
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(view: Projection, thing: Entity) -> Iterator[tuple[str, str]]:
    status = getattr(thing, "status", "")
    yield "status", in_words(status) if status else ""
    match thing:
        case Goal():
            yield "by", thing.created_by
            yield "content sha256", thing.content_hash
        case Task():
            yield "goal", f"G{thing.goal_id}"
            yield "assignee", view.slug(thing.assignee_id)
            yield "must-haves", ", ".join(thing.must_haves)
            yield "waits for", ", ".join(each.name_tag for each in view.waits_for(thing))
        case Round():
            yield "goal", f"G{thing.goal_id}"
        case Approval():
            yield "about", thing.entity.replace(":", " ")
            yield "payload sha256", thing.payload_hash
        case Run():
            yield "agent", view.slug(thing.agent_id)
            yield "kind", in_words(thing.kind)
            yield "task", f"T{thing.task_id}" if thing.task_id else ""
            yield "tokens", amount(thing.tokens_in + thing.tokens_out)
        case AgentRecord():
            yield "role", in_words(thing.role)
        case _:
            pass


def as_text(blocks: Sequence[Block]) -> str:
    """What blocks show, as plain lines: each heading, and below it what was written."""
    return "\n\n".join(part for block in blocks if (part := _block(block))).strip()


def _block(block: Block) -> str:
    heading = " ".join(cell if isinstance(cell, str) else cell[0] for cell in block.heading)
    drawn: list[str] = []
    if block.drawing is not None:
        drawn = ["".join(text for text, _ in line) for line in block.drawing.lines(_WIDTH)]
    return "\n".join(part for part in (heading.strip(), block.body, "\n".join(drawn)) if part)


def told(form: Form) -> str:
    """What is said once a form was copied."""
    size = counted(form.text)
    doubt = f"; some terminals take no more than {amount(SURE)}" if len(form.text) > SURE else ""
    return f"✓ {form.name}: {size} copied, if your terminal lets programs copy (OSC 52){doubt}."


def too_long(form: Form, key: str) -> str:
    """Why a form cannot be copied, and what to do; empty when it can."""
    if len(form.text) <= MOST:
        return ""
    return f"{counted(form.text)} are too many for a terminal's clipboard ({amount(MOST)}); {key} opens them."


def counted(text: str) -> str:
    """`1 character`, `12,345 characters`."""
    return f"{amount(len(text))} character{'' if len(text) == 1 else 's'}"
