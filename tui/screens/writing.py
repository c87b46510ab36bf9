"""What the operator writes from the room: comments, new goals, talks, the end of a discussion. Beside `Decisions`.

Everything is sent by a worker; what was written is remembered for as long as the room is open.
"""

from functools import partial
from typing import TYPE_CHECKING

from core.commands.registry import parse
from core.company import OpenCompany
from core.domain.entities import Goal, Task
from core.domain.errors import OpsroomError
from core.domain.states import GoalStatus
from tui.actions import Situation
from tui.goal_text import Draft
from tui.letters import Past, read_letter, told
from tui.panes.aid import SPOKEN, CommentAid
from tui.panes.turns import can_end
from tui.projection import Projection
from tui.text import in_words
from tui.widgets.row import Tone

if TYPE_CHECKING:
    from tui.screens.control import ControlScreen
    from tui.screens.exploring import Exploring

COMMENT = "what you want to say; tab completes @name"


class Writing:
    """The acts by name, as the table of actions calls them."""

    def __init__(self, room: "ControlScreen") -> None:
        self._room = room
        self.past = Past()
        self.talk: Exploring | None = None
        self.edits: dict[int, tuple[str, Draft]] = {}
        """By goal: what was written in its editor and not saved, and the goal when that was begun."""

    @property
    def company(self) -> OpenCompany:
        """The company that is written to."""
        return self._room.company

    @property
    def view(self) -> Projection:
        """The room's memory."""
        return self._room.view

    def now(self) -> int:
        """The room's clock (ms)."""
        return self._room.now()

    # ------------------------------------------------------------- bringing up to date

    def bring_up_to_date(self) -> None:
        """Show what the board has just told."""
        self._room.flush()

    def touch(self, dirty: frozenset[str]) -> None:
        """Something happened: the talk that is open shows it; what is being written may wake others now."""
        if self.talk is not None:
            self.talk.touch(dirty)
        elif dirty:
            self._room.composer.foretell()

    def grow_older(self) -> None:
        """Once a second."""
        if self.talk is not None:
            self.talk.grow_older()

    # ------------------------------------------------------------- comments

    def comment(self) -> None:
        """Write below what is selected."""
        thing = self._room.situation.thing
        if not isinstance(thing, (Goal, Task)):
            self._room.say("Comments belong to goals and tasks: choose one on the board.", "warn")
            return
        goal = thing.id if isinstance(thing, Goal) else None
        aid = CommentAid(self.view, self.past, goal=goal, placeholder=COMMENT)
        self._room.ask(f"on {thing.name_tag}:", partial(self._send, thing), aid)
        self._room.show_keys()

    def _send(self, thing: Goal | Task, text: str) -> None:
        about = "goal" if isinstance(thing, Goal) else "task"
        self._run("comment", self._comment(about, thing, text))

    async def _comment(self, about: str, thing: Goal | Task, text: str) -> None:
        letter = read_letter(text)
        try:
            command = parse("AddComment", {about: thing.id, "kind": letter.kind, "body": letter.body})
            answer = await self.company.execute(command)
        except OpsroomError as problem:
            self._room.refuse(problem)
            self._room.message.say(f"{problem.message}  (c, then ↑ brings your text back)", "bad")
            return
        word = SPOKEN.get(letter.kind, in_words(letter.kind))
        tone: Tone = "warn" if answer.get("unknown") or answer.get("held") else "good"
        self._room.say(f"✓ {word} on {thing.name_tag}: {told(answer)}", tone)
        self._room.flush()

    # ------------------------------------------------------------- talks

    def new_goal(self) -> None:
        """Ask for a title, then explore."""
        self._room.ask("a new goal:", self._begin)
        self._room.composer.field.placeholder = "its title in a few words; enter begins the talk"

    def _begin(self, title: str) -> None:
        """The screen at once, so that the next key is its; the number when the goal is made."""
        screen = self._open(None, title)
        self._run("new goal", self._create(screen, title))

    async def _create(self, screen: "Exploring", title: str) -> None:
        try:
            answer = await self.company.execute(parse("CreateGoal", {"title": title, "explore": True}))
        except OpsroomError as problem:
            self.past.keep(title)
            self.left(screen, problem.message, "bad")
            self._room.refuse(problem)
            return
        self._room.flush()
        screen.take(int(answer["id"]))

    def explore(self) -> None:
        """Take the talk about a draft up, or open one."""
        thing = self._room.situation.thing
        if (choice := self._room.situation.choices.get("e")) is not None:
            self._room.leading.edit_question(choice)
            return
        if not isinstance(thing, Goal) or thing.status != GoalStatus.DRAFT:
            self._room.say("Only a draft is explored; n begins a new one.", "warn")
            return
        screen = self._open(thing.id, thing.title)
        if not thing.exploring:
            self._run("explore", self._reopen(screen, thing.id))

    async def _reopen(self, screen: "Exploring", goal_id: int) -> None:
        try:
            await self.company.execute(parse("ExploreGoal", {"goal": goal_id}))
        except OpsroomError as problem:
            self.left(screen, problem.message, "bad")
            self._room.refuse(problem)
            return
        self._room.flush()

    def opens(self, situation: Situation) -> bool:
        """Whether enter on what is selected opens a talk: on the inbox's item of one."""
        item = situation.item
        if item is None or item.kind != "exploring":
            return False
        self.explore()
        return True

    def _open(self, goal_id: int | None, title: str) -> "Exploring":
        from tui.screens.exploring import Exploring

        self.talk = Exploring(self, goal_id, title)
        self._room.app.push_screen(self.talk)
        return self.talk

    def left(self, screen: "Exploring", words: str, tone: Tone | None = "dim") -> None:
        """The talk screen closes; the room says why."""
        if self.talk is not screen:
            return
        self.talk = None
        if screen.goal_id is not None:
            self._room.board.list.move_to(f"goal:{screen.goal_id}")
        screen.dismiss()
        self._room.flush()
        self._room.say(words, tone)

    # ------------------------------------------------------------- discussions

    def discussed(self, thing: object) -> bool:
        """Whether this is a goal whose discussion goes on."""
        return isinstance(thing, Goal) and can_end(self.view, thing)

    def end_discussion(self) -> None:
        """End the discussion of a goal in planning, at once: nothing is lost by it."""
        thing = self._room.situation.thing
        if not isinstance(thing, Goal) or not self.discussed(thing):
            self._room.say(_no_discussion(thing), "warn")
            return
        self._run("end the discussion", self._end_discussion(thing.id))

    async def _end_discussion(self, goal_id: int) -> None:
        try:
            answer = await self.company.execute(parse("EndDiscussion", {"goal": goal_id}))
        except OpsroomError as problem:
            self._room.flush()
            goal = self.view.tables.get(Goal, goal_id)
            if goal is not None and not self.discussed(goal):
                self._room.say(_no_discussion(goal), "warn")
            else:
                self._room.refuse(problem)
            return
        self._room.flush()
        follows = "work has begun" if answer["status"] == GoalStatus.ACTIVE else "the coordinator rules"
        self._room.say(f"✓ The discussion of G{goal_id} is over: {follows}.", "good")

    # ------------------------------------------------------------- mail

    def mail(self) -> None:
        """All mail of the company over the room."""
        from tui.screens.mail import MailScreen

        self._room.app.push_screen(MailScreen(self.company, self.view))

    def _run(self, name: str, work: "object") -> None:
        self._room.app.run_worker(work, name=name, group="commands", exit_on_error=False)  # type: ignore[arg-type]


def _no_discussion(thing: object) -> str:
    """Why there is no discussion to end."""
    if isinstance(thing, Goal) and thing.status == GoalStatus.PLANNING:
        return "The discussion is over already: the coordinator rules."
    if isinstance(thing, Goal) and thing.status == GoalStatus.ACTIVE:
        return "The discussion is over already: work has begun."
    return "Only a goal that is being discussed has a discussion to end."
