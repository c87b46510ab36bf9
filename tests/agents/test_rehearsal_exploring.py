"""The talk over a goal: what the coordinator understands, what it asks, and how the goal grows by it."""

from pathlib import Path

import pytest

from core.agents.rehearsal.exploring import BEGINS, topic_of
from core.agents.rehearsal.understanding import Topic, next_topic, pieces, says_nothing, wish_of
from core.agents.rehearsal.works import WORKS
from core.domain.entities import Comment, Goal, Run
from core.domain.goals import not_verifiable
from tests.agents.rehearsal_support import FILES, Play, a_rehearsal
from tests.agents.test_audit_world import a_folder

ALL = tuple(WORKS)


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("all", ALL, ()),
        ("Everything, please!", ALL, ()),
        ("say all", ALL, ()),
        ("Say all.", ALL, ()),
        ("全部", ALL, ()),
        ("the marks and the documentation", ("marks", "documentation"), ()),
        ("所有的待办标记和重复文件", ("marks", "duplicates"), ()),
        ("待办标记和重复文件", ("marks", "duplicates"), ()),
        ("all, but no duplicates", ALL[:4] + ALL[5:], ("duplicates",)),
        ("all except the duplicates and the closer look", ALL[:4], ("duplicates", "closer_look")),
        ("inventory; 不要历史", ("inventory",), ("history",)),
        ("everything without the documentation", ("inventory", "marks", "history", "duplicates", "closer_look"),
         ("documentation",)),
        ("drop the history", (), ("history",)),
        ("World peace", (), ()),
        ("not everything", (), ()),
        ("", (), ()),
    ],
)  # fmt: skip
def test_works_are_understood_by_their_words(text: str, wanted: tuple[str, ...], unwanted: tuple[str, ...]) -> None:
    wish = wish_of(text)
    assert (wish.wanted, wish.unwanted) == (wanted, unwanted)


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ("nothing", True), ("No.", True), ("没有", True), ("nothing in docs/", False), ("no quotes", False),
        ("", False), ("say nothing", True), ("Say nothing.", True), ("“say nothing”", True), ("say: nothing", True),
        ("Nothing, thanks", True), ("say nothing of the archive", False), ("say no names", False), ("essay no", False),
    ],
)  # fmt: skip
def test_nothing_is_said_by_few_words(text: str, nothing: bool) -> None:
    assert says_nothing(text) == nothing


def test_what_is_listed_is_taken_apart_once_each() -> None:
    assert pieces("docs/, old code; docs/\n 图片、字体.") == ("docs/", "old code", "图片", "字体")


def test_a_question_is_known_again_also_after_other_words() -> None:
    for topic, begin in BEGINS.items():
        assert topic_of(f"Noted. {begin} …?") == topic
    assert topic_of("What may not be done or quoted? … What is out of scope?") == Topic.SCOPE
    assert topic_of("hello") is None


def test_questions_come_in_an_order_and_none_is_asked_twice() -> None:
    assert next_topic([], has_works=False, to_verify=False) == Topic.WHAT
    assert next_topic([Topic.WHAT], has_works=True, to_verify=True) == Topic.VERIFY
    assert next_topic([Topic.WHAT], has_works=True, to_verify=False) == Topic.LIMITS
    assert next_topic([Topic.WHAT, Topic.LIMITS], has_works=True, to_verify=False) == Topic.SCOPE
    assert next_topic([*Topic], has_works=True, to_verify=False) == Topic.READY


async def explored(play: Play, title: str = "Tidy up") -> int:
    """A new goal that is talked over, while the company is at work."""
    await play.start()
    draft = await play.one(Goal, "status = 'draft'")
    await play.do("CancelGoal", goal=draft.id, reason="another one")
    return int((await play.do("CreateGoal", title=title, explore=True))["id"])


async def asked(play: Play, goal: int, topic: Topic) -> Comment:
    """The coordinator's last word, once it is this question."""

    async def look() -> list[Comment]:
        talk = await play.all(Comment, "goal_id = :goal AND kind = 'dialogue' ORDER BY id DESC LIMIT 1", goal=goal)
        return [word for word in talk if word.author == "orlo" and topic_of(word.body) == topic]

    return (await play.until(look))[0]


async def test_a_goal_grows_answer_by_answer_until_the_operator_says_ready(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", FILES)) as play:
        goal = await explored(play)

        async def say(body: str) -> None:
            await play.do("AddComment", goal=goal, kind="dialogue", body=body)

        await asked(play, goal, Topic.WHAT)
        await say("World peace")
        again = await asked(play, goal, Topic.WHAT)
        assert "I have no model" in again.body
        assert "World peace" in again.body
        await say("the marks, the duplicates")
        await asked(play, goal, Topic.LIMITS)
        await say("@scout must not read .env files")
        await asked(play, goal, Topic.SCOPE)
        await say("docs/, fonts")
        scope = await asked(play, goal, Topic.READY)
        assert "To be honest" in scope.body
        await say("all, but no closer look")
        await play.until(lambda: play.all(Goal, "id = :id AND json_array_length(must_haves) = 5", id=goal))
        await asked(play, goal, Topic.READY)
        found = await play.one(Goal, "id = :id", id=goal)
        assert [must["id"] for must in found.must_haves] == ["M1", "M2", "M3", "M4", "M5"]
        assert [must["text"] for must in found.must_haves][:2] == [
            WORKS["marks"].must_have, WORKS["duplicates"].must_have
        ]  # fmt: skip
        assert not not_verifiable(found.must_haves)
        assert found.out_of_scope == ("docs/", "fonts")
        assert any("must not read .env files" in text for text in found.constraints)
        # One question each, and as many runs as answers were owed.
        said = [
            word.author for word in await play.all(Comment, "goal_id = :g AND kind = 'dialogue' ORDER BY id", g=goal)
        ]
        assert said == ["orlo", "human"] * 5 + ["orlo"]
        await play.do("ReadyGoal", goal=goal)
        await play.do("DispatchGoal", goal=goal)
        await play.reported(found)


async def test_what_the_operator_writes_themself_is_asked_how_to_verify(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", FILES)) as play:
        goal = await explored(play)
        await asked(play, goal, Topic.WHAT)
        await play.do("EditGoal", goal=goal, must_haves=("A licence for each file", "Exact copies of files"))
        await play.do("AddComment", goal=goal, kind="dialogue", body="I wrote it down myself")
        question = await asked(play, goal, Topic.VERIFY)
        assert "None of us can do M1" in question.body
        await play.do("AddComment", goal=goal, kind="dialogue", body="Each file names one in its head")
        await asked(play, goal, Topic.LIMITS)
        first, second = (await play.one(Goal, "id = :id", id=goal)).must_haves
        assert first["verify"] == "Each file names one in its head"
        assert second["verify"] == WORKS["duplicates"].verify
        await play.quiet()
        assert {run.status for run in await play.all(Run, "kind = 'explore'")} == {"succeeded"}
