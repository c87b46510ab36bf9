"""Queries through the one registry: what they answer, in pages with a cursor, with nothing unknown let through."""

import json
import re
from itertools import chain
from typing import Any

import pytest

from core.commands.registry import Answer
from core.domain.entities import Comment, Output, Task
from core.domain.errors import Conflict, Invalid, NotFound
from core.domain.states import RunKind
from core.reading.registry import READS, parse_query, read
from core.reading.shapes import PAGE_MAX, fit
from tests.unit.world import OPERATOR, SYSTEM, World

LONG = "".join(f"{n} 潮位。\n" for n in range(4_000))[:19_990]
MARK = re.compile(r"… \[([0-9,]+) more characters: ReadText (\{.*?\})\]$", re.DOTALL)


async def looked(world: World, query: str, **arguments: Any) -> Answer:
    """What the operator is answered; it is JSON as it is."""
    answer = await read(world.board.readers, OPERATOR, query, arguments)
    assert json.loads(json.dumps(answer)) == answer, query
    return answer


async def refused(world: World, query: str, **arguments: Any) -> Invalid:
    with pytest.raises(Invalid) as error:
        await looked(world, query, **arguments)
    return error.value


async def pages(world: World, query: str, key: str, cursor: str, **arguments: Any) -> list[list[Any]]:
    """The ids of every page of a list."""
    found: list[list[Any]] = []
    following = None
    while not found or following is not None:
        answer = await looked(world, query, **arguments, **({} if following is None else {cursor: following}))
        found.append([one["id"] for one in answer[key]])
        following = answer["next"]
        assert len(found) < 50
    return found


async def whole(world: World, shown: str) -> str:
    """A clipped text and the rest of it, read as its mark says."""
    mark = MARK.search(shown)
    assert mark is not None, shown[-200:]
    return shown[: mark.start()] + await from_there(world, **json.loads(mark[2]))


async def from_there(world: World, **arguments: Any) -> str:
    """All pieces of a text from the first on."""
    text = ""
    while True:
        piece = await looked(world, "ReadText", **arguments)
        text += piece["text"]
        if piece["next"] is None:
            return text
        arguments["offset"] = piece["next"]


class TestRefusals:
    async def test_an_unknown_query_names_the_known_ones(self, world: World) -> None:
        error = await refused(world, "ReadMind")
        assert all(name in error.hint for name in READS)

    async def test_an_unknown_field_names_the_known_ones(self, world: World) -> None:
        error = await refused(world, "ListTasks", colour="red")
        assert "colour" in error.message
        assert all(name in error.hint for name in ("goal", "round", "status", "assignee", "limit", "after"))

    async def test_an_unknown_filter_names_what_there_is(self, world: World) -> None:
        error = await refused(world, "ListTasks", status="nearly")
        assert "waiting_human" in error.message
        assert "tasks" in (await refused(world, "SearchBoard", words="x", where="minds")).message

    @pytest.mark.parametrize(
        ("query", "arguments"),
        [
            ("ListTasks", {"limit": 51}),
            ("ListTasks", {"limit": 0}),
            ("ReadTask", {"task": 0}),
            ("ReadTask", {"task": 2**63}),
            ("ListTasks", {"after": -1}),
            ("ReadOutput", {"output": 1, "offset": -1}),
            ("ReadOutput", {"output": 1, "size": 10**9}),
            ("ReadText", {"of": "task:1; DROP", "field": "intent"}),
            ("ReadText", {"of": "task:0", "field": "intent"}),
            ("ReadText", {"of": f"task:{2**70}", "field": "intent"}),
            ("SearchBoard", {"words": "half \ud800 a character"}),
            ("SearchBoard", {"words": '"*(' * 5}),
            ("ListComments", {}),
            ("ListComments", {"task": 1, "goal": 1}),
            ("ListOutputs", {"task": 1, "goal": 1}),
            ("ReadKnowledge", {"heading": "Install"}),
        ],
    )
    async def test_bad_arguments_are_told(self, world: World, query: str, arguments: dict[str, Any]) -> None:
        error = await refused(world, query, **arguments)
        assert error.hint

    async def test_a_field_that_is_no_text_is_not_read(self, world: World) -> None:
        await world.a_goal()
        error = await refused(world, "ReadText", of="goal:1", field="content_hash")
        assert "description" in error.hint

    @pytest.mark.parametrize(
        ("query", "arguments"),
        [
            ("ReadGoal", {"goal": 7}),
            ("ReadTask", {"task": 7}),
            ("ReadRound", {"round": 7}),
            ("ReadOutput", {"output": 7}),
            ("ListComments", {"task": 7}),
            ("ListComments", {"goal": 7}),
            ("ListOutputs", {"round": 7}),
            ("ReadText", {"of": "comment:7", "field": "body"}),
            ("ReadKnowledge", {"path": "knowledge/none.md"}),
        ],
    )
    async def test_what_is_not_there_is_not_found(self, world: World, query: str, arguments: dict[str, Any]) -> None:
        with pytest.raises(NotFound) as error:
            await looked(world, query, **arguments)
        assert error.value.hint

    def test_words_of_a_web_address_are_understood(self) -> None:
        query = parse_query("ReadTask", {"task": "12", "expand": "true"})
        assert query.model_dump() == {"task": 12, "expand": True}


