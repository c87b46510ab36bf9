"""Text that runs from right to left keeps its order to itself: in a terminal that turns it round, the row's other cells
stay where they are.

A left-to-right mark, which has no width, ends such a text. Theirs never come this far: `plain` draws them.
"""

import re
from collections.abc import Sequence

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

MARK = "\u200e"
_RIGHT_TO_LEFT = (
    "\u0590-\u05ff\u0600-\u06ff\u0700-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
)
_TEXT = re.compile(f"[{_RIGHT_TO_LEFT}](?: ?[^\\s{MARK}])*")


class Isolation(LineFilter):
    """Marks the ends of right-to-left texts in the lines of every widget: at a gap, at the end of a cell or a line."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments with marks; the same ones where there is nothing to mark."""
        if all(segment.text.isascii() for segment in segments):
            return segments
        return [
            segment if segment.text.isascii() else self._marked(segment, segments[place + 1 : place + 2])
            for place, segment in enumerate(segments)
        ]

    def _marked(self, segment: Segment, following: Sequence[Segment]) -> Segment:
        after = following[0].text if following else ""
        goes_on = bool(after.strip()) and not after.startswith("  ")
        text = sealed(segment.text, goes_on=goes_on)
        return segment if text == segment.text else Segment(text, segment.style, segment.control)


def sealed(text: str, *, goes_on: bool = False) -> str:
    """The text with a mark behind each part that runs from right to left; not at its end where it `goes_on`."""
    if text.isascii():
        return text
    end = len(text.rstrip())
    return _TEXT.sub(lambda found: found[0] if goes_on and found.end() == end else found[0] + MARK, text)
