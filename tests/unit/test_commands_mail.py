"""Mail to the operator, and exchanges of agents that change nothing (C-18, S3-20, S3-32, F6, F7)."""

from collections.abc import Sequence
from typing import Any

import pytest

from core.commands.registry import Answer
from core.domain.actors import Agent
from core.domain.entities import Approval, Comment, Mention, Run
from core.domain.limits import EXCHANGE_MESSAGES
from core.domain.states import ApprovalKind, RunKind
from tests.unit.ticking import tick
from tests.unit.world import World


async def writes(world: World, by: str, body: str, kind: str = "question", goal: int = 1, **more: Any) -> Answer:
    """A comment by an agent's run of that goal, which then ends."""
    run = await world.run(by, goal_id=goal)
    answer = await world.do(run, "AddComment", goal=goal, kind=kind, body=body, **more)
    await world.finish(run)
    return answer


async def asked(world: World, kind: ApprovalKind = ApprovalKind.MAIL) -> list[Approval]:
    """The questions of a kind that wait."""
    return await world.all(Approval, "kind = :kind AND status = 'pending' ORDER BY id", kind=kind)


async def decide(world: World, decision: str, note: str = "", kind: ApprovalKind = ApprovalKind.MAIL) -> Answer:
    return await world.operator(
        "DecideApproval", approval=(await asked(world, kind))[0].id, decision=decision, note=note
    )  # fmt: skip


async def states(world: World) -> list[str]:
    """The states of all mentions, in order."""
    return [str(mention.status) for mention in await world.all(Mention, "true ORDER BY id")]


# Mail -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "body", "is_asked"),
    [
        ("question", "@operator which folder?", True),
        ("question", "请@human看看", True),
        ("question", "Which folder?", False),
        ("question", "@bob which folder?", False),
        ("mail_request", "I need a key.", True),
        ("mail_request", "@operator, a key please.", True),
        ("mail_request", "@bob, a key please.", False),
        ("mail_request", "@bobb, a key please.", False),
        ("mail_inform", "@operator it is done.", False),
        ("mail_inform", "It is done.", False),
        ("note", "@operator which folder?", False),
        ("question", "/note @operator which folder?", False),
        ("observation", "as @operator said", False),
    ],
)
async def test_which_words_of_an_agent_ask_the_operator(world: World, kind: str, body: str, is_asked: bool) -> None:
    await world.a_goal()
    answer = await writes(world, "ada", body, kind)
    found = await asked(world)
    assert (answer["asked"] is not None, len(found)) == (is_asked, int(is_asked))
    if is_asked:
        assert found[0].payload == {"comment": answer["id"], "from": "ada", "body": body}
        assert (found[0].entity, found[0].requested_by) == ("goal:1", "ada")


async def test_the_operator_asks_nobody_but_agents(world: World) -> None:
    await world.a_goal()
    answer = await world.operator("AddComment", goal=1, kind="mail_request", body="@operator and @ada: a key?")
    assert (answer["asked"], answer["wakes"]) == (None, ["ada"])


async def test_mail_to_an_agent_wakes_it(world: World) -> None:
    await world.a_goal()
    assert (await writes(world, "ada", "@bob it is done.", "mail_inform"))["wakes"] == ["bob"]
    assert (await writes(world, "ada", "@bob a key, please.", "mail_request"))["wakes"] == ["bob"]


async def test_while_a_letter_waits_the_next_one_of_the_thread_is_only_read_there(world: World) -> None:
    await world.a_goal()
    await writes(world, "ada", "@operator which?")
    assert (await writes(world, "bob", "@operator which, please?"))["asked"] is None
    task = (await world.operator("CreateTask", goal=1, title="Count"))["id"]
    assert (await writes(world, "bob", "@operator which?", goal=1))["asked"] is None
    run = await world.run("bob", task_id=task)
    assert (await world.do(run, "AddComment", task=task, kind="question", body="@operator which?"))["asked"]
    assert [approval.entity for approval in await asked(world)] == ["goal:1", f"task:{task}"]


async def test_an_answer_stands_below_the_question_and_wakes_who_asked(world: World) -> None:
    await world.a_goal()
    question = await writes(world, "ada", "@operator which?")
    answer = await decide(world, "approved", "The notes.")
    assert (answer["status"], answer["follow_up"]) == ("approved", "answered")
    reply = (await world.all(Comment, "true ORDER BY id"))[-1]
    assert (reply.author, reply.kind, reply.body, reply.reply_to) == (
        "human", "dialogue", "The notes.", question["id"],
    )  # fmt: skip
    await tick(world)
    runs = await world.all(Run, "status = 'queued'")
    assert [(run.agent_id, str(run.kind)) for run in runs] == [((await world.agent("ada")).id, "mention")]


