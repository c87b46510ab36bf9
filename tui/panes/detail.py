"""The detail pane: why the selected thing is here, what happens next, what each key does now, and six tabs below.

The head comes from memory at once; a tab is read from the board by a worker and again when an event touches it.
"""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from core.company import OpenCompany
from core.domain.company_items import NO_MISSION, NO_RUNNER
from core.domain.entities import AgentRecord, Company, Entity, Goal, Round, Task
from core.domain.inbox import Choice, InboxItem
from core.domain.states import RUN_LIVE
from tui import signs
from tui.actions import Situation
from tui.keymap import Keymap
from tui.panes.outputs import Outputs
from tui.panes.threads import EMPTY, OUTPUTS_TAB, TABS, read_thread
from tui.panes.words import entitle, hanging, line, put, said
from tui.projection import Projection
from tui.widgets.prose import Prose

if TYPE_CHECKING:
    from tui.app import OpsroomApp

PAUSE_S = 0.2  # between two readings of a thing that changes all the time
RUNS_TAB = 4


class Tabs(Static):
    """The names of the tabs; the open one stands out, and a click opens one."""

    def __init__(self) -> None:
        super().__init__(id="tabs")
        self.open = 1
        self._ends: list[int] = []

    def show(self, tab: int) -> None:
        """Mark this one as open."""
        self.open = tab
        self._write()

    def on_resize(self) -> None:
        """Short names where the line is short."""
        self._write()

    def on_click(self, event: events.Click) -> None:
        """Looking is free: a click opens a tab."""
        for number, end in enumerate(self._ends, 1):
            if event.x < end:
                pane = self.parent
                if isinstance(pane, DetailPane):
                    pane.open_tab(number)
                return

    def _write(self) -> None:
        words = sum(len(name) + 3 for name in TABS)
        short, tight = self.size.width < words + 1, self.size.width < words + len(TABS)
        parts = []
        self._ends = []
        used = 0
        for number, name in enumerate(TABS, 1):
            is_open = number == self.open
            text = f" {number} {name} " if is_open or not short else f" {number} "
            text = text.rstrip() if tight and not short and not is_open else text
            style = "reverse bold $text-primary" if is_open else "$foreground 60%"
            parts.append(Content.styled(text, style))
            used += len(text)
            self._ends.append(used)
        put(self, Content("").join(parts))


_OF_THE_COMPANY = frozenset({NO_MISSION, NO_RUNNER})


class DetailPane(Vertical):
    """Shows one thing."""

    app: "OpsroomApp"

    def __init__(self, company: OpenCompany) -> None:
        super().__init__(id="detail", classes="pane")
        self._company = company
        self._board = Projection()
        self._situation = Situation()
        self._now = 0
        self._ref = ""
        self._asked = ""
        self._reading = False
        self._again = False
        self._outputs = Outputs(company)
        self.head = Static(id="head")
        self.tabs = Tabs()
        self.prose = Prose(empty="", id="thread")

    def compose(self) -> ComposeResult:
        """The head, the names of the tabs, and the open tab."""
        yield self.head
        yield self.tabs
        yield self.prose

    @property
    def ref(self) -> str:
        """What is shown, e.g. `goal:3`."""
        return self._ref

    def show(self, view: Projection, situation: Situation, now: int) -> None:
        """Show what is selected; reads it only when it is another thing than before."""
        self._board, self._situation, self._now = view, situation, now
        self._write_head()
        asked = situation.item.id if situation.item is not None and situation.choices else ""
        to_the_question = bool(asked) and asked != self._asked and self.tabs.open != 1
        self._asked = asked
        if to_the_question:
            self.tabs.show(1)
        if situation.ref != self._ref or to_the_question:
            self._ref = situation.ref
            self._read()

    def on_resize(self) -> None:
        """The head keeps to its columns at every width."""
        self._write_head()

    def _write_head(self) -> None:
        situation = self._situation
        if situation.item is not None and (situation.thing is None or situation.asks_by_itself):
            # What is asked about something that is not there yet, e.g. a hire, or about the company as a whole.
            entitle(self, said(situation.tag))
            put(
                self.head,
                _of_item(situation.item, by_key(situation.choices, self._board.keymap), self.size.width - 2),
                layout=True,
            )
        elif situation.item is not None and situation.item.kind in _OF_THE_COMPANY:
            entitle(self, Content("Company"))
            put(
                self.head,
                _of_item(situation.item, by_key(situation.choices, self._board.keymap), self.size.width - 2),
                layout=True,
            )
        elif situation.thing is None:
            entitle(self, Content("Detail"))
            put(self.head, said("Nothing is selected.", "dim"), layout=True)
        elif self.size.width:
            entitle(self, said(_name(situation)))
            put(self.head, _head(self._board, situation, self._now, self.size.width - 2), layout=True)

    def touch(self, dirty: frozenset[str]) -> None:
        """Something happened: read again if it was to the thing that is shown."""
        if self._ref in dirty:
            self._read_again()

    def grow_older(self) -> None:
        """A run that is at work says new things without any event."""
        if self.tabs.open == RUNS_TAB and any(run.status in RUN_LIVE for run in self._board.live_runs):
            self._read_again()

    def open_tab(self, tab: int) -> None:
        """Open one of the six tabs."""
        if tab != self.tabs.open:
            self.tabs.show(tab)
            self._read()

    def on_mount(self) -> None:
        """Outputs are shown as they were the last time."""
        self._outputs.raw = self.app.personal.memory.now.raw

    def switch_raw(self) -> str:
        """Outputs as they were written, or drawn again; remembered. Opens their tab; returns what is to be told."""
        if self.tabs.open == OUTPUTS_TAB:
            self._outputs.raw = not self._outputs.raw
            self.app.personal.memory.keep(raw=self._outputs.raw)
        self.tabs.show(OUTPUTS_TAB)
        self._read()
        return "outputs as they were written" if self._outputs.raw else "outputs drawn by what they are"

    def _read(self) -> None:
        self._again = False
        if not self._ref:
            self.prose.empty = ""
            self.prose.set_blocks((), thread="")
            return
        self._reading = True
        self._reader()

    def _read_again(self) -> None:
        # not exclusive: a thing that changes all the time would never be read to its end
        if self._reading:
            self._again = True
        elif self._ref:
            self._read()

    @work(name="read the detail", group="detail", exclusive=True, exit_on_error=False)
    async def _reader(self) -> None:
        ref, tab = self._ref, self.tabs.open
        try:
            while True:
                for hurry in (True, False):
                    blocks = await read_thread(self._company, self._board, ref, tab, self._outputs, hurry=hurry)
                    self.prose.empty = EMPTY[tab - 1]
                    self.prose.set_blocks(blocks, thread=f"{ref}/{tab}")
                    if not self._outputs.is_unfinished:
                        break
                if not self._again:
                    break
                self._again = False
                await asyncio.sleep(PAUSE_S)
        finally:
            if (ref, tab) == (self._ref, self.tabs.open):
                self._reading = False


