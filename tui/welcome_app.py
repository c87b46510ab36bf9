"""The small application of the first screen. It writes nothing but what is forgotten; who called it does the rest."""

import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import platformdirs
from textual.app import App
from textual.binding import BindingType

from core.config import Config, runner_kinds
from core.founding.found import Plan
from tui.personal import Personal
from tui.screens.found import FoundScreen
from tui.screens.welcome import Chosen, Here, WelcomeScreen
from tui.themes import DEFAULT_THEME, load_themes, usable


@dataclass(frozen=True, slots=True)
class Begun:
    """What to do: what was chosen, and for a new company its plan."""

    chosen: Chosen
    plan: Plan | None = None


class WelcomeApp(App[Begun]):
    """Ends with what the person chose, or None. `problem` is told first; `look` says what is here to run on.

    `new_folder` is proposed for a company that is to be made, `monotonic` gives seconds.
    """

    TITLE = "Opsroom"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [("ctrl+q,ctrl+c", "leave", "Leave")]

    def __init__(
        self, personal: Personal, look: Callable[[], Awaitable[Here]], *, problem: str = "",
        new_folder: Path | None = None, monotonic: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        super().__init__()
        self._personal = personal
        self._monotonic = monotonic
        self._take_themes()
        self.welcome = WelcomeScreen(
            personal.memory, look, self._choose, self.action_leave,
            new_folder=new_folder or unused_folder(), problem=problem,
        )  # fmt: skip

    def _take_themes(self) -> None:
        own = self._personal.themes
        for known in list(self.available_themes):
            self.unregister_theme(known)
        for theme in load_themes(*([own] if own is not None else []))[0]:
            if usable(theme, "NO_COLOR" in os.environ):
                self.register_theme(theme)
        wanted = self._personal.settings.theme or self._personal.memory.now.theme
        self.theme = wanted if wanted in self.available_themes else DEFAULT_THEME

    def on_mount(self) -> None:
        """One screen; the form of a new company stands over it."""
        self.push_screen(self.welcome)

    def _choose(self, chosen: Chosen) -> None:
        if chosen.way != "make":
            self.exit(Begun(chosen))
            return

        def done(plan: Plan | None) -> None:
            if plan is None:
                self.pop_screen()
            else:
                self.exit(Begun(chosen, plan))

        name = chosen.folder.name.encode("utf-8", "replace").decode()
        kinds = runner_kinds(Config())
        self.push_screen(FoundScreen(chosen.folder, name, kinds, self.welcome.grounds, done, self._monotonic))

    def action_leave(self) -> None:
        """Begin nothing."""
        self.exit(None)

    async def on_unmount(self) -> None:
        """What was forgotten is forgotten for good."""
        await self._personal.memory.settle()


def unused_folder() -> Path:
    """Where a new company may lie: a free name below the data folder (XDG_DATA_HOME); blocks."""
    base = Path(platformdirs.user_data_dir("opsroom")) / "companies"
    names = ("company", *(f"company-{number}" for number in range(2, 1000)))
    return next((base / name for name in names if not (base / name).exists()), base / "company")
