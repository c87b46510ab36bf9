"""The ways that are the same on every screen: the palette, jumps, copying, pager and editor. The app has one of it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType

from core.domain.errors import OpsroomError
from tui.actions import ACTIONS, DECISION_KEYS, WAYS, Hint
from tui.copying import Form, as_text, forms, markdown, told, too_long
from tui.keymap import pressed, slot_name
from tui.modes import HOME, mode_of
from tui.screens.jumping import Jumping
from tui.screens.pager import edit_copy, page_text
from tui.targets import Target, tag_of, targets_in
from tui.text import one_line
from tui.widgets.prose import Block, Prose
from tui.widgets.row import Tone

if TYPE_CHECKING:
    from tui.app import OpsroomApp
    from tui.screens.control import ControlScreen


def way_bindings() -> list[BindingType]:
    """The keys of the ways, for the app and for what stands over the room as a dialog."""
    return [
        Binding(",".join(each.keys), f"app.way('{each.name}')", each.about, show=False,
                id=f"room.{slot_name(each.name)}")
        for each in ACTIONS if each.name in WAYS
    ]  # fmt: skip


class Ways:
    """The acts by name, as the table of actions calls them."""

    def __init__(self, app: "OpsroomApp", room: "ControlScreen") -> None:
        self._app = app
        self._room = room
        self.jumping: Jumping = room.jumping

    def go(self, name: str) -> None:
        """Do one of them, on whatever screen."""
        if self._room.view.loaded:
            getattr(self, name)()

    def say(self, text: str, tone: Tone | None = None) -> None:
        """Tell it where the operator looks."""
        getattr(self._app.screen, "say", self._room.say)(text, tone)

    def click(self, hint: Hint, chain: int) -> None:
        """A key of the footer was clicked: press it. What decides needs a second click at once."""
        decides = {self._room.view.keymap.shown(name) for name in DECISION_KEYS}
        is_decision = hint.key in decides and mode_of(self._app.screen) in (HOME, "board")
        if is_decision and chain < 2:
            self.say(f"{hint.key} {hint.word}: a double click does it; one click decides nothing.", "dim")
        elif (key := pressed(hint.key)) and (chain == 1 or is_decision):
            self._app.post_message(events.Key(key, key if len(key) == 1 else None))

    # ------------------------------------------------------------- palette and jumps

    def palette(self) -> None:
        """Every action, command and place."""
        from tui.screens.palette import Palette

        if not isinstance(self._app.screen, Palette):
            self._app.push_screen(Palette(self._app))

    def jump(self) -> None:
        """To a thing by its id, its name or words of its title."""
        from tui.screens.palette import Palette

        if not isinstance(self._app.screen, Palette):
            self._app.push_screen(Palette(self._app, only_things=True))

    def jump_back(self) -> None:
        """To where one was."""
        self.jumping.back()

    def targets_in(self, text: str) -> list[Target]:
        """What of a line of text leads somewhere."""
        return targets_in(self._room.view, text) if self._room.view.loaded else []

    # ------------------------------------------------------------- copying

    def copy(self) -> None:
        """Choose a form of the selected thing, and copy it."""
        from tui.screens.choosing import Choosing

        ref = self.jumping.subject()
        if not ref:
            self.say("Nothing is selected.", "warn")
            return
        found = forms(self._room.view, ref, self._room.company.folder, self._shown())
        rows = [(form.name, one_line(form.text[:500])) for form in found]

        def chosen(number: int | None) -> None:
            if number is not None:
                self._copy(found[number])

        self._app.push_screen(Choosing(f"Copy of {tag_of(self._room.view, ref)}", rows, "copies"), chosen)

    def _copy(self, form: Form) -> None:
        if why_not := too_long(form, self._room.view.keymap.shown("page")):
            self.say(why_not, "warn")
            return
        self._app.copy_to_clipboard(form.text)
        self.say(told(form), "good")

    def _shown(self) -> Sequence[Block]:
        """The text on the screen: that which has the focus, else the first."""
        focused = self._app.screen.focused
        if isinstance(focused, Prose):
            return focused.blocks
        if self._app.screen is self._room:
            return self._room.detail.prose.blocks
        return next((each.blocks for each in self._app.screen.query(Prose)), ())

    # ------------------------------------------------------------- pager and editor

    def page(self) -> None:
        """All of it in the pager; nothing can be changed there."""
        self._open(in_pager=True)

    def edit_copy(self) -> None:
        """A copy of it in the editor; what is changed there changes nothing here."""
        self._open(in_pager=False)

    def _open(self, *, in_pager: bool) -> None:
        from tui.screens.run import RunScreen

        if isinstance(screen := self._app.screen, RunScreen):
            screen.acts.open()  # a transcript is read whole from its file
            return
        ref = self.jumping.subject()
        is_room = next((mode_of(each) for each in reversed(self._app.screen_stack) if mode_of(each)), HOME) == HOME
        whole = markdown(self._room.view, ref) if is_room and ref else ""
        text = "\n".join(part for part in (whole, as_text(self._shown())) if part)
        if not text:
            self.say("There is nothing to open.", "warn")
            return
        name = f"{tag_of(self._room.view, ref) or 'text'}.md"
        self._app.run_worker(
            self._show(name, text, in_pager), name="open", group="open", exclusive=True, exit_on_error=False
        )

    async def _show(self, name: str, text: str, in_pager: bool) -> None:
        app: App[None] = self._app
        try:
            if in_pager:
                await page_text(app, name, text)
                self.say("Back in the room. The company went on meanwhile.", "dim")
                return
            changed = await edit_copy(app, name, text) != text
        except OpsroomError as problem:
            self._room.refuse(problem) if app.screen is self._room else self.say(str(problem), "bad")
            return
        lost = "It was a copy: what you changed there changes nothing here." if changed else "It was a copy."
        self.say(lost, "warn" if changed else "dim")

    def write(self, text: str, then: Callable[[str], None]) -> None:
        """What somebody writes here, in their editor; `then` gets what was saved."""
        self._app.run_worker(
            self._write(text, then), name="write outside", group="open", exclusive=True, exit_on_error=False
        )

    async def _write(self, text: str, then: Callable[[str], None]) -> None:
        try:
            saved = await edit_copy(self._app, "text.md", text)
        except OpsroomError as problem:
            # a toast: the line above the keys is the next key's, and what is being written needs all of them
            self._app.notify(str(problem), severity="error", markup=False)
            self.say(str(problem), "bad")
            return
        then(saved.removesuffix("\n"))
