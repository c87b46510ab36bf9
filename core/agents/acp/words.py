"""A program's words come in chunks of a few letters; they are told in lines, cut where words end."""

import time
from collections.abc import Callable

_LINE = 300  # code points that are gathered before they are told
_LONGEST_S = 1.0  # so long words wait for more words
_MOST = 25_000  # code points of one piece: what is shown of it ends before
_THOUGHT = 400


class Joined:
    """Words are joined until a line, or at least a word, has ended: so no secret is torn over two pieces."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = 0.0
        self._waits = ""
        self._skips = False

    def add(self, text: str) -> str:
        """More of them. What is ready to be told; empty while nothing is."""
        if self._skips:
            # The rest of an endless word, whose beginning was told.
            at = next((place for place, sign in enumerate(text) if sign.isspace()), len(text))
            text, self._skips = text[at:], at == len(text)
        if not self._waits:
            self._at = self._clock()
        self._waits += text
        if len(self._waits) < _LINE and self._clock() - self._at < _LONGEST_S:
            return ""
        at = max(self._waits.rfind("\n"), self._waits.rfind(" ")) + 1
        if not at and len(self._waits) > _MOST:
            self._skips, at = True, len(self._waits)
        if not at:
            return ""
        ready, self._waits = self._waits[:at], self._waits[at:]
        self._at = self._clock()
        return ready[:_MOST]

    def end(self) -> str:
        """All that is left: something else begins."""
        ready, self._waits, self._skips = self._waits, "", False
        return ready[:_MOST]


class Beginning:
    """Of a thought only how it begins is kept."""

    def __init__(self) -> None:
        self._text = ""

    def add(self, text: str) -> None:
        """More of it."""
        self._text += text[: max(0, 2 * _THOUGHT - len(self._text))]

    def end(self) -> str:
        """How it began; empty if there was none."""
        text, self._text = self._text, ""
        return text
