"""The prompts of real boards: what each run must be told, what it must not, and what a long board costs."""

import asyncio
import json
import re
import stat
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.agents.runner import Assignment, Desk, Outcome
from core.blackboard.readers import Readers
from core.company import OpenCompany, create_company
from core.config import CONFIG, Config
from core.domain.actors import Agent
from core.domain.entities import Experience, Run
from core.domain.errors import Invalid, NotFound
from core.domain.guardrails import GuardAction, RedLine
from core.domain.limits import EXPERIENCE_PREFIX
from core.domain.states import RunKind
from core.prompting.builder import build_prompt, preview_prompt
from core.prompting.counting import tokens
from core.prompting.prompt import LayerName, Prompt
from core.prompting.templates import shipped_library
from core.simulation.agents import HANDOFF
from core.simulation.simulator import a_simulation
from tests.prompting.facts import commission, gathered, outside
from tests.unit.world import FINDING, FIVE, World, a_company

MUST_HAVES = ("Every folder counted", "Every link followed")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_company(tmp_path) as made:
        yield made


async def told(world: World, actor: Agent, **more: Any) -> Prompt:
    return await build_prompt(world.board.readers, shipped_library(), await commission(world, actor), **more)


def layer(prompt: Prompt, name: LayerName) -> str:
    return next((one.text for one in prompt.layers if one.name == name), "")


async def test_each_prompt_of_a_task_holds_the_goal_its_must_haves_and_the_tasks_part(world: World) -> None:
    """F27: an id is not enough."""
    task, ada = await world.a_task("working", must_haves=MUST_HAVES, tasks=({"title": "Count", "must_haves": ("M2",)},))
    assert ada is not None
    prompts = [await told(world, ada)]
    await world.delivered(ada, task.id)
    await world.finish(ada)
    prompts.append(await told(world, await world.run("rita", RunKind.REVIEW, task_id=task.id)))
    prompts.append(await told(world, await world.run("cora", RunKind.RULE, task_id=task.id)))
    prompts.append(await told(world, await world.run("bob", RunKind.MENTION, task_id=task.id)))
    for prompt in prompts:
        project, own = layer(prompt, LayerName.PROJECT), layer(prompt, LayerName.TASK)
        assert "Audit the folder" in project
        assert all(must in project for must in MUST_HAVES)
        assert own.index("Its part in the goal") < own.index("M2:") < own.index(MUST_HAVES[1])
        assert "M1:" not in own


async def test_an_offer_holds_the_goal_too(world: World) -> None:
    task, _ = await world.a_task(must_haves=MUST_HAVES, tasks=({"title": "Count", "must_haves": ("M2",)},))
    prompt = await told(world, await world.run("bob", RunKind.BROADCAST, offers=[task.id]))
    assert all(must in layer(prompt, LayerName.PROJECT) for must in MUST_HAVES)
    assert "Must-haves: M2" in layer(prompt, LayerName.TASK)


async def test_no_fitting_budget_takes_goal_or_must_haves_away(tmp_path: Path) -> None:
    async with a_company(tmp_path) as world:
        task, ada = await world.a_task(
            "working", must_haves=MUST_HAVES, description="x " * 9_000,
            tasks=({"title": "Count", "must_haves": ("M1", "M2"), "intent": "y " * 9_000, "end_state": "z " * 9_000},),
        )  # fmt: skip
        assert ada is not None
        prompt = await told(world, ada, budget=3_000)
    assert tokens(prompt.text) <= 3_000
    assert "Audit the folder" in prompt.text
    assert prompt.text.count("M1") >= 2
    assert f'ReadTask {{"task": {task.id}, "expand": true}}' in prompt.text


class Counting(Readers):
    """Readers that count queries and rows."""

    queries = 0
    rows = 0

    async def _fetch(self, sql: str, parameters: dict[str, Any], make: Any) -> list[Any]:
        found = await super()._fetch(sql, parameters, make)
        self.queries += 1
        self.rows += len(found)
        return found


async def test_ten_thousand_comments_cost_no_more_than_a_few_queries(world: World) -> None:
    """F12; the newest words stay, and the prompt says how many others there are and how to read them."""
    task, ada = await world.a_task("working")
    assert ada is not None
    said = {"goal": task.goal_id, "task": task.id, "words": "words of others " * 20}

    def fill(tx: Any) -> None:
        tx.connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)"
            " INSERT INTO comments(goal_id, task_id, author, kind, body, created_at)"
            " SELECT :goal, :task, 'bob', 'note', 'word ' || i || ' ' || :words, 0 FROM n",
            said,
        )

    await world.read(fill)
    readers = await Counting.open(world.board.path)
    try:
        about = await commission(world, ada)
        prompt = await build_prompt(readers, shipped_library(), about)
    finally:
        await readers.close()
    assert readers.queries <= 25
    assert readers.rows <= 300
    assert tokens(prompt.text) <= prompt.budget
    assert "word 9999 " in prompt.text
    left = {one.what: one for one in layer_of(prompt, LayerName.TASK).left_out}["comments"]
    assert left.count == 10_000 - prompt.text.count("bob, note:")
    assert left.how == f'ListComments {{"task": {task.id}}}'
    assert f"Left out: comments, {left.count} of them. To read them: {left.how}" in prompt.text


