"""Keys one after the other: the next one sets out when the one before has done all that it does.

Textual hands a key to what has the focus at that moment, but focus and screens change a few messages later: a key in
between would go to the list below the overlay that just opened.
"""

import asyncio
from collections import deque

from textual.app import App
from textual.events import Key
from textual.message import Message
from textual.widget import Widget

MOST_S = 1.0  # what a key sets off may take
LOOK_S = 0.05  # how soon it is seen that the widget went away, which can tell nothing any more


class KeyOver(Message, bubble=True):
    """Follows a key on its way up: when the app hears it, everybody has heard the key."""

    def __init__(self, number: int, laps: int, way: Widget) -> None:
        super().__init__()
        self.way = way
        self.number = number
        self.laps = laps


class KeyQueue:
    """At most one key is under way."""

    def __init__(self, app: App[None]) -> None:
        self._app = app
        self._waiting: deque[Key] = deque()
        self._next: Key | None = None
        self._number = 0
        self._under_way = False
        self._limit: asyncio.TimerHandle | None = None

    def takes(self, key: Key) -> bool:
        """Whether the key may set out now; else it is kept for later."""
        if key is self._next:
            self._next = None
            return True
        if self._under_way or self._next is not None:
            self._waiting.append(key)
            return False
        return True

    def follow(self, way: Widget) -> None:
        """A key set out: send somebody behind it, who goes twice, so that what the key set off has arrived too."""
        self._under_way = True
        self._number += 1
        self._look(self._number, way, MOST_S)
        self._send(KeyOver(self._number, 1, way))

    def _look(self, number: int, way: Widget, left_s: float) -> None:
        """Now and then: a form that was saved took the one behind the key along with it."""
        if left_s <= 0 or not way.is_attached:
            self._over(number)
        else:
            self._limit = asyncio.get_running_loop().call_later(LOOK_S, self._look, number, way, left_s - LOOK_S)

    def arrived(self, over: KeyOver) -> None:
        """The one behind the key is here."""
        if over.laps:
            self._send(KeyOver(over.number, over.laps - 1, over.way))
        else:
            # behind the focus that the key moved
            self._app.call_later(self._over, over.number)

    def _send(self, over: KeyOver) -> None:
        if not (over.way.is_attached and over.way.post_message(over)):
            self._app.call_later(self._over, over.number)

    def _over(self, number: int) -> None:
        if number != self._number or not self._under_way:
            return
        self._under_way = False
        if self._limit is not None:
            self._limit.cancel()
        if self._waiting:
            self._next = self._waiting.popleft()
            self._app.post_message(self._next)
