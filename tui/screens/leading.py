"""What the operator does about the staff and the CEO: stage B, the heartbeat, a recall, the agents, edited questions.

Beside `Decisions` and `Writing`. Everything is sent by a worker; each refusal is told with the limit it names.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from textual.app import App

from core.blackboard.queries import STAGE_B_SPENT
from core.commands.registry import parse
from core.company import OpenCompany
from core.domain.budgets import period_start
from core.domain.company_items import runner_missing
from core.domain.entities import AgentRecord, Approval, Goal
from core.domain.errors import OpsroomError
from core.domain.inbox import Choice, overtaken
from core.domain.states import TASK_FINAL, ApprovalKind, Autonomy, BudgetPeriod, BudgetScope
from tui.actions import Situation
from tui.goal_text import first_of
from tui.panes.composer import Composer
from tui.panes.words import money
from tui.projection import Projection
from tui.screens.budgeting import ask_budget
from tui.screens.called import Called
from tui.screens.confirm import Confirm
from tui.staff_text import PROPOSED, changed, changes_text, lines_of, read_amount, read_changes, usd
from tui.stage_b import stage_b_lines
from tui.text import counted, one_line
from tui.widgets.row import Tone

if TYPE_CHECKING:
    from tui.screens.agents import AgentsScreen
    from tui.screens.control import ControlScreen

READ_AGAIN_S = 0.5


class Host(Protocol):
    """A screen that can ask for a line and tell what came of it."""

    @property
    def composer(self) -> Composer:
        """The line that asks."""

    @property
    def app(self) -> App[Any]:
        """The application."""

    def say(self, text: str, tone: Tone | None = None) -> None:
        """Tell it above the keys."""

    def refuse(self, problem: OpsroomError) -> None:
        """Tell why not, and what can be done."""

    def show_keys(self) -> None:
        """The keys of what is on top."""


class Leading:
    """The acts by name, as the table of actions calls them."""

    def __init__(self, room: "ControlScreen") -> None:
        self._room = room
        self._kept: dict[str, str] = {}
        self._reading = self._again = False
        self._called = Called()
        self.screen: AgentsScreen | None = None

    @property
    def company(self) -> OpenCompany:
        """The company that is led."""
        return self._room.company

    @property
    def view(self) -> Projection:
        """The room's memory."""
        return self._room.view

    @property
    def situation(self) -> Situation:
        """What is selected in the room."""
        return self._room.situation

    def now(self) -> int:
        """The room's clock (ms)."""
        return self._room.now()

    # ------------------------------------------------------------- bringing up to date

    def bring_up_to_date(self) -> None:
        """Show what the board has just told."""
        self._room.flush()

    def touch(self, dirty: frozenset[str]) -> None:
        """Something happened: the screen of the agents shows it, and what stage B spent is read again."""
        if self.screen is not None:
            self.screen.touch(dirty)
        self._called.look(self.view)
        company = self.view.company
        is_b = company is not None and (company.autonomy == Autonomy.B or company.auto_in_a_row > 0)
        if is_b and any(ref.startswith(("company:", "run:", "goal:")) for ref in dirty):
            self._read_spent()

    def grow_older(self) -> None:
        """Once a second."""
        if self.screen is not None:
            self.screen.grow_older()

    def _read_spent(self) -> None:
        if self._reading:
            self._again = True
            return
        self._reading = True
        self._room.app.run_worker(self._spent(), name="read what stage B spent", group="stage B", exit_on_error=False)

    async def _spent(self) -> None:
        try:
            while True:
                self._again = False
                since = period_start(BudgetPeriod.DAY, self.now())
                self.view.spent_by_b = int(await self.company.board.readers.value(STAGE_B_SPENT, since=since) or 0)
                self._room.ceo.show(self.view, self.now())
                if not self._again:
                    break
                await asyncio.sleep(READ_AGAIN_S)
        finally:
            self._reading = False

    def _ways_back(self) -> str:
        back, recall, stop = map(self.view.keymap.shown, ("stage", "recall", "stop"))
        return f"{back} goes back at once, {recall} recalls a goal, {stop} stops all."

    # ------------------------------------------------------------- asking and sending

    def ask(self, host: Host, question: str, hint: str, then: Callable[[str], None], value: str = "") -> None:
        """Ask for a line on a screen; `value` stands in it already."""
        host.composer.ask(question, then)
        host.composer.field.placeholder = hint
        host.composer.field.value = value
        host.composer.field.cursor_position = len(value)
        host.show_keys()

    def confirm(self, host: Host, title: str, lines: list[str], yes: str, then: Callable[[], None]) -> None:
        """Ask before what cannot be undone, or costs money by itself."""

        def answered(agreed: bool | None) -> None:
            if agreed:
                then()
            else:
                host.say("Nothing was done.", "dim")

        host.app.clear_notifications()
        host.app.push_screen(Confirm(title, lines, yes, self._room.decisions.monotonic), answered)

    def send(self, host: Host, words: str, command: str, **arguments: Any) -> None:
        """Send a command by its name; a wrong argument is told at once."""
        try:
            built = parse(command, arguments)
        except OpsroomError as problem:
            host.refuse(problem)
            return
        self._room.decisions.send(words, built, host)

    def kept(self, title: str) -> str:
        """What was written in a form of this title and not saved."""
        return self._kept.get(title, "")

    def keep(self, title: str, text: str) -> None:
        """A form was left; nothing forgets what it held."""
        self._kept[title] = text

    # ------------------------------------------------------------- the agents

    def agents(self) -> None:
        """Everybody who works here, over the room."""
        from tui.screens.agents import AgentsScreen

        if self.view.loaded:
            self.screen = AgentsScreen(self)
            self._room.app.push_screen(self.screen)

    def left(self, screen: "AgentsScreen") -> None:
        """Back in the room."""
        if self.screen is screen:
            self.screen = None
            screen.dismiss()

    # ------------------------------------------------------------- the CEO

    def stage(self, host: Host | None = None) -> None:
        """Stage B, after an amount and a question; or back to stage A at once."""
        host, company = host or self._room, self.view.company
        if company is None:
            return
        if company.autonomy == Autonomy.B:
            self.send(host, "stage A: you dispatch what the CEO drafts", "SetAutonomy", stage="A")
            return
        hint = "what its goals may cost a day; enter goes on, esc goes back"
        value = usd(company.budget_micros) if company.budget_micros else ""
        self.ask(host, "stage B, USD a day:", hint, lambda text: self._ask_stage_b(host, text), value)

    def _ask_stage_b(self, host: Host, text: str) -> None:
        found, company = read_amount(text), self.view.company
        if found is None or company is None:
            host.say(f"{one_line(text)!r} is no amount of US dollars; type it like 5.00.", "bad")
            return
        amount = found[0]
        if not amount:
            self.send(host, "stage B", "SetAutonomy", stage="B", budget_micros=0)
            return

        def then() -> None:
            self.send(host, f"stage B, {money(amount)} a day", "SetAutonomy", stage="B", budget_micros=amount)

        lines = stage_b_lines(company, money(amount), self.view.tables.all(Goal), self._ways_back())
        self.confirm(host, "Switch stage B on?", lines, "Stage B", then)

    def heartbeat(self, host: Host | None = None) -> None:
        """The CEO looks after the company now; what comes of it is told when it is there."""
        host = host or self._room
        ceo, kinds = self.view.ceo(), self.view.runner_kinds
        if ceo is not None and kinds is not None and (missing := runner_missing(ceo[0].runner, kinds)):
            host.say(f"{one_line(ceo[0].name)} cannot run: {missing}.", "bad")
            return
        self._called.begin(self.view, host)
        self.send(host, "the CEO's heartbeat is due now", "CallHeartbeat")

    def mission(self) -> None:
        """What the company is for."""
        company = self.view.company
        if company is not None:
            self.ask(
                self._room, "the company is for:", "its mission; the CEO proposes goals from it",
                lambda text: self.send(self._room, "the mission is set", "EditCompany", mission=text), company.mission,
            )  # fmt: skip

    def budget(self) -> None:
        """What the selected goal, or the company, may spend a period; an agent's is set on the agents' screen."""
        goal = self._room.situation.thing
        if isinstance(goal, Goal):
            ask_budget(self, self._room, BudgetScope.GOAL, goal.id, goal.name_tag)
        else:
            ask_budget(self, self._room, BudgetScope.COMPANY, 1, "the company")

    def recall(self) -> None:
        """Take back a goal that stage B dispatched, after a question."""
        goal = self._room.situation.thing
        if not isinstance(goal, Goal) or goal.auto_dispatched_at is None:
            self._room.say(f"{self._room.situation.tag} was not dispatched by stage B.", "warn")
            return
        tasks = sum(task.status not in TASK_FINAL for task in self.view.tasks(goal.id))
        runs = sum(run.goal_id == goal.id for run in self.view.live_runs)
        ends = f"{counted(tasks, 'open task')} and {counted(runs, 'run')}"
        lines = [
            f"{goal.name_tag}  {one_line(goal.title)}", "",
            f"It is a draft again: {ends} of it end, and its round closes.",
            "Stage B never dispatches it again; you can.",
        ]  # fmt: skip
        self.confirm(
            self._room, f"Recall {goal.name_tag}?", lines, "Recall",
            lambda: self.send(self._room, f"recall {goal.name_tag}", "RecallGoal", goal=goal.id),
        )  # fmt: skip

    def looked(self, situation: Situation) -> None:
        """The operator opened a goal: if stage B dispatched it, its count in a row begins anew (D-01)."""
        goal, company = situation.thing, self.view.company
        if not isinstance(goal, Goal) or goal.auto_dispatched_at is None or not company or not company.auto_in_a_row:
            return
        words = f"you looked at {goal.name_tag}: stage B counts from nothing again"
        self.send(self._room, words, "LookedAt", goal=goal.id)

    # ------------------------------------------------------------- edited questions

    def edit_question(self, choice: Choice) -> None:
        """A hire or a reorganisation in a form of lines; saved, it is approved as it then is."""
        from tui.screens.lines_form import LinesForm

        number = choice.arguments.get("approval")
        approval = self.view.tables.get(Approval, number if isinstance(number, int) else None)
        if approval is None:
            return
        is_hire = approval.kind == ApprovalKind.HIRE_AGENT
        is_overtaken = bool(overtaken(approval, self.view.tables.all(AgentRecord)))
        begun = lines_of(PROPOSED, approval.payload) if is_hire else changes_text(approval.payload)
        title = f"Edit {approval.name_tag}: {one_line(approval.title)}"
        key = f"{approval.name_tag} {approval.payload_hash}"

        async def save(text: str) -> str:
            if is_hire:
                payload, problems = changed(PROPOSED, begun, text)
            else:
                # One that was overtaken is sent as it is, too: it is then set against today's organisation.
                payload, problems = read_changes(text) if text != begun or is_overtaken else ({}, [])
            if problems:
                return first_of(problems)
            if payload:
                arguments = {"approval": approval.id, "payload": payload, "payload_hash": approval.payload_hash}
                await self.company.execute(parse("EditApproval", arguments))
                self._room.flush()
            return ""

        def saved(was_saved: bool | None) -> None:
            if was_saved:
                self._room.decisions.approve_edited(approval.id)
            else:
                self._room.say("Nothing was saved; e opens what you wrote again.", "dim")

        form = LinesForm(title, begun, self.kept(key), "saves and approves", save, lambda text: self.keep(key, text))
        self._room.app.push_screen(form, saved)
