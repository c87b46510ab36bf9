"""What a scripted executor does with offers and with a task."""

from typing import Any

from core.agents.runner import Outcome
from core.domain.entities import Approval, Decision, Offer, Output, Task
from core.domain.errors import Conflict
from core.domain.states import Risk, TaskStatus
from core.simulation.acting import HANDOFF, Play

DELETION = {"tool": "shell", "command": "rm -rf old"}


class Executing(Play):
    """The runs of executors: a broadcast, and work."""

    async def look_at_offers(self) -> Outcome | None:
        """Claim the first that fits; else observe, or stay silent."""
        await self.look_around()
        able = set(self.agent.capabilities)
        for offer in await self.find(Offer, "run_id = :run ORDER BY id", run=self.run.id):
            task = (await self.find(Task, "id = :id", id=offer.task_id))[0]
            if set(task.capabilities) <= able and not self.happens("decline"):
                try:
                    await self.sure("ClaimTask", task=task.id)
                except Conflict:
                    continue
                return None
            if self.source.random() < 0.2:
                await self.try_("AddComment", task=task.id, kind="observation", body="Mind the links.")
                await self.try_("AnswerOffer", task=task.id, answer="observation")
        return Outcome(exit_kind="no_reply")

    async def look_around(self) -> None:
        """Object to others' plans; contradict a rejection before somebody else takes the task."""
        for task in await self.find(
            Task, "plan_until IS NOT NULL AND assignee_id <> :me ORDER BY id", me=self.agent.id
        ):
            if self.happens("object"):
                await self.try_("AddComment", task=task.id, kind="objection", body="It counts links twice.")
        mine = "status = 'pending' AND last_assignee_id = :me AND review_attempts > 0 ORDER BY id"
        for task in await self.find(Task, mine, me=self.agent.id):
            if self.happens("rebut"):
                await self.rebut(task)

    async def rebut(self, task: Task) -> bool:
        """Contradict the last verdict on one's work. True if it is in review again."""
        answer = self.source.choice(["REJECT", "PARTIAL", "ACCEPT"])
        facts = "" if answer == "ACCEPT" else "find . -type f | wc -l prints the figure that I gave."
        told = await self.try_("RebutReview", task=task.id, answer=answer, facts=facts)
        return told is not None and told["status"] == "review"

    async def execute(self) -> Outcome | None:
        """Work on a task: in an open plan first, then as luck will have it."""
        task = await self.task_now()
        if self.happens("silent"):
            return Outcome(exit_kind="no_reply")
        if task.status == TaskStatus.CLAIMED:
            started = await self.sure("StartTask", task=task.id)
            if started.get("waits"):
                return None
        elif task.review_attempts and self.happens("rebut") and await self.rebut(task):
            return None
        await self.ask_a_colleague(task)
        if task.risk != Risk.LOW and self.happens("plan"):
            plan = await self.try_("PostPlan", task=task.id, body="List the files, count them, compare with git.")
            if plan is not None:
                return None
        return await self.carry_out(task, self.habits.draw(self.source))

    async def carry_out(self, task: Task, how: str) -> Outcome | None:
        """One of the ways that work can go."""
        match how:
            case "fail":
                await self.sure("FailTask", task=task.id, reason="there is no such folder")
            case "block":
                kind = self.source.choice(["needs_input", "capability", "transient", "dependency"])
                await self.sure("BlockTask", task=task.id, block_kind=kind, reason="I cannot go on")
            case "ask":
                await self.ask(task)
            case "hang":
                return await self.hang()
            case "crash":
                raise RuntimeError("the agent's program crashed")
            case "limited":
                return self.limited()
            case "silent":
                return Outcome(exit_kind="no_reply")
            case _:
                if how == "late":
                    await self.be_late()
                await self.deliver(task, "42 files" if how == "wrong" else "43 files")
        return None

    async def ask(self, task: Task) -> None:
        """Put a question to the operator, or come upon a red line."""
        kind = self.source.choice(["red_line", "question", "check"])
        if kind == "check":
            granted = "entity = :t AND kind = 'red_line' AND status = 'approved' ORDER BY id DESC LIMIT 1"
            yes = await self.find(Approval, granted, t=f"task:{task.id}")
            use = {"approval": yes[0].id} if yes else {}
            answer = await self.try_("CheckAct", task=task.id, act=DELETION, **use)
            if answer is not None and answer.get("waits"):
                return
            await self.deliver(task, "43 files")
            return
        await self.sure("AskOperator", task=task.id, kind=kind, title="May I?", payload={"path": "old"})

    async def ask_a_colleague(self, task: Task) -> None:
        """Ask somebody by name while one works."""
        if self.happens("mention"):
            name = self.source.choice(await self.colleagues())
            await self.try_("AddComment", task=task.id, kind="question", body=f"@{name} is that so?")

    async def deliver(self, task: Task, content: str) -> None:
        """An output that names what it delivers, a handoff, and the task is handed in; a liar tries without first."""
        output: dict[str, Any] = {"task": task.id, "type": "data", "title": "Figures"}
        if self.happens("lie"):
            await self.try_("SubmitTask", task=task.id)
            await self.try_("AddOutput", path="nowhere.csv", **output)
            await self.try_("AddOutput", content=content, must_haves=("M99",), **output)
            await self.try_("AddOutput", content=content, decisions=(987_654,), **output)
            await self.try_("AddComment", task=task.id, kind="handoff", body="Done.")
            await self.try_("SubmitTask", task=task.id)
        decided = await self.find(Decision, "goal_id = :g AND waived_by = '' ORDER BY id", g=task.goal_id)
        await self.call(
            "AddOutput", content=content, must_haves=task.must_haves, decisions=[each.id for each in decided], **output
        )  # fmt: skip
        await self.call("AddComment", task=task.id, kind="handoff", body=HANDOFF)
        await self.sure("SubmitTask", task=task.id)

    async def outputs_of(self, task: Task) -> list[Output]:
        """What was delivered for a task, oldest first."""
        return await self.find(Output, "task_id = :t ORDER BY id", t=task.id)
