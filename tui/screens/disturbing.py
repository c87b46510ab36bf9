"""How the room tells what happened: a toast, the bell, a notification of the terminal. Beside `Leading`.

Nothing of it waits, and what is told is text of others: shown literally, and without any power over the terminal.
"""

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.domain.entities import Event
from tui.driver import is_given_away
from tui.notifying import AWAY, Telling
from tui.notifying_company import Notifying
from tui.notifying_terminal import sequence, way_of
from tui.remembered import Told
from tui.text import fit, one_line

if TYPE_CHECKING:
    from tui.screens.control import ControlScreen

TOAST_S, SUMMARY_S = 8, 30
_MOST = 300  # characters in a toast
CLOSED, WENT_ON = "closed", "went on"


class Disturbing:
    """The act by name, as the table of actions calls it, and what `Notifying` tells."""

    def __init__(self, room: "ControlScreen") -> None:
        self._room = room
        self.news: Notifying | None = None

    async def begin(self) -> None:
        """From now on the room tells; what happened since it was left is told as one."""
        room = self._room
        self.news = Notifying(room.company, room.view, room.app.personal, room.now, self._show, self._problem)
        before = await self.news.begin()
        if before is not None and before.left_at:
            room.say(f"⚠ {how_it_was_left(before, room.now(), room.company.is_owner)}", "warn")
        self.look()

    def hear(self, events: Sequence[Event]) -> None:
        """Take in what happened."""
        if self.news is not None:
            self.news.hear(events)

    def look(self) -> None:
        """Tell what is new; nothing while another program has the terminal."""
        if self.news is not None and not is_given_away(self._room.app._driver):
            self.news.look()

    def quiet(self) -> None:
        """Do not disturb, or tell what was held."""
        if self.news is None:
            return
        key = self._room.view.keymap.shown("quiet")
        if self.news.toggle():
            self._room.say(f"Do not disturb: what comes is held and told as one when you press {key} again.", "good")
        elif self.news.in_quiet_hours:
            self._room.say("You can be disturbed, but for the quiet hours of your settings, which go on.", "warn")
        else:
            self._room.say("You can be disturbed again.", "good")
        self.look()

    @property
    def words(self) -> str:
        """For the status bar: that nobody is disturbed, and how much is held."""
        if self.news is None or not self.news.is_quiet:
            return ""
        return f"quiet: {self.news.held} held" if self.news.held else "quiet"

    # ------------------------------------------------------------- telling

    def _show(self, telling: Telling) -> None:
        app, wish = self._room.app, self._room.app.personal.settings.notify
        title, words = one_line(telling.title), fit(one_line(telling.words), _MOST)
        is_sum = len(telling.notices) > 1
        if wish.toasts:
            app.notify(words, title=title, severity="warning" if telling.urgent else "information", markup=False,
                       timeout=SUMMARY_S if is_sum else TOAST_S)  # fmt: skip
        elif title.startswith(AWAY):
            self._room.say(f"{title}: {words}", "warn")
        if wish.bell and telling.urgent:
            app.bell()
        told = sequence(way_of(wish.terminal, os.environ), title, words, in_tmux=bool(os.environ.get("TMUX")))
        if told and app._driver is not None and not app.is_headless and not app.is_web:
            app._driver.write(told)

    def _problem(self, problem: str) -> None:
        if self._room.is_attached:
            self._room.app.notify(problem, title="webhook", severity="warning", markup=False)


def how_it_was_left(before: Told, now: int, is_owner: bool) -> str:
    """What became of the company when its terminal was closed, for the next start."""
    at = time.strftime("%H:%M" if now - before.left_at < 86_400_000 else "%Y-%m-%d %H:%M",
                       time.localtime(before.left_at / 1000))  # fmt: skip
    closed = f"The terminal of this room was closed at {at}"
    if before.left != WENT_ON:
        return f"{closed}, and the company stood still from then on: its runs were ended, their tasks went back."
    if is_owner:
        return f"{closed}, and the company went on without a room; that has ended since."
    return f"{closed}, and the company goes on without a room: this one follows it. `opsroom stop` hands it over."
