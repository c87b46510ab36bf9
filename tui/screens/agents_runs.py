"""What the roster does about the runs of the selected agent: answer, nudge, go on with a session, end one."""

import re
from itertools import islice
from typing import TYPE_CHECKING

from core.domain.attach import can_hear
from core.domain.entities import AgentRecord, Company, Goal, Run, Task
from core.domain.health import Condition
from core.domain.states import GOAL_FINAL, AgentStatus, Autonomy, CommentKind, GoalStatus, Role, RunStatus
from tui.actions import Hint
from tui.letters import RETURN
from tui.screens.run_acts import ask_to_go_on, ask_to_kill, why_not_go_on
from tui.text import one_line

if TYPE_CHECKING:
    from tui.screens.agents import AgentsScreen
    from tui.screens.leading import Leading

_LAST_SESSION = "agent_id = :agent AND kind = 'execute' AND ended_at IS NOT NULL ORDER BY session = '', id DESC LIMIT 1"
_LOOKED_AT = 500
_RUN = re.compile(r"\s*[Rr]?([0-9]{1,15})\s*")


class RosterRuns:
    """Acts on an agent's runs, as the keys of the screen call them."""

    def __init__(self, screen: "AgentsScreen", leading: "Leading") -> None:
        self._screen = screen
        self._leading = leading

    def live(self, agent: AgentRecord) -> list[Run]:
        """Its live runs; those at work stand before those that are queued."""
        runs = [run for run in self._leading.view.live_runs if run.agent_id == agent.id]
        return sorted(runs, key=lambda run: (run.status == RunStatus.QUEUED, run.id))

    def can_go_on(self, agent: AgentRecord) -> bool:
        """Whether the room knows of a session of it that can be gone on with."""
        runs = islice(reversed(self._leading.view.tables[Run].values()), _LOOKED_AT)
        return any(run.agent_id == agent.id and not why_not_go_on(run, agent) for run in runs)

    def kill(self, agent: AgentRecord) -> None:
        """End its run, after a question; where there are several, after another one."""
        runs = self.live(agent)
        if len(runs) > 1:
            names = " ".join(run.name_tag for run in runs)
            self._leading.ask(
                self._screen, f"end which run of {agent.slug}:", names, lambda text: self._kill_named(agent, text),
                runs[0].name_tag,
            )  # fmt: skip
        elif runs:
            ask_to_kill(self._leading, self._screen, runs[0])
        else:
            self._screen.say(f"{one_line(agent.slug)} has no run that could be ended.", "warn")

    def _kill_named(self, agent: AgentRecord, text: str) -> None:
        found = _RUN.fullmatch(text)
        run = next((run for run in self.live(agent) if found and run.id == int(found[1])), None)
        if run is None:
            self._screen.say(f"{one_line(text)[:40]!r} is no live run of {agent.slug}; nothing was ended.", "warn")
        else:
            ask_to_kill(self._leading, self._screen, run)

    def go_on(self, agent: AgentRecord) -> None:
        """Go on with the session of the last run in which it worked on a task."""
        self._screen.run_worker(
            self._go_on(agent), name="look for its session", group="attach", exclusive=True, exit_on_error=False
        )

    async def _go_on(self, agent: AgentRecord) -> None:
        found = await self._leading.company.board.readers.entities(Run, _LAST_SESSION, agent=agent.id)
        if not self._screen.is_current:
            return
        if found:
            ask_to_go_on(self._leading, self._screen, found[0], "; w shows it")
        else:
            self._screen.say(f"{one_line(agent.slug)} has not worked on a task yet: no session to go on with.", "warn")

    def answer(self, item_id: str) -> None:
        """To what it waits for, in the inbox."""
        room = self._screen.app.room
        item = next((each for each in self._leading.view.inbox() if each.id == item_id), None)
        if item is None:
            self._screen.say("Nothing in the inbox would help it: it waits for nobody's word.", "dim")
        else:
            room.attaching.answer(item)

    def nudge(self, agent: AgentRecord) -> None:
        """Wake it: a word into its run, the CEO's heartbeat, or a word on the board that calls it by name."""
        if agent.status != AgentStatus.ACTIVE:
            self._screen.say(f"{one_line(agent.slug)} is paused: p lets it work again.", "warn")
            return
        hears = can_hear(str(agent.runner.get("kind", "")))
        run = next((run for run in self.live(agent) if run.status != RunStatus.QUEUED), None)
        if run is not None and hears:
            self._leading.ask(
                self._screen, f"say to {run.name_tag}:", "it hears this once, before its next turn; enter says it",
                lambda text: self._leading.send(
                    self._screen, f"said to {run.name_tag}; w shows when it is heard", "SpeakToRun",
                    run=run.id, text=text.replace(RETURN, "\n"),
                ),
            )  # fmt: skip
        elif agent.role == Role.CEO and run is None:
            self._leading.heartbeat(self._screen)
        else:
            self._call(agent)

    def _call(self, agent: AgentRecord) -> None:
        """A question below what it is at that names it: it gets a run for that."""
        subject = self._subject(agent)
        if subject is None:
            self._screen.say("There is no open goal on which it could be called: n in the room begins one.", "warn")
            return
        about = "goal" if isinstance(subject, Goal) else "task"
        hint = f"{one_line(agent.slug)} is woken by it; enter writes it below {subject.name_tag}"
        self._leading.ask(
            self._screen, f"ask {agent.slug} on {subject.name_tag}:", hint,
            lambda text: self._leading.send(
                self._screen, f"{agent.slug} is called on {subject.name_tag}", "AddComment",
                kind=CommentKind.QUESTION, body=f"@{agent.slug} {text.replace(RETURN, chr(10))}",
                **{about: subject.id},
            ),
        )  # fmt: skip

    def _subject(self, agent: AgentRecord) -> Task | Goal | None:
        """What it is at: its task, else the goal of its last run, else the goal that moved last."""
        view = self._leading.view
        held = next((task for task in view.held_tasks() if task.assignee_id == agent.id), None)
        if held is not None:
            return held
        runs = [run for run in view.tables.all(Run) if run.agent_id == agent.id and run.goal_id is not None]
        last = view.tables.get(Goal, runs[-1].goal_id) if runs else None
        alive = [goal for goal in view.tables.all(Goal) if _is_alive(goal)]
        return last if last in alive else max(alive, key=lambda goal: goal.updated_at, default=None)


def _is_alive(goal: Goal) -> bool:
    return goal.status not in GOAL_FINAL and goal.status != GoalStatus.ARCHIVED


def hints_of(agent: AgentRecord, is_so: Condition, runs: RosterRuns, company: Company | None) -> list[Hint]:
    """The keys that mean something for this agent now."""
    if agent.status == AgentStatus.TERMINATED:
        return []
    hints = [Hint("a", "answer", 1)] if is_so.item else []
    hints += [Hint("p", "resume" if agent.status == AgentStatus.PAUSED else "pause", 2)]
    if runs.live(agent):
        hints += [Hint("w", "watch", 2), Hint("X", "end run", 3)]
    elif runs.can_go_on(agent):
        hints.append(Hint("c", "go on", 3))
    if agent.role == Role.CEO:
        at_b = company is not None and company.autonomy == Autonomy.B
        hints += [Hint("B", "back to A" if at_b else "stage B", 3), Hint("H", "heartbeat", 4)]
    else:
        hints.append(Hint("N", "nudge", 3))
    return [*hints, Hint("e", "edit", 6), Hint("r", "runner", 6), Hint("$", "budget", 5), Hint("x", "retire", 7)]
