"""The tools that a program uses: a call is told in parts, and in updates that name only what is new."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.agents.programs.pieces import Called, Noted, Piece, Resulted
from core.agents.programs.scripts import mapping, without_controls, word
from core.domain.permissions import Change, difference

_KEPT = 1000  # calls whose end has not come
_SETTLES_S = 1.0
_TEXT_MAX = 20_000  # code points of arguments, of a result
_SHOWN = 60  # lines of a difference
_ENDS = ("completed", "failed")


@dataclass(slots=True)
class Tool:
    """One call, as far as it is known. `told`: it stands in the transcript; `at`: when something of it came last."""

    id: str
    title: str = ""
    kind: str = ""
    status: str = ""
    raw: object = None
    result: object = None
    texts: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    told: bool = False
    at: float = 0.0
    shown: set[str] = field(default_factory=set)

    @property
    def arguments(self) -> str:
        """What it is called with, as a text to compare and show."""
        return "" if self.raw in (None, {}, "") else word(self.raw)[:_TEXT_MAX]


class Tools:
    """The calls of one run."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tools: dict[str, Tool] = {}

    def take(self, facts: Mapping[str, Any]) -> list[Piece]:
        """A call or an update of one, also of one that never began."""
        tool = self.merged(facts)
        pieces: list[Piece] = []
        if tool.status in ("in_progress", *_ENDS):
            pieces += self.begun(tool)
        pieces += [Noted(text) for change in tool.changes if (text := _news(tool, change))]
        if tool.status in _ENDS:
            self._tools.pop(tool.id, None)
            text = "\n".join(tool.texts) or word(tool.result)
            pieces.append(Resulted(tool.id, without_controls(text[:_TEXT_MAX]), tool.status == "failed"))
        return pieces

    def settled(self) -> list[Piece]:
        """Calls that are not told yet, and of which nothing new has come for a while: arguments may come in parts."""
        now = self._clock()
        waiting = [tool for tool in self._tools.values() if not tool.told and now - tool.at >= _SETTLES_S]
        return [piece for tool in waiting for piece in self.begun(tool)]

    def begun(self, tool: Tool) -> list[Piece]:
        """Its call, if that is not told yet."""
        if tool.told:
            return []
        tool.told = True
        return [Called(tool.id, _line(tool.title) or tool.kind or "a tool", tool.arguments)]

    def merged(self, facts: Mapping[str, Any]) -> Tool:
        """The call that these facts are about, with what they add to it."""
        name = word(facts.get("toolCallId"))[:200]
        tool = self._tools.get(name) or Tool(name)
        if name not in self._tools and len(self._tools) < _KEPT:
            self._tools[name] = tool
        tool.at = self._clock()
        tool.title = _text(facts, "title") or tool.title
        tool.kind = _text(facts, "kind") or tool.kind
        tool.status = _text(facts, "status") or tool.status
        tool.raw = facts["rawInput"] if facts.get("rawInput") is not None else tool.raw
        tool.result = facts["rawOutput"] if facts.get("rawOutput") is not None else tool.result
        content = facts.get("content")
        if isinstance(content, list):
            parts = [part for part in content if isinstance(part, dict)]
            tool.texts = tuple(text for part in parts if (text := text_of(part.get("content"))))
            tool.changes = tuple(_change(part) for part in parts if part.get("type") == "diff") or tool.changes
        return tool


def text_of(block: object) -> str:
    """The words of a content block; a mark for what has none."""
    facts = mapping(block)
    match facts.get("type"):
        case "text":
            return word(facts.get("text"))
        case "resource_link":
            return f"({word(facts.get('uri'))[:300]})"
        case "image" | "audio" | "resource":
            return f"({facts['type']})"
    return ""


def _text(facts: Mapping[str, Any], name: str) -> str:
    value = facts.get(name)
    return value[:_TEXT_MAX] if isinstance(value, str) else ""


def _change(facts: Mapping[str, Any]) -> Change:
    before = facts.get("oldText")
    return Change(
        word(facts.get("path"))[:4000], before if isinstance(before, str) else None, word(facts.get("newText"))
    )


def _news(tool: Tool, change: Change) -> str:
    """The change for the transcript; empty if it was told before."""
    mark = json.dumps([change.path, len(change.before or ""), hash(change.before), hash(change.after)])
    if mark in tool.shown:
        return ""
    tool.shown.add(mark)
    return _shown(change)


def _shown(change: Change) -> str:
    """A change as lines with - and +, bounded."""
    found = difference(change)
    new = ", a new file" if change.before is None else ""
    lines = found.text.split("\n")
    shown = [without_controls(line)[:300] for line in lines[:_SHOWN]]
    rest = [f"… {len(lines) - _SHOWN:,} lines more"] if len(lines) > _SHOWN else []
    return "\n".join([f"its change: {_line(change.path)} (+{found.added} -{found.removed}{new})", *shown, *rest])


def _line(text: str) -> str:
    return " ".join(without_controls(text).split())[:500]
