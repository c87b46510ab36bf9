"""What an agent must not see, in any query: the first of two verdicts (S2-20), others' letters, what was not kept."""

import json
from typing import Any

import pytest

from core.commands.registry import Answer
from core.domain.actors import Actor, Agent
from core.domain.entities import Review
from core.domain.errors import Fenced, NotFound
from core.domain.states import Role, RunKind
from core.reading.registry import READS, read
from tests.unit.world import FINDING, OPERATOR, SYSTEM, World

SECRET = "verdigris"  # stands in nothing but the first verdict and what its reviewer said
GOAL = {"tasks": ({"title": "Set the position limit", "risk": "high"},)}


async def looked(world: World, actor: Actor, query: str, **arguments: Any) -> Answer:
    return await read(world.board.readers, actor, query, arguments)


async def everything(world: World, actor: Actor, task: int, goal: int) -> dict[str, str]:
    """What all queries together show of a small board: {query: JSON}. A new query has to be put here."""
    review = (await world.all(Review))[0].id
    comments = [row["id"] for row in await world.read(lambda tx: tx.all("SELECT id FROM comments"))]
    texts = [(f"task:{task}", field) for field in ("intent", "end_state", "constraints", "criteria", "reason")]
    texts += [(f"review:{review}", field) for field in ("dimensions", "findings", "rebuttal")]
    texts += [(f"comment:{number}", "body") for number in comments] + [(f"goal:{goal}", "reason")]
    asked: dict[str, list[dict[str, Any]]] = {
        "ListGoals": [{}], "ReadGoal": [{"goal": goal}], "ReadRound": [{"round": 1}], "ReadStaff": [{}],
        "ListTasks": [{}], "ReadTask": [{"task": task}, {"task": task, "expand": True}],
        "ListComments": [{"task": task}, {"goal": goal}, {"task": task, "kind": "review"}],
        "ListOutputs": [{"goal": goal}], "ReadOutput": [{"output": 1}],
        "SearchBoard": [{"words": SECRET}, {"words": "looked", "where": "comments"}],
        "ListExperiences": [{}], "ReadKnowledge": [{}], "ReadChanges": [{"task": task}],
        "ReadText": [{"of": of, "field": field} for of, field in texts],
    }  # fmt: skip
    assert set(asked) == set(READS)
    shown: dict[str, str] = {}
    for query, calls in asked.items():
        for arguments in calls:
            try:
                answer = await looked(world, actor, query, **arguments)
            except NotFound as error:
                answer = {"error": error.message}
            shown[query] = shown.get(query, "") + json.dumps(answer)
    return shown


async def first_of_two(world: World) -> tuple[int, int, Agent]:
    """A task of high risk after its first verdict; answers task, goal, and the first reviewer's run, still at work."""
    task, author = await world.a_task("review", **GOAL)
    assert author is not None
    await world.finish(author)
    chad = await world.run("chad", RunKind.REVIEW, task_id=task.id)
    await world.do(chad, "AddComment", task=task.id, kind="review", body=f"I looked: {SECRET}")
    await world.do(chad, "AddComment", goal=task.goal_id, body=f"At T{task.id} there is {SECRET}")
    await world.verdict(
        chad, task.id, "rejected", summary=f"wrong: {SECRET}", findings=({**FINDING, "what": f"it is {SECRET}"},)
    )
    return task.id, task.goal_id, chad


def shows(told: dict[str, str]) -> set[str]:
    return {query for query, text in told.items() if SECRET in text}


async def test_no_query_shows_the_second_reviewer_the_first_verdict(world: World) -> None:
    task, goal, _ = await first_of_two(world)
    second = await world.run("rita", RunKind.REVIEW, task_id=task)
    told = await everything(world, second, task, goal)
    assert shows(told) == set()
    short = await looked(world, second, "ReadTask", task=task, expand=True)
    assert (short["counts"]["reviews"], short["reviews"], short["standing"]) == (0, [], [])
    # Not even how many words are hidden.
    assert short["counts"]["comments"] == short["comments"]["total"] == 1
    assert (await looked(world, second, "ListComments", goal=goal))["total"] == 0
    assert (await looked(world, second, "SearchBoard", words=SECRET))["hits"] == []


