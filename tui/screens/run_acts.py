"""The acts on a run: speak, pause, end, go on with its session, open it, give the terminal to its program."""

import asyncio
from typing import TYPE_CHECKING

from core.agents.transcript_tail import Tail
from core.domain.attach import cannot_continue, no_terminal
from core.domain.entities import AgentRecord, Run, Task, WorkTree
from core.domain.errors import OpsroomError
from core.domain.states import RUN_LIVE, AgentStatus, RunKind, RunStatus
from tui.letters import RETURN
from tui.panes.transcript import as_text
from tui.screens.pager import hand_over, show_text
from tui.text import in_words, one_line

if TYPE_CHECKING:
    from tui.screens.attaching import Attaching
    from tui.screens.leading import Host, Leading
    from tui.screens.run import RunScreen


_TREE = "task_id = :task AND agent_id = :agent AND closed_at IS NULL ORDER BY number DESC LIMIT 1"


class RunActs:
    """What the keys of the screen do."""

    def __init__(self, screen: "RunScreen", attaching: "Attaching") -> None:
        self._screen = screen
        self._attaching = attaching
        self._leading = attaching.leading

    def speak(self) -> None:
        """Words to its agent, which it hears before its next turn."""
        run = self._screen.run_now
        self._leading.ask(
            self._screen, f"say to {run.name_tag}:", "it hears this once, before its next turn; enter says it",
            lambda text: self._leading.send(
                self._screen, f"said to {run.name_tag}; the transcript tells when it is heard", "SpeakToRun",
                run=run.id, text=text.replace(RETURN, "\n"),
            ),
        )  # fmt: skip

    def answer(self) -> None:
        """To what it asks, in the inbox, where it is read and decided."""
        item = self._screen.question
        if item is None:
            self._screen.say(f"{self._screen.run_now.name_tag} asks nothing now.", "dim")
        else:
            self._attaching.answer(item)

    def pause(self) -> None:
        """Hold it before its next turn, or let it go on."""
        run = self._screen.run_now
        if run.paused_at is not None:
            self._leading.send(self._screen, f"{run.name_tag} goes on", "ResumeRun", run=run.id)
        else:
            words = f"{run.name_tag} holds before its next turn; its clocks stand still"
            self._leading.send(self._screen, words, "PauseRun", run=run.id)

    def kill(self) -> None:
        """End it, after a question."""
        ask_to_kill(self._leading, self._screen, self._screen.run_now)

    def go_on(self) -> None:
        """A new run with the session of this one, and a remark."""
        ask_to_go_on(self._leading, self._screen, self._screen.run_now, "; ] turns to it")

    def jump(self) -> None:
        """Any other run by its number."""
        self._leading.ask(
            self._screen, "which run:", "R12", lambda text: self._attaching.jump(text, self._screen)
        )  # fmt: skip

    def turn(self, by: int) -> None:
        """The run before or after this one, of the same task, or of the same agent where there is none."""
        self._screen.run_worker(
            self._turn(by), name="turn to a run", group="attach", exclusive=True, exit_on_error=False
        )

    async def _turn(self, by: int) -> None:
        run = self._screen.run_now
        same = "task_id = :same" if run.task_id is not None else "agent_id = :same"
        where = f"{same} AND id {'>' if by > 0 else '<'} :id ORDER BY id {'' if by > 0 else 'DESC'} LIMIT 1"
        found = await self._leading.company.board.readers.entities(
            Run, where, same=run.task_id if run.task_id is not None else run.agent_id, id=run.id
        )
        if found:
            self._screen.show_run(found[0])
        else:
            of = f"T{run.task_id}" if run.task_id is not None else self._attaching.view.slug(run.agent_id)
            self._screen.say(f"{run.name_tag} is the {'last' if by > 0 else 'first'} run of {of}.", "dim")

    def open(self) -> None:
        """All that is kept of it, in the operator's editor or pager."""
        self._screen.run_worker(self._open(), name="open", group="open", exclusive=True, exit_on_error=False)

    async def _open(self) -> None:
        run = self._screen.run_now
        try:
            text = await asyncio.to_thread(_whole, Tail(self._leading.company.folder / "runs", run.id, begin=1 << 40))
            if not text:
                self._screen.say("Nothing is kept of what it said.", "warn")
                return
            await show_text(self._screen.app, f"{run.name_tag}.txt", text)
        except OpsroomError as problem:
            self._screen.refuse(problem)

    def hand_over(self) -> None:
        """The terminal to the program itself, with the session of this run, while it is not at work."""
        self._screen.run_worker(self._hand_over(), name="terminal", group="open", exclusive=True, exit_on_error=False)

    async def _hand_over(self) -> None:
        screen, run, agent = self._screen, self._screen.run_now, self._screen.agent
        if agent is not None and (why := no_terminal(agent.runner)):
            screen.say(f"There is no terminal to give: {one_line(agent.slug)} {why}.", "warn")
            return
        if run.status in RUN_LIVE and run.paused_at is None:
            what = "has not begun" if run.status == RunStatus.QUEUED else "is at work"
            screen.say(f"{run.name_tag} {what}: two would write in one session. p pauses it, x ends it.", "warn")
            return
        if agent is None:
            screen.say("Whose run it was is not known any more.", "warn")
            return
        from core.agents.programs.interactive import terminal_of

        company = self._leading.company
        trees = await company.board.readers.entities(WorkTree, _TREE, task=run.task_id, agent=run.agent_id)
        workplace = company.folder / trees[0].path if trees else None
        try:
            start = await terminal_of(company.folder, agent, run, workplace)
            code = await hand_over(screen.app, list(start.argv), cwd=start.cwd, env=start.environment)
        except OpsroomError as problem:
            screen.refuse(problem)
        else:
            ended = "it ended well" if code == 0 else f"it ended with exit code {code}"
            screen.say(f"Back in the room: {ended}. The company went on meanwhile.", "good" if code == 0 else "warn")