@pytest.mark.parametrize(
    ("decision", "note", "body"), [("approved", "", "Yes."), ("revision_requested", "Look first.", "Look first.")]
)
async def test_every_answer_but_a_no_is_told(world: World, decision: str, note: str, body: str) -> None:
    await world.a_goal()
    await writes(world, "ada", "May I, @operator?")
    await decide(world, decision, note)
    assert (await world.all(Comment, "true ORDER BY id"))[-1].body == body
    assert await states(world) == ["pending"]


async def test_a_letter_put_aside_wakes_nobody(world: World) -> None:
    await world.a_goal()
    await writes(world, "ada", "@operator which?")
    await decide(world, "rejected", "later")
    assert (len(await world.all(Comment)), await states(world)) == (1, [])
    assert (await writes(world, "ada", "@operator which?"))["asked"] is not None


async def test_a_letter_does_not_hold_the_goal_up(world: World) -> None:
    goal = await world.a_goal()
    await world.operator("DispatchGoal", goal=goal.id)
    await writes(world, "cora", "@operator which?")
    assert "OpenTurn" in await tick(world)


# Exchanges --------------------------------------------------------------------------------------------------------


async def thanks(world: World, names: Sequence[str], words: int, goal: int = 1) -> list[Answer]:
    """Agents thank each other in a circle, each woken by the one before."""
    answers = []
    for number in range(words):
        by, to = names[number % len(names)], names[(number + 1) % len(names)]
        await read_all(world)
        answers.append(await writes(world, by, f"Thank you, @{to}, {number}", goal=goal))
    return answers


async def read_all(world: World) -> None:
    """Each pending mention becomes a run, as a tick would do it, and the run ends."""
    for mention in await world.all(Mention, "status = 'pending'"):
        queued = await world.system(
            "QueueRun", kind="mention", agent_id=mention.agent_id, goal_id=mention.goal_id, task_id=mention.task_id,
            mention_id=mention.id, key=f"mention:{mention.id}#{mention.version}",
        )  # fmt: skip
        await world.finish(await world.started(queued["id"]))


async def test_two_agents_that_thank_each_other_are_held_at_the_sixth_word(world: World) -> None:
    await world.a_goal()
    answers = await thanks(world, ("ada", "bob"), EXCHANGE_MESSAGES)
    assert [answer["held"] for answer in answers[:-1]] == [[]] * (EXCHANGE_MESSAGES - 1)
    assert (answers[-1]["held"], answers[-1]["wakes"]) == (["ada"], [])
    question = (await asked(world, ApprovalKind.EXCHANGE))[0]
    assert (question.entity, question.requested_by, answers[-1]["asked"]) == ("goal:1", "system", question.id)
    assert question.payload["agents"] == ["ada", "bob"]
    assert "mention" not in [str(run.kind) for run in await world.all(Run, "status = 'queued'")]
    await tick(world)
    assert await world.all(Run, "status = 'queued' AND kind = 'mention'") == []


async def test_a_circle_of_three_is_held_at_its_ninth_word(world: World) -> None:
    await world.a_goal()
    answers = await thanks(world, ("ada", "bob", "rita"), 9)
    assert [len(answer["held"]) for answer in answers] == [0] * 8 + [1]


async def test_more_words_while_the_operator_thinks_ask_nothing_new(world: World) -> None:
    await world.a_goal()
    answers = await thanks(world, ("ada", "bob"), EXCHANGE_MESSAGES + 2)
    assert [answer["held"] for answer in answers[-3:]] == [["ada"], ["bob"], ["ada"]]
    assert len({answer["asked"] for answer in answers[-3:]}) == 1
    assert sorted(await states(world))[:2] == ["held", "held"]


async def test_a_yes_wakes_who_was_held_and_begins_the_count_anew(world: World) -> None:
    await world.a_goal()
    await thanks(world, ("ada", "bob"), EXCHANGE_MESSAGES)
    await decide(world, "approved", kind=ApprovalKind.EXCHANGE)
    assert "held" not in await states(world)
    assert [mention.agent_id for mention in await world.all(Mention, "status = 'pending'")] == [
        (await world.agent("ada")).id
    ]
    answers = await thanks(world, ("ada", "bob"), EXCHANGE_MESSAGES)
    assert [len(answer["held"]) for answer in answers] == [0] * (EXCHANGE_MESSAGES - 1) + [1]


async def test_a_no_wakes_nobody(world: World) -> None:
    await world.a_goal()
    await thanks(world, ("ada", "bob"), EXCHANGE_MESSAGES)
    await decide(world, "rejected", "enough", kind=ApprovalKind.EXCHANGE)
    assert (await states(world))[-1] == "dropped"
    assert await world.all(Mention, "status IN ('pending', 'held')") == []


async def test_a_word_of_the_operator_breaks_an_exchange(world: World) -> None:
    await world.a_goal()
    await thanks(world, ("ada", "bob"), EXCHANGE_MESSAGES - 1)
    await world.operator("AddComment", goal=1, kind="question", body="What are you talking about?")
    assert (await writes(world, "bob", "@ada?"))["held"] == []