@pytest.mark.parametrize(("slug", "kind"), [("ada", "mention"), ("cora", "mention"), ("vera", "heartbeat")])
async def test_nobody_can_pass_the_first_verdict_on(world: World, slug: str, kind: str) -> None:
    task, goal, _ = await first_of_two(world)
    other = await world.run(slug, RunKind(kind), goal_id=goal)
    assert shows(await everything(world, other, task, goal)) == set()


async def test_who_gave_it_and_the_operator_see_it(world: World) -> None:
    task, goal, first = await first_of_two(world)
    seen = {"ReadTask", "ListComments", "SearchBoard", "ReadText"}
    for actor in (first, OPERATOR, SYSTEM):
        assert shows(await everything(world, actor, task, goal)) == seen


async def test_after_the_second_verdict_everybody_sees_both(world: World) -> None:
    task, goal, first = await first_of_two(world)
    await world.finish(first)
    second = await world.reviewed(task, "rejected")
    author = await world.run("ada", RunKind.MENTION, task_id=task)
    assert shows(await everything(world, author, task, goal)) == {"ReadTask", "ListComments", "SearchBoard", "ReadText"}
    reviews = (await looked(world, author, "ReadTask", task=task, expand=True))["reviews"]
    assert [one["reviewer"] for one in reviews] == ["chad", second.slug]


async def test_what_the_first_reviewer_said_in_another_run_since_the_handoff_is_hidden_too(world: World) -> None:
    task, author = await world.a_task("review", **GOAL)
    assert author is not None
    await world.finish(author)
    called = await world.run("chad", RunKind.MENTION, task_id=task.id)
    await world.do(called, "AddComment", task=task.id, body=f"At a glance: {SECRET}")
    await world.finish(called)
    chad = await world.run("chad", RunKind.REVIEW, task_id=task.id)
    await world.verdict(chad, task.id)
    await world.finish(chad)
    second = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    assert shows(await everything(world, second, task.id, task.goal_id)) == set()


async def test_what_was_said_elsewhere_in_that_run_and_answers_to_it_are_hidden_too(world: World) -> None:
    elsewhere = await world.an_active_goal("Another thing")
    task, author = await world.a_task("review", **GOAL)
    assert author is not None
    await world.finish(author)
    chad = await world.run("chad", RunKind.REVIEW, task_id=task.id)
    asked = await world.do(chad, "AddComment", task=task.id, kind="question", body="@ada is that so?")
    await world.do(chad, "AddComment", goal=elsewhere.id, body=f"Over there it is {SECRET}")
    ada = await world.run("ada", RunKind.MENTION, task_id=task.id)
    await world.do(ada, "AddComment", task=task.id, body=f"It is {SECRET}, yes.", reply_to=asked["id"])
    await world.verdict(chad, task.id)
    await world.finish(chad)
    second = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    for goal in (task.goal_id, elsewhere.id):
        assert shows(await everything(world, second, task.id, goal)) == set()
    assert SECRET in json.dumps(await everything(world, ada, task.id, task.goal_id))


async def test_earlier_settled_verdicts_are_seen_by_the_second_reviewer(world: World) -> None:
    task, goal, first = await first_of_two(world)
    await world.finish(first)
    await world.reviewed(task, "rejected")
    # Again from the start: handed in anew, judged once.
    author = await world.brought_to(task, "review", by="bob")
    assert author is not None
    await world.finish(author)
    chad = await world.run("chad", RunKind.REVIEW, task_id=task)
    later = "kingfisher"
    await world.do(chad, "AddComment", task=task, kind="review", body=f"Now {later}")
    await world.verdict(chad, task, "rejected", summary=later, findings=({**FINDING, "what": later, "earlier": 1},))
    await world.finish(chad)
    second = await world.run("rita", RunKind.REVIEW, task_id=task)
    told = json.dumps(await everything(world, second, task, goal))
    assert SECRET in told
    assert later not in told
    answer = await looked(world, second, "ReadTask", task=task, expand=True)
    assert [one["number"] for one in answer["standing"]] == [1, 2]


