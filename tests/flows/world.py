"""A company for the screen flows: a real folder, a real board, a clock that stands still, and acts by name.

Everything goes through the commands' door, as the operator, as the system, or as an agent through a run of its own.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from textual import events
from textual.pilot import Pilot
from textual.screen import Screen
from textual.worker import WorkerCancelled

from core.commands.registry import parse
from core.company import OpenCompany, create_company
from core.config import Config
from core.domain.actors import Actor, Agent, Operator, System
from core.domain.entities import AgentRecord, Approval, Goal, Task
from tests.flows.painting import paint
from tests.founding import copied
from tui.app import OpsroomApp

HOME, SMALL, TINY, WIDE = (120, 40), (80, 24), (40, 12), (200, 50)
NOON = 1_767_268_800_000  # 2026-01-01 12:00 UTC
HANDOFF = "Counted every file below the folder by its bytes; generated folders are left out. Nothing is unclear."
LOOKED_AT = {
    "requirement_coverage": "every must-have is delivered",
    "design_consistency": "as planned",
    "code_quality": "can be computed again",
    "direction": "towards the goal",
    "artefact_authenticity": "all figures equal",
}
CREW = (
    ("ceo", "Chief", "ceo", None),
    ("coordinator", "Coordinator", "coordinator", "ceo"),
    ("inventory", "Inventory clerk", "executor", "coordinator"),
    ("links", "Link checker", "executor", "coordinator"),
    ("reviewer", "Reviewer", "reviewer", "ceo"),
)


class Clock:
    """Wall and monotonic time that move only when told."""

    def __init__(self) -> None:
        self.ms = NOON

    def __call__(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000

    def forward(self, seconds: float) -> None:
        self.ms += int(seconds * 1000)


class Office:
    """An open company with its clock, for tests."""

    def __init__(self, company: OpenCompany, clock: Clock) -> None:
        self.company = company
        self.clock = clock
        self._runs = 0

    async def do(self, command: str, actor: Actor | None = None, **arguments: Any) -> dict[str, Any]:
        """Send a command by its name, as the operator if nobody else is named."""
        return await self.company.execute(parse(command, arguments), actor=actor or Operator())

    async def agent(self, slug: str, kind: str, *, key: str = "", **about: int) -> Agent:
        """An agent through a new run of its own; `key` is what its attempts are counted by."""
        found = await self.company.board.readers.entities(AgentRecord, "slug = :slug", slug=slug)
        self._runs += 1
        queued = await self.do(
            "QueueRun", System(), kind=kind, agent_id=found[0].id, key=key or f"test:{self._runs}", **about
        )
        started = await self.do("StartRun", System(), run=queued["id"], owner=self.company.token, runs_at_once=99)
        await self.do("ConfirmRun", System(), run=queued["id"])
        return Agent(found[0].id, slug, queued["id"], started["fence"])

    async def end(self, agent: Agent, **more: Any) -> None:
        """An agent's run ends well."""
        await self.do("FinishRun", System(), run=agent.run_id, status="succeeded", exit_kind="done", **more)

    async def goal(self, goal_id: int = 1) -> Goal:
        return (await self.company.board.readers.entities(Goal, "id = :id", id=goal_id))[0]

    async def task(self, task_id: int) -> Task:
        return (await self.company.board.readers.entities(Task, "id = :id", id=task_id))[0]

    async def approval(self, approval_id: int = 1) -> Approval:
        return (await self.company.board.readers.entities(Approval, "id = :id", id=approval_id))[0]

    async def events(self) -> int:
        return await self.company.board.readers.last_event()

    def app(self, **more: Any) -> OpsroomApp:
        return OpsroomApp(self.company, clock=self.clock, monotonic=self.clock.monotonic, start=False, **more)


@asynccontextmanager
async def an_office(folder: Path, clock: Clock | None = None, *, started: bool = True) -> AsyncIterator[Office]:
    """A founded company with a small crew."""
    clock = clock or Clock()
    await copied(folder, (started, clock.ms), lambda place: _found(place, clock, started))
    company = await OpenCompany.open(folder, clock=clock, role="owner")
    office = Office(company, clock)
    try:
        yield office
    finally:
        await company.close()


