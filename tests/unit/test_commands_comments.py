"""Comments: lengths, mentions, experiences, confidence (S2-29, S3-03, S3-09, S3-10, C-01, C-08, C-20, F7)."""

import pytest

from core.domain.entities import Comment, Experience, Mention, Run
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.limits import EXPERIENCE_PREFIX
from tests.unit.ticking import tick
from tests.unit.world import HANDOFF, World


async def say(world: World, body: str, kind: str = "question", by: str = "", **more: object) -> dict[str, object]:
    if not await world.all(Comment):
        await world.a_goal()
    arguments = {"goal": 1, "kind": kind, "body": body, **more}
    return await (
        world.do(await world.run(by), "AddComment", **arguments) if by else world.operator("AddComment", **arguments)
    )


@pytest.mark.parametrize("letter", ["x", "字", "🙂", "é"])
async def test_an_observation_has_at_most_200_code_points(world: World, letter: str) -> None:
    await say(world, letter * 200, "observation")
    await say(world, f"  {letter * 200}\n", "observation")
    with pytest.raises(Invalid, match="at most 200 characters; this has 201"):
        await say(world, letter * 201, "observation")


@pytest.mark.parametrize("letter", ["x", "字"])
async def test_a_handoff_has_50_to_500_code_points_after_strip(world: World, letter: str) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    for length, is_right in ((49, False), (50, True), (500, True), (501, False)):
        arguments = {"task": task.id, "kind": "handoff", "body": f"  {letter * length} \n"}
        if is_right:
            await world.do(ada, "AddComment", **arguments)
        else:
            with pytest.raises(Invalid, match=f"50 to 500 characters; this has {length}"):
                await world.do(ada, "AddComment", **arguments)


@pytest.mark.parametrize("body", ["", "  \n ", "half\ud800", "x" * 20_001])
async def test_empty_half_or_endless_text_is_refused(world: World, body: str) -> None:
    with pytest.raises(Invalid):
        await say(world, body)


async def test_a_handoff_is_written_by_who_works_on_the_task_while_they_do(world: World) -> None:
    task, ada = await world.a_task("claimed")
    assert ada is not None
    handoff = {"task": task.id, "kind": "handoff", "body": HANDOFF}
    with pytest.raises(Conflict, match="is claimed"):
        await world.do(ada, "AddComment", **handoff)
    await world.do(ada, "StartTask", task=task.id)
    with pytest.raises(Forbidden, match="not yours"):
        await world.do(await world.run("bob"), "AddComment", **handoff)
    with pytest.raises(Invalid, match="belongs to a task"):
        await world.do(ada, "AddComment", goal=task.goal_id, kind="handoff", body=HANDOFF)
    await world.do(ada, "AddComment", **handoff)


async def test_many_mentions_of_one_agent_on_one_subject_make_one_wake(world: World) -> None:
    for number in range(100):
        answer = await say(world, f"@bob and again @bob, {number}")
        assert answer["wakes"] == ["bob"]
    assert len(await world.all(Mention)) == 1


async def test_a_hundred_mentions_make_one_run(world: World) -> None:
    for number in range(100):
        await say(world, f"@bob, {number}", by="ada" if number == 50 else "")
    await tick(world)
    await tick(world)
    assert len(await world.all(Run, "kind = 'mention' AND status = 'queued'")) == 1
    await say(world, "@bob, once more")
    await tick(world)
    assert len(await world.all(Run, "kind = 'mention' AND status = 'queued'")) == 2  # the first is taken already


async def test_mentions_of_two_subjects_or_two_agents_are_two(world: World) -> None:
    await say(world, "@bob @ada look")
    await world.a_goal()
    await say(world, "@bob look here too", goal=2)
    assert len(await world.all(Mention)) == 3


async def test_nobody_wakes_themselves_and_a_reply_inherits_no_mention(world: World) -> None:
    first = await say(world, "@ada what do you think?")
    assert (await say(world, "I, @ada, think so.", by="ada", reply_to=first["id"]))["wakes"] == []
    second = await say(world, "Then go on.", reply_to=first["id"])
    assert second["wakes"] == []


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("mail me: x@bob.example", []),
        ("@bobby and @bob-2", []),
        ("@nobody, @BOB", ["bob"]),
        ("(@bob) @bob: @bob, @ada!", ["bob", "ada"]),
        ("请@bob看看", ["bob"]),
        ("请 @bob，看看", ["bob"]),
    ],
)
async def test_who_is_named_in_a_text(world: World, body: str, names: list[str]) -> None:
    assert (await say(world, body))["wakes"] == names