class TestLists:
    async def test_tasks_are_paged_and_counted(self, world: World) -> None:
        goal = await world.an_active_goal(*(f"Part {n}" for n in range(7)))
        ids = [task.id for task in await world.all(Task)]
        found = await pages(world, "ListTasks", "tasks", "after", goal=goal.id, limit=3)
        assert found == [ids[:3], ids[3:6], ids[6:]]
        assert (await looked(world, "ListTasks", goal=goal.id, limit=3))["total"] == 7

    async def test_filters_hold_together(self, world: World) -> None:
        goal = await world.an_active_goal("One", "Two", "Three")
        ids = [task.id for task in await world.all(Task)]
        await world.brought_to(ids[1], "claimed")
        await world.an_active_goal("Elsewhere")
        shown = await looked(world, "ListTasks", goal=goal.id, assignee="ada")
        assert [(one["tag"], one["status"], one["assignee"]) for one in shown["tasks"]] == [
            (f"T{ids[1]}", "claimed", "ada")
        ]
        shown = await looked(
            world, "ListTasks", goal=goal.id, status="pending", round=(await world.round_of(goal.id)).id
        )
        assert [one["id"] for one in shown["tasks"]] == [ids[0], ids[2]]

    async def test_comments_come_newest_page_first_and_in_their_order(self, world: World) -> None:
        goal = await world.a_goal()
        for n in range(5):
            await world.operator("AddComment", goal=goal.id, body=f"word {n}")
        ids = [comment.id for comment in await world.all(Comment)]
        found = await pages(world, "ListComments", "comments", "before", goal=goal.id, limit=2)
        assert found == [ids[3:], ids[1:3], ids[:1]]

    async def test_a_page_ends_before_it_grows_too_long(self, world: World) -> None:
        goal = await world.a_goal()
        for n in range(30):
            await world.operator("AddComment", goal=goal.id, body=f"{n} " + "long " * 300)
        first = await looked(world, "ListComments", goal=goal.id, limit=50)
        assert len(json.dumps(first)) < PAGE_MAX + 2_000
        found = await pages(world, "ListComments", "comments", "before", goal=goal.id, limit=50)
        assert len(found) > 1
        assert sorted(chain.from_iterable(found)) == [comment.id for comment in await world.all(Comment)]

    async def test_goals_newest_first_by_status(self, world: World) -> None:
        for number in range(3):
            await world.a_goal(title=f"Goal {number}")
        active = await world.an_active_goal("One", "Two")
        assert await pages(world, "ListGoals", "goals", "before", limit=3) == [[4, 3, 2], [1]]
        shown = (await looked(world, "ListGoals", status="active"))["goals"]
        assert [(one["tag"], one["round"], one["tasks_open"]) for one in shown] == [(active.name_tag, 1, 2)]

    async def test_staff_in_pages(self, world: World) -> None:
        found = await pages(world, "ReadStaff", "staff", "after", limit=4)
        assert [len(each) for each in found] == [4, 2]

    async def test_knowledge_is_found_step_by_step(self, world: World) -> None:
        sections = [{"path": f"knowledge/{name}.md", "heading": heading, "body": f"{name} {heading} text"}
                    for name in ("a", "b", "c") for heading in ("", "Install", "Use")]  # fmt: skip
        await world.do(SYSTEM, "IndexKnowledge", sections=sections)
        first = await looked(world, "ReadKnowledge", limit=2)
        assert first["files"] == [{"path": f"knowledge/{name}.md", "sections": 3} for name in ("a", "b")]
        assert (await looked(world, "ReadKnowledge", after=first["next"]))["files"][0]["path"] == "knowledge/c.md"
        parts = await looked(world, "ReadKnowledge", path="knowledge/b.md", limit=2)
        assert [one["heading"] for one in parts["sections"]] == ["", "Install"]
        rest = await looked(world, "ReadKnowledge", path="knowledge/b.md", after=parts["next"])
        assert [one["heading"] for one in rest["sections"]] == ["Use"]
        whole = await looked(world, "ReadKnowledge", path="knowledge/b.md", heading="Use")
        assert whole["body"] == "b Use text"

    def test_a_list_shows_at_least_one_thing(self) -> None:
        assert fit(["x" * 100, "y"], 10) == ["x" * 100]
        assert fit([], 10) == []


