"""A run's transcript as blocks to read: words in full, and what it did a line each, folded or unfolded. Pure.

Everything that stands here was written by agents and programs: it is shown literally, like all text of theirs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from core.agents.runner import Told
from core.agents.transcript_tail import Entry
from tui.panes.words import clock_time, exact, tokens
from tui.text import fit, in_words, one_line, plain, wrap
from tui.widgets.prose import Block
from tui.widgets.row import Tone

MOST_ENTRIES = 4_000
MOST_CHARACTERS = 4_000_000  # of all entries that are kept
MOST_TOGETHER = 60
UNFOLDED_LINES = 200  # of one answer
Line = tuple[tuple[str, Tone | None], ...]

_SPEAKS = {"text": "says", Told.THOUGHT: "thinks"}
_OPERATOR = frozenset({Told.REMARK, Told.HEARD, Told.UNHEARD, Told.PAUSED, Told.RESUMED})


@dataclass
class Kept:
    """The newest entries of a run, in bounded memory. `dropped` counts those that gave place."""

    entries: list[Entry] = field(default_factory=list)
    dropped: int = 0
    _characters: int = 0

    def add(self, new: Iterable[Entry]) -> None:
        """Take in what came."""
        for entry in new:
            self.entries.append(entry)
            self._characters += _size(entry)
        over = max(0, len(self.entries) - MOST_ENTRIES)
        while self._characters > MOST_CHARACTERS and over < len(self.entries) - 1:
            over += 1
            self._characters -= _size(self.entries[over - 1])
        if over:
            self.dropped += over
            del self.entries[:over]
            self._characters = sum(map(_size, self.entries))


def _size(entry: Entry) -> int:
    return sum(len(value) for value in entry.facts.values() if isinstance(value, str)) + 100


@dataclass(frozen=True, slots=True)
class Deeds:
    """What happened in a row, a line each; unfolded, with all that is known of it. Drawn for the width there is."""

    entries: tuple[Entry, ...]
    unfolded: bool

    def lines(self, width: int, /) -> Sequence[Line]:
        """The lines with their tones."""
        return [line for entry in self.entries for line in _deed(entry, self.unfolded, width)]


def fits(entry: Entry, words: str) -> bool:
    """Whether a filter means this entry: each word stands in it, one with a minus in front does not."""
    text = f"{entry.kind} {' '.join(str(value) for value in entry.facts.values())}".casefold()
    for word in words.casefold().split():
        negated = len(word) > 1 and word[0] in "-!"
        if (word[1:] if negated else word) in text and negated:
            return False
        if not negated and word not in text:
            return False
    return True


def blocks_of(entries: Sequence[Entry], who: str, *, unfolded: bool, words: str = "") -> list[Block]:
    """The transcript; `who` is the agent's short name. Neighbours of a kind stand together."""
    meant = [entry for entry in entries if fits(entry, words)] if words.strip() else entries
    blocks: list[Block] = []
    for group, found in groupby(meant, key=_group):
        together = list(found)
        # What grows is drawn anew: so it is never much.
        for at in range(0, len(together), MOST_TOGETHER):
            blocks += _block(group, together[at : at + MOST_TOGETHER], who, unfolded)
    return blocks


def _group(entry: Entry) -> str:
    if entry.kind in _SPEAKS:
        return entry.kind
    if entry.kind in _OPERATOR:
        return "operator"
    return "outcome" if entry.kind == "outcome" else "does"


def _block(group: str, entries: list[Entry], who: str, unfolded: bool) -> Iterator[Block]:
    at = (clock_time(entries[0].at), "dim") if entries[0].at else ("", "dim")
    match group:
        case "text":
            body = "\n".join(entry.text("text") for entry in entries)
            yield Block((at, (who, "name"), "says"), body, "info")  # type: ignore[arg-type]
        case Told.THOUGHT:
            yield Block((at, (f"{who} thinks", "dim")), "", "dim", Deeds(tuple(entries), unfolded))  # type: ignore[arg-type]
        case "operator":
            yield Block((at, ("the operator", "name")), "", "warn", Deeds(tuple(entries), True))  # type: ignore[arg-type]
        case "outcome":
            for entry in entries:
                good = entry.text("status") == "succeeded"
                said = f"ended: {in_words(entry.text('status'))} ({in_words(entry.text('exit'))})"
                tone: Tone = "good" if good else "bad"
                yield Block((at, (said, tone)), entry.text("detail"), tone)  # type: ignore[arg-type]
        case _:
            yield Block((at, (who, "strong"), ("does", "dim")), "", "dim", Deeds(tuple(entries), unfolded))  # type: ignore[arg-type]


