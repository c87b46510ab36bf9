"""What the detail pane's tabs show, read from the board when somebody looks: each tab is a list of blocks.

Everything here is awaited in a worker. Bodies stay as they were written; `Prose` shows them literally.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from core.company import OpenCompany
from core.domain.entities import AgentRecord, Approval, Comment, Event, Goal, Run
from core.domain.metering import is_unmetered
from core.domain.states import ApprovalKind, ApprovalStatus
from tui import signs
from tui.panes.briefs import brief
from tui.panes.discussion import comment_blocks
from tui.panes.inbox_preview import read_previews
from tui.panes.inbox_versions import read_versions
from tui.panes.mail import read_mail
from tui.panes.outputs import Outputs
from tui.panes.questions import question
from tui.panes.reviews import read_reviews
from tui.panes.turns import discussion
from tui.panes.words import clock_time, lasted, money, tokens
from tui.projection import WORDS, Projection
from tui.text import act_in_words, in_words
from tui.widgets.prose import Block

TABS = ("Discussion", "Outputs", "Reviews", "Runs", "History", "Mail")
EMPTY = (
    "Nothing was said yet.", "Nothing delivered yet.", "No reviews yet.", "No run yet.", "Nothing happened yet.",
    "No mail yet.\nc writes: /mail @name asks somebody, /inform @name tells them.",
)  # fmt: skip
OUTPUTS_TAB = 2
MOST = 200
MOST_FAILED = 3
TAIL_BYTES = 16 * 1024
TAIL_LINES = 30
_TABLES = {word: table for table, word in WORDS.items()}

Thread = Callable[[OpenCompany, Projection, str], Awaitable[list[Block]]]


async def read_thread(
    company: OpenCompany, view: Projection, ref: str, tab: int, outputs: Outputs | None = None, *, hurry: bool = False
) -> list[Block]:
    """The blocks of one tab (1–6) of one thing. `outputs` remembers what was read of them, and how they are shown;
    `hurry` leaves long ones at their beginning.
    """
    if tab == OUTPUTS_TAB:
        return await (outputs or Outputs(company)).read(*_of(ref), key=view.keymap.shown("raw"), hurry=hurry)
    read: Mapping[int, Thread] = {1: _discussion, 3: _reviews, 4: _runs, 5: _history, 6: read_mail}
    return await read[tab](company, view, ref)


def _of(ref: str) -> tuple[str, int]:
    """The kind and the number; 0 for what has a name instead, e.g. `hire:scout`: no row is it."""
    kind, _, number = ref.partition(":")
    return kind, int(number) if number.isdecimal() else 0


async def _discussion(company: OpenCompany, view: Projection, ref: str) -> list[Block]:
    kind, number = _of(ref)
    readers = company.board.readers
    asked = await readers.entities(Approval, "entity = :ref ORDER BY id DESC LIMIT 20", ref=ref)
    blocks = [question(one, await _failed(company, one)) for one in asked if one.status == ApprovalStatus.PENDING]
    goal = view.find(ref)
    blocks += await read_previews(company, view, ref)
    blocks += discussion(view, goal) if isinstance(goal, Goal) else []
    versions = await read_versions(company, view, ref)
    blocks += [*versions[:1], *brief(view, ref), *versions[1:]]
    said: list[tuple[int, Block]] = [
        (one.decided_at or one.created_at, question(one)) for one in asked if one.status != ApprovalStatus.PENDING
    ]
    if kind in ("goal", "task"):
        where = f"{kind}_id = :id" + (" AND task_id IS NULL" if kind == "goal" else "")
        comments = await readers.entities(Comment, f"{where} ORDER BY id DESC LIMIT {MOST}", id=number)
        comments.reverse()
        drawn = await comment_blocks(company, view, comments)
        said += [(one.created_at, block) for one, block in zip(comments, drawn, strict=True)]
    return blocks + [block for _, block in sorted(said, key=lambda pair: pair[0])]


async def _failed(company: OpenCompany, asked: Approval) -> list[Run]:
    """The last attempts that a question came from: those of its `base`, else of its task."""
    if asked.kind != ApprovalKind.QUESTION or asked.payload.get("what") != "try_again" or "findings" in asked.payload:
        return []
    kind, number = _of(asked.entity)
    base = asked.payload.get("base")
    if not isinstance(base, str) and kind != "task":
        return []
    where = "instr(idempotency_key, :base) = 1" if isinstance(base, str) else "task_id = :id AND kind = 'execute'"
    about = {"base": f"{base}#"} if isinstance(base, str) else {"id": number}
    return await company.board.readers.entities(
        Run,
        f"{where} AND status NOT IN ('queued', 'starting', 'running', 'succeeded') AND queued_at <= :asked"
        f" ORDER BY id DESC LIMIT {MOST_FAILED}",
        asked=asked.created_at, **about,
    )  # fmt: skip


async def _reviews(company: OpenCompany, view: Projection, ref: str) -> list[Block]:
    return await read_reviews(company, view, *_of(ref))


async def _runs(company: OpenCompany, view: Projection, ref: str) -> list[Block]:
    kind, number = _of(ref)
    column = {"goal": "goal_id", "task": "task_id", "round": "round_id", "agent": "agent_id"}.get(kind)
    where = f"{column} = :id" if column else "true"
    runs = await company.board.readers.entities(Run, f"{where} ORDER BY id DESC LIMIT 30", id=number)
    return [await _run(company, view, run, with_words=place < 3) for place, run in enumerate(runs)]


async def _run(company: OpenCompany, view: Projection, run: Run, *, with_words: bool) -> Block:
    sign, word, tone = signs.of_run(run)
    took = ""
    if run.started_at is not None:
        took = lasted((run.ended_at or company.clock()) - run.started_at)
    about = f"T{run.task_id}" if run.task_id else f"G{run.goal_id}" if run.goal_id else ""
    heading = (
        (f"{run.name_tag} {view.slug(run.agent_id)}", "strong"), (in_words(run.kind), "info"), about,
        (f"{sign} {word}", tone), (_exit(run), tone), (took, "dim"), (clock_time(run.queued_at), "dim"),
    )  # fmt: skip
    used = run.tokens_in + run.tokens_out
    # Whoever used tokens and told no cost was not free: its price is not known.
    cost = money(run.cost_micros) if run.cost_micros else "no cost known"
    lines = [f"{tokens(used)} · {cost}"] if used or run.cost_micros else []
    agent = view.tables.get(AgentRecord, run.agent_id)
    if lines and agent is not None and is_unmetered(agent.runner):
        lines[0] += " · not metered"
    if run.detail:
        lines.append(run.detail)
    if run.id in view.held_runs:
        lines.append(f"held back: {view.held_runs[run.id]}")
    if with_words:
        lines += await asyncio.to_thread(_last_words, company.transcript(run.id))
    return Block(heading, "\n".join(lines), tone)  # type: ignore[arg-type]


def _exit(run: Run) -> str:
    """How its program ended, where its state does not say that already."""
    return f"({in_words(run.exit_kind)})" if run.exit_kind and run.exit_kind not in ("done", run.status) else ""


def _last_words(path: Path) -> list[str]:
    """The end of a transcript, a line an entry."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL_BYTES))
            rows = file.read().decode(errors="replace").splitlines()
    except OSError:
        return []
    if size > TAIL_BYTES:
        rows = ["…", *rows[1:]]
    return [_entry(row) for row in rows[-TAIL_LINES:]]