class TestThings:
    async def test_a_goal_says_what_covers_it_and_what_waits(self, world: World) -> None:
        goal = await world.a_goal(
            must_haves=("count", "search"), description="d",
            tasks=({"title": "Count", "must_haves": ("M1",)}, {"title": "Search", "must_haves": ("M2",)}),
        )  # fmt: skip
        await world.operator("DispatchGoal", goal=goal.id, discussion=False)
        count, search = (task.id for task in await world.all(Task))
        done = await world.brought_to(count, "done")
        assert done is not None
        stuck = await world.brought_to(search, "waiting_human")
        assert stuck is not None
        told = await looked(world, "ReadGoal", goal=goal.id)
        assert [(must["id"], must["state"], must["outputs"]) for must in told["must_haves"]] == [
            ("M1", "covered", [1]),
            ("M2", "open", []),
        ]
        assert told["tasks"] == {"done": 1, "waiting_human": 1}
        assert [one["id"] for one in told["blocked"]] == [search]
        assert [(one["entity"], one["kind"]) for one in told["questions"]] == [(f"task:{search}", "question")]
        assert (told["round"]["number"], told["round"]["open_tasks"]) == (1, 1)

    async def test_a_task_with_all_around_it(self, world: World) -> None:
        goal = await world.a_goal(must_haves=("count",), tasks=({"title": "Count", "must_haves": ("M1",)},))
        first = (await world.all(Task))[0]
        second = await world.operator(
            "CreateTask", goal=goal.id, title="Compare", end_state="e", constraints=("none",),
            arguments={"path": "x"}, depends_on=({"task": first.id, "on_fail": "hold"},), parent=first.id,
        )  # fmt: skip
        told = await looked(world, "ReadTask", task=second["id"])
        assert told["depends_on"] == [
            {"task": first.id, "title": "Count", "status": "draft", "on_fail": "hold", "met": False}
        ]
        assert (told["parent"], told["arguments"], told["constraints"]) == (first.id, {"path": "x"}, ["none"])
        told = await looked(world, "ReadTask", task=first.id)
        assert [one["task"] for one in told["needed_by"]] == [second["id"]]
        assert told["must_haves"] == [{"id": "M1", "text": "count"}]
        assert told["counts"] == {"comments": 0, "outputs": 0, "reviews": 0, "parts": 1}
        assert "criteria" not in told

    async def test_a_reviewer_finds_all_that_a_verdict_needs(self, world: World) -> None:
        task, author = await world.a_task("review")
        assert author is not None
        await world.finish(author)
        await world.reviewed(task.id, "needs_revision")
        again = await world.run("ada", RunKind.EXECUTE, task_id=task.id)
        await world.delivered(again, task.id, "43 files")
        await world.finish(again)
        rita = await world.run("rita", RunKind.REVIEW, task_id=task.id)
        told = await read(world.board.readers, rita, "ReadTask", {"task": task.id, "expand": True})
        stands = told["standing"][0]
        assert stands["criterion"] in [one["id"] for one in told["criteria"]]
        await world.do(
            rita, "ReviewTask", task=task.id, verdict="needs_revision", summary="s", subject_hash=told["subject_hash"],
            dimensions=dict.fromkeys(told["dimensions"], "looked at"),
            opened_outputs=[one["id"] for one in told["outputs"]["outputs"]],
            findings=({name: stands[name] for name in ("what", "where", "change", "because", "criterion")}
                      | {"earlier": stands["number"]},),
        )  # fmt: skip

    async def test_a_round_lists_its_tasks_and_where_to_go_on(self, world: World) -> None:
        goal = await world.an_active_goal(*(f"Part {n}" for n in range(45)))
        round_ = await world.round_of(goal.id)
        told = await looked(world, "ReadRound", round=round_.id)
        assert (told["number"], told["counts"], len(told["tasks"])) == (1, {"pending": 45}, 40)
        rest = await looked(world, "ListTasks", round=round_.id, after=told["tasks_next"])
        assert [one["title"] for one in rest["tasks"]] == [f"Part {n}" for n in range(40, 45)]

    async def test_the_newest_of_many_comments_are_read_and_the_others_counted(self, world: World) -> None:
        task, _ = await world.a_task()

        def many(tx: Any) -> None:
            for n in range(3_000):
                tx.insert(Comment, "CommentAdded", goal_id=task.goal_id, task_id=task.id, author="bob", run_id=None,
                          kind="note", body=f"word {n}", reply_to=None, confidence=None)  # fmt: skip

        await world.read(many)
        told = await looked(world, "ReadTask", task=task.id, expand=True)
        assert told["counts"]["comments"] == 3_000
        assert [one["body"] for one in told["comments"]["comments"]] == [f"word {n}" for n in range(2_990, 3_000)]
        assert len(json.dumps(told)) < 10_000