def ask_to_kill(leading: "Leading", host: "Host", run: Run) -> None:
    """End a run, after a question that tells what becomes of its task."""
    if run.status not in RUN_LIVE:
        host.say(f"{run.name_tag} has ended already.", "warn")
        return
    view = leading.view
    slug, task = view.slug(run.agent_id), view.tables.get(Task, run.task_id)
    lines = [f"{run.name_tag}  {slug}, {in_words(run.kind)}", "", "Its program and all that it started end now."]
    if task is not None and task.current_run == run.id:
        lines += [
            f"{task.name_tag} {one_line(task.title)} is pending again and offered anew; it costs no attempt.",
            f"{slug} may take it up again: pause the agent or cancel the task if it should not.",
        ]  # fmt: skip
    lines.append("What it wrote on the board stays; what you said and it has not heard is told as not heard.")
    leading.confirm(
        host, f"End {run.name_tag}?", lines, "End it",
        lambda: leading.send(host, f"{run.name_tag} has ended", "KillRun", run=run.id),
    )  # fmt: skip


def ask_to_go_on(leading: "Leading", host: "Host", run: Run, where: str = "") -> None:
    """A new run with the session of an ended one, and a remark; `where` says how one comes to it."""
    agent = leading.view.tables.get(AgentRecord, run.agent_id)
    if why := why_not_go_on(run, agent):
        host.say(why, "warn")
        return
    paused = agent is not None and agent.status == AgentStatus.PAUSED
    what = "what its agent should know or do now; enter queues a run"
    what += f" and lets {one_line(agent.slug)}, who is paused, work again" if agent is not None and paused else ""
    leading.ask(
        host, f"go on with {run.name_tag}:", what,
        lambda text: leading.send(
            host, f"the session of {run.name_tag} goes on in a new run{where}", "ResumeSession",
            run=run.id, remark=text.replace(RETURN, "\n"), resume_agent=paused,
        ),
    )  # fmt: skip


def why_not_go_on(run: Run, agent: AgentRecord | None) -> str:
    """Why its session cannot be gone on with, in a sentence; empty where the board may be asked for it."""
    if run.status in RUN_LIVE:
        return f"{run.name_tag} is at work: s says something to it."
    if run.kind != RunKind.EXECUTE or run.task_id is None:
        return f"{run.name_tag} did not work on a task ({in_words(run.kind)}): no other session is gone on with."
    if agent is not None and (why := cannot_continue(agent.runner)):
        return f"There is no session to go on with: {one_line(agent.slug)} {why}."
    return "" if run.session else f"{run.name_tag} left no session to go on with."


def _whole(tail: Tail) -> str:
    lines: list[str] = []
    try:
        while found := tail.read():
            lines += [as_text(entry) for entry in found]
    finally:
        tail.close()
    return "\n".join(lines)
