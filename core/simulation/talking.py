"""What scripted agents say to each other: in a discussion, and when somebody names them."""

from core.domain.entities import AgentRecord, Approval, Comment, Goal, Mention, Task, Turn
from core.domain.states import Role, TaskStatus
from core.simulation.acting import Play


class Talking(Play):
    """Turns of a discussion, and mentions."""

    async def discuss(self) -> None:
        """Make the tasks that are missing; say what one thinks, in the first turns more than later."""
        goal = await self.goal_now()
        turns = await self.find(Turn, "goal_id = :g ORDER BY number DESC LIMIT 1", g=goal.id)
        number = turns[0].number if turns else 1
        for must_id in await self.lacking(goal):
            # Somebody else may have made it meanwhile: each looks again when its turn comes.
            if must_id in await self.lacking(goal):
                for task in self.new_tasks(goal, [must_id], more=0):
                    await self.try_("CreateTask", goal=goal.id, **task)
        if not await self.find(Task, "goal_id = :g AND status = 'draft' AND end_state <> ''", g=goal.id):
            await self.try_("CreateTask", goal=goal.id, **self.new_tasks(goal, [], more=1)[0])
        if number == 1 and self.source.random() < 0.4:
            body = "Links count once: a figure that counts them twice is wrong."
            await self.try_("AddComment", goal=goal.id, kind="decision", body=body)
        if self.happens("object"):
            await self.try_("AddComment", goal=goal.id, kind="objection", body="It leaves the archives out.")
        if self.happens("mention") and self.source.random() < 1 / number:
            name = self.source.choice(await self.colleagues())
            await self.try_("AddComment", goal=goal.id, kind="question", body=f"@{name} do archives count?")
        if self.happens("lie"):
            await self.try_("ActivateGoal", goal=goal.id)
            await self.try_("CreateTask", goal=goal.id, title="Something", must_haves=("M99",))

    async def lacking(self, goal: Goal) -> list[str]:
        """Must-haves that no task is for yet."""
        tasks = await self.find(Task, "goal_id = :g AND end_state <> '' AND status <> 'cancelled'", g=goal.id)
        named = {must_id for task in tasks for must_id in task.must_haves}
        return [must["id"] for must in goal.must_haves if must["id"] not in named and not must["waived_by"]]

    async def reply(self) -> None:
        """Do what the mention asks for, and answer where one was named; who thanks or passes on names others again."""
        if self.agent.role == Role.COORDINATOR:
            await self.look_after_goal()
        about = {"task": self.run.task_id} if self.run.task_id else {"goal": self.run.goal_id}
        body = self.source.choice(["Yes.", "No, see the handoff.", "I do not know."])
        if self.happens("thank") and (author := await self.who_called()) is not None:
            body = f"Thanks, @{author}."
        elif self.happens("circle"):
            body = f"What do you say, @{await self.next_in_the_circle()}?"
        await self.try_("AddComment", kind="observation", body=body, **about)

    async def next_in_the_circle(self) -> str:
        """The executor after this one; the first for everybody else."""
        names = [agent.slug for agent in await self.find(AgentRecord, "role = 'executor' ORDER BY id")]
        return names[(names.index(self.agent.slug) + 1) % len(names)] if self.agent.slug in names else names[0]

    async def who_called(self) -> str | None:
        """Who named this agent; None if it was a person."""
        called = await self.find(Mention, "run_id = :run", run=self.run.id)
        said = await self.find(Comment, "id = :id", id=called[0].comment_id) if called else []
        colleagues = await self.colleagues()
        return next((comment.author for comment in said if comment.author in colleagues), None)

    async def look_after_goal(self) -> None:
        """Answer a challenge; mend a task that was sent back."""
        entity = f"goal:{self.run.goal_id}"
        pending = "kind = 'challenge' AND status = 'pending' AND entity = :e"
        for challenge in await self.find(Approval, pending, e=entity):
            answer = self.source.choice(["ACCEPT", "REJECT", "PARTIAL"])
            await self.try_("AnswerChallenge", approval=challenge.id, answer=answer, facts="See the last handoff.")
        for task in await self.find(Task, "id = :t", t=self.run.task_id):
            if task.status == TaskStatus.DRAFT:
                await self.try_("EditTask", task=task.id, end_state="A figure that can be counted again.")
                await self.try_("EnqueueTask", task=task.id)
