"""The part of `Prose` that leads on: ids and @names in its lines are targets, by key and by mouse.

Lines are looked at when they are drawn or passed, never as a whole. Which ids exist, and where they lead, the app says.
"""

from collections.abc import Iterator
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.scroll_view import ScrollView

from tui.targets import Finder, Target

Parts = tuple[tuple[str, str | None], ...]
"""A drawn line: texts with their component classes."""
MOST_LINES = 20_000  # that one key looks through


class TargetView(ScrollView):
    """A text whose targets can be pointed at and followed. Who draws it gives its lines through `marked`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"prose--target", "prose--chosen"}
    DEFAULT_CSS = """
    TargetView {
        & > .prose--target { text-style: underline; }
        & > .prose--chosen { text-style: reverse bold; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+u", "half(-1)", "Half a page up", show=False, id="prose.half_up"),
        Binding("ctrl+d", "half(1)", "Half a page down", show=False, id="prose.half_down"),
        Binding("full_stop", "target(1)", "Next id or name", show=False, id="prose.next_target"),
        Binding("comma", "target(-1)", "The id or name before", show=False, id="prose.previous_target"),
        Binding("enter", "follow", "Follow it", show=False, id="prose.follow"),
    ]

    class Pointed(Message):
        """A target is chosen, or there is none in that direction (`ref` is empty)."""

        def __init__(self, ref: str) -> None:
            super().__init__()
            self.ref = ref

    class Followed(Message):
        """The operator wants to go to what a target names."""

        def __init__(self, ref: str) -> None:
            super().__init__()
            self.ref = ref

    _chosen: tuple[int, Target] | None = None

    # ------------------------------------------------------------- what the text gives

    def drawn_line(self, line: int) -> Parts:
        """The parts of a line of the text, without targets."""
        raise NotImplementedError

    @property
    def line_count(self) -> int:
        """How many lines the text has."""
        return self.virtual_size.height

    # ------------------------------------------------------------- looking

    def marked(self, line: int) -> Parts:
        """The parts of a line with its targets standing out."""
        parts = self.drawn_line(line)
        found = self._targets("".join(text for text, _ in parts))
        return parts if not found else tuple(self._cut(line, parts, found))

    def _targets(self, text: str) -> list[Target]:
        finder: Finder | None = getattr(self.app, "targets_in", None)
        return finder(text) if finder is not None and text else []

    def forget_target(self) -> None:
        """Another text is shown: nothing of it is chosen."""
        self._chosen = None

    def _cut(self, line: int, parts: Parts, found: list[Target]) -> Iterator[tuple[str, str | None]]:
        """Cut where targets begin and end; each keeps the look that it had, and is underlined."""
        at = 0
        for text, component in parts:
            end = at + len(text)
            place = at
            for target in found:
                first, last = max(target.start, at), min(target.end, end)
                if first >= last:
                    continue
                if first > place:
                    yield text[place - at : first - at], component
                look = "target chosen" if self._chosen == (line, target) else "target"
                yield text[first - at : last - at], f"{component} {look}" if component else look
                place = last
            if place < end or not text:
                yield text[place - at :], component
            at = end

    def _of_line(self, line: int) -> list[Target]:
        return self._targets("".join(text for text, _ in self.drawn_line(line)))

    # ------------------------------------------------------------- keys and mouse

    def action_half(self, by: int) -> None:
        """Scroll by half a screen."""
        self.scroll_relative(y=by * max(1, self.scrollable_content_region.height // 2), animate=False)

    def action_target(self, by: int) -> None:
        """Point at the next target or the one before: from the chosen one, or from the top of the screen."""
        found = self._next(by)
        if found is None:
            self.post_message(self.Pointed(""))
            return
        self._chosen = found
        line, top, height = found[0], self.scroll_offset.y, self.scrollable_content_region.height
        if not top <= line < top + height:
            self.scroll_to(y=max(0, line - height // 2), animate=False, force=True)
        self.refresh()
        self.post_message(self.Pointed(found[1].ref))

    def _next(self, by: int) -> tuple[int, Target] | None:
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        begin, column = top if by > 0 else min(top + height, self.line_count) - 1, None
        if self._chosen is not None and self._chosen[1] in self._of_line(self._chosen[0]):
            begin, column = self._chosen[0], self._chosen[1].start
        last = min(self.line_count, begin + MOST_LINES) if by > 0 else max(-1, begin - MOST_LINES)
        for line in range(begin, last, by):
            here = self._of_line(line)
            if line == begin and column is not None:
                here = [each for each in here if (each.start > column if by > 0 else each.start < column)]
            if here:
                return line, here[0 if by > 0 else -1]
        return None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enter follows only what is chosen; else it means what it means on the screen."""
        return self._chosen is not None if action == "follow" else True

    def action_follow(self) -> None:
        """Go to what is chosen, if the text still says it."""
        chosen, self._chosen = self._chosen, None
        if chosen is not None and chosen[1] in self._of_line(chosen[0]):
            self.post_message(self.Followed(chosen[1].ref))
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """A click on a target follows it."""
        if (offset := event.get_content_offset(self)) is None:
            return
        line = self.scroll_offset.y + offset.y
        text = "".join(each for each, _ in self.drawn_line(line))
        for target in self._targets(text):
            begin = cell_len(text[: target.start])
            if begin <= offset.x < begin + cell_len(text[target.start : target.end]):
                event.stop()
                self.post_message(self.Followed(target.ref))
                return