def layer_of(prompt: Prompt, name: LayerName) -> Any:
    return next(one for one in prompt.layers if one.name == name)


async def test_the_second_reviewer_is_not_told_the_first_verdict(world: World) -> None:
    """S2-20."""
    task, ada = await world.a_task("review", tasks=({"title": "Count", "risk": "high"},))
    assert ada is not None
    await world.finish(ada)
    chad = await world.run("chad", RunKind.REVIEW, task_id=task.id)
    await world.do(chad, "AddComment", task=task.id, kind="review", body="The third harbour is dubious.")
    finding = {**FINDING, "what": "A dubious harbour"}
    await world.verdict(
        chad, task.id, "needs_revision", summary="dubious as a whole", findings=(finding,), dimensions=FIVE
    )
    await world.finish(chad)
    prompt = await told(world, await world.run("rita", RunKind.REVIEW, task_id=task.id))
    assert "dubious" not in prompt.text
    assert "42 files" in prompt.text


async def test_what_is_cut_is_cut_in_the_order_of_the_document(tmp_path: Path) -> None:
    from core.prompting.budget import _smaller
    from core.prompting.layers import full

    facts = (await asyncio.to_thread(gathered, tmp_path))["executor.execute"]
    facts = replace(facts, comments=facts.comments * 3 or (), predecessors=facts.predecessors * 2)
    order = ["bodies", "sections", "experiences", "comments", "predecessors", "length"]
    before, seen = full(facts), []
    for cut, _ in _smaller(facts, before):
        changed = next((name for name in order if getattr(cut, name) != getattr(before, name)), "")
        seen += [changed] if changed and changed not in seen else []
        before = cut
    assert seen == [name for name in order if name in seen]
    assert seen[0] == "bodies"
    assert seen[-1] == "length"


async def test_only_handoffs_by_the_author_of_the_work_become_experiences(world: World) -> None:
    """S3-09: the line begins exactly so, and nobody else's comment is looked at."""
    task, ada = await world.a_task("working")
    assert ada is not None
    line = f"{EXPERIENCE_PREFIX}Count twice."
    bob = await world.run("bob", task_id=task.id)
    for kind in ("note", "observation", "question"):
        await world.do(bob, "AddComment", task=task.id, kind=kind, body=line)
        await world.do(ada, "AddComment", task=task.id, kind=kind, body=line)
    await world.operator("AddComment", task=task.id, body=line)
    assert await world.all(Experience) == []
    inside = f"{HANDOFF}\nAs they say, {line}\n {line}\n💡 经验：Wrong colon.\n{line}"
    await world.do(ada, "AddComment", task=task.id, kind="handoff", body=inside)
    assert [(one.author, one.body) for one in await world.all(Experience)] == [("ada", "Count twice.")]


async def test_used_experiences_are_counted_and_the_hash_is_noted(tmp_path: Path) -> None:
    seen: list[Assignment] = []
    async with a_simulation(tmp_path) as simulation:

        async def run(assignment: Assignment, desk: Desk) -> Outcome:
            seen.append(assignment)
            return Outcome()

        simulation.agents.run = run  # type: ignore[method-assign]
        await simulation.operator("CreateGoal", title="Audit")
        await simulation.step()
        run_row = (await simulation.board.readers.entities(Run, "id = :id", id=seen[0].run.id))[0]
        assert run_row.prompt_hash == seen[0].prompt.hash
        await asyncio.to_thread(simulation.transcripts.flush)
        kept = simulation.transcripts.prompt_path(run_row.id)
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert Prompt.from_json(json.loads(kept.read_text(encoding="utf-8"))) == seen[0].prompt