class TestLongTexts:
    async def test_every_mark_leads_to_the_whole_text(self, world: World) -> None:
        goal = await world.a_goal(description=LONG, tasks=({"title": "T", "intent": LONG, "end_state": LONG[:5_000]},))
        task = (await world.all(Task))[0]
        await world.operator("AddComment", task=task.id, body=LONG.strip())
        told = await looked(world, "ReadGoal", goal=goal.id)
        assert await whole(world, told["description"]) == LONG
        told = await looked(world, "ReadTask", task=task.id, expand=True)
        assert await whole(world, told["intent"]) == LONG
        assert await whole(world, told["end_state"]) == LONG[:5_000]
        assert await whole(world, told["comments"]["comments"][0]["body"]) == LONG.strip()

    async def test_lists_of_texts_name_how_many_are_left(self, world: World) -> None:
        limits = tuple(f"Limit {n} " + "x" * 300 for n in range(60))
        goal = await world.a_goal(constraints=limits)
        told = (await looked(world, "ReadGoal", goal=goal.id))["constraints"]
        assert len(json.dumps(told)) < 4_000
        left = re.search(r"\[(\d+) more: ReadText (\{.*\})\]", told[-1])
        assert left is not None
        assert int(left[1]) == 60 - (len(told) - 1)
        assert (await from_there(world, **json.loads(left[2]))).split("\n") == list(limits)

    async def test_a_thing_full_of_long_texts_stays_readable(self, world: World) -> None:
        long = LONG[:15_000]
        must_haves = tuple({"text": f"must {n} " + "m" * 180, "verify": long} for n in range(40))
        await world.a_goal(
            description=long, must_haves=must_haves, constraints=(long[:600],) * 30, out_of_scope=(long[:600],) * 30,
            tasks=({"title": "T", "intent": long, "end_state": long, "constraints": (long[:600],) * 30,
                    "must_haves": tuple(f"M{n}" for n in range(1, 41)), "arguments": {"a": long}},),
        )  # fmt: skip
        assert len(json.dumps(await looked(world, "ReadGoal", goal=1), ensure_ascii=False)) < 40_000
        told = await looked(world, "ReadTask", task=1, expand=True)
        assert len(json.dumps(told, ensure_ascii=False)) < 40_000
        assert isinstance(told["arguments"], str)
        assert json.loads(await from_there(world, of="task:1", field="arguments")) == {"a": long}


