"""The tools that a program uses: a call is told in parts, and in updates that name only what is new."""

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.agents.programs.pieces import Called, Noted, Piece, Resulted
from core.agents.programs.scripts import mapping, without_controls, word
from core.domain.permissions import Change, difference

_KEPT = 1000  # calls whose end has not come
_ONE_MAX = 4 * 1024 * 1024  # bytes of memory, about, of one of them, and of all
_ALL_MAX = 32 * 1024 * 1024
_SETTLES_S = 1.0
_TEXT_MAX = 20_000  # code points of arguments, of a result
_PATH_MAX = 4000
_SHOWN = 60  # lines of a difference
_ENDS = ("completed", "failed")


@dataclass(slots=True)
class Tool:
    """One call, as far as it is known. `told`: it stands in the transcript; `refused`: it was not allowed when the
    program asked; `at`: when something of it came last.

    `arguments` is what it is called with, as a text to compare and show, cut. `is_cut`: it was too large to be kept as
    it came. `id`, `arguments` and what is told of it are without secrets; `title`, `raw`, `changes` are as they came.
    """

    id: str
    title: str = ""
    kind: str = ""
    status: str = ""
    raw: object = None
    arguments: str = ""
    result: object = None
    texts: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    locations: tuple[str, ...] = ()
    told: bool = False
    refused: bool = False
    at: float = 0.0
    shown: set[int] = field(default_factory=set)
    is_cut: bool = False
    weights: dict[str, int] = field(default_factory=dict)


