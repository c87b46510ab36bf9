"""The acts on the prompts' screen: ask for another prompt, compare two, copy, open in the editor, keep and drop."""

import re
from typing import TYPE_CHECKING

from textual.app import App

from core.commands.registry import parse
from core.domain.entities import AgentRecord, Task
from core.domain.errors import OpsroomError
from core.domain.states import ExperienceStatus, RunKind
from tui.panes.prompt_page import exact
from tui.panes.prompt_reading import is_run
from tui.panes.prompt_runs import in_time, planned_id
from tui.screens.pager import edit_file, show_text
from tui.text import amount, one_line

if TYPE_CHECKING:
    from tui.screens.prompting import Prompting
    from tui.screens.prompts import PromptsScreen

COPY_MAX = 1_000_000  # characters; no terminal takes more
_ASKED = re.compile(
    r"(?:[Rr](?P<run>[0-9]{1,15}))|(?P<agent>[a-z][a-z0-9-]*)(?:\s+[Tt]?(?P<task>[0-9]{1,15}))?"
    r"(?:\s+(?P<kind>[A-Za-z]+(?:[\s_-]+[A-Za-z]+)?))?"
)


class PromptActs:
    """What the keys of the screen do."""

    def __init__(self, screen: "PromptsScreen", prompting: "Prompting") -> None:
        self._screen = screen
        self._prompting = prompting

    def ask(self) -> None:
        """Whose prompt: any run, or any agent about any task."""
        screen = self._screen
        screen.composer.ask("whose prompt:", self._asked)
        screen.composer.field.placeholder = (
            "R12, or an agent, its task, the kind: ada T3 execute; an agent alone will do"
        )
        screen.show_keys()

    def _asked(self, text: str) -> None:
        found = _ASKED.fullmatch(text.strip())
        if found is None:
            self._screen.say(f"{one_line(text)!r} is no run and no agent; type R12, or ada T3.", "bad")
        elif found["run"]:
            self._screen.run_worker(self._look_at_run(int(found["run"])), group="ask", exclusive=True)
        elif not any(each.slug == found["agent"] for each in self._prompting.view.tables.all(AgentRecord)):
            self._screen.say(f"There is no agent {found['agent']!r}.", "bad")
        elif found["task"] and self._prompting.view.tables.get(Task, int(found["task"])) is None:
            self._screen.say(f"There is no T{found['task']}.", "bad")
        elif (kind := "_".join(re.findall("[a-z]+", (found["kind"] or "").lower()))) and kind not in set(RunKind):
            self._screen.say(f"There is no kind of run {kind!r}; there are {', '.join(RunKind)}.", "bad")
        else:
            task = int(found["task"]) if found["task"] else None
            self._screen.look_at(planned_id(found["agent"], task, RunKind(kind) if kind else None))

    async def _look_at_run(self, number: int) -> None:
        if await is_run(self._prompting.company, number):
            self._screen.look_at(f"run:{number}")
        else:
            self._screen.say(f"There is no R{number} on this board.", "bad")

    def compare(self) -> None:
        """The two marked prompts, or the marked one and the one under the cursor; or no more."""
        screen = self._screen
        if screen.page != 1:
            return
        if screen.is_comparing:
            screen.end_comparison()
            return
        rows = {row.id for row in screen.told.rows}
        chosen = rows & screen.told.marked
        if len(chosen) == 1 and screen.told.cursor_id is not None:
            chosen.add(screen.told.cursor_id)
        if len(chosen) != 2:
            screen.say("Mark one with space, go to the other, and press d.", "warn")
            return
        before, after = in_time(sorted(chosen), self._prompting.view)
        screen.compare(before, after)

    def copy(self) -> None:
        """What is shown, exactly, into the terminal's clipboard."""
        text, _ = exact(self._screen.read, self._screen.chosen)
        if not text:
            self._screen.say("There is nothing to copy.", "warn")
        elif len(text) > COPY_MAX:
            self._screen.say(f"{amount(len(text))} characters are too many for a terminal; o opens them.", "warn")
        else:
            self._screen.app.copy_to_clipboard(text)
            told = "are in the clipboard, if your terminal lets programs copy (OSC 52)"
            self._screen.say(f"✓ {amount(len(text))} characters {told}.", "good")

    def open(self) -> None:
        """What is shown, in the operator's editor or pager; an own text is edited itself."""
        text, name = exact(self._screen.read, self._screen.chosen)
        own = self._screen.own_file()
        if not text and own is None:
            self._screen.say("There is nothing to open.", "warn")
            return
        self._screen.run_worker(self._open(text, name), name="open", group="open", exclusive=True, exit_on_error=False)

    async def _open(self, text: str, name: str) -> None:
        screen, own = self._screen, self._screen.own_file()
        app: App[None] = screen.app
        try:
            if own is not None:
                await edit_file(app, own)
                screen.read_texts_again()
                screen.say(f"{own.name}: what you saved is used from now on, unless it is refused.", "good")
            else:
                await show_text(app, name, text)
                screen.say("It was a copy; it is gone again.", "dim")
        except OpsroomError as problem:
            screen.refuse(problem)

    def decide(self, command: str) -> None:
        """Keep or drop the selected experience; each undoes the other."""
        found = self._screen.chosen.experience
        if found is None:
            self._screen.say("There is no experience yet.", "warn")
            return
        keeps = command == "KeepExperience"
        if found.status == (ExperienceStatus.KEPT if keeps else ExperienceStatus.DROPPED):
            other = "b drops it" if keeps else "a keeps it"
            self._screen.say(f"{found.name_tag} is {found.status} already; {other}.", "warn")
            return
        words = "is kept: agents are told of it when it fits" if keeps else "is dropped"
        self._prompting.send(f"{found.name_tag} {words}", parse(command, {"experience": found.id}))
