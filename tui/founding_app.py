"""The small application behind `opsroom init` in a terminal: one form. It writes nothing; who called it does."""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import BindingType

from core.config import Config, runner_kinds
from core.founding.found import Plan
from core.founding.ground import Ground, grounds
from tui.screens.found import FoundScreen, Look
from tui.themes import DEFAULT_THEME, load_themes, usable


async def look_here() -> Sequence[Ground]:
    """What agents could run on here."""
    from core.doctor.found import look

    found = await look()
    return await asyncio.to_thread(grounds, found, runner_kinds(Config()))


class FoundingApp(App[Plan]):
    """Ends with the plan that the person agreed to, or None. `look` and `monotonic` (seconds) are injected in tests."""

    TITLE = "Opsroom"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [("ctrl+q,ctrl+c", "leave", "Leave")]

    def __init__(
        self, folder: Path, name: str, *, look: Look = look_here, monotonic: Callable[[], float] = time.monotonic
    ) -> None:  # fmt: skip
        super().__init__()
        for known in list(self.available_themes):
            self.unregister_theme(known)
        for theme in load_themes()[0]:
            if usable(theme, "NO_COLOR" in os.environ):
                self.register_theme(theme)
        self.theme = DEFAULT_THEME
        self._made_with = (folder, name, runner_kinds(Config()), look, self.exit, monotonic)

    def on_mount(self) -> None:
        """The form is all there is."""
        self.form = FoundScreen(*self._made_with)
        self.push_screen(self.form)

    def action_leave(self) -> None:
        """Make nothing."""
        self.exit(None)


def ask(folder: Path, name: str) -> Plan | None:
    """Show the form until the person agrees to a plan, or leaves (None)."""
    return FoundingApp(folder, name).run()