class Tools:
    """The calls of one run. `clean` takes secrets out of a text, before any of it is cut."""

    def __init__(self, clean: Callable[[str], str], clock: Callable[[], float] = time.monotonic) -> None:
        self._clean = clean
        self._clock = clock
        self._tools: dict[str, Tool] = {}

    def take(self, facts: Mapping[str, Any]) -> list[Piece]:
        """A call or an update of one, also of one that never began."""
        tool = self.merged(facts)
        pieces: list[Piece] = []
        if tool.status in ("in_progress", *_ENDS):
            pieces += self.begun(tool)
        pieces += [Noted(text) for change in tool.changes if (text := self._news(tool, change))]
        if tool.status in _ENDS:
            self._tools.pop(tool.id, None)
            result, failed = without_controls(self._result(tool)), tool.status == "failed"
            pieces.append(Resulted(tool.id, result, failed, tool.refused))
        else:
            self._bound(tool)
        return pieces

    def asked(self, facts: Mapping[str, Any]) -> tuple[Tool, list[Piece]]:
        """The call that the program asks about, as it is now, and what is news of it."""
        tool = self.merged(facts)
        pieces = self.begun(tool)
        whole = replace(tool)
        self._bound(tool)
        return whole, pieces

    def refuse(self, facts: Mapping[str, Any]) -> None:
        """The call that the program has asked about is not allowed: that it fails now is no error."""
        if (tool := self._tools.get(self._id(facts))) is not None:
            tool.refused = True

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
        return [Called(tool.id, self._line(tool.title) or tool.kind or "a tool", tool.arguments)]

    def merged(self, facts: Mapping[str, Any]) -> Tool:
        """The call that these facts are about, with what they add to it."""
        name = self._id(facts)
        tool = self._tools.get(name) or Tool(name)
        if name not in self._tools and len(self._tools) < _KEPT:
            self._tools[name] = tool
        tool.at = self._clock()
        tool.title = self._text(facts, "title") or tool.title
        tool.kind = self._text(facts, "kind") or tool.kind
        tool.status = self._text(facts, "status") or tool.status
        if (raw := facts.get("rawInput")) is not None:
            tool.raw, tool.is_cut = raw, False
            tool.arguments = "" if raw in ({}, "") else self._clean(beginning(raw, _TEXT_MAX))[:_TEXT_MAX]
        tool.result = facts["rawOutput"] if facts.get("rawOutput") is not None else tool.result
        content = facts.get("content")
        if isinstance(content, list):
            parts = [part for part in content if isinstance(part, dict)]
            tool.texts = tuple(text for part in parts if (text := text_of(part.get("content"))))
            tool.changes = tuple(self._change(part) for part in parts if part.get("type") == "diff") or tool.changes
        if isinstance(places := facts.get("locations"), list):
            paths = (word(mapping(each).get("path")) for each in places)
            tool.locations = tuple(self._clipped(path, _PATH_MAX) for path in paths if path)
        for name in ("rawInput", "rawOutput", "content", "locations"):
            if facts.get(name) is not None:
                tool.weights[name] = weight(facts[name], _ONE_MAX)
        return tool

    def _id(self, facts: Mapping[str, Any]) -> str:
        return self._clean(word(facts.get("toolCallId")))[:200]

    def _bound(self, tool: Tool) -> None:
        """Of a call that is large only what is shown is kept; of too many calls the oldest are forgotten."""
        if sum(tool.weights.values()) > _ONE_MAX:
            tool.texts, tool.result = (self._result(tool),), None
            tool.raw, tool.changes, tool.is_cut = None, (), True
            tool.weights = {"shown": 4 * (len(tool.texts[0]) + len(tool.arguments))}
        held = sum(sum(each.weights.values()) for each in self._tools.values())
        while held > _ALL_MAX:
            forgotten = self._tools.pop(next(iter(self._tools)))
            held -= sum(forgotten.weights.values())

    def _result(self, tool: Tool) -> str:
        text = "\n".join(tool.texts) or ("" if tool.result is None else beginning(tool.result, _TEXT_MAX))
        return self._clean(text)[:_TEXT_MAX]

    def _text(self, facts: Mapping[str, Any], name: str) -> str:
        value = facts.get(name)
        return self._clipped(value, _TEXT_MAX) if isinstance(value, str) else ""

    def _clipped(self, text: str, most: int) -> str:
        """As it came where it is short enough; else without secrets, since none may be cut in two."""
        return text if len(text) <= most else self._clean(text)[:most]

    def _change(self, facts: Mapping[str, Any]) -> Change:
        before = facts.get("oldText")
        path = self._clipped(word(facts.get("path")), _PATH_MAX)
        return Change(path, before if isinstance(before, str) else None, word(facts.get("newText")))

    def _news(self, tool: Tool, change: Change) -> str:
        """The change for the transcript; empty if it was told before."""
        mark = hash((change.path, change.before, change.after))
        if mark in tool.shown:
            return ""
        tool.shown.add(mark)
        return self._shown(change)

    def _shown(self, change: Change) -> str:
        """A change as lines with - and +, bounded."""
        found = difference(change)
        new = ", a new file" if change.before is None else ""
        lines = self._clean(found.text).split("\n")
        shown = [without_controls(line)[:300] for line in lines[:_SHOWN]]
        rest = [f"… {len(lines) - _SHOWN:,} lines more"] if len(lines) > _SHOWN else []
        return "\n".join(
            [f"its change: {self._line(change.path)} (+{found.added} -{found.removed}{new})", *shown, *rest]
        )

    def _line(self, text: str) -> str:
        return " ".join(without_controls(self._clean(text)).split())[:500]


def text_of(block: object) -> str:
    """The words of a content block; a mark for what has none."""
    facts = mapping(block)
    match facts.get("type"):
        case "text":
            return word(facts.get("text"))
        case "resource_link":
            return f"({word(facts.get('uri'))})"
        case "image" | "audio" | "resource":
            return f"({facts['type']})"
    return ""


def beginning(value: object, most: int) -> str:
    """A text, or JSON of anything else, up to where at least `most` code points of it are told; no word is cut."""
    if isinstance(value, str):
        return value
    parts: list[str] = []
    # What was read from JSON holds no circles; looking for them would keep it in memory.
    for part in json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True).iterencode(value):
        parts.append(part)
        most -= len(part)
        if most < 0:
            break
    return "".join(parts)


def weight(value: object, most: int) -> int:
    """About how many bytes of memory a value of JSON takes; counted until it is more than `most`."""
    total, waiting = 0, [value]
    while waiting and total <= most:
        each = waiting.pop()
        total += sys.getsizeof(each)
        if isinstance(each, dict):
            waiting += each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return total
