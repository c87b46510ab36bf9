"""Before and after, side by side: what a change of a goal removes, adds and rewords, line by line.

Pure up to the widget at the end, which the question before a decision shows; `Prose` draws the same lines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from core.domain.organisation import drawn
from tui.panes.words import STYLES
from tui.text import one_line, wrap
from tui.widgets.row import Tone

Line = tuple[tuple[str, Tone | None], ...]
"""A drawn line: plain texts with their tones."""

SIDE_BY_SIDE = 48  # cells; below that a column would hold two words, and the sides stand below one another
GUTTER = " │ "
_SECTIONS = (
    ("title", "Title"), ("description", "Description"), ("must_haves", "Must deliver"), ("constraints", "Limits"),
    ("out_of_scope", "Out of scope"),
)  # fmt: skip
_LOOKS: dict[str, tuple[str, Tone | None]] = {
    "same": ("  ", "dim"),
    "removed": ("- ", "bad"),
    "added": ("+ ", "good"),
    "changed": ("± ", "warn"),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One line of both sides. `kind` is same, removed, added or changed; the side that has nothing is empty."""

    kind: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Differences:
    """The differing parts of a thing under their headings, and the names of the parts that stay."""

    sections: tuple[tuple[str, tuple[Difference, ...]], ...]
    same: tuple[str, ...] = ()

    def lines(self, width: int) -> list[Line]:
        """Draw both sides in so many cells."""
        lines: list[Line] = []
        # where there was nothing before, a column for it would be empty
        is_new = all(each.kind == "added" for _, differences in self.sections for each in differences)
        draw = _two_columns if width >= SIDE_BY_SIDE and not is_new else _stacked
        if draw is _two_columns:
            left, right = _columns(width)
            lines.append((("before".ljust(left), "dim"), (GUTTER, "dim"), ("after".ljust(right), "dim")))
        for title, differences in self.sections:
            lines.append(((title, "strong"),))
            for difference in differences:
                lines += draw(difference, width)
        if self.same:
            text = f"unchanged: {', '.join(name.lower() for name in self.same)}"
            lines += [((each, "dim"),) for each in wrap(text, max(8, width))]
        return lines

    def counts(self) -> str:
        """How much differs, in words."""
        kinds = [each.kind for _, differences in self.sections for each in differences]
        found = [f"{count} {kind}" for kind in ("added", "removed", "changed") if (count := kinds.count(kind))]
        return ", ".join(found) or "nothing differs"


def of_payload(payload: Mapping[str, Any]) -> Differences | None:
    """The two sides of a question about a changed goal or organisation; None when it does not hold two sides."""
    before, after = payload.get("before"), payload.get("after")
    if isinstance(before, list) and isinstance(after, list) and (before or after):
        return of_charts(before, after)
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return None
    replaced = payload.get("replaced")
    replaced = {str(old): str(new) for old, new in replaced.items()} if isinstance(replaced, Mapping) else {}
    known = [*_SECTIONS, *((name, name) for name in sorted({*before, *after} - {name for name, _ in _SECTIONS}))]
    sections, same = [], []
    for name, title in known:
        if name not in before and name not in after:
            continue
        found = _compare(before.get(name), after.get(name), replaced if name == "must_haves" else {})
        # must-haves are what a person decides on: they are shown also where nothing in them differs
        if found and (name == "must_haves" or any(each.kind != "same" for each in found)):
            sections.append((title, found))
        else:
            same.append(title)
    return Differences(tuple(sections), tuple(same))


