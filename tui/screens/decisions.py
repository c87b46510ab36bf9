"""From a key to a command: a reason where one is needed, a question where nothing can be undone, and five seconds
in which a decision can be taken back. Nothing is sent from here that the operator did not ask for twice or let pass.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ScreenStackError
from textual.worker import Worker

from core.commands.company import StartCompany, StopCompany
from core.commands.registry import Command, build, parse
from core.domain.actors import HUMAN
from core.domain.entities import AgentRecord, Approval, Goal, Round, Task
from core.domain.errors import Conflict, OpsroomError
from core.domain.inbox import Choice, overtaken
from core.domain.inbox_marks import still_same
from core.domain.lifecycles import GOAL, TASK, Who
from core.domain.permission_items import must_be_read
from core.domain.permissions import Permit
from core.domain.states import TASK_FINAL, ApprovalKind, GoalStatus, TaskStatus
from tui.actions import Situation, fallback, not_offered
from tui.holding import Held, Holding
from tui.letters import Past
from tui.panes.differences import Differences, of_payload
from tui.panes.questions import TWO_SIDED, about_what
from tui.screens.batching import few, skipped, tag_of
from tui.screens.confirm import DEAF_S, Confirm
from tui.text import capital, counted, one_line

if TYPE_CHECKING:
    from tui.screens.control import ControlScreen
    from tui.screens.leading import Host

_ENDS = {"CancelGoal": (GOAL, GoalStatus.CANCELLED), "CancelTask": (TASK, TaskStatus.CANCELLED)}
_ASKED_FIRST = frozenset(
    {
        ApprovalKind.RED_LINE, ApprovalKind.GOAL_FAILURE, ApprovalKind.GOAL_CHANGE, ApprovalKind.CHALLENGE,
        ApprovalKind.ORG_CHANGE, ApprovalKind.AUTONOMY,
    }
)  # fmt: skip
_TOLD_AS_TEXT = frozenset({ApprovalKind.CHALLENGE, ApprovalKind.QUESTION, ApprovalKind.AUTONOMY})
MOST_LINES = 200
REASONS, REASONS_LONG = 50, 20_000  # reasons that are remembered, and their characters together
_ENDS_WORK = frozenset({*_ENDS, "EndRound", "StopCompany"})


class Decisions:
    """What the operator has decided in this room and what became of it."""

    def __init__(self, room: "ControlScreen", monotonic: Callable[[], float]) -> None:
        self._room = room
        self.monotonic = monotonic
        self._deaf_until = 0.0
        self._sending: set[Worker[None]] = set()
        self.holding = Holding(monotonic)
        self._reasons: Past | None = None

    # ------------------------------------------------------------- keys

    def deafen(self) -> None:
        """Something else came under the cursor by itself: no key that was meant for what was there counts."""
        self._deaf_until = self.monotonic() + DEAF_S

    def decide(self, key: str) -> None:
        """Do what this key means on what is marked, or on what is selected."""
        if self.monotonic() < self._deaf_until:
            self._room.say("This came under the cursor just now. Look at it, then press again.", "warn")
            return
        if self._room.waiting.batching.decide(key):
            return
        situation = self._room.situation
        choice = situation.choices.get(key)
        if choice is None and not situation.choices:
            self._room.say(self._nothing_waits(situation), "warn")
            return
        if choice is None:
            choice = fallback(situation, key)
            if choice is None:
                self._room.say(f"{not_offered(situation, key)}.", "warn")
                return
            if choice.note_field and (problem := _illegal(situation, choice)) is not None:
                self._room.refuse(problem)
                return
        if choice.note_field:
            self.ask_reason(f"{choice.verb} {situation.tag}:", lambda note: self._noted(situation, choice, note))
        else:
            self._checked(situation, choice, {}, "")

    def _nothing_waits(self, situation: Situation) -> str:
        """In words where the decision is that the key may have been meant for, or who took it meanwhile."""
        if situation.item is not None and (became := self._room.waiting.became(situation.item)):
            return f"{situation.tag}: {became}; nothing is left to decide."
        items = self._room.view.inbox()
        here = f"{situation.tag} waits for nothing." if situation.ref else "Nothing is selected."
        inbox = self._room.view.keymap.shown("inbox")
        return f"{here} The inbox has {len(items)}: {inbox} goes there." if items else f"{here} Nothing waits for you."

    def undo(self) -> None:
        """Take the youngest held decision back."""
        held = self.holding.take_back()
        if held is None:
            self._room.say("Nothing is held that could be taken back.", "dim")
        else:
            self._room.say(f"{held.all_words}: taken back, nothing was sent.", "good")
        self._room.decisions_changed()

    def start(self) -> None:
        """Start the company: this cannot wait and loses nothing."""
        self.send("start the company", build(StartCompany))

    def stop(self) -> None:
        """Stop everything, after a question."""
        live = self._room.view.live_runs
        lines = [
            f"Ended at once: {counted(len(live), 'run')}. Their tasks go back and lose no attempt.",
            f"No new run begins until you start the company again ({self._room.view.keymap.shown('start')}).",
            "The board keeps everything that was delivered.",
        ]
        self.confirm("Stop everything?", lines, "Stop all", lambda: self.send("stop", build(StopCompany)))

    # ------------------------------------------------------------- from a choice to a command

    def ask_reason(self, question: str, then: Callable[[str], None]) -> None:
        """Ask for a reason; those of before are there by key, also after a restart."""
        memory = self._room.app.personal.memory
        if self._reasons is None:
            self._reasons = Past()
            for reason in reversed(memory.now.reasons):
                self._reasons.keep(reason)

        def written(reason: str) -> None:
            kept = list(dict.fromkeys([reason, *memory.now.reasons]))[:REASONS]
            while len(kept) > 1 and sum(map(len, kept)) > REASONS_LONG:
                kept.pop()
            memory.keep(reasons=kept)
            then(reason)

        self._room.composer.ask(question, written, past=self._reasons)
        self._room.show_keys()

    def _noted(self, situation: Situation, choice: Choice, note: str) -> None:
        self._checked(situation, choice, {choice.note_field: note}, note)

    def _checked(self, situation: Situation, choice: Choice, more: dict[str, object], note: str) -> None:
        words = f"{choice.verb} {situation.tag}" if situation.ref else choice.verb
        try:
            command = parse(choice.command, {**choice.arguments, **more})
        except OpsroomError as problem:
            self._room.refuse(problem)
            return
        subject = _subject(situation, choice)

        def go() -> None:
            self._hold_or_send(situation, choice, subject, words, command)

        approval = self._room.view.tables.get(Approval, _approval(choice))
        if _cannot_be_undone(approval, choice) or self._is_unseen(choice):
            differences = None
            if approval is not None and approval.kind in TWO_SIDED:
                differences = of_payload(approval.payload)
            self.confirm(f"{capital(choice.verb)} {situation.tag}?", self._what(situation, choice, note),
                          capital(choice.verb), go, differences)  # fmt: skip
        else:
            go()

    def _is_unseen(self, choice: Choice) -> bool:
        """Whether a program's act would be allowed where the screen has no room for it: then the question shows it."""
        allows = choice.command == "AnswerPermission" and choice.arguments["permit"] != Permit.REFUSED
        return allows and not self._room.detail.size.width

    def _hold_or_send(self, situation: Situation, choice: Choice, subject: str, words: str, command: Command) -> None:
        known = choice.key in situation.choices
        effect = self._effect(choice)
        if not choice.undoable or not known:
            # what the board will refuse is told at once, not after five seconds
            self.send(words, command, effect=effect)
            return
        before = self.holding.of(subject)
        if before is not None and before.command == command:
            self._room.say(
                f"{words} is on its way already; {self._room.view.keymap.shown('undo')} takes it back.", "warn"
            )
            return
        self.holding.hold(subject, words, command, effect)
        if before is not None:
            self._room.say(f"instead of: {before.words}", "warn")
        self._room.decisions_changed()

    def _what(self, situation: Situation, choice: Choice, note: str) -> list[str]:
        """What will happen, for the question."""
        title = getattr(situation.thing, "title", "") or getattr(situation.thing, "name", "")
        if isinstance(situation.thing, Round):
            title = f"Round {situation.thing.number} of G{situation.thing.goal_id}"
        view = self._room.view
        approval = view.tables.get(Approval, _approval(choice))
        is_about_question = approval is not None and situation.tag == approval.name_tag
        if approval is not None and is_about_question:
            title = approval.title
        lines = [f"{situation.tag}  {one_line(title)}", "", f"Then: {choice.effect}."]
        if approval is not None and (why := overtaken(approval, view.tables.all(AgentRecord))):
            lines[1:1] = ["", f"The board will refuse this: {one_line(why)}."]
        if isinstance(situation.thing, Goal) and choice.command == "CancelGoal":
            tasks = sum(task.status not in TASK_FINAL for task in view.tasks(situation.thing.id))
            runs = sum(run.goal_id == situation.thing.id for run in view.live_runs)
            lines.append(f"With it: {counted(tasks, 'open task')} and {counted(runs, 'run')} of it.")
        if isinstance(situation.thing, Round) and choice.command == "EndRound":
            round_ = situation.thing
            lines.append(f"With it: {counted(round_.open_tasks, 'open task')} of {round_.total_tasks}.")
        if approval is not None:
            lines += [] if is_about_question else [f"{approval.name_tag}  {one_line(approval.title)}"]
            lines += _about(approval)
        if note:
            lines += ["", f"Your reason: {one_line(note)}"]
        hashed = approval.payload_hash if approval else getattr(situation.thing, "content_hash", "")
        if hashed:
            lines += ["", f"content sha256 {hashed[:32]}…"]
        return lines

    def confirm(
        self, title: str, lines: list[str], yes: str, then: Callable[[], None], differences: Differences | None = None
    ) -> None:
        """Ask before something is done."""

        def answered(agreed: bool | None) -> None:
            if agreed:
                then()
            else:
                self._room.say("Nothing was done.", "dim")

        # What an earlier refusal says must not cover the buttons.
        self._room.app.clear_notifications()
        self._room.app.push_screen(Confirm(title, lines, yes, self.monotonic, differences), answered)

    # ------------------------------------------------------------- sending

    def _effect(self, choice: Choice) -> str:
        """What has happened when the board took a choice; by name for a hire."""
        approval = self._room.view.tables.get(Approval, _approval(choice))
        is_yes = choice.arguments.get("decision") == "approved"
        if approval is not None and approval.kind == ApprovalKind.HIRE_AGENT and is_yes:
            return f"{one_line(str(approval.payload.get('name', 'the agent')))} is hired"
        return choice.effect

    def send(self, words: str, command: Command, host: "Host | None" = None, effect: str = "") -> None:
        """Send a command from a worker: no key waits for the board. `host` is the screen that tells what came of it."""
        worker: Worker[None] = self._room.app.run_worker(
            partial(self._send, words, command, host, effect), name=words, group="commands", exit_on_error=False
        )
        self._sending = {each for each in self._sending if not each.is_finished} | {worker}

    async def _send(self, words: str, command: Command, host: "Host | None" = None, effect: str = "") -> None:
        teller = host or self._room
        self._room.waiting.decides(command)
        try:
            await self._room.company.execute(command)
        except OpsroomError as problem:
            teller.refuse(problem)
        else:
            teller.say(f"✓ {words}: {effect}" if effect else f"✓ {words}", "good")
        self._look_again()

    def _look_again(self) -> None:
        # when the app ends there may be no screen any more to show it on; what is held is sent all the same
        with suppress(ScreenStackError):
            self._room.flush()

    def approve_edited(self, number: int) -> None:
        """A question was edited by the operator: approve it as it is now, as if `a` was pressed on it."""
        item = next((each for each in self._room.view.inbox() if each.id == f"approval:{number}"), None)
        choice = next((each for each in item.choices if each.key == "a"), None) if item else None
        if item is not None and choice is not None:
            thing, choices = self._room.view.find(item.entity), {each.key: each for each in item.choices}
            room = self._room.situation
            self._checked(replace(room, ref=item.entity, thing=thing, item=item, choices=choices), choice, {}, "")

    def look_at_the_clock(self) -> None:
        """Send what was held long enough."""
        due = self.holding.due()
        for held in due:
            if held.together is None:
                self.send(held.words, held.command, effect=held.effect)
        for together in dict.fromkeys(held.together for held in due if held.together is not None):
            group = [held for held in due if held.together == together]
            work = partial(self._send_together, group)
            worker: Worker[None] = self._room.app.run_worker(
                work, name=together[1], group="commands", exit_on_error=False
            )
            self._sending = {each for each in self._sending if not each.is_finished} | {worker}
        self._room.decisions_changed()

    async def _send_together(self, group: list[Held]) -> None:
        """One after the other; what is no longer as it was shown is skipped, and all that came of it is said once."""
        done: list[str] = []
        left_out: list[tuple[str, str]] = []
        for held in group:
            assert held.part is not None
            self._look_again()  # the board as it is now, not as it was last drawn
            if skipped_now := still_same([held.part], self._room.view.inbox()).left_out:
                left_out += skipped_now
                continue
            self._room.waiting.decides(held.command)
            try:
                await self._room.company.execute(held.command)
            except OpsroomError as problem:
                left_out.append((held.part.item.id, problem.message))
            else:
                done.append(tag_of(held.part.item.id))
        self._look_again()
        parts = [f"✓ {few(done)}: decided"] if done else []
        parts += [skipped(left_out)] if left_out else []
        self._room.say("; ".join(parts), "warn" if left_out else "good")

    async def send_all(self) -> list[Held]:
        """At the end: what was decided is sent at once, not lost. Returns what was still held."""
        held = self.holding.drain()
        for each in held:
            if each.part is not None:
                await self._send_together([each])
            else:
                await self._send(each.words, each.command, effect=each.effect)
        for worker in list(self._sending):
            if not worker.is_finished:
                await worker.wait()
        return held


