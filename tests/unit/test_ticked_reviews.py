"""Reviews, rebuttals, rulings and plans as ticks bring them about, on a real board (S2-20, S3-13, C-07, F16)."""

from core.domain.entities import Task
from core.domain.limits import OBJECTION_WINDOW_MS
from core.domain.states import ReviewStep, RunKind, TaskStatus
from tests.unit.ticking import begun, look, queued, tick
from tests.unit.world import World


async def handed_in(world: World, risk: str) -> Task:
    task, ada = await world.a_task("review", tasks=({"title": "Count the files", "risk": risk},))
    assert ada is not None
    await world.finish(ada)
    return task


async def judged(world: World, slug: str, task_id: int, verdict: str) -> None:
    """The queued review run of this agent, and its verdict."""
    actor = await begun(world, RunKind.REVIEW, slug)
    await world.verdict(actor, task_id, verdict)
    await world.finish(actor)


async def worked(world: World, slug: str) -> tuple[str, int]:
    """Nothing but the queued execute run of this agent; answers the names of the tick's commands and the run."""
    acts = await tick(world)
    [run] = await queued(world, RunKind.EXECUTE, slug)
    return " ".join(acts), run.id


async def test_high_risk_travels_from_the_challenger_to_the_reviewer_to_the_coordinator_and_back(world: World) -> None:
    task = await handed_in(world, "high")
    await tick(world)
    await judged(world, "chad", task.id, "approved")
    await tick(world)
    assert await queued(world, RunKind.REVIEW, "chad") == []
    await judged(world, "rita", task.id, "needs_revision")
    await tick(world)
    assert await queued(world, RunKind.REVIEW) == []
    cora = await begun(world, RunKind.RULE, "cora")
    await world.do(cora, "RuleTask", task=task.id, verdict="needs_revision", because="rita counted twice")
    await world.finish(cora)
    _, run_id = await worked(world, "ada")
    ada = await world.started(run_id)
    await world.delivered(ada, task.id, "43 files")
    await world.finish(ada)
    for slug in ("chad", "rita"):
        await tick(world)
        await judged(world, slug, task.id, "approved")
    assert (await world.task(task.id)).status == TaskStatus.DONE


async def test_a_rebuttal_is_answered_by_who_refused_and_a_second_refusal_ruled_on(world: World) -> None:
    task = await handed_in(world, "standard")
    await tick(world)
    await judged(world, "rita", task.id, "needs_revision")
    _, run_id = await worked(world, "ada")
    ada = await world.started(run_id)
    await world.do(ada, "RebutReview", task=task.id, answer="PARTIAL", facts="42 are files, one is a link")
    await world.finish(ada)
    await tick(world)
    assert await queued(world, RunKind.REVIEW, "chad") == []
    await judged(world, "rita", task.id, "rejected")
    await tick(world)
    cora = await begun(world, RunKind.RULE, "cora")
    await world.do(cora, "RuleTask", task=task.id, verdict="approved", because="a link is no file")
    assert (await world.task(task.id)).status == TaskStatus.DONE


async def test_without_anybody_for_the_second_look_the_operator_is_asked_and_a_hire_lets_it_go_on(world: World) -> None:
    task = await handed_in(world, "high")
    await tick(world)
    await judged(world, "chad", task.id, "approved")
    await world.operator("PauseAgent", agent="rita")
    assert "RequestApproval" in await tick(world)
    assert "RequestApproval" not in await tick(world)
    [question] = await world.pending(f"task:{task.id}")
    await world.operator("HireAgent", slug="ruth", name="Ruth", role="reviewer", manager="vera")
    await world.operator("DecideApproval", approval=question.id, decision="approved")
    assert (await world.task(task.id)).review_step == ReviewStep.SECOND
    await tick(world)
    await judged(world, "ruth", task.id, "approved")
    assert (await world.task(task.id)).status == TaskStatus.DONE


async def test_a_second_look_that_is_cut_off_is_begun_anew_by_another(world: World) -> None:
    task = await handed_in(world, "high")
    await tick(world)
    await judged(world, "chad", task.id, "rejected")
    await tick(world)
    await begun(world, RunKind.REVIEW, "rita")
    await world.operator("HireAgent", slug="ruth", name="Ruth", role="reviewer", manager="vera")
    await world.operator("PauseAgent", agent="rita")
    await tick(world)
    await judged(world, "ruth", task.id, "rejected")
    assert (await world.task(task.id)).status == TaskStatus.PENDING


async def test_silence_lets_a_plan_run_by_the_tick_after_its_window(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    await world.do(ada, "PostPlan", task=task.id, body="First the large ones.")
    await world.finish(ada)
    for _tick in range(3):
        assert await tick(world) == []
        world.clock.advance(OBJECTION_WINDOW_MS // 3)
    held = {item.entity: item.why for item in (await look(world)).held}
    assert f"task:{task.id}" not in held
    acts, run_id = await worked(world, "ada")
    assert acts.split()[:2] == ["ClosePlan", "QueueRun"]
    again = await world.started(run_id)
    await world.delivered(again, task.id)


async def test_an_objection_calls_the_author_at_once(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    await world.do(ada, "PostPlan", task=task.id, body="First the large ones.")
    await world.finish(ada)
    await world.operator("AddComment", task=task.id, kind="objection", body="The links as well.")
    acts, _ = await worked(world, "ada")
    assert acts == "QueueRun"


async def test_of_high_risk_no_single_word_settles_a_rebuttal_of_two_refusals(world: World) -> None:
    task = await handed_in(world, "high")
    for slug in ("chad", "rita"):
        await tick(world)
        await judged(world, slug, task.id, "needs_revision")
    _, run_id = await worked(world, "ada")
    ada = await world.started(run_id)
    await world.do(ada, "RebutReview", task=task.id, answer="REJECT", facts="ls counts 42 as well")
    await world.finish(ada)
    await tick(world)
    await judged(world, "chad", task.id, "approved")
    disputed = await world.task(task.id)
    assert (disputed.status, disputed.review_step) == (TaskStatus.REVIEW, ReviewStep.RULING)
    await tick(world)
    cora = await begun(world, RunKind.RULE, "cora")
    await world.do(cora, "RuleTask", task=task.id, verdict="needs_revision", because="rita is right")
    after = await world.task(task.id)
    assert (after.status, after.review_attempts) == (TaskStatus.WORKING, 1)
