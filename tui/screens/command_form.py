"""A command that has no key, in a form made from its fields: checked here, asked about, and only then sent."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from core.commands.registry import Command, Registered
from core.domain.entities import Approval, Goal
from tui.actions import Hint
from tui.command_fields import Field, arguments, built, fields_of, prefilled, told, with_hash
from tui.copying import text_of
from tui.panes.composer import Line
from tui.panes.words import put, said
from tui.screens.confirm import Confirm
from tui.text import act_in_words, capital
from tui.told_commands import about_in_words

if TYPE_CHECKING:
    from tui.app import OpsroomApp

KEYS = "enter goes on, and asks at the end · ^s asks at once · esc leaves, nothing is sent"


class CommandForm(ModalScreen[Command]):
    """Answers with a command that its own checks accept, or with nothing. Nothing is sent from here."""

    CSS_PATH: ClassVar = ["dialogs.tcss", "palette.tcss"]
    HINTS: ClassVar = (Hint("^s", "ask", 1), Hint("tab", "next field", 2), Hint("esc", "leave", 0))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", show=False),
        Binding("ctrl+s", "hand_over", "Ask", show=False, priority=True),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]

    def __init__(self, app: "OpsroomApp", command: Registered, ref: str) -> None:
        super().__init__()
        self._view = app.room.view
        self._command = command
        self._fields = fields_of(command.model)
        self._filled = prefilled(self._fields, self._view, ref)
        self.lines: Mapping[str, Line] = {
            each.name: Line(self._filled.get(each.name, ""), placeholder=each.hint, id=f"field-{each.name}")
            for each in self._fields
        }
        self._wrong = {each.name: Static(classes="form-wrong") for each in self._fields}
        self._problem = Static(id="form-problem")

    def compose(self) -> ComposeResult:
        """What the command does, a line for each field, and the keys."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = said(capital(act_in_words(self._command.name)))
            yield Static(said(about_in_words(self._command.about)), id="form-about")
            with VerticalScroll(id="form-fields", can_focus=False):
                for field in self._fields:
                    with Vertical(classes="form-field"):
                        with Horizontal(classes="form-line"):
                            yield Static(_label(field), classes="form-label")
                            yield self.lines[field.name]
                        yield self._wrong[field.name]
            yield self._problem
            yield Static(said(KEYS, "dim"), id="form-hint")

    def on_mount(self) -> None:
        """The first field that is needed and empty has the focus."""
        self._problem.display = False
        empty = [each.name for each in self._fields if each.required and each.name not in self._filled]
        name = next(iter([*empty, *self.lines]), "")
        if name:
            self.lines[name].focus()

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        name = (event.input.id or "").removeprefix("field-")
        self._tell({name: ""}, keep=True)

    @on(Input.Submitted)
    def _next(self, event: Input.Submitted) -> None:
        """Enter goes to the next field; in the last one it asks."""
        event.stop()
        names = list(self.lines)
        place = names.index((event.input.id or "").removeprefix("field-"))
        if place + 1 < len(names):
            self.lines[names[place + 1]].focus()
        else:
            self.action_hand_over()

    def action_hand_over(self) -> None:
        """Check, and answer with the command when nothing is wrong."""
        texts = {name: line.value for name, line in self.lines.items()}
        given, wrong = arguments(self._fields, texts, self._view)
        command = None
        if not wrong:
            command, wrong = built(self._command.model, with_hash(self._command.model, given, self._view))
        if command is None:
            self._tell(wrong)
            first = next((name for name in self.lines if name in wrong), "")
            if first:
                self.lines[first].focus()
            return
        self.dismiss(command)

    def _tell(self, wrong: Mapping[str, str], *, keep: bool = False) -> None:
        for name, where in self._wrong.items():
            if name in wrong or not keep:
                put(where, said(wrong.get(name, ""), "bad"), layout=True)
                where.set_class(bool(wrong.get(name)), "-told")
        rest = "; ".join(text for name, text in wrong.items() if name not in self._wrong and text)
        if rest or not keep:
            put(self._problem, said(rest, "bad"), layout=True)
            self._problem.display = bool(rest)

    def action_leave(self) -> None:
        """Nothing is sent."""
        self.dismiss(None)


def _label(field: Field) -> str:
    return f"{field.label}{' *' if field.required else ''}"


def open_command(app: "OpsroomApp", command: Registered) -> None:
    """A command's form, then a question, then the command is sent by a worker; each step can be left."""
    ref = app.room.jumping.subject()
    fields = fields_of(command.model)

    def filled(found: Command | None) -> None:
        if found is not None:
            _ask(app, command, fields, found)

    if fields:
        app.push_screen(CommandForm(app, command, ref), filled)
    else:
        filled(command.model())


def _ask(app: "OpsroomApp", command: Registered, fields: list[Field], found: Command) -> None:
    words = act_in_words(command.name)
    given = found.model_dump(mode="json", exclude_unset=True)
    host = app.screen if app.screen is not app.room and hasattr(app.screen, "refuse") else None

    def answered(agreed: bool | None) -> None:
        if agreed:
            app.room.decisions.send(words, found, host)  # type: ignore[arg-type]
        else:
            app.ways.say("Nothing was done.", "dim")

    lines = [about_in_words(command.about), "", *told(fields, given, app.room.view), *_decided_on(app, given)]
    app.push_screen(Confirm(f"{capital(words)}?", lines, "Send", app.room.decisions.monotonic), answered)


def _decided_on(app: "OpsroomApp", given: Mapping[str, object]) -> list[str]:
    """What is decided on is shown whole, with its hash: nobody approves what was not on the screen."""
    tables = app.room.view.tables
    hashed = given.get("payload_hash") or given.get("content_hash")
    if not hashed:
        return []
    number = given.get("approval") if "payload_hash" in given else given.get("goal")
    thing = tables.get(Approval if "payload_hash" in given else Goal, number if isinstance(number, int) else None)
    return ["", "This content:", *text_of(thing).split("\n"), "", f"content sha256 {hashed}"]
