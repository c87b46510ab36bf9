"""What a scripted CEO proposes, and how a scripted coordinator explores, plans, rules, reviews rounds and reports."""

from typing import Any

from core.domain.coverage import cover
from core.domain.entities import Comment, Decision, Goal, Output, Task
from core.domain.states import GoalStatus, Risk, TaskStatus
from core.simulation.acting import Play


class Coordinating(Play):
    """The runs of the CEO and of the coordinator."""

    async def propose(self) -> None:
        """A draft, as the only thing that an idle company makes."""
        await self.sure("CreateGoal", title="Audit the folder again", must_haves=("count",), split=False)

    async def look_after(self) -> None:
        """Give each thing on the agenda a next step."""
        for item in self.run.brief.get("agenda", []):
            subject, _, number = item["entity"].partition(":")
            about = {subject: int(number)}
            if item["kind"] == "blocked" and self.source.random() < 0.5:
                await self.try_("UnblockTask", **about)
            elif item["kind"] == "draft":
                await self.try_("EnqueueTask", **about)
            elif item["kind"] == "priorities":
                tasks = await self.find(Task, "id = :id", id=int(number))
                first = int(item["key"].partition("@")[2].partition(":")[0])
                await self.try_("EditTask", task=first, priority=min(task.priority for task in tasks))
            elif subject in ("task", "goal"):
                await self.try_("AddComment", body="I saw this and leave it to the coordinator.", **about)

    async def split(self) -> None:
        """Draft tasks for an operator's own draft, and nothing else of it."""
        goal = await self.goal_now()
        for task in self.new_tasks(goal):
            await self.try_("CreateTask", goal=goal.id, draft=True, **task)

    async def explore(self) -> None:
        """Ask first; then write down what the operator said, and ask whether that is all."""
        goal = await self.goal_now()
        asked = await self.find(
            Comment, "goal_id = :g AND kind = 'dialogue' AND author = :me", g=goal.id, me=self.agent.slug
        )
        if not asked:
            await self.sure(
                "AddComment", goal=goal.id, kind="dialogue", body="Which files count, and how do you see it?"
            )
            return
        musts = [{**must, "verify": must.get("verify") or "Count again and compare."} for must in goal.must_haves]
        drafts: list[dict[str, Any]] = [{key: must[key] for key in ("id", "text", "verify")} for must in musts]
        if len(drafts) < 2:
            drafts.append({"text": "A list of the largest files", "verify": "Measure the first three of it."})
        await self.call("EditGoal", goal=goal.id, must_haves=drafts, out_of_scope=("Mending what is found",))
        await self.try_("AddComment", goal=goal.id, kind="dialogue", body="That is what I understood. Is it all?")

    async def plan(self) -> None:
        """Make the tasks that are missing, and begin."""
        goal = await self.goal_now()
        if goal.status == GoalStatus.ACTIVE:
            await self.sure("OpenRound", goal=goal.id, tasks=self.new_tasks(goal))
            return
        planned = await self.find(Task, "goal_id = :g AND status = 'draft'", g=goal.id)
        named = {must_id for task in planned for must_id in task.must_haves}
        lacking = [must["id"] for must in goal.must_haves if must["id"] not in named and not must["waived_by"]]
        made: list[int] = []
        if lacking or len(planned) < 2:
            for task in self.new_tasks(goal, lacking):
                depends = []
                if made and self.source.random() < 0.5:
                    on_fail = self.source.choice(["cancel", "proceed", "hold"])
                    depends = [{"task": self.source.choice(made), "on_fail": on_fail}]
                made.append((await self.call("CreateTask", goal=goal.id, depends_on=depends, **task))["id"])
        await self.sure("ActivateGoal", goal=goal.id)

    async def rule(self) -> None:
        """Look for oneself, and decide which side is right."""
        task = await self.task_now()
        is_right = await self.is_right(task)
        refusal = self.source.choice(["rejected", "needs_revision"])
        verdict = "approved" if is_right and not self.happens("refuse") else refusal
        await self.sure("RuleTask", task=task.id, verdict=verdict, because="I counted the files myself.")

    async def is_right(self, task: Task) -> bool:
        """Whether the last thing that was delivered is what is there to be seen."""
        outputs = await self.find(Output, "task_id = :t ORDER BY id", t=task.id)
        return bool(outputs) and outputs[-1].content == "43 files"

    async def missing(self, goal: Goal) -> list[str]:
        """Must-haves that nothing delivers yet, and decisions that nothing carries out."""
        coverage = cover(
            goal,
            await self.find(Task, "goal_id = :g", g=goal.id),
            await self.find(Output, "goal_id = :g", g=goal.id),
            await self.find(Decision, "goal_id = :g", g=goal.id),
        )
        return [open_.id for open_ in (*coverage.open_must_haves, *coverage.open_decisions)]

    async def review_round(self) -> None:
        """Three answers, and what follows from them."""
        round_, goal = self.assignment.round, await self.goal_now()
        assert round_ is not None
        missing = await self.missing(goal)
        answers = {"round": round_.id, "goal_clear": "yes", "covered": "see below", "next_step": "go on"}
        draw = self.source.random()
        if self.happens("lie"):
            await self.try_("ReviewRound", decision="next_round", **answers)
            await self.try_("ReviewRound", decision="report", tasks=self.new_tasks(goal), **answers)
        if self.happens("adjust"):
            musts = [{"id": must["id"], "text": must["text"]} for must in goal.must_haves]
            change = {"must_haves": [*musts, {"text": f"what round {round_.number} left open"}], "why": "it grew"}
            if await self.try_("ReviewRound", decision="adjust_goal", goal_change=change, **answers) is not None:
                return
        if (missing or draw < 0.2) and round_.number < goal.round_cap:
            await self.sure("ReviewRound", decision="next_round", tasks=self.new_tasks(goal), **answers)
        elif missing and draw < 0.5:
            await self.sure("ReviewRound", decision="stop", **answers)
        else:
            await self.sure("ReviewRound", decision="report", **answers)

    async def report(self) -> None:
        """Report; what is not there yet becomes another round."""
        goal = await self.goal_now()
        findings = {"findings": ("There are 43 files.",), "not_done": ("Nobody looked into archives.",)}
        if await self.try_("ReportGoal", goal=goal.id, summary="All counted.", **findings) is None:
            await self.try_("OpenRound", goal=goal.id, tasks=self.new_tasks(goal))

    async def unstick(self) -> None:
        """Unblock, split or cancel what does not go on; widen what fits nobody."""
        where, number = "round_id = :n", self.run.round_id
        if self.run.task_id is not None:
            where, number = "id = :n", self.run.task_id
        for task in await self.find(Task, f"{where} AND status IN ('blocked', 'pending')", n=number):
            draw = self.source.random()
            if task.status == TaskStatus.PENDING and task.capabilities and draw < 0.3:
                await self.try_("EditTask", task=task.id, capabilities=())
            elif task.status == TaskStatus.BLOCKED and draw < 0.6:
                await self.try_("UnblockTask", task=task.id)
            elif draw < 0.8 and task.risk != Risk.HIGH:
                whole = {"end_state": "Half of the figure.", "must_haves": task.must_haves}
                parts = [{"title": f"{name} half of {task.name_tag}", **whole} for name in ("First", "Second")]
                await self.try_("SplitTask", task=task.id, parts=parts, reason="it is too large")
            else:
                await self.try_("CancelTask", task=task.id, reason="it cannot go on")
