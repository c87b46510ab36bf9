"""What a scripted reviewer does with work that is handed in."""

from typing import Any

from core.domain.entities import Output, Review, Round, Task
from core.domain.reviewing import required_dimensions, standing
from core.simulation.acting import Play

FINDING = {
    "what": "42 is wrong", "where": "Figures", "change": "43", "because": "I counted the files again",
    "criterion": "end_state",
}  # fmt: skip


class Reviewing(Play):
    """The runs of reviewers and challengers."""

    async def review(self) -> None:
        """Open the outputs and judge what is there; a liar approves without looking first."""
        task = await self.task_now()
        outputs = await self.find(Output, "task_id = :t ORDER BY id", t=task.id)
        if self.happens("challenge"):
            await self.challenge(task)
        is_right = outputs[-1].content == "43 files" and not self.happens("refuse")
        verdict = "approved" if is_right else self.source.choice(["rejected", "needs_revision"])
        judged: dict[str, Any] = {
            "task": task.id, "summary": "recounted",
            "dimensions": {str(name): "looked at" for name in required_dimensions(task.risk)},
        }  # fmt: skip
        opened = [output.id for output in outputs]
        if self.happens("lie"):
            await self.try_("ReviewTask", verdict="approved", opened_outputs=(), **judged)
            await self.try_("ReviewTask", verdict="approved", opened_outputs=(*opened, 987_654), **judged)
            await self.try_("ReviewTask", verdict="rejected", opened_outputs=opened, **judged)
        findings = () if is_right else await self.findings(task)
        await self.sure("ReviewTask", verdict=verdict, findings=findings, opened_outputs=opened, **judged)

    async def findings(self, task: Task) -> list[dict[str, Any]]:
        """What is wrong; a later review names what still stands of the earlier ones."""
        reviews = await self.find(Review, "subject = 'task' AND subject_id = :t ORDER BY id", t=task.id)
        stands = standing(reviews) if task.criteria else []
        found: list[dict[str, Any]] = [{**FINDING, "earlier": stands[0].number} if stands else dict(FINDING)]
        if stands and self.source.random() < 0.3:
            found.append({**FINDING, "what": "the links are not named", "change": "name them"})
        return found

    async def challenge(self, task: Task) -> None:
        """Contradict what the coordinator decided about the last round."""
        last = await self.find(
            Round, "goal_id = :g AND status = 'closed' ORDER BY number DESC LIMIT 1", g=task.goal_id
        )  # fmt: skip
        if last:
            await self.try_("ChallengeRound", round=last[0].id, facts="The archives were not looked into.")