async def test_all_red_lines_and_who_one_is_are_told_whatever_else_must_go(world: World) -> None:
    _, ada = await world.a_task("working")
    assert ada is not None
    about = await commission(world, ada)
    lines = [RedLine(f"line-{number}", "Word " * 40, GuardAction.PAUSE_AND_ESCALATE) for number in range(60)]
    agent = replace(about.agent, name="数据" * 100, capabilities=("能力" * 40,) * 50)
    for budget in (3_000, 8_000):
        told = await build_prompt(
            world.board.readers, shipped_library(), replace(about, agent=agent), red_lines=lines, budget=budget
        )
        guard = next(one for one in told.layers if one.name == LayerName.GUARDRAILS)
        assert all(f"- line-{number}: " in guard.text for number in range(60))
        assert told.tokens <= budget
        assert told.warnings == ()
        assert [(one.what, one.count) for one in guard.left_out] == [("ends of red lines", 60)]
        assert "Not in full above: ends of red lines, 60 of them." in guard.text
        assert re.search(r"… \+(3\d|4\d)\.", layer(told, LayerName.ROLE))


async def test_a_recorded_prompt_counts_each_experience_once(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    body = f"{HANDOFF}\n{EXPERIENCE_PREFIX}Count twice."
    await world.do(ada, "AddComment", task=task.id, kind="handoff", body=body)
    number = (await world.all(Experience))[0].id
    await world.operator("KeepExperience", experience=number)
    prompt = await told(world, ada)
    assert prompt.experiences in ((), (number,))
    await world.system("RecordPrompt", run=ada.run_id, prompt_hash=prompt.hash, experiences=[number, number, 999])
    assert (await world.find(Experience, number)).uses == 1
    assert (await world.find(Run, ada.run_id)).prompt_hash == prompt.hash
    assert (await world.events("RunPrompted", "ExperienceUsed")) == ["RunPrompted", "ExperienceUsed"]


async def test_equal_facts_have_equal_hashes_whatever_the_nonce(world: World) -> None:
    _, ada = await world.a_task("working")
    assert ada is not None
    one, other = await told(world, ada), await told(world, ada)
    assert one.nonce != other.nonce
    assert one.hash == other.hash
    assert outside(one.text, one.nonce)


@pytest.mark.parametrize(
    ("slug", "state", "errand"),
    [("ada", "pending", "a call to everybody"), ("ada", "working", "the task below is yours"),
     ("rita", "review", "you judge"), ("vera", "pending", "called you by name")],
)  # fmt: skip
async def test_what_an_agent_would_be_told_now(world: World, slug: str, state: str, errand: str) -> None:
    task, _ = await world.a_task(state)
    prompt = await preview_prompt(world.board.readers, shipped_library(), world.folder, slug, task.id)
    assert errand in layer(prompt, LayerName.ROLE)
    assert "Count the files" in prompt.text
    with pytest.raises(NotFound, match="nobody"):
        await preview_prompt(world.board.readers, shipped_library(), world.folder, "nobody")
    with pytest.raises(NotFound, match="T99"):
        await preview_prompt(world.board.readers, shipped_library(), world.folder, slug, 99)


async def test_own_files_are_told_unless_the_program_brings_them_or_a_link_leads_elsewhere(world: World) -> None:
    own = world.folder / "agents" / "ada"
    own.mkdir(parents=True)
    (own / "SOUL.md").write_text("Calm and exact.", encoding="utf-8")
    secret = world.folder / "secret"
    secret.write_text("of nobody's business", encoding="utf-8")
    (own / "MEMORY.md").symlink_to(secret)
    actor = await world.run("ada")
    about = await commission(world, actor)
    prompt = await build_prompt(world.board.readers, shipped_library(), about)
    assert "Calm and exact." in layer(prompt, LayerName.SELF)
    assert "nobody's business" not in prompt.text
    brings = replace(about, agent=replace(about.agent, runner={"kind": "chat", "brings_self": True}))
    assert layer(await build_prompt(world.board.readers, shipped_library(), brings), LayerName.SELF) == ""


async def test_the_budget_is_the_agents_own_before_the_companys(tmp_path: Path) -> None:
    folder = tmp_path / "company"
    await create_company(folder, Config(name="Test"))
    file = folder / CONFIG
    text = file.read_text(encoding="utf-8").replace("budget = 8000", "budget = 5000")
    file.write_text(text, encoding="utf-8")
    company = await OpenCompany.open(folder)
    try:
        for slug, runner in (("ada", {}), ("bob", {"prompt_tokens": 4_000}), ("eve", {"prompt_tokens": 1})):
            arguments = {"slug": slug, "name": slug, "role": "executor", "runner": {"kind": "rehearsal", **runner}}
            from core.commands.registry import parse

            await company.execute(parse("HireAgent", arguments))
        budgets = [(await company.preview_prompt(slug)).budget for slug in ("ada", "bob", "eve")]
    finally:
        await company.close()
    assert budgets == [5_000, 4_000, 3_000]
    file.write_text(text.replace("budget = 5000", "budget = 2999"), encoding="utf-8")
    with pytest.raises(Invalid, match=r"prompts\.budget"):
        await OpenCompany.open(folder)
