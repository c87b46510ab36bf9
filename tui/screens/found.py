"""The form of a new company: name, mission, language, who works there, on what, limits; then a look at it all."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import ClassVar, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Select, Static

from core.agents.kinds import check_runner
from core.domain.budgets import money
from core.domain.errors import Invalid, OpsroomError
from core.founding.found import Plan, hires
from core.founding.ground import NOTHING_FOUND, WHAT_TO_DO, Ground, named
from core.founding.template import Template, templates
from tui.actions import Hint
from tui.panes.footer import KeyLine
from tui.panes.words import hanging, line, put, said
from tui.screens.confirm import Confirm
from tui.staff_text import USD_MAX, runner_words, usd
from tui.text import counted, one_line, plain

CUSTOM = "settings"
LOOKING = "looking for what is here…"
_LANGUAGES: tuple[tuple[str, Literal["en", "zh"]], ...] = (("English", "en"), ("中文", "zh"))

Look = Callable[[], Awaitable[Sequence[Ground]]]
"""Finds what agents could run on here, best first."""


class Review(Confirm):
    """All that is to be made, before it is."""


class FoundScreen(Screen[None]):
    """`done` is called with the plan once the person has agreed to it, or with None when they leave."""

    CSS_PATH: ClassVar = ["found.tcss", "../panes/lines.tcss", "dialogs.tcss"]
    AUTO_FOCUS = "#found-mission"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        # without priority: a key goes through the field first, after all that was typed before it
        Binding("ctrl+s", "review", "Review", show=False),
        Binding("escape", "leave", "Leave", show=False),
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]
    KEYS: ClassVar = (Hint("^s", "look it over", 1), Hint("tab", "next", 2), Hint("enter", "choose", 3),
                      Hint("esc", "leave", 0))  # fmt: skip

    def __init__(
        self, folder: Path, name: str, kinds: frozenset[str], look: Look, done: Callable[[Plan | None], None],
        monotonic: Callable[[], float],
    ) -> None:  # fmt: skip
        super().__init__()
        self._folder = folder
        self._kinds = kinds
        self._look = look
        self._done = done
        self._monotonic = monotonic
        self._found: tuple[Ground, ...] = ()
        self._looked = False
        self.company_name = Input(name, id="found-name", compact=True, select_on_focus=False)
        self.mission = Input(placeholder="what it is for; the CEO proposes goals from it", id="found-mission",
                             compact=True, select_on_focus=False)  # fmt: skip
        self.language = Select(_LANGUAGES, value="en", allow_blank=False, compact=True, id="found-language")
        known = [(Content(each.title), key) for key, each in templates().items()]
        self.template = Select(known, value=known[0][1], allow_blank=False, compact=True, id="found-template")
        self.ground = Select([(Content(LOOKING), "")], value="", allow_blank=False, compact=True, id="found-ground")
        self.settings = Input(placeholder='{"kind": "chat", "url": "http://127.0.0.1:8080/v1", "model": "…"}',
                              id="found-settings", compact=True, select_on_focus=False)  # fmt: skip
        self.runs = Input(id="found-runs", compact=True, restrict=r"[0-9]{0,4}", select_on_focus=False)
        self.budget = Input(id="found-budget", compact=True, restrict=r"[0-9.]{0,12}", select_on_focus=False)
        self.about = Static(id="found-about")
        self.problem = Static(id="found-problem")
        self.keys = KeyLine()

    def compose(self) -> ComposeResult:
        """A line a field; below them who would work there."""
        yield Static(line(said("A new company", "strong"), said(f"   {one_line(str(self._folder))}", "dim")),
                     id="found-head")  # fmt: skip
        with VerticalScroll(id="found-form", can_focus=False):
            for label, field in self._fields():
                with Horizontal(classes="field", id=f"line-{field.id}"):
                    yield Static(said(label, "dim"), classes="label")
                    yield field
            yield self.about
        yield self.problem
        yield self.keys

    def _fields(self) -> Iterator[tuple[str, Widget]]:
        yield "name", self.company_name
        yield "mission", self.mission
        yield "language", self.language
        yield "template", self.template
        yield "agents on", self.ground
        yield "settings", self.settings
        yield "runs at once", self.runs
        yield "USD a day", self.budget

    def on_mount(self) -> None:
        """What is here is looked for while the person writes."""
        self.keys.show(self.KEYS)
        self._show_template()
        self._finder()

    @work(name="look for what is here", exit_on_error=False)
    async def _finder(self) -> None:
        self._found = tuple(await self._look())
        self._looked = True
        rows = [(Content(plain(one_line(f"{each.name}: {each.about}"))), str(i)) for i, each in enumerate(self._found)]
        self.ground.set_options([*rows, (Content("other settings, as JSON"), CUSTOM)])
        self.ground.value = rows[0][1] if rows else CUSTOM
        self._quiet()
        self._show_settings()

    # ------------------------------------------------------------- what is shown

    @property
    def _template(self) -> Template:
        return templates()[str(self.template.value)]

    @on(Select.Changed)
    def _chosen(self, event: Select.Changed) -> None:
        if event.select is self.template:
            self._show_template()
        self._show_settings()
        self._quiet()

    @on(Input.Changed)
    def _written(self) -> None:
        self._quiet()

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.focus_next()

    def _show_template(self) -> None:
        """The template's own limits, which can be changed, and its people."""
        template = self._template
        self.runs.value = str(template.runs_at_once)
        self.budget.value = usd(int(template.usd_a_day * 1_000_000))
        self._show_about()
        self._show_settings()

    def on_resize(self) -> None:
        """Lines that are too long keep to their column."""
        self._show_about()

    def _show_about(self) -> None:
        template = self._template
        parts = [said(template.about)]
        for agent in template.agents:
            can = f": {', '.join(agent.capabilities)}" if agent.capabilities else ""
            parts.append(line(said(f"  {agent.name:<7}", "name"), said(f"{agent.role}{can}")))
        for rail in template.red_lines:
            label = said("  red line ", "warn")
            parts.append(hanging(label, f"{rail.name}: {rail.about}", self.about.size.width or 80, indent=11))
        put(self.about, Content("\n").join(parts), layout=True)

    def _show_settings(self) -> None:
        hires_somebody = bool(self._template.agents)
        for field, is_asked in (
            (self.ground, hires_somebody), (self.budget, hires_somebody),
            (self.settings, hires_somebody and self.ground.value == CUSTOM),
        ):  # fmt: skip
            if field.parent is not None:
                field.parent.display = is_asked

    def _quiet(self) -> None:
        """Nothing is wrong; but where nothing was found, what to do stands there."""
        lacks = self._looked and not self._found and bool(self._template.agents) and not self.settings.value.strip()
        self.tell(f"{NOTHING_FOUND} {WHAT_TO_DO}" if lacks else "", warns=True)

    def tell(self, text: str, *, warns: bool = False) -> None:
        """Say below the form what is wrong, or missing."""
        put(self.problem, said(text, "warn" if warns else "bad"), layout=True)

    # ------------------------------------------------------------- keys

    def action_leave(self) -> None:
        """Make nothing."""
        self._done(None)

    def action_review(self) -> None:
        """Look it over; what cannot be is told first."""
        if self.app.screen is not self:
            return
        try:
            plan = self._plan()
            plan.config  # noqa: B018 - it says what is wrong with the name
            hires(plan)
        except OpsroomError as problem:
            self.tell(f"{problem.message} {problem.hint}".strip())
            return
        title = f"Make {one_line(plan.name)}?"
        review = Review(title, self._told(plan), "Make it", self._monotonic)
        self.app.push_screen(review, lambda yes: self._end(plan, yes))

    def _end(self, plan: Plan, agreed: bool | None) -> None:
        if agreed:
            self._done(plan)

    def _plan(self) -> Plan:
        """What the form says. Raises Invalid."""
        template = self._template
        runs = int(self.runs.value or 0)
        if not 1 <= runs <= 1000:
            raise Invalid(f"{runs} runs at once are not possible.", "Give 1 to 1000.")
        locale = _LANGUAGES[1][1] if self.language.value == "zh" else _LANGUAGES[0][1]
        runner = self._runner() if template.agents else {}
        return Plan(self.company_name.value, self.mission.value, locale, template, runner, runs, self._micros())

    def _runner(self) -> dict[str, object]:
        if not self._looked:
            raise Invalid("What is here is still looked for.", "Wait a moment.")
        if self.ground.value != CUSTOM:
            return dict(self._found[int(str(self.ground.value))].runner)
        if not self.settings.value.strip():
            raise Invalid("Say what the agents run on: settings as JSON.", WHAT_TO_DO)
        runner = dict(named(self.settings.value, self._found, self._kinds).runner)
        check_runner(runner, self._kinds)
        return runner

    def _micros(self) -> int:
        try:
            amount = Decimal(self.budget.value or "0")
        except InvalidOperation:
            amount = Decimal(-1)
        if not 0 <= amount <= USD_MAX:
            raise Invalid(f"{self.budget.value!r} is no amount of US dollars.", "Write it like 2.50; 0 is no limit.")
        return int(amount * 1_000_000)

    def _ground_words(self, plan: Plan) -> str:
        """What was chosen of what is here; settings that were written as they were written."""
        if self.ground.value == CUSTOM:
            return runner_words(dict(plan.runner))
        return one_line(self._found[int(str(self.ground.value))].about)

    def _told(self, plan: Plan) -> list[str]:
        agents = plan.template.agents
        mission = plan.mission.strip() or "none yet; the CEO proposes nothing without"
        lines = [f"In {self._folder}", f"Mission: {mission}",
                 f"Language of its agents: {'中文' if plan.locale == 'zh' else 'English'}", ""]  # fmt: skip
        if agents:
            names = ", ".join(f"{agent.name} ({agent.role})" for agent in agents)
            limit = f"{money(plan.budget_micros)} a day for all" if plan.budget_micros else "no limit of money"
            lines += [f"{counted(len(agents), 'agent')}: {names}", f"They run on {self._ground_words(plan)}.",
                      f"{counted(plan.runs_at_once or 0, 'run')} at once; {limit}."]  # fmt: skip
            if "key" in plan.runner or plan.runner.get("env"):
                lines.append("Keys are read from where they are when a run begins; none is written.")
        else:
            lines.append("Nobody works there yet: you hire.")
        return [*lines, "", "It is stopped until you start it: nothing runs and nothing is spent before."]