def _deed(entry: Entry, unfolded: bool, width: int) -> Iterator[Line]:
    sign, tone, head, more = _told(entry)
    room = max(1, width - 2)
    if unfolded or entry.kind in _OPERATOR:
        first, *rest = wrap(plain(head), room) or [""]
        yield ((fit(f"{sign} ", width), tone), (first, tone))
        for text in rest:
            yield (("  ", None), (text, tone))
        lines = [line for line in wrap(plain(more), room) if line.strip()] if more else []
        for text in lines[:UNFOLDED_LINES]:
            yield (("  ", None), (text, "dim"))
        if len(lines) > UNFOLDED_LINES:
            yield (("  ", None), (fit(f"… {len(lines) - UNFOLDED_LINES:,} lines more: o opens all", room), "dim"))
        return
    if entry.kind == Told.PLAN:
        steps = plain(head).split("\n")[:UNFOLDED_LINES]
        yield from (
            ((fit(f"{'  ' if at else sign} ", width), tone), (fit(s, room), tone)) for at, s in enumerate(steps)
        )
        return
    text = fit(one_line(head[: 4 * width]), room)
    left = room - len(text) - 3
    gives = ": " if entry.kind == Told.RESULT else " = "
    yield (
        (fit(f"{sign} ", width), tone), (text, tone),
        *(((f"{gives}{fit(one_line(more[: 4 * width]), left)}", "dim"),) if more and left > 10 else ()),
    )  # fmt: skip


def _told(entry: Entry) -> tuple[str, Tone | None, str, str]:
    """A sign, a tone, what happened, and what came of it."""
    say = entry.text
    match entry.kind:
        case "call":
            return "→", "good", _with(say("command"), say("arguments")), say("answer")
        case "read":
            return "←", "info", _with(say("query"), say("arguments")), ""
        case Told.TOOL:
            return "$", "info", _with(say("name"), say("arguments")), ""
        case Told.RESULT:
            failed = entry.facts.get("failed") is True
            return ("✗", "bad", "it failed", say("text")) if failed else ("=", "dim", "it answered", say("text"))
        case Told.REFUSED:
            return "✗", "bad", f"{say('command')} was refused: {say('error')}", ""
        case Told.USAGE:
            return "·", "dim", _used(entry), ""
        case Told.MODEL:
            fine = entry.facts.get("status") == 200 and not say("note")
            return "·", "dim" if fine else "warn", _passed(entry), say("note")
        case Told.PERMISSION:
            return "?", "warn", _asked(entry), say("details")
        case Told.SESSION:
            return "·", "dim", f"session {say('id')}", ""
        case Told.PLAN:
            return "·", "info", say("text"), ""
        case Told.NOTICE | "cut":
            return "·", "warn", say("text"), ""
        case "text":
            return "·", None, say("text"), ""
        case "outcome":
            return "·", None, f"{say('status')} ({say('exit')})", say("detail")
        case Told.THOUGHT | "unreadable":
            return "·", "dim", say("text"), ""
        case Told.REMARK:
            return "»", "strong", say("text"), ""
        case Told.HEARD:
            return "✓", "good", "heard by the agent", ""
        case Told.UNHEARD:
            return "✗", "bad", "not heard: the run ended before", ""
        case Told.PAUSED:
            return "‖", "warn", "paused it: it holds before its next turn", ""
        case Told.RESUMED:
            return "▸", "good", "let it go on", ""
        case kind:
            facts = ", ".join(f"{name} {value}" for name, value in entry.facts.items() if value not in ("", None))
            return "·", None, f"{in_words(kind)}: {facts}", ""


def _with(name: str, arguments: str) -> str:
    return f"{name}  {arguments}" if arguments not in ("", "{}") else name


def _used(entry: Entry) -> str:
    number = sum(value for name in ("tokens_in", "tokens_out") if isinstance(value := entry.facts.get(name), int))
    cost = entry.facts.get("cost")
    told = exact(cost) if isinstance(cost, int) else "cost unknown"
    return f"{tokens(number)} · {told}" + (f" · of the {entry.text('of')}" if entry.text("of") else "")


def _passed(entry: Entry) -> str:
    """A request of a program to a model, as the gateway passed it."""
    told = f"asked {entry.text('model') or entry.text('provider')}: {entry.text('status')}"
    told += f" in {entry.text('ms')} ms" if entry.text("ms") else ""
    return f"{told} · {_used(entry)}" if "cost" in entry.facts else told


def _asked(entry: Entry) -> str:
    """A wish, or what came of it."""
    if answer := entry.text("permit"):
        return f"{in_words(answer)}: {entry.text('wants')}" + (f" ({entry.text('note')})" if entry.text("note") else "")
    asked = f" ({entry.text('question')})" if entry.text("question") else ""
    return f"asks{asked}: {entry.text('wants')}"


def as_text(entry: Entry) -> str:
    """One entry in full, as plain text for a pager: nothing of it acts."""
    _sign, _tone, head, more = _told(entry)
    return plain(f"{clock_time(entry.at)}  {entry.kind:<10}  {head}" + (f"\n{more}" if more else ""))