def _about(approval: Approval) -> list[str]:
    """What exactly is asked about, as its thread shows it; what has no room is counted."""
    payload = approval.payload
    if approval.kind in TWO_SIDED and of_payload(payload) is not None:
        return [f"  why: {one_line(str(payload.get('why', '')))}"]
    indent = "" if approval.kind in _TOLD_AS_TEXT else "  "
    lines = [indent + line for line in about_what(approval).split("\n")] if payload else []
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], f"  … and {more} more lines: read them in the discussion"] if more > 0 else lines


def _subject(situation: Situation, choice: Choice) -> str:
    item, approval = situation.item, _approval(choice)
    if item is not None and item.id.startswith("approval:") and choice in item.choices:
        return item.id  # also when a command of another kind is the answer, e.g. to raise a budget for good
    return f"approval:{approval}" if approval is not None else situation.ref


def _approval(choice: Choice) -> int | None:
    number = choice.arguments.get("approval")
    return number if isinstance(number, int) else None


def _cannot_be_undone(approval: Approval | None, choice: Choice) -> bool:
    if approval is not None and choice.command == "AnswerPermission":
        return choice.arguments["permit"] != Permit.REFUSED and must_be_read(approval)
    if approval is not None:
        if choice.arguments.get("decision") == "approved":
            return approval.kind in _ASKED_FIRST
        return choice.arguments.get("decision") == "rejected" and approval.payload.get("on_reject") == "cancel"
    return choice.command in _ENDS_WORK or choice.arguments.get("decision") == "stop"


def _illegal(situation: Situation, choice: Choice) -> Conflict | None:
    """The board's own words, before a reason is asked for in vain."""
    thing = situation.thing
    try:
        if choice.command in _ENDS and isinstance(thing, (Goal, Task)):
            cycle, target = _ENDS[choice.command]
            cycle.require(thing.name_tag, thing.status, target, choice.command, frozenset({Who.OPERATOR}))
        if choice.command == "SendBackGoal" and isinstance(thing, Goal):
            GOAL.require(thing.name_tag, thing.status, GoalStatus.ACTIVE, "SendBackGoal", frozenset({Who.OPERATOR}))
        if choice.command == "ReviseGoal" and isinstance(thing, Goal) and thing.created_by == HUMAN:
            return Conflict(f"{thing.name_tag} is your own draft.", "Edit it.")
    except Conflict as problem:
        return problem
    return None
