"""The agents: who works here, what each does and costs, who reports to whom; and what the operator does about it.

Everything comes from the room's memory; what was spent is read by a worker. Acts go the way of `Leading`.
"""

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from core.commands.registry import parse
from core.domain.entities import AgentRecord
from core.domain.errors import OpsroomError
from core.domain.health import Health
from core.spending import Spending, spending
from tui.actions import Hint
from tui.filter_line import FilterLine
from tui.keymap import named
from tui.panes.composer import Composer
from tui.panes.footer import KeyLine
from tui.panes.message import MessageLine
from tui.panes.spent import SPENT, spent_rows
from tui.panes.staff import CHART, FILTER_KEYS, ROSTER, Money, chart, facts, group_facts, roster
from tui.panes.staff_health import Conditions, conditions, grouped
from tui.panes.words import entitle, line, put, said
from tui.screens.agents_runs import hints_of
from tui.screens.staff_acts import StaffActs
from tui.text import capital, counted
from tui.told_commands import hint_for
from tui.widgets.prose import Prose
from tui.widgets.row import Tone
from tui.widgets.row_messages import Collapse, CursorMoved, Expand, Selected
from tui.widgets.rows import Rows

if TYPE_CHECKING:
    from tui.app import OpsroomApp
    from tui.screens.leading import Leading

READ_AGAIN_S = 0.5
_SEEN = ("agent:", "task:", "goal:", "run:", "company:", "approval:")


