"""One run, live: what it says and does as it happens, and what the operator can do with it.

The transcript is followed by a worker in bounded memory; the run itself comes from the room's memory.
"""

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import Input, Static

from core.agents.runner import Told
from core.agents.transcript_tail import Entry, Tail
from core.domain.attach import can_hear, no_terminal
from core.domain.entities import AgentRecord, Run
from core.domain.errors import OpsroomError
from core.domain.inbox_item import InboxItem
from core.domain.metering import is_unmetered
from core.domain.states import RUN_LIVE
from tui import signs
from tui.actions import Hint
from tui.keymap import named
from tui.panes.composer import Composer
from tui.panes.footer import KeyLine
from tui.panes.message import MessageLine
from tui.panes.transcript import Kept, blocks_of
from tui.panes.words import entitle, exact, lasted, line, put, said, tokens
from tui.screens.run_acts import RunActs, why_not_go_on
from tui.text import amount, in_words
from tui.told_commands import hint_for
from tui.widgets.prose import Prose
from tui.widgets.row import Tone

if TYPE_CHECKING:
    from tui.app import OpsroomApp
    from tui.screens.attaching import Attaching

LOOK_S = 0.2  # how often a run at work is looked at for more
LOOKS_ENDED = 10  # of so many looks one is enough for a run that has ended
FILTER_HINTS = (Hint("enter", "to the text", 1), Hint("esc", "clear", 0))