def _name(situation: Situation) -> str:
    kinds = {Goal: "Goal", Task: "Task", Round: "Round", AgentRecord: "Agent", Company: "Company"}
    thing = situation.thing
    kind = kinds.get(type(thing), "") if thing is not None else ""
    return kind if isinstance(thing, (Company, Round)) else f"{kind} {situation.tag}"


def _head(view: Projection, situation: Situation, now: int, width: int) -> Content:
    thing = situation.thing
    assert thing is not None
    title, state = _title(view, thing, now)
    if situation.item is not None and situation.item.entity == situation.ref:
        title = title or situation.item.title
    explanation = view.why(situation.ref, now)
    lines = [hanging(state, title, width, "strong", indent=state.cell_length + 2) if title else state]
    lines.append(hanging("why", explanation.why, width))
    if explanation.next:
        lines.append(hanging("next", explanation.next, width))
    lines += _keys(by_key(situation.choices, view.keymap), width)
    return Content("\n").join(lines)


def _of_item(item: InboxItem, choices: Mapping[str, Choice], width: int) -> Content:
    sign, word, tone = signs.of_item(item)
    state = said(f"{sign} {word}", tone)
    lines = [hanging(state, item.title, width, "strong", indent=state.cell_length + 2)]
    lines.append(hanging("why", item.why, width))
    return Content("\n").join([*lines, *_keys(choices, width)])


def by_key(choices: Mapping[str, Choice], keymap: Keymap) -> dict[str, Choice]:
    """The choices by the keys that the person has for them."""
    return {keymap.instead(key): choice for key, choice in choices.items()}


def _keys(choices: Mapping[str, Choice], width: int) -> list[Content]:
    wide = max((len(choice.verb) for choice in choices.values()), default=0)
    lines = []
    for key, choice in choices.items():
        verb = line(Content.styled(f"{key} ", "bold $footer-key-foreground"), said(choice.verb))
        lines.append(hanging(verb, choice.effect, width, "dim", indent=wide + 4))
    return lines


def _title(view: Projection, thing: Entity, now: int) -> tuple[str, Content]:
    match thing:
        case Goal():
            sign, word, tone = signs.of_goal(thing)
            return thing.title, said(f"{sign} {word}", tone)
        case Task():
            sign, word, tone = signs.of_task(thing)
            return thing.title, said(f"{sign} {word}", tone)
        case Round():
            sign, word, tone = signs.ROUND[thing.status]
            return f"Round {thing.number} of G{thing.goal_id}", said(f"{sign} {word}", tone)
        case AgentRecord():
            sign, word, tone = signs.AGENT[view.agent_state(thing, now)]
            return thing.name, said(f"{sign} {word}", tone)
        case Company():
            return thing.name, said("● started", "good") if thing.dispatching else said("■ stopped", "warn")
        case _:
            return "", Content("")