class AgentsScreen(Screen[None]):
    """The roster above; below it all about the selected agent, and beside it or in its place chart or spending."""

    app: "OpsroomApp"
    MODE = "agents"
    AUTO_FOCUS = "#roster-rows"
    CSS_PATH: ClassVar = ["agents.tcss", "../panes/lines.tcss"]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-home"), (170, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = named("agents", [
        Binding("escape,q,A", "leave", "Back", show=False),
        Binding("o", "turn", "The chart, the spending, or the facts", show=False),
        Binding("p", "act('pause')", "Pause or resume", show=False),
        Binding("x", "act('retire')", "Retire", show=False),
        Binding("dollar_sign", "act('budget')", "Budget", show=False),
        Binding("n", "act('hire')", "Hire", show=False),
        Binding("e", "act('edit')", "Edit", show=False),
        Binding("r", "act('runner')", "What it runs on", show=False),
        Binding("t", "act('call')", "Try one real call", show=False),
        Binding("X", "act('kill')", "End its run", show=False),
        Binding("c", "act('go_on')", "Go on with its last session", show=False),
        Binding("N", "act('nudge')", "Wake it, or say something into its run", show=False),
        Binding("a", "answer", "What it waits for, in the inbox", show=False),
        Binding("slash", "filter", "Filter", show=False),
        Binding("B", "stage", "Stage B or A", show=False),
        Binding("H", "heartbeat", "Heartbeat now", show=False),
        Binding("P", "prompts", "What it is told", show=False),
        Binding("w", "watch", "Its run, live", show=False),
        Binding("question_mark", "help", "Help", show=False),
    ])  # fmt: skip

    def __init__(self, leading: "Leading") -> None:
        super().__init__()
        self.leading = leading
        self.acts = StaffActs(self, leading)
        self.money = Money()
        self._reading = self._again = False
        self._chosen = ""
        self._staff: Conditions = {}
        self._first = ""
        self._folded = {str(Health.RETIRED)}
        self.head = Static(id="staff-head")
        self.roster = Rows(*ROSTER, header=True, markable=False, empty="Nobody is hired: n hires.", id="roster-rows")
        self.filter = FilterLine(FILTER_KEYS, lambda: self.roster, self._narrow, id="roster-filter")
        self._roster_frame = Vertical(self.roster, self.filter, id="roster", classes="pane")
        self.chart = Rows(*CHART, markable=False, empty="Nobody is hired.", id="chart-rows")
        self.spent = Rows(*SPENT, header=True, markable=False, empty="reading what was spent…", id="spent-rows")
        self.facts = Prose(empty="Nobody is selected.", id="agent-facts")
        # Held, not looked up: a clock's tick may come while the screen is being taken down.
        self._frame = Vertical(self.facts, id="facts", classes="pane")
        self.composer = Composer()
        self.message = MessageLine()
        self.keys = KeyLine()

    def compose(self) -> ComposeResult:
        """All panes are there from the beginning; the size of the terminal decides how they stand."""
        yield self.head
        yield self._roster_frame
        with Horizontal(id="below"):
            yield self._frame
            with Vertical(id="chart", classes="pane") as pane:
                pane.border_title = Content("Organisation")
                yield self.chart
            with Vertical(id="spent", classes="pane") as pane:
                pane.border_title = Content("Spending")
                yield self.spent
        yield self.composer
        yield self.message
        yield self.keys

    def on_mount(self) -> None:
        """From memory at once; the money when it is read."""
        self._show()
        ceo = self.leading.view.ceo()
        if ceo is not None:
            self.roster.move_to(f"agent:{ceo[0].id}")
        self._choose(self.roster.cursor_id)
        self._reading = True
        self._reader()

    # ------------------------------------------------------------- bringing up to date

    def touch(self, dirty: frozenset[str]) -> None:
        """Something happened."""
        if self.is_mounted and any(ref.startswith(_SEEN) for ref in dirty):
            self._show()
        if any(ref.startswith(("run:", "budget:", "agent:")) for ref in dirty):
            self.read()

    def grow_older(self) -> None:
        """Once a second: what tells time moves on."""
        if self.is_mounted:
            self._show()

    def before_key(self) -> None:
        """A key comes: what was said is read, and the staff is as the board has it."""
        self.message.clear()
        self.leading.bring_up_to_date()

    def read(self) -> None:
        """Read what was spent; when something happens meanwhile, once more."""
        if self._reading:
            self._again = True
        elif self.is_mounted:
            self._reading = True
            self._reader()

    @work(name="read what was spent", group="spending", exit_on_error=False)
    async def _reader(self) -> None:
        try:
            while True:
                self._again = False
                found = await spending(self.leading.company.board.readers, self.leading.now())
                self.money = Money.of(found)
                self._show_spent(found)
                self._show()
                if not self._again:
                    break
                await asyncio.sleep(READ_AGAIN_S)
        finally:
            self._reading = False

    def _show_spent(self, found: Spending) -> None:
        self.spent.empty = "Nothing has cost anything yet."
        self.spent.set_rows(spent_rows(found))

    def _show(self) -> None:
        view, now = self.leading.view, self.leading.now()
        before, self._staff = self._staff, conditions(view, now)
        staff, chosen = self._staff, self.agent
        if chosen is not None and chosen.id in before and before[chosen.id].health != staff[chosen.id].health:
            # the selected one stays in sight, whatever becomes of it
            self._folded.discard(str(staff[chosen.id].health))
        found = roster(view, staff, self.money, now, self._folded, self.filter.fits)
        self.roster.empty = self.filter.nothing if self.filter.is_narrow else "Nobody is hired: n hires."
        self.roster.set_rows(found.rows)
        self._first = found.first_agent
        entitle(self._roster_frame, self.filter.title("Agents", found.shown, found.total))
        self.chart.set_rows(chart(view, staff))
        told = " · ".join(f"{len(agents)} {health}" for health, agents in grouped(view, staff))
        name = view.company.name if view.company else ""
        put(
            self.head,
            line(said(name, "strong"), said(f"   {told or 'nobody is hired'}"), said(f"   {self.money.words}", "dim")),
        )
        agent, group = self.agent, self.group
        if agent is not None:
            title, blocks = f"Agent {agent.name_tag}", facts(view, agent, staff[agent.id], self.money, now)
        elif group is not None:
            agents = found.groups.get(group, ())
            title, blocks = f"{capital(group)} · {counted(len(agents), 'agent')}", group_facts(view, agents, staff, now)
        else:
            title, blocks = "Agent", []
        entitle(self._frame, said(title))
        # more to read begins at its top: it is no talk that grows at its end
        length = sum(block.body.count("\n") for block in blocks)
        self.facts.set_blocks(blocks, thread=f"{self._chosen}/{length}")
        self.show_keys()

    def _narrow(self) -> None:
        """Another filter: where the selected one does not fit, the first that does is selected."""
        self._show()
        if self.filter.is_narrow and (self.roster.cursor_id or "").startswith("group:"):
            self.roster.move_to(self._first)

    # ------------------------------------------------------------- what is selected

    @property
    def agent(self) -> AgentRecord | None:
        """The selected agent."""
        found = self.leading.view.find(self._chosen)
        return found if isinstance(found, AgentRecord) else None

    @property
    def group(self) -> Health | None:
        """The selected group."""
        kind, _, name = self._chosen.partition(":")
        return Health(name) if kind == "group" else None

    @on(CursorMoved)
    def _moved(self, event: CursorMoved) -> None:
        if event.rows is self.spent:
            return
        # the list that is not in use follows; its own message must not lead
        leads = self.chart if self.focused is self.chart else self.roster
        if event.rows is leads:
            self._choose(leads.cursor_id)

    def choose(self, ref: str) -> None:
        """Put the cursor on an agent, e.g. `agent:3`, also in a folded group."""
        self.set_focus(self.roster)
        self._choose(ref)

    def _choose(self, row_id: str | None) -> None:
        self._chosen = row_id or ""
        agent = self.agent
        if agent is not None and agent.id in self._staff and self.roster.row(self._chosen) is None:
            # chosen in the chart, while its group is folded
            self._folded.discard(str(self._staff[agent.id].health))
            self._show()
        for each in (self.roster, self.chart):
            if row_id and each.cursor_id != row_id:
                each.move_to(row_id)
        self._show()

    def watch_focused(self, _before: Widget | None, now: Widget | None) -> None:
        """Where there is room for one pane only, it is the one that is in use."""
        self.set_class(now is self.facts, "-reads")
        if now is self.chart:
            self.add_class("-chart")
        if now in (self.roster, self.chart) and isinstance(now, Rows) and self.leading.view.loaded and now.cursor_id:
            self._choose(now.cursor_id)
        self.show_keys()

    @on(Selected)
    def _open(self, event: Selected) -> None:
        if event.rows is self.spent:
            return
        if self.group is not None and event.rows is self.roster:
            self._fold(event.row_id, event.row_id.partition(":")[2] not in self._folded)
            return
        self._turn_to("")
        self.facts.focus()

    @on(Collapse)
    def _close_group(self, event: Collapse) -> None:
        if event.rows is self.roster:
            self._fold(event.row_id, True)

    @on(Expand)
    def _open_group(self, event: Expand) -> None:
        if event.rows is self.roster:
            self._fold(event.row_id, False)

    def _fold(self, row_id: str, closes: bool) -> None:
        (self._folded.add if closes else self._folded.discard)(row_id.partition(":")[2])
        self._show()

    # ------------------------------------------------------------- saying and asking

    def say(self, text: str, tone: Tone | None = None) -> None:
        """Tell the operator above the keys."""
        self.message.say(text, tone)

    def refuse(self, problem: OpsroomError) -> None:
        """Say why something was not done, and what can be done."""
        self.say(f"{problem.message} {hint_for('room', problem.hint)}".strip(), "bad")

    def show_keys(self) -> None:
        """The keys of what is above, of the line that asks, or of the selected agent."""
        top = self.app.screen if self.is_attached else self
        if top is not self:
            self.keys.show(getattr(top, "HINTS", ()))
        elif self.filter.has_focus:
            self.keys.show(self.filter.HINTS)
        elif self.is_attached:
            self.keys.show(
                self.composer.hints if self.composer.asks else self.app.personal.keymap.hints(self._hints(), "agents")
            )

    def _hints(self) -> list[Hint]:
        agent, hints = self.agent, list[Hint]()
        if agent is not None and agent.id in self._staff:
            hints = hints_of(agent, self._staff[agent.id], self.acts.runs, self.leading.view.company)
        elif self.group is not None:
            hints = [Hint("enter", "unfold" if self.group in self._folded else "fold", 2)]
        other = self._follows() or ("facts" if self._has_one_place else "chart")
        return [
            *hints, Hint("n", "hire", 5), Hint("o", other, 4), Hint("/", "filter", 4), Hint("?", "help", 1),
            Hint("esc", "back", 0),
        ]  # fmt: skip

    def on_screen_suspend(self) -> None:
        """A form opened above: its keys are told."""
        self.show_keys()

    def on_screen_resume(self) -> None:
        """It closed."""
        self.show_keys()

    # ------------------------------------------------------------- keys

    def action_act(self, name: str) -> None:
        """One of the acts on the selected agent."""
        getattr(self.acts, name)()

    def action_stage(self) -> None:
        """Stage B, after a question; or back to A at once."""
        self.leading.stage(self)

    def action_heartbeat(self) -> None:
        """The CEO looks after the company now."""
        self.leading.heartbeat(self)

    def action_filter(self) -> None:
        """Ask for words."""
        self._turn_to("")
        self.filter.ask()

    @on(FilterLine.Refused)
    def _wrong_filter(self, event: FilterLine.Refused) -> None:
        self.say(str(event.problem), "warn")

    def action_answer(self) -> None:
        """To what the selected agent waits for, in the inbox."""
        agent = self.agent
        self.acts.runs.answer(self._staff[agent.id].item if agent is not None and agent.id in self._staff else "")

    def action_prompts(self) -> None:
        """What the selected agent was told, and would be told now."""
        self.app.room.prompting.open(self._chosen if self.agent is not None else "")

    def action_watch(self) -> None:
        """What its newest run says and does, live."""
        if self.agent is None:
            self.say("No agent is selected: ↑ and ↓ choose one.", "warn")
        else:
            self.app.room.attaching.open(self._chosen, self)

    def action_turn(self) -> None:
        """To what `o` names: the chart, then the spending, then the facts; beside the facts, one of the two."""
        follows = self._follows()
        self._turn_to(follows)
        {"chart": self.chart, "spending": self.spent}.get(follows, self.roster).focus()

    def _follows(self) -> str:
        """What the key `o` turns to: "chart", "spending", or "" for what stood there first."""
        if self.has_class("-spending"):
            return ""
        return "chart" if self._has_one_place and not self.has_class("-chart") else "spending"

    @property
    def _has_one_place(self) -> bool:
        """Whether facts, chart and spending stand in one another's place."""
        return self.has_class("-narrow") or self.has_class("-short")

    def _turn_to(self, what: str) -> None:
        self.set_class(what == "chart", "-chart")
        self.set_class(what == "spending", "-spending")

    def action_help(self) -> None:
        """Every key."""
        from tui.screens.reading import help_screen

        self.app.push_screen(help_screen(self.leading.situation, keymap=self.app.personal.keymap, here="agents"))

    def action_leave(self) -> None:
        """Back to the roster, and from there to the room."""
        if self.composer.asks:
            self.composer.action_drop()
            self.show_keys()
        elif self.focused is not self.roster:
            self._turn_to("")
            self.roster.focus()
        elif self.filter.is_narrow:
            self.filter.clear()
        else:
            self.leading.left(self)

    async def execute(self, command: str, **arguments: Any) -> None:
        """Send a form's command. Raises what the board refuses it with."""
        await self.leading.company.execute(parse(command, arguments))
        self.leading.bring_up_to_date()