class RunScreen(Screen[None]):
    """The transcript below a line about the run. Who reads at its end follows; scrolling up stops that."""

    app: "OpsroomApp"
    MODE = "run"
    AUTO_FOCUS = "#run-prose"
    CSS_PATH: ClassVar = ["run.tcss", "../panes/lines.tcss"]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-home"), (170, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = named("run", [
        Binding("escape,q", "leave", "Back", show=False),
        Binding("s", "act('speak')", "Say something to it", show=False),
        Binding("a", "act('answer')", "Answer what it asks", show=False),
        Binding("p", "act('pause')", "Pause it, or let it go on", show=False),
        Binding("x", "act('kill')", "End it", show=False),
        Binding("c", "act('go_on')", "Go on with its session", show=False),
        Binding("exclamation_mark", "act('hand_over')", "The terminal to its program", show=False),
        Binding("w", "act('jump')", "Another run", show=False),
        Binding("left_square_bracket", "act('turn', -1)", "The run before", show=False),
        Binding("right_square_bracket", "act('turn', 1)", "The run after", show=False),
        Binding("o", "act('open')", "Open all of it", show=False),
        Binding("e", "fold", "Unfold and fold", show=False),
        Binding("slash", "filter", "Filter", show=False),
        Binding("question_mark", "help", "Help", show=False),
    ])  # fmt: skip

    def __init__(self, attaching: "Attaching", run: Run) -> None:
        super().__init__()
        self.attaching = attaching
        self.acts = RunActs(self, attaching)
        self._run = run
        self._kept = Kept()
        self._unfolded = self._is_caught_up = self._was_drawn = self._is_reading = False
        self._looks = 0
        self._tail = self._tail_of(run)
        self.head = Static(id="run-head")
        self.prose = Prose(empty="reading…", id="run-prose")
        self._frame = Vertical(self.prose, id="run-text", classes="pane")
        self.field = Input(id="run-filter", placeholder="words that stand in a line; a minus in front turns one around")
        self.composer = Composer()
        self.message = MessageLine()
        self.keys = KeyLine()

    def compose(self) -> ComposeResult:
        """One text, and the lines around it."""
        yield self.head
        yield self.field
        yield self._frame
        yield self.composer
        yield self.message
        yield self.keys

    def on_mount(self) -> None:
        """From memory at once; the text when it is read."""
        self.show_head()
        self.show_keys()
        self.set_interval(LOOK_S, self._look)
        self.watch(self.prose, "scroll_y", self.show_head, init=False)
        self._look()

    # ------------------------------------------------------------- the run

    @property
    def run_now(self) -> Run:
        """The run as the board has it, as far as it is known here."""
        known = self.attaching.view.tables.get(Run, self._run.id)
        return known if known is not None and known.version >= self._run.version else self._run

    @property
    def agent(self) -> AgentRecord | None:
        """Whose run it is."""
        return self.attaching.view.tables.get(AgentRecord, self._run.agent_id)

    def _tail_of(self, run: Run) -> Tail:
        return Tail(self.attaching.leading.company.folder / "runs", run.id)

    def show_run(self, run: Run) -> None:
        """Another run in the place of this one."""
        if run.id == self._run.id:
            self._run = run
            return
        self._run, self._kept, self._is_caught_up, self._was_drawn = run, Kept(), False, False
        self.prose.empty = "reading…"
        self.prose.set_blocks((), thread="")
        old, self._tail = self._tail, self._tail_of(run)
        if not self._is_reading:
            old.close()
        self.show_head()
        self.show_keys()
        self._look()

    def touch(self, dirty: frozenset[str]) -> None:
        """Something happened on the board."""
        if self.is_mounted and (f"run:{self._run.id}" in dirty or any(ref.startswith("approval:") for ref in dirty)):
            self.show_head()
            self.show_keys()

    @property
    def question(self) -> InboxItem | None:
        """What it asks the operator now, and waits for."""
        return next(iter(self.attaching.view.items_of(f"run:{self._run.id}")), None)

    def show_head(self) -> None:
        """The line about the run, and whether its end is followed."""
        if not self.is_mounted:
            return
        run, view, now = self.run_now, self.attaching.view, self.attaching.leading.now()
        sign, word, tone = signs.of_run(run)
        if (asked := self.question) is not None:
            word, tone = f"asks Q{asked.id.rpartition(':')[2]}", "warn"
        about = f"T{run.task_id}" if run.task_id else f"G{run.goal_id}" if run.goal_id else ""
        took = lasted((run.ended_at or now) - run.started_at) if run.started_at is not None else "not begun"
        used = run.tokens_in + run.tokens_out
        cost = exact(run.cost_micros) if run.cost_micros else "no cost known" if used else "nothing used yet"
        if self.agent is not None and is_unmetered(self.agent.runner):
            cost += " · not metered"
        put(self.head, line(
            said(f"{run.name_tag} {view.slug(run.agent_id)}", "strong"), said(f"{in_words(run.kind)} {about}", "info"),
            said(f"{sign} {word}", tone), said(f"{took} · {tokens(used)} · {cost}", "dim"), gap="  ",
        ))  # fmt: skip
        title = "Transcript"
        if self.field.value.strip():
            title += f" of what fits {self.field.value.strip()!r}"
        if run.status in RUN_LIVE:
            title += " · following" if self.prose.at_end else " · G follows again"
        if self._kept.dropped:
            title += f" · {amount(self._kept.dropped)} earlier entries: o opens all"
        entitle(self._frame, said(title))

    # ------------------------------------------------------------- the text

    def _look(self) -> None:
        """Now and then: whether there is more; seldom for a run that has ended."""
        self._looks += 1
        seldom = self._is_caught_up and self.run_now.status not in RUN_LIVE
        if not self._is_reading and not (seldom and self._looks % LOOKS_ENDED):
            self._read(self._tail)

    @work(name="read the transcript", group="transcript", exit_on_error=False)
    async def _read(self, tail: Tail) -> None:
        self._is_reading = True
        try:
            while (found := await asyncio.to_thread(tail.read)) and tail is self._tail:
                self._kept.add(found)
                self._tell_unheard(found)
                self.draw()
            if not self._is_caught_up and tail is self._tail:
                self._is_caught_up = True
                self.draw()
        finally:
            self._is_reading = False
            if tail is not self._tail:
                tail.close()

    def on_unmount(self) -> None:
        """Nobody looks any more."""
        if not self._is_reading:
            self._tail.close()

    def _tell_unheard(self, found: list[Entry]) -> None:
        if self._is_caught_up and any(entry.kind == Told.UNHEARD for entry in found):
            self.say(f"Not heard: R{self._run.id} ended before what you said last.", "warn")

    def draw(self) -> None:
        """Show what is known now; the end is kept in sight for who stands at it."""
        run = self.run_now
        if not self._kept.entries and self._is_caught_up:
            self.prose.empty = (
                "It has said nothing yet." if run.status in RUN_LIVE else "Nothing is kept of what it said."
            )
        who = self.attaching.view.slug(run.agent_id)
        blocks = blocks_of(self._kept.entries, who, unfolded=self._unfolded, words=self.field.value)
        if self._kept.entries and not blocks:
            self.prose.empty = "Nothing in it fits the filter."
        self.prose.set_blocks(blocks, thread=f"run {run.id}")
        if not self._was_drawn and blocks:
            self._was_drawn = True
            self.call_after_refresh(self.prose.action_scroll_end)
        self.show_head()

    def action_fold(self) -> None:
        """Answers and thoughts in full, or a line each."""
        self._unfolded = not self._unfolded
        at_end = self.prose.at_end
        self.draw()
        if at_end:
            self.call_after_refresh(self.prose.action_scroll_end)
        self.say("unfolded: e folds" if self._unfolded else "folded: e unfolds", "dim")
        self.show_keys()

    def action_filter(self) -> None:
        """Ask for words."""
        self.add_class("-filters")
        self.set_focus(self.field)
        self.show_keys()

    @on(Input.Changed, "#run-filter")
    def _filtered(self, event: Input.Changed) -> None:
        event.stop()
        self.draw()

    @on(Input.Submitted, "#run-filter")
    def _to_text(self, event: Input.Submitted) -> None:
        event.stop()
        self.set_class(bool(self.field.value.strip()), "-filters")
        self.set_focus(self.prose)
        self.show_keys()

    # ------------------------------------------------------------- saying

    def say(self, text: str, tone: Tone | None = None) -> None:
        """Tell the operator above the keys."""
        self.message.say(text, tone)

    def refuse(self, problem: OpsroomError) -> None:
        """Say why something was not done, and what can be done."""
        self.say(f"{problem.message} {hint_for('room', problem.hint)}".strip(), "bad")

    def before_key(self) -> None:
        """A key comes: what was said is read."""
        self.message.clear()
        self.attaching.leading.bring_up_to_date()

    def show_keys(self) -> None:
        """The keys of what is above, of the line that asks, or of the run."""
        top = self.app.screen if self.is_attached else self
        if top is not self:
            self.keys.show(getattr(top, "HINTS", ()))
        elif self.field.has_focus:
            self.keys.show(FILTER_HINTS)
        else:
            self.keys.show(
                self.composer.hints if self.composer.asks else self.app.personal.keymap.hints(self._hints(), "run")
            )

    def _hints(self) -> list[Hint]:
        run, agent, hints = self.run_now, self.agent, []
        runner = agent.runner if agent is not None else {}
        if self.question is not None:
            hints.append(Hint("a", "answer", 1))
        if run.status in RUN_LIVE:
            if can_hear(str(runner.get("kind", ""))):
                hints += [Hint("s", "say", 2), Hint("p", "resume" if run.paused_at is not None else "pause", 2)]
            hints.append(Hint("x", "end", 3))
        elif not why_not_go_on(run, agent):
            hints.append(Hint("c", "go on", 2))
        if run.session and not no_terminal(runner):
            hints.append(Hint("!", "terminal", 4))
        return [
            *hints, Hint("e", "fold" if self._unfolded else "unfold", 4), Hint("/", "filter", 5), Hint("o", "open", 6),
            Hint("w", "other run", 6), Hint("?", "help", 1), Hint("esc", "back", 0),
        ]  # fmt: skip

    def on_screen_suspend(self) -> None:
        """A question opened above: its keys are told."""
        self.show_keys()

    def on_screen_resume(self) -> None:
        """It closed."""
        self.show_keys()

    # ------------------------------------------------------------- keys

    def action_act(self, name: str, *arguments: int) -> None:
        """One of the acts on the run."""
        getattr(self.acts, name)(*arguments)

    def action_help(self) -> None:
        """Every key."""
        from tui.screens.reading import help_screen

        self.app.push_screen(help_screen(self.attaching.leading.situation, keymap=self.app.personal.keymap, here="run"))

    def action_leave(self) -> None:
        """Out of the line that asks, then the filter, then the screen."""
        if self.composer.asks:
            self.composer.action_drop()
            self.show_keys()
        elif self.field.has_focus or self.field.value:
            self.field.value = ""
            self.remove_class("-filters")
            self.set_focus(self.prose)
            self.show_keys()
        else:
            self.attaching.left(self)