async def test_a_changed_task_or_output_is_work_and_no_idle_exchange(world: World) -> None:
    goal = await world.an_active_goal()
    await thanks(world, ("ada", "bob"), EXCHANGE_MESSAGES - 1, goal.id)
    bob = await world.run("bob", goal_id=goal.id)
    await world.do(bob, "CreateTask", goal=goal.id, title="Sort", end_state="sorted")
    answer = await world.do(bob, "AddComment", goal=goal.id, kind="question", body="Look, @ada.")
    assert (answer["held"], answer["wakes"]) == ([], ["ada"])


async def test_work_of_others_excuses_no_exchange(world: World) -> None:
    goal = await world.an_active_goal()
    await thanks(world, ("ada", "bob"), EXCHANGE_MESSAGES - 1, goal.id)
    await world.operator("CreateTask", goal=goal.id, title="Sort")
    assert (await writes(world, "bob", "@ada!", goal=goal.id))["held"] == ["ada"]


async def test_threads_are_counted_one_by_one(world: World) -> None:
    goal = await world.an_active_goal("Count", "Sort")
    for number in range(EXCHANGE_MESSAGES):
        for task in (1, 2):
            by, to = ("ada", "bob") if number % 2 else ("bob", "ada")
            await read_all(world)
            run = await world.run(by, task_id=task)
            said = await world.do(run, "AddComment", task=task, kind="question", body=f"@{to}, {number}")
            await world.finish(run)
            assert bool(said["held"]) == (number == EXCHANGE_MESSAGES - 1)
    assert [approval.entity for approval in await asked(world, ApprovalKind.EXCHANGE)] == ["task:1", "task:2"]
    assert goal.id == 1


async def test_names_that_are_chosen_instead_of_written_count_too(world: World) -> None:
    await world.a_goal()
    held = []
    for number in range(EXCHANGE_MESSAGES):
        await read_all(world)
        by, to = ("ada", "bob") if number % 2 else ("bob", "ada")
        held.append((await writes(world, by, "Thank you.", mentions=(to,)))["held"])
    assert [len(names) for names in held] == [0] * (EXCHANGE_MESSAGES - 1) + [1]


async def test_who_is_about_to_be_woken_anyway_is_not_held(world: World) -> None:
    await world.a_goal()
    for number in range(EXCHANGE_MESSAGES):
        by, to = ("ada", "bob") if number % 2 else ("bob", "ada")
        answer = await writes(world, by, f"@{to}, {number}")
        assert (answer["held"], answer["wakes"]) == ([], [to])
    assert await states(world) == ["pending", "pending"]


async def test_an_exchange_of_a_done_task_leaves_no_question_behind(world: World) -> None:
    task, ada = await world.a_task("working")
    assert isinstance(ada, Agent)
    await world.finish(ada)
    for number in range(EXCHANGE_MESSAGES):
        by, to = ("ada", "bob") if number % 2 else ("bob", "ada")
        await read_all(world)
        run = await world.run(by, RunKind.MENTION, task_id=task.id)
        await world.do(run, "AddComment", task=task.id, kind="question", body=f"@{to}, {number}")
        await world.finish(run)
    assert len(await asked(world, ApprovalKind.EXCHANGE)) == 1
    await world.operator("CancelTask", task=task.id, reason="not needed")
    assert await asked(world, ApprovalKind.EXCHANGE) == []


async def test_an_exchange_about_what_has_ended_stops_without_a_question(world: World) -> None:
    task, _ = await world.a_task("cancelled")
    for number in range(EXCHANGE_MESSAGES):
        by, to = ("ada", "bob") if number % 2 else ("bob", "ada")
        await read_all(world)
        run = await world.run(by, RunKind.MENTION, task_id=task.id)
        said = await world.do(run, "AddComment", task=task.id, kind="question", body=f"@{to}, {number}")
        await world.finish(run)
    assert (said["held"], said["asked"]) == (["bob"], None)
    assert await asked(world, ApprovalKind.EXCHANGE) == []
    assert (await states(world))[-1] == "dropped"


async def test_a_letter_about_an_ended_task_asks_about_its_goal_and_about_an_ended_goal_nothing(world: World) -> None:
    task, _ = await world.a_task("cancelled")
    ada = await world.run("ada", task_id=task.id)
    letter = {"task": task.id, "kind": "mail_request", "body": "A key, please."}
    assert (await world.do(ada, "AddComment", None, **letter))["asked"] is not None
    assert [approval.entity for approval in await asked(world)] == [f"goal:{task.goal_id}"]
    await world.operator("CancelGoal", goal=task.goal_id, reason="no")
    assert await asked(world) == []
    ada = await world.run("ada")
    assert (await world.do(ada, "AddComment", None, **letter))["asked"] is None