def _entry(row: str) -> str:
    try:
        entry: dict[str, Any] = json.loads(row)
        at = clock_time(int(entry["at"]))
    except (ValueError, KeyError, TypeError):
        return row
    match entry.get("kind"):
        case "text":
            return f"{at}  {entry.get('text', '')}"
        case "call":
            return f"{at}  → {entry.get('command', '')}"
        case kind:
            rest = {key: value for key, value in entry.items() if key not in ("at", "kind") and value}
            return f"{at}  {kind}: {', '.join(f'{key} {value}' for key, value in rest.items())}"


async def _history(company: OpenCompany, view: Projection, ref: str) -> list[Block]:
    kind, number = _of(ref)
    sql = (
        "SELECT id, at, actor, run_id, entity, entity_id, kind, changed, cause FROM events"
        f" WHERE entity = :table AND entity_id = :id ORDER BY id DESC LIMIT {MOST}"
    )
    rows = await company.board.readers.all(sql, table=_TABLES.get(kind, kind), id=number)
    events = [Event(**{**row, "changed": json.loads(row["changed"])}) for row in reversed(rows)]
    known: dict[str, Any] = {}
    return [_event(event, known, view) for event in events]


_DULL = frozenset({"version", "updated_at", "lease_until", "fence", "id", "created_at", "content_hash", "progress_at"})
_LETTERS = {"current_run": "R", "round_id": "N", "task_id": "T", "goal_id": "G", "parent_id": "T"}
_AGENTS = ("assignee_id", "last_assignee_id", "agent_id")


def _event(event: Event, known: dict[str, Any], view: Projection) -> Block:
    """What changed, with what was there before."""
    changes = []
    for name, value in event.changed.items():
        if name not in _DULL and known and known.get(name) != value:
            before, after = _short(name, known.get(name), view), _short(name, value, view)
            word = in_words(name.removesuffix("_id"))
            changes.append(f"{word}: {before} → {after or 'none'}" if before else f"{word}: {after}")
    known.update(event.changed)
    run = (f"R{event.run_id}", "dim") if event.run_id else ""
    heading = ((clock_time(event.at), "dim"), (act_in_words(event.kind), "strong"), (event.actor, "info"), run)
    return Block(heading, "\n".join(changes))  # type: ignore[arg-type]


def _short(name: str, value: Any, view: Projection) -> str:
    if name in _AGENTS and isinstance(value, int):
        return view.slug(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if text in ("null", ""):
        return ""
    return _LETTERS.get(name, "") + text[:200] + ("…" if len(text) > 200 else "")