async def _found(folder: Path, clock: Clock, started: bool) -> None:
    await create_company(folder, Config(name="Lighthouse Audit", mission="Keep folders in good order."), clock=clock)
    company = await OpenCompany.open(folder, clock=clock, role="owner")
    try:
        office = Office(company, clock)
        for slug, name, role, manager in CREW:
            await office.do("HireAgent", slug=slug, name=name, role=role, manager=manager)
        if started:
            await office.do("StartCompany")
    finally:
        await company.close()


@asynccontextmanager
async def an_office_again(folder: Path) -> AsyncIterator[Office]:
    """The company of a room that was left."""
    company = await OpenCompany.open(folder, clock=Clock(), role="owner")
    try:
        yield Office(company, Clock())
    finally:
        await company.close()


async def a_draft(office: Office, title: str = "Audit the folder", **more: Any) -> int:
    """The CEO's draft of a goal; returns its id."""
    ceo = await office.agent("ceo", "propose")
    answer = await office.do(
        "CreateGoal", ceo, title=title, split=False,
        description="The operator asked what lies in the folder. Find out, and write it down so that a newcomer"
        " understands it.",
        must_haves=["Files, lines and bytes of each language", "Every dead relative link"],
        constraints=["Change nothing in the folder"],
        **more,
    )  # fmt: skip
    await office.do("AddComment", ceo, goal=answer["id"], kind="plan", body="Two agents count, one checks the links.")
    await office.end(ceo, tokens_in=1200, tokens_out=300, cost_micros=4_200)
    office.clock.forward(65)
    return int(answer["id"])


async def a_goal_at_work(office: Office) -> int:
    """A goal in its first round: one task done, one at work, one in review, one that waits, one pending."""
    goal = await a_draft(office)
    await office.do("ReviewGoal", goal=goal)
    await office.do("DispatchGoal", goal=goal)
    coordinator = await office.agent("coordinator", "plan", goal_id=goal)
    await office.do("CancelTask", task=1, reason="split into smaller ones")
    for title, must, needs in (
        ("Count files, lines and bytes of every language", ["M1"], ["inventory"]),
        ("Check the relative links of every Markdown file", ["M2"], ["links"]),
        ("Find files with equal bytes", ["M1"], []),
        ("Look at the largest file", ["M1"], []),
    ):
        after = [{"task": 2, "on_fail": "hold"}] if title.startswith("Look") else []
        await office.do(
            "CreateTask", coordinator, goal=goal, title=title, intent=f"{title}, for the report.",
            end_state="Every figure can be recomputed.", must_haves=must, capabilities=needs, depends_on=after,
        )  # fmt: skip
    await office.do("ActivateGoal", coordinator, goal=goal)
    await office.end(coordinator, tokens_in=8000, tokens_out=2100, cost_micros=31_000)
    office.clock.forward(30)
    return goal


async def at_work(office: Office, task: int, slug: str) -> Agent:
    """An agent that works on a task."""
    await office.do("AssignTask", task=task, agent=slug)
    agent = await office.agent(slug, "execute", task_id=task)
    await office.do("StartTask", agent, task=task)
    return agent


async def handed_in(office: Office, task: int, slug: str) -> Agent:
    """A task in review, with an output and a handoff."""
    agent = await at_work(office, task, slug)
    await office.do(
        "AddOutput", agent, task=task, type="data", title="Languages", summary="Nine languages.",
        content='{"Python": {"files": 212, "lines": 31044, "bytes": 1190322}}',
        must_haves=list((await office.task(task)).must_haves),
    )  # fmt: skip
    await office.do("AddComment", agent, task=task, kind="handoff", body=HANDOFF)
    await office.do("SubmitTask", agent, task=task)
    await office.end(agent, tokens_in=5200, tokens_out=900, cost_micros=12_000)
    return agent