class TestOutputs:
    async def delivered(self, world: World, **output: Any) -> int:
        task, actor = await world.a_task("claimed")
        assert actor is not None
        await world.do(actor, "StartTask", task=task.id)
        answer = await world.do(actor, "AddOutput", task=task.id, type="data", title="Figures", **output)
        return int(answer["id"])

    async def pieces(self, world: World, output: int, size: int) -> str:
        text, following = "", 0
        while following is not None:
            piece = await looked(world, "ReadOutput", output=output, offset=following, size=size)
            text += piece["text"]
            following = piece["next"]
        return text

    @pytest.mark.parametrize("size", [4, 5, 6, 7, 999])
    @pytest.mark.parametrize("as_file", [False, True])
    async def test_pieces_together_are_the_whole(self, world: World, size: int, as_file: bool) -> None:
        text = "潮位 🌊 tide\n" * 20
        if as_file:
            (world.folder / "outputs" / "tide.txt").write_text(text, encoding="utf-8")
        number = await self.delivered(world, **({"path": "tide.txt"} if as_file else {"content": text}))
        assert await self.pieces(world, number, size) == text

    async def test_an_offset_within_a_character_reads_on_from_the_next(self, world: World) -> None:
        number = await self.delivered(world, content="潮位 tide")
        piece = await looked(world, "ReadOutput", output=number, offset=1)
        assert (piece["offset"], piece["text"]) == (3, "位 tide")

    async def test_what_is_no_text_is_named_so(self, world: World) -> None:
        (world.folder / "outputs" / "figure.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
        number = await self.delivered(world, path="figure.png")
        piece = await looked(world, "ReadOutput", output=number)
        assert (piece["is_text"], piece["text"], piece["next"]) == (False, "", None)
        assert piece["size"] == 264

    @pytest.mark.parametrize("how", ["changed", "gone", "a link out"])
    async def test_a_file_that_is_not_what_was_delivered_is_not_read(self, world: World, how: str) -> None:
        file = world.folder / "outputs" / "tide.txt"
        file.write_text("43 files")
        number = await self.delivered(world, path="tide.txt")
        secret = world.folder / "elsewhere.txt"
        secret.write_text("not of the company")
        file.unlink()
        if how == "changed":
            file.write_text("44 files")
        elif how == "a link out":
            file.symlink_to(secret)
        with pytest.raises(Conflict, match="not there as delivered"):
            await looked(world, "ReadOutput", output=number)

    async def test_a_list_says_what_is_superseded(self, world: World) -> None:
        task, author = await world.a_task("review")
        assert author is not None
        await world.finish(author)
        await world.reviewed(task.id, "needs_revision")
        again = await world.run("ada", RunKind.EXECUTE, task_id=task.id)
        await world.delivered(again, task.id, "43 files")
        ids = [output.id for output in await world.all(Output)]
        for about in ({"task": task.id}, {"goal": task.goal_id}, {"round": task.round_id}):
            told = await looked(world, "ListOutputs", **about)
            assert [(one["id"], one["superseded"]) for one in told["outputs"]] == [(ids[0], True), (ids[1], False)]
            assert "content" not in told["outputs"][0]
        found = await pages(world, "ListOutputs", "outputs", "after", task=task.id, limit=1)
        assert found == [[ids[0]], [ids[1]]]


class TestSearch:
    async def test_hits_of_every_kind_in_pages(self, world: World) -> None:
        goal = await world.a_goal(title="Narwhal count", tasks=({"title": "Find the narwhal", "end_state": "found"},))
        task = (await world.all(Task))[0]
        for number in range(4):
            await world.operator("AddComment", task=task.id, body=f"narwhal {number} seen, 独角鲸")
        await world.do(
            SYSTEM, "IndexKnowledge", sections=({"path": "knowledge/a.md", "heading": "h", "body": "narwhal"},)
        )
        found, following = [], 0
        while following is not None:
            answer = await looked(world, "SearchBoard", words="narwhal", limit=3, offset=following)
            found += answer["hits"]
            following = answer["next"]
        assert sorted(hit["of"].partition(":")[0] for hit in found) == (["comment"] * 4 + ["goal", "knowledge", "task"])
        assert len({hit["of"] for hit in found}) == 7
        hit = next(hit for hit in found if hit["of"].startswith("comment"))
        assert (hit["task"], hit["goal"], hit["by"]) == (task.id, goal.id, "human")
        assert "narwhal" in hit["snippet"]
        only = await looked(world, "SearchBoard", words="独角鲸", where="comments")
        assert len(only["hits"]) == 4
        assert (await looked(world, "SearchBoard", words="narwhal", where="outputs"))["hits"] == []

    async def test_what_is_found_can_be_read(self, world: World) -> None:
        goal = await world.a_goal(title="x", description="narwhal " + "y" * 6_000)
        await world.operator("AddComment", goal=goal.id, body="a narwhal")
        for hit in (await looked(world, "SearchBoard", words="narwhal"))["hits"]:
            field = {"goal": "description", "comment": "body", "task": "intent"}[hit["of"].partition(":")[0]]
            assert "narwhal" in (await looked(world, "ReadText", of=hit["of"], field=field))["text"]