async def test_a_note_wakes_only_who_is_asked_for(world: World) -> None:
    assert (await say(world, "as @bob said", "note"))["wakes"] == []
    assert (await say(world, "as @bob said", "note", mentions=("ada",)))["wakes"] == ["ada", "bob"]


async def test_a_text_that_begins_with_note_is_a_note_and_wakes_nobody(world: World) -> None:
    for by in ("", "ada"):
        answer = await say(world, "/note @bob did this", "question", by, mentions=("rita",))
        kept = await world.find(Comment, int(str(answer["id"])))
        assert (str(kept.kind), kept.body) == ("note", "@bob did this")
        assert (answer["wakes"], answer["unknown"], answer["asked"], answer["held"]) == ([], {}, None, [])
    with pytest.raises(Invalid, match="empty"):
        await say(world, "/note ")


async def test_a_name_that_nobody_has_is_answered_with_the_nearest(world: World) -> None:
    answer = await say(world, "请@bobb看看, @Ritta and @ada", mentions=("zoe",))
    assert answer["wakes"] == ["ada"]
    assert answer["unknown"] == {"zoe": [], "bobb": ["bob"], "ritta": ["rita"]}
    assert (await say(world, "@bob"))["unknown"] == {}


async def test_a_paused_agent_is_known_and_woken_when_it_comes_back(world: World) -> None:
    await world.operator("PauseAgent", agent="bob")
    assert (await say(world, "@bob?"))["wakes"] == ["bob"]
    await tick(world)
    assert await world.all(Run, "kind = 'mention'") == []
    await world.operator("ResumeAgent", agent="bob")
    await tick(world)
    assert len(await world.all(Run, "kind = 'mention'")) == 1


async def test_the_persons_own_names_are_nobody_elses(world: World) -> None:
    for slug in ("operator", "human"):
        with pytest.raises(Invalid, match="reserved"):
            await world.hire(slug)


@pytest.mark.parametrize(
    ("body", "confidence"),
    [("[confidence: 0.7] so", 0.7), ("so [confidence: 1]", 1.0), ("so [confidence: 1.5]", None), ("so", None)],
)
async def test_a_confidence_is_kept_where_there_is_one(world: World, body: str, confidence: float | None) -> None:
    answer = await say(world, body)
    assert (await world.find(Comment, int(str(answer["id"])))).confidence == confidence


async def test_only_a_handoffs_own_lines_are_noted_as_experiences(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    lines = (
        f"{EXPERIENCE_PREFIX}count before you sort", "💡 经验：full-width colon", "💡经验: no space",
        f" {EXPERIENCE_PREFIX}indented", f"> {EXPERIENCE_PREFIX}quoted", f"said:\u2028{EXPERIENCE_PREFIX}within a line",
        "```text\r", f"{EXPERIENCE_PREFIX}in a fence", "```\r", "~~~", f"{EXPERIENCE_PREFIX}in another", "~~~",
        f"{EXPERIENCE_PREFIX} \r", f"{EXPERIENCE_PREFIX}links may be circles\r",
    )  # fmt: skip
    await world.do(ada, "AddComment", task=task.id, kind="handoff", body="\n".join((HANDOFF, *lines)))
    indented = f"  {EXPERIENCE_PREFIX}the first line, indented\n{HANDOFF}"
    await world.do(ada, "AddComment", task=task.id, kind="handoff", body=indented)
    for kind in ("note", "dialogue", "question"):
        await world.do(ada, "AddComment", task=task.id, kind=kind, body=f"{EXPERIENCE_PREFIX}no handoff")
    await world.operator("AddComment", task=task.id, kind="handoff", body=f"{HANDOFF}\n{EXPERIENCE_PREFIX}a person's")
    noted = await world.all(Experience)
    assert [experience.body for experience in noted] == ["count before you sort", "links may be circles"]
    assert {(experience.status, experience.author) for experience in noted} == {("new", "ada")}


async def test_a_comment_belongs_to_exactly_one_thing_that_exists(world: World) -> None:
    task, _ = await world.a_task()
    for about in ({}, {"task": task.id, "goal": task.goal_id}, {"task": 77}, {"goal": 1, "reply_to": 77}):
        with pytest.raises(Exception, match=r"belongs to|There is no"):
            await world.operator("AddComment", body="x", **about)
