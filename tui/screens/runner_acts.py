"""What an agent runs on: its settings in a form, checked before they are sent; and one real call to try it."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from core.agents.kinds import check_runner, settings_words
from core.commands.company import require_runner
from core.domain.entities import AgentRecord
from tui.goal_text import first_of
from tui.screens.lines_form import Save
from tui.staff_text import read_runner, runner_lines
from tui.text import one_line

if TYPE_CHECKING:
    from tui.screens.agents import AgentsScreen
    from tui.screens.leading import Leading

Form = Callable[[str, str, str, str, Save], None]
"""Opens a form: its title, the key of what is kept of it, the text, what saving does, and how it is saved."""


class RunnerActs:
    """Two acts on the selected agent."""

    def __init__(self, screen: "AgentsScreen", leading: "Leading") -> None:
        self._screen = screen
        self._leading = leading

    async def check(self, runner: Mapping[str, Any]) -> None:
        """Raises Invalid for settings that no run could use, or that hold a key."""
        require_runner(dict(runner))
        kinds = self._leading.view.runner_kinds
        if kinds is not None:
            await asyncio.to_thread(check_runner, runner, kinds)

    def edit(self, agent: AgentRecord, form: Form) -> None:
        """Its settings, one a line; what is saved holds from its next run on."""
        begun = runner_lines(agent.runner) + "\n" + _help(agent, self._leading.view.runner_kinds)

        async def save(text: str) -> str:
            runner, problems = read_runner(text)
            if problems:
                return first_of(problems)
            if runner == agent.runner:
                self._screen.say("Nothing was changed.", "dim")
                return ""
            await self.check(runner)
            await self._screen.execute("EditAgent", agent=agent.slug, runner=runner)
            self._screen.say(f"✓ {agent.slug} has another runner from its next run on; t tries one call", "good")
            return ""

        form(f"What {agent.slug} runs on", f"runner {agent.slug} {agent.version}", begun, "saves", save)

    def call(self, agent: AgentRecord) -> None:
        """One real call, after a question: it uses tokens."""
        from core.doctor.needs import why_not_tried
        from core.domain.runner_uses import uses_of

        if why := why_not_tried(agent.runner):
            self._screen.say(f"{agent.slug} was not called: {one_line(why)}", "warn")
            return
        lines = [
            f"{agent.name_tag}  {one_line(agent.name)} ({agent.slug}) uses {one_line(uses_of(agent.runner))}.", "",
            "One real call: it is told to answer with OK. That uses a few hundred tokens.",
            "It has two minutes. The board is not touched.",
        ]  # fmt: skip
        self._leading.confirm(self._screen, f"Call {agent.slug}?", lines, "Call it", lambda: self._call(agent))

    def _call(self, agent: AgentRecord) -> None:
        self._screen.say(f"{agent.slug} is called…", "info")
        self._screen.run_worker(self._called(agent), name="try a call", group="call", exit_on_error=False)

    async def _called(self, agent: AgentRecord) -> None:
        from core.doctor.calls import call
        from core.runners import prices_of

        company = self._leading.company
        prices = await asyncio.to_thread(prices_of, company.config.prices)
        told = await call(agent.slug, agent.runner, company.folder, prices)
        words = f"{agent.slug} {'answered' if told.ok else 'did not answer'}: {told.words} ({told.cost_words})"
        self._screen.say(one_line(words), "good" if told.ok else "bad")


def _help(agent: AgentRecord, kinds: Any) -> str:
    known = settings_words(str(agent.runner.get("kind", "")))
    listed = ", ".join(sorted(kinds)) if kinds else ""
    lines = [
        "# One setting a line; a JSON object will do too. A key stands nowhere, only where it comes from: env:NAME."
    ]
    lines += [f"# kinds: {listed}"] if listed else []
    lines += [f"# settings of {agent.runner.get('kind')}: {known}"] if known else []
    return "\n".join(lines) + "\n"