async def approved(office: Office, task: int, output: int = 1) -> None:
    """The reviewer's yes."""
    reviewer = await office.agent("reviewer", "review", task_id=task)
    await office.do(
        "ReviewTask", reviewer, task=task, verdict="approved", summary="A sample of 20 files was counted again.",
        opened_outputs=[output], dimensions=LOOKED_AT,
    )  # fmt: skip
    await office.end(reviewer)


async def a_busy_board(office: Office) -> None:
    """Everything at once: what a picture should show."""
    await a_goal_at_work(office)
    await handed_in(office, 2, "inventory")
    await approved(office, 2)
    office.clock.forward(95)
    links = await at_work(office, 3, "links")
    await office.do("AddComment", links, task=3, kind="observation", body="12 of 40 Markdown files are looked at.")
    asking = await at_work(office, 4, "inventory")
    await office.do(
        "AskOperator", asking, task=4, kind="red_line", title="May I delete the 14 files that are equal to another?",
        payload={"act": "delete", "files": 14, "folder": "assets/old", "on_reject": "cancel"},
    )  # fmt: skip
    await office.end(asking)
    await office.do("CreateGoal", title="Write a contributor's guide", description="For newcomers.")
    office.clock.forward(25)


async def settle(pilot: Pilot[None]) -> None:
    """Until the workers have ended and the room shows what they brought."""
    app = pilot.app
    assert isinstance(app, OpsroomApp)
    for _ in range(8):
        # a reader that gives way to the next one is no failure
        with suppress(WorkerCancelled):
            await app.workers.wait_for_complete([w for w in app.workers if w.name != "leave"])
        app.room.flush()
        await pilot.pause()
        if not app.room.view.is_dirty and all(w.is_finished or w.name == "leave" for w in app.workers):
            break
    paint(app.screen)


async def ready(pilot: Pilot[None], office: Office) -> OpsroomApp:
    """Wait for the board, and let the keys hear again."""
    app = pilot.app
    assert isinstance(app, OpsroomApp)
    for _ in range(200):
        if app.room.view.loaded:
            break
        await asyncio.sleep(0.01)
    await settle(pilot)
    office.clock.forward(1)
    app.room.grow_older()
    return app


def shown(app: OpsroomApp) -> str:
    """The text on the screen."""
    height = app.size.height
    lines = app.screen._compositor.render_strips() if app.screen else []
    return "\n".join("".join(segment.text for segment in line) for line in lines[:height])


def head_of(app: OpsroomApp) -> str:
    """What the head of the detail says, on one line."""
    content = app.room.detail.head.content
    return " ".join(str(getattr(content, "plain", content)).split())


async def wait(pilot: Pilot[None], office: Office, seconds: float) -> None:
    """Let time pass: what was held long enough is sent."""
    app = pilot.app
    assert isinstance(app, OpsroomApp)
    office.clock.forward(seconds)
    app.room.decisions.look_at_the_clock()
    app.room.grow_older()
    await settle(pilot)


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys as a person does, one after the other, each seen to its end."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)
    if not keys:
        await settle(pilot)


async def agree(pilot: Pilot[None], office: Office) -> None:
    """Say yes to the question on the screen: enter reads on until its end was shown."""
    question = pilot.app.screen
    await press(pilot, "right")
    while pilot.app.screen is question:
        office.clock.forward(1)
        await press(pilot, "enter")


async def press_back_to_back(pilot: Pilot[None], *keys: str, at_once: bool = False) -> None:
    """Press keys without waiting for what they do; `at_once` as from a paste: all of them before the first is heard."""
    if not at_once:
        await pilot.press(*keys)
        return
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))


async def settle_screen(pilot: Pilot[None], screen: type[Screen[Any]]) -> None:
    """Until a screen of this kind is the top one."""
    for _ in range(400):
        if isinstance(pilot.app.screen, screen):
            break
        await pilot.pause(0.02)
    assert isinstance(pilot.app.screen, screen), pilot.app.screen
    await settle(pilot)


async def write(pilot: Pilot[None], text: str) -> None:
    """Type a text into the field that has the focus."""
    await pilot.press(*("space" if letter == " " else letter for letter in text))
    await pilot.pause()