def of_charts(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> Differences:
    """Who reports to whom, before and after: each side in its own order, what stays in the same line of both."""
    old, new = _chart_lines(before), _chart_lines(after)
    found: list[Difference] = []
    for tag, low, high, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            found += [Difference("same", text, text) for text in old[low:high]]
            continue
        found += _replaced(old[low:high], new[start:end])
    return Differences((("Who reports to whom, and what they answer for", tuple(found)),))


def _replaced(gone: Sequence[str], come: Sequence[str]) -> list[Difference]:
    """Lines in the place of others: who stays where they are and answers for something else is one changed line."""
    found: list[Difference] = []
    matcher = SequenceMatcher(None, [_who(text) for text in gone], [_who(text) for text in come], autojunk=False)
    for tag, low, high, start, end in matcher.get_opcodes():
        if tag == "equal":
            found += [
                Difference("changed", *pair) for pair in zip(gone[low:high], come[start:end], strict=True)
            ]  # fmt: skip
        else:
            found += [Difference("removed", text, "") for text in gone[low:high]]
            found += [Difference("added", "", text) for text in come[start:end]]
    return found


def _chart_lines(chart: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line an agent, indented below its manager."""
    lines = []
    for depth, row in drawn(chart):
        duties = one_line(str(row.get("duties") or ""))
        lines.append(f"{'  ' * depth}{row['agent']}{f': {duties}' if duties else ''}")
    return lines


def _who(text: str) -> str:
    return text.partition(":")[0]  # with its indentation: whom it reports to


def _compare(before: Any, after: Any, replaced: Mapping[str, str]) -> tuple[Difference, ...]:
    """What differs between two values of a field: lists of must-haves or of texts, or single texts.

    `replaced` names the id under which other words take the place of an old one.
    """
    olds, news = _items(before), _items(after)
    if not isinstance(before, list) and not isinstance(after, list) and olds and news:
        # a text has no lines to match: it is the same one, or another
        (_, old), (_, new) = olds[0], news[0]
        return (Difference("same" if old == new else "changed", old, new),)
    by_key = dict(news)
    matched: set[str] = set()
    found = []
    for key, text in olds:
        other = replaced.get(key, key)
        if other not in by_key:
            found.append(Difference("removed", text, ""))
        else:
            found.append(Difference("same" if by_key[other] == text else "changed", text, by_key[other]))
            matched.add(other)
    return (*found, *(Difference("added", "", text) for key, text in news if key not in matched))


def _items(value: Any) -> list[tuple[str, str]]:
    """What is matched by, and the text that is shown."""
    if value is None or value == "":
        return []
    items = []
    for each in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(each, Mapping) and "text" in each:
            name, text = str(each.get("id") or ""), str(each["text"])
            text = f"{name} {text}" if name else text
            if each.get("verify"):
                text += f" (how to verify: {each['verify']})"
            if each.get("waived_by"):
                text += f" (waived by {each['waived_by']})"
            items.append((name or text, text))
        else:
            items.append((str(each), str(each)))
    return items


def _columns(width: int) -> tuple[int, int]:
    left = (width - len(GUTTER)) // 2
    return left, width - len(GUTTER) - left


def _two_columns(difference: Difference, width: int) -> list[Line]:
    sign, tone = _LOOKS[difference.kind]
    room = _columns(width)
    sides = []
    for text, cells in zip((difference.before, difference.after), room, strict=True):
        rows = _hanging(text, max(2, cells - len(sign))) if text else []
        sides.append([(sign if not place else "  ") + row for place, row in enumerate(rows)])
    lines: list[Line] = []
    for place in range(max(len(side) for side in sides)):
        left, right = (_padded(side, place, cells) for side, cells in zip(sides, room, strict=True))
        lines.append(((left, tone), (GUTTER, "dim"), (right, tone)))
    return lines


def _hanging(text: str, cells: int) -> list[str]:
    """Lines of at most so many cells; what is indented stays so on its further lines."""
    text = one_line(text)
    indent = " " * min(len(text) - len(text.lstrip(" ")), cells // 2)
    if not indent:
        return wrap(text, cells)
    rows = wrap(text.lstrip(" "), max(2, cells - len(indent) - 2))
    return [f"{indent}{'  ' if place else ''}{row}" for place, row in enumerate(rows)]


def _padded(rows: Sequence[str], place: int, cells: int) -> str:
    text = rows[place] if place < len(rows) else ""
    return text + " " * max(0, cells - cell_len(text))


def _stacked(difference: Difference, width: int) -> list[Line]:
    sign, tone = _LOOKS[difference.kind]
    if difference.kind == "changed":
        halves = [(f"{sign}was ", difference.before, "dim"), ("  now ", difference.after, tone)]
    else:
        halves = [(sign, difference.before or difference.after, tone)]
    lines: list[Line] = []
    for label, text, shade in halves:
        rows = wrap(one_line(text), max(2, width - len(label)))
        lines += [(((label if not place else " " * len(label)) + row, shade),) for place, row in enumerate(rows)]
    return lines


class DifferencesView(Widget):
    """Both sides, drawn for the width that there is: side by side, or below one another."""

    def __init__(self, differences: Differences) -> None:
        super().__init__(classes="differences")
        self._differences = differences

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as it has in so many cells."""
        return len(self._differences.lines(width))

    def render(self) -> Content:
        """The lines, each with its tones."""
        drawn = [
            Content.assemble(*((text, STYLES[tone] if tone else "") for text, tone in parts))
            for parts in self._differences.lines(self.size.width)
        ]
        return Content("\n").join(drawn)
