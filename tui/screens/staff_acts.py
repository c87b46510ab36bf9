"""The acts on the selected agent: pause, resume, retire, budget, hire, edit. Asked for in lines, told on the screen."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.domain.company_items import default_runner, runner_missing
from core.domain.entities import AgentRecord
from core.domain.states import AgentStatus, BudgetScope
from tui.goal_text import first_of
from tui.panes.composer import WHY
from tui.screens.agents_runs import RosterRuns
from tui.screens.budgeting import ask_budget
from tui.screens.lines_form import LinesForm, Save
from tui.screens.runner_acts import RunnerActs
from tui.staff_text import AGENT, HIRE, changed, lines_of, read_lines, values_of
from tui.text import counted, one_line

if TYPE_CHECKING:
    from tui.screens.agents import AgentsScreen
    from tui.screens.leading import Leading


class StaffActs:
    """What the keys of the screen do."""

    def __init__(self, screen: "AgentsScreen", leading: "Leading") -> None:
        self._screen = screen
        self._leading = leading
        self._runners = RunnerActs(screen, leading)
        self.runs = RosterRuns(screen, leading)

    def kill(self) -> None:
        """End its run, after a question."""
        if (agent := self._agent()) is not None:
            self.runs.kill(agent)

    def go_on(self) -> None:
        """Go on with the session of its last run."""
        if (agent := self._agent()) is not None:
            self.runs.go_on(agent)

    def nudge(self) -> None:
        """Wake it, or say something into its run."""
        if (agent := self._agent()) is not None:
            self.runs.nudge(agent)

    def runner(self) -> None:
        """Change what it runs on."""
        if (agent := self._agent()) is not None:
            self._runners.edit(agent, self._form)

    def call(self) -> None:
        """Try one real call, after a question."""
        if (agent := self._agent()) is not None:
            self._runners.call(agent)

    def _agent(self) -> AgentRecord | None:
        """The selected agent, unless it has retired."""
        agent = self._screen.agent
        if agent is None:
            self._screen.say("No agent is selected: ↑ and ↓ choose one, n hires.", "warn")
        elif agent.status == AgentStatus.TERMINATED:
            self._screen.say(f"{one_line(agent.name)} has retired; what it did stays on the board.", "warn")
        else:
            return agent
        return None

    def pause(self) -> None:
        """Pause it, with a reason; or let a paused one work again."""
        agent = self._agent()
        if agent is None:
            return
        if agent.status == AgentStatus.PAUSED:
            self._leading.send(self._screen, f"{agent.slug} works again", "ResumeAgent", agent=agent.slug)
            return
        runs = self._runs(agent)
        hint = f"why; enter ends {runs} and gives it no new one" if runs else WHY
        self._leading.ask(
            self._screen, f"pause {agent.slug}:", hint,
            lambda why: self._leading.send(
                self._screen, f"{agent.slug} is paused", "PauseAgent", agent=agent.slug, reason=why
            ),
        )  # fmt: skip

    def retire(self) -> None:
        """Let it go for good, with a reason and after a question."""
        agent = self._agent()
        if agent is not None:
            self._leading.ask(
                self._screen, f"retire {agent.slug}:", WHY, lambda why: self._ask_to_retire(agent, why)
            )  # fmt: skip

    def _ask_to_retire(self, agent: AgentRecord, why: str) -> None:
        view = self._leading.view
        held = [task.name_tag for task in view.held_tasks() if task.assignee_id == agent.id]
        below = [
            each.slug for each in view.tables.all(AgentRecord)
            if each.manager_id == agent.id and each.status != AgentStatus.TERMINATED
        ]  # fmt: skip
        lines = [
            f"{agent.name_tag}  {one_line(agent.name)} ({agent.slug}), {agent.role}", "",
            f"Ended: {self._runs(agent) or 'no run'}. Tasks that go back: {', '.join(held) or 'none'}.",
        ]  # fmt: skip
        if below:
            heir = view.slug(agent.manager_id) or "nobody"
            lines.append(f"{', '.join(below)} report{'s' if len(below) == 1 else ''} to {heir} then.")
        lines += [
            "It never comes back, and nobody gets its name; nothing of what it did is deleted.", "",
            f"Your reason: {one_line(why)}",
        ]  # fmt: skip

        def then() -> None:
            self._leading.send(
                self._screen, f"{agent.slug} has retired", "RetireAgent", agent=agent.slug, reason=why
            )  # fmt: skip

        self._leading.confirm(self._screen, f"Retire {agent.slug}?", lines, "Retire", then)

    def _runs(self, agent: AgentRecord) -> str:
        runs = sum(run.agent_id == agent.id for run in self._leading.view.live_runs)
        return counted(runs, "run") if runs else ""

    def budget(self) -> None:
        """What it may spend a period."""
        agent = self._agent()
        if agent is not None:
            ask_budget(self._leading, self._screen, BudgetScope.AGENT, agent.id, agent.slug)

    def hire(self) -> None:
        """Hire somebody in a form of lines."""
        selected = self._screen.agent
        manager = selected.slug if selected is not None and selected.status != AgentStatus.TERMINATED else ""
        kinds = self._leading.view.runner_kinds
        runner = default_runner(list(self._leading.view.tables.all(AgentRecord)), manager, kinds) if kinds else None
        begun = lines_of(HIRE, {"role": "executor", "manager": manager, "max_runs": 1, "runner": runner})

        async def save(text: str) -> str:
            values, problems = read_lines(HIRE, text)
            if problems:
                return first_of(problems)
            values["manager"] = values["manager"] or None
            if values["runner"] != runner:
                await self._runners.check(values["runner"])
            await self._screen.execute("HireAgent", **values)
            self._done(f"{values['slug']} is hired", values["runner"])
            return ""

        self._form("Hire an agent", "hire", begun, "hires", save)

    def edit(self) -> None:
        """Change what it is called, can do, answers for, reports to or runs on."""
        agent = self._agent()
        if agent is None:
            return
        begun = lines_of(AGENT, values_of(agent, self._leading.view.slug(agent.manager_id)))

        async def save(text: str) -> str:
            values, problems = changed(AGENT, begun, text)
            if problems:
                return first_of(problems)
            if values:
                if "runner" in values:
                    await self._runners.check(values["runner"])
                await self._screen.execute("EditAgent", agent=agent.slug, **values)
                self._done(f"{agent.slug} is edited", values.get("runner"))
            else:
                self._screen.say("Nothing was changed.", "dim")
            return ""

        self._form(f"Edit {agent.slug}", f"edit {agent.slug} {agent.version}", begun, "saves", save)

    def _done(self, words: str, runner: Mapping[str, Any] | None) -> None:
        """Tell it, and what keeps its runs from beginning."""
        kinds = self._leading.view.runner_kinds
        missing = runner_missing(runner, kinds) if runner and kinds is not None else ""
        missing += "; e changes its runner" if missing else ""
        self._screen.say(f"✓ {words}; but {missing}" if missing else f"✓ {words}", "warn" if missing else "good")

    def _form(self, title: str, key: str, begun: str, does: str, save: Save) -> None:
        def left(was_saved: bool | None) -> None:
            if not was_saved:
                self._screen.say("Nothing was saved; what you wrote is there when you open it again.", "dim")

        leading = self._leading
        form = LinesForm(title, begun, leading.kept(key), does, save, lambda text: leading.keep(key, text))
        self._screen.app.push_screen(form, left)