async def test_a_letter_is_read_by_whom_it_is_for(world: World) -> None:
    vera = await world.run("vera", RunKind.PROPOSE)
    asked = await world.do(vera, "ProposeHire", slug="ida", name="Ida", role="executor", why="nobody can search")
    await world.finish(vera)
    await world.operator("DecideApproval", approval=asked["id"], decision="rejected", note="no money for heliotrope")
    letters = {}
    for slug in ("vera", "ada"):
        actor = await world.run(slug, RunKind.MENTION)
        letters[slug] = (await looked(world, actor, "SearchBoard", words="heliotrope"))["hits"]
        await world.finish(actor)
    assert [hit["of"].partition(":")[0] for hit in letters["vera"]] == ["comment"]
    assert letters["ada"] == []


async def test_agents_are_told_kept_experiences_only(world: World) -> None:
    task, author = await world.a_task("claimed")
    assert author is not None
    await world.do(author, "StartTask", task=task.id)
    body = "Decided to count twice, since links count twice.\n💡 经验: Mind the quagga when you count."
    await world.do(author, "AddComment", task=task.id, kind="handoff", body=body)
    reader = await world.run("bob", RunKind.MENTION)
    assert (await looked(world, reader, "ListExperiences"))["experiences"] == []
    assert (await looked(world, reader, "SearchBoard", words="quagga", where="experiences"))["hits"] == []
    seen = (await looked(world, OPERATOR, "ListExperiences"))["experiences"]
    assert [one["status"] for one in seen] == ["new"]
    await world.operator("KeepExperience", experience=seen[0]["id"])
    assert len((await looked(world, reader, "ListExperiences"))["experiences"]) == 1
    assert len((await looked(world, reader, "SearchBoard", words="quagga", where="experiences"))["hits"]) == 1


async def test_what_exactly_was_asked_is_for_who_asked(world: World) -> None:
    task, author = await world.a_task("claimed")
    assert author is not None
    await world.do(author, "StartTask", task=task.id)
    payload = {"why": "ask about the " + "long " * 1_000 + "ocelot"}
    await world.do(author, "AskOperator", task=task.id, kind="question", title="May I?", payload=payload)
    await world.finish(author)
    again = await world.run("ada", RunKind.MENTION, task_id=task.id)
    other = await world.run("bob", RunKind.MENTION, task_id=task.id)
    own = (await looked(world, again, "ReadTask", task=task.id))["questions"][0]
    assert "ReadText" in own["payload"]
    whole = await looked(world, again, "ReadText", of=f"approval:{own['id']}", field="payload")
    assert json.loads(whole["text"]) == payload
    assert "payload" not in (await looked(world, other, "ReadTask", task=task.id))["questions"][0]
    with pytest.raises(NotFound):
        await looked(world, other, "ReadText", of=f"approval:{own['id']}", field="payload")


async def test_a_run_that_is_no_longer_current_reads_nothing(world: World) -> None:
    ada = await world.run("ada", RunKind.MENTION)
    assert (await looked(world, ada, "ListGoals"))["goals"] == []
    for stranger in (
        Agent(ada.agent_id, ada.slug, ada.run_id, ada.fence + 1),
        Agent(ada.agent_id, ada.slug, 987_654, ada.fence),
        Agent((await world.agent("bob")).id, "bob", ada.run_id, ada.fence),
    ):
        with pytest.raises(Fenced):
            await looked(world, stranger, "ListGoals")
    await world.finish(ada)
    with pytest.raises(Fenced, match="nothing was read"):
        await looked(world, ada, "ListGoals")


async def test_an_actor_is_who_its_run_says_and_not_who_it_claims_to_be(world: World) -> None:
    task, goal, first = await first_of_two(world)
    second = await world.run("rita", RunKind.REVIEW, task_id=task)
    disguised = Agent(second.agent_id, first.slug, second.run_id, second.fence)
    assert shows(await everything(world, disguised, task, goal)) == set()


async def test_staff_is_told_without_runners_and_money(world: World) -> None:
    await world.hire("ida", Role.EXECUTOR, can=("search",), runner={"kind": "chat", "hidden": "pangolin"})
    ada = await world.run("ada", RunKind.MENTION)
    told = await looked(world, ada, "ReadStaff", role="executor")
    assert [one["slug"] for one in told["staff"]] == ["ada", "bob", "ida"]
    assert told["staff"][0]["live_runs"] == 1
    assert "pangolin" not in json.dumps(told)
    assert "budget" not in json.dumps(told)
