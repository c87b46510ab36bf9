"""One small company through all its phases; whoever looks is shown each kind of run at the moment when it begins."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from core.domain.actors import Agent
from core.domain.entities import AgentRecord, Experience, Mention, Run, Task
from core.domain.limits import OBJECTION_WINDOW_MS
from core.domain.staff_files import FILES
from core.domain.states import TASK_FINAL, Role, RunKind
from tests.unit.world import FIVE, World, a_company

STAFF = {
    "wen": Role.CEO, "cora": Role.COORDINATOR, "pia": Role.PLANNER, "rita": Role.REVIEWER, "chad": Role.CHALLENGER,
    "ada": Role.EXECUTOR, "bob": Role.EXECUTOR,
}  # fmt: skip
CAN = {"ada": ("data", "python"), "bob": ("web", "writing"), "rita": ("review",), "chad": ("risk",)}
MISSION = "Everybody who puts to sea from our harbours can trust our tide tables."
MUST_HAVES = (
    {"text": "High and low water of 2027 for each of the three harbours", "verify": "730 rows a harbour, in UTC"},
    {"text": "The source of every figure", "verify": "Each row names its gauge and its model"},
    {"text": "A page that shows today's tide", "verify": "It opens without a network"},
)
TASKS: tuple[dict[str, Any], ...] = (
    {
        "title": "Gauge readings", "intent": "The tables need clean readings of the last 19 years.",
        "end_state": "readings.csv has one row an hour, and gaps are listed", "must_haves": ("M2",),
        "capabilities": ("data",),
    },
    {
        "title": "Tide tables", "intent": "Skippers plan by these figures.", "must_haves": ("M1", "M2"),
        "end_state": "Three tables agree with the readings of 2025 within 10 cm",
        "constraints": ("No paid service", "Times in UTC"), "capabilities": ("python",),
    },
    {
        "title": "The page", "intent": "One look at the quay is enough.", "must_haves": ("M3",),
        "end_state": "page.html shows today's tide and opens offline", "capabilities": ("web",),
    },
    {
        "title": "Position limit of the pilot boats", "intent": "No boat is sent out below its depth.",
        "end_state": "A limit for each boat, with the tide that it needs", "must_haves": ("M1",), "risk": "high",
        "capabilities": ("python",),
    },
    {"title": "The method", "end_state": "Two pages that a skipper understands", "must_haves": ("M2",),
     "capabilities": ("writing",)},
)  # fmt: skip
HANDOFF = (
    "Decided: harmonic analysis with 37 constituents, since the harbour model needs a licence. Problem: gauge 2 was"
    " moved in 2019; I cut its series there. Advice: check the zero of gauge 3 before you trust it.\n"
    "💡 经验: Look for a moved gauge before you fit tide tables."
)
Look = Callable[[str, World, Agent], Awaitable[None]]


async def play(folder: Path, locale: str, look: Look) -> None:
    """Take the company from its first draft to its report; `look` gets a name, the world, and the run that begins."""
    async with a_company(folder, mission=MISSION, staff={"wen": Role.CEO}) as world:
        stage = _Stage(world, look)
        await stage.found(locale)
        await stage.draft()
        await stage.discussion()
        await stage.offers()
        await stage.work()
        await stage.reviews()
        await stage.talk()
        await stage.trouble()
        await stage.ending()


class _Stage:
    def __init__(self, world: World, look: Look) -> None:
        self.world = world
        self.look = look
        self.goal = 0
        self.tasks: list[int] = []

    async def begun(self, name: str, slug: str, kind: RunKind, **about: Any) -> Agent:
        """A run that has just begun, after it was looked at."""
        self.world.clock.advance(60_000)
        actor = await self.world.run(slug, kind, **about)
        await self.look(name, self.world, actor)
        return actor

    async def shown(self, name: str, slug: str, kind: RunKind, **about: Any) -> None:
        """The same, of a run that then ends without having done anything."""
        await self.world.finish(await self.begun(name, slug, kind, **about), exit_kind="no_reply")

    async def found(self, locale: str) -> None:
        world = self.world
        await world.operator("EditCompany", name="North Wharf", locale=locale)
        for slug, role in STAFF.items():
            if role != Role.CEO:
                await world.hire(slug, role, can=CAN.get(slug, ()), manager="wen")
        knowledge = {"path": "knowledge/gauges.md", "heading": "Zero of a gauge", "body": "Gauge 2: 14 cm since 2019."}
        await world.system("IndexKnowledge", sections=(knowledge,))
        own = world.folder / "agents" / "ada"
        own.mkdir(parents=True)
        for name, text in zip(FILES, ("Figures before words.", "An engineer.", "Gauge 2 was moved."), strict=True):
            (own / name).write_text(text, encoding="utf-8")
        await self.shown("ceo.propose", "wen", RunKind.PROPOSE, brief={"called": False})

    async def draft(self) -> None:
        world = self.world
        answer = await world.operator(
            "CreateGoal", title="Tide tables for three harbours", must_haves=MUST_HAVES, explore=True, split=True,
            description="The printed tables are two years old. Skippers guess, and twice a boat went aground.",
            constraints=("Nothing is published before the operator has seen it",),
        )  # fmt: skip
        self.goal = answer["id"]
        await self.shown("planner.split", "pia", RunKind.SPLIT, goal_id=self.goal)
        await self.shown("coordinator.explore", "cora", RunKind.EXPLORE, goal_id=self.goal)
        await world.operator("ReadyGoal", goal=self.goal)

    async def discussion(self) -> None:
        world = self.world
        await world.operator("DispatchGoal", goal=self.goal)
        seats = [(await world.agent(slug)).id for slug in ("ada", "bob")]
        await world.system("OpenTurn", goal=self.goal, agents=seats)
        ada = await self.begun("executor.discuss", "ada", RunKind.DISCUSS, goal_id=self.goal)
        readings = await world.do(ada, "CreateTask", goal=self.goal, **TASKS[0])
        needs = ({"task": readings["id"]},)
        await world.do(ada, "CreateTask", goal=self.goal, depends_on=needs, **TASKS[1])
        await world.do(ada, "AddComment", goal=self.goal, kind="question", body="Does a table for 2027 need leap rows?")
        await world.finish(ada)
        await world.operator("EndDiscussion", goal=self.goal, note="Three harbours, no leap rows.")
        cora = await self.begun("coordinator.plan", "cora", RunKind.PLAN, goal_id=self.goal)
        for task in TASKS[2:]:
            await world.do(cora, "CreateTask", goal=self.goal, **task)
        await world.do(cora, "ActivateGoal", goal=self.goal)
        await world.finish(cora)
        rows = await world.read(lambda tx: tx.all("SELECT id FROM tasks WHERE status = 'pending' ORDER BY id"))
        self.tasks = [row["id"] for row in rows]

    async def offers(self) -> None:
        world, readings = self.world, self.tasks[0]
        bob = await self.begun("executor.broadcast", "bob", RunKind.BROADCAST, offers=self.tasks)
        body = "The harbour office moved gauge 2 in 2019; its zero changed by 14 cm."
        await world.do(bob, "AddComment", task=readings, kind="observation", body=body)
        await world.do(bob, "AnswerOffer", task=readings, answer="observation")
        await world.finish(bob)
        await self.shown("executor.one_offer", "ada", RunKind.BROADCAST, offers=self.tasks[:1])
        ada = await world.run("ada", RunKind.BROADCAST, offers=self.tasks)
        await world.do(ada, "ClaimTask", task=readings)
        await world.finish(ada)
        await self.delivered(await world.run("ada", RunKind.EXECUTE, task_id=readings), readings, "hour,gauge,cm\n")
        await world.reviewed(readings)
        (learnt,) = await world.all(Experience)
        await world.operator("KeepExperience", experience=learnt.id)

    async def delivered(self, actor: Agent, task: int, content: str, title: str = "Figures") -> None:
        """The task is begun if it is not, delivered with its handoff, and handed in."""
        world = self.world
        if (await world.task(task)).status == "claimed":
            await world.do(actor, "StartTask", task=task)
        named = (await world.task(task)).must_haves
        summary = "By harmonic analysis, 37 constituents."
        await world.do(
            actor, "AddOutput", task=task, type="data", title=title, summary=summary, content=content, must_haves=named
        )
        await world.do(actor, "AddComment", task=task, kind="handoff", body=HANDOFF)
        await world.do(actor, "SubmitTask", task=task)
        await world.finish(actor)

    async def work(self) -> None:
        world, tables = self.world, self.tasks[1]
        claim = await world.run("ada", RunKind.BROADCAST, offers=[tables])
        await world.do(claim, "ClaimTask", task=tables)
        await world.finish(claim)
        ada = await self.begun("executor.execute", "ada", RunKind.EXECUTE, task_id=tables)
        await world.do(ada, "StartTask", task=tables)
        await world.do(ada, "PostPlan", task=tables, body="I fit 37 constituents on 2006–2024 and test them on 2025.")
        await world.finish(ada)
        world.clock.advance(OBJECTION_WINDOW_MS)
        await world.system("ClosePlan", task=tables)
        ada = await self.begun("executor.planned", "ada", RunKind.EXECUTE, task_id=tables)
        await self.delivered(ada, tables, "date,low,high\n2027-01-01,0.4,3.1\n", "Tables")

    async def reviews(self) -> None:
        world, tables = self.world, self.tasks[1]
        finding = {
            "what": "The test year lies in the data that was fitted", "where": "Tables, 2025",
            "because": "it proves nothing", "change": "fit on the years before 2025", "criterion": "end_state",
        }  # fmt: skip
        rita = await self.begun("reviewer.review", "rita", RunKind.REVIEW, task_id=tables)
        await world.verdict(rita, tables, "needs_revision", findings=(finding,), summary="The proof is missing.")
        await world.finish(rita)
        ada = await self.begun("executor.revise", "ada", RunKind.EXECUTE, task_id=tables)
        facts = "The plan and the file both say 2006–2024; 2025 was never fitted."
        await world.do(ada, "RebutReview", task=tables, answer="REJECT", facts=facts)
        await world.finish(ada)
        rita = await self.begun("reviewer.reply", "rita", RunKind.REVIEW, task_id=tables)
        again = {**finding, "earlier": 1}
        await world.verdict(rita, tables, "needs_revision", findings=(again,), summary="The file does not show it.")
        await world.finish(rita)
        cora = await self.begun("coordinator.rule", "cora", RunKind.RULE, task_id=tables)
        await world.do(
            cora, "RuleTask", task=tables, verdict="approved", because="Line 4 of the table names the years."
        )
        await world.finish(cora)
        limits = self.tasks[3]
        await world.brought_to(limits, "claimed", by="bob")
        held = (await world.task(limits)).current_run
        assert held is not None
        bob = await self.as_actor(held)
        await self.delivered(bob, limits, "boat,limit\nTern,2.1\n", "Limits")
        chad = await self.begun("challenger.review", "chad", RunKind.REVIEW, task_id=limits)
        await world.verdict(chad, limits, dimensions=FIVE)
        await world.finish(chad)
        await self.shown("reviewer.second", "rita", RunKind.REVIEW, task_id=limits)

    async def as_actor(self, run_id: int) -> Agent:
        run = await self.world.find(Run, run_id)
        agent = await self.world.find(AgentRecord, run.agent_id)
        return Agent(agent.id, agent.slug, run.id, run.fence)

    async def talk(self) -> None:
        world, page = self.world, self.tasks[2]
        bob = await world.run("bob", goal_id=self.goal)
        await world.do(bob, "AddComment", task=page, kind="question", body="@ada In which file do I find today's row?")
        await world.finish(bob)
        await self.called("executor.mention", "ada")
        cora = await world.run("cora", goal_id=self.goal)
        body = "@bob The quay has no network: the page cannot load a font."
        await world.do(cora, "AddComment", task=page, kind="mail_inform", body=body)
        await world.finish(cora)
        await self.called("executor.inform", "bob")
        body = "@cora How far are we with the third harbour, and who decides about gauge 3?"
        await world.operator("AddComment", goal=self.goal, kind="mail_request", body=body)
        await self.called("coordinator.request", "cora")
        await world.operator("AddComment", goal=self.goal, kind="question", body="@wen Do we need a second editor?")
        await self.called("ceo.mention", "wen")

    async def called(self, name: str, slug: str) -> None:
        """The run that the newest mention of this agent wakes."""
        agent = await self.world.agent(slug)
        word = (await self.world.all(Mention, "agent_id = :agent ORDER BY id DESC LIMIT 1", agent=agent.id))[0]
        about = {"task_id": word.task_id} if word.task_id else {"goal_id": word.goal_id}
        await self.shown(name, slug, RunKind.MENTION, mention_id=word.id, **about)

    async def trouble(self) -> None:
        world, page = self.world, self.tasks[2]
        stuck = await world.brought_to(page, "blocked", by="ada")
        assert stuck is not None
        await world.finish(stuck)
        agenda = [
            {"kind": "blocked_task", "entity": f"task:{page}", "title": "The page", "why": "which folder?", "key": "k"}
        ]
        await self.shown("ceo.heartbeat", "wen", RunKind.HEARTBEAT, brief={"agenda": agenda, "called": False})
        round_ = await world.round_of(self.goal)
        world.clock.advance(660_000)
        await world.system("StallRound", round=round_.id, why="nothing has been runnable or running for 11 minutes")
        await self.shown("coordinator.stall", "cora", RunKind.STALL, goal_id=self.goal, round_id=round_.id)

    async def ending(self) -> None:
        world = self.world
        await world.reviewed(self.tasks[3])
        for task in await world.all(Task, "goal_id = :goal", goal=self.goal):
            if task.status not in TASK_FINAL:
                await world.operator("CancelTask", task=task.id, reason="not needed")
        round_ = await world.round_of(self.goal)
        cora = await self.begun(
            "coordinator.round_review", "cora", RunKind.ROUND_REVIEW, goal_id=self.goal, round_id=round_.id
        )
        await world.do(
            cora, "ReviewRound", round=round_.id, goal_clear="Yes.", covered="M1 and M2 are there, M3 is not.",
            next_step="The operator decides about the page.", decision="report",
        )  # fmt: skip
        await world.finish(cora)
        await self.shown("coordinator.report", "cora", RunKind.REPORT, goal_id=self.goal)
