"""An act at a red line is held before its effect; the operator releases exactly it, once, or refuses it (D-03)."""

import json
from pathlib import Path

import pytest

from core.domain.actors import Agent
from core.domain.errors import Conflict
from tests.flows.conftest import Picture
from tests.flows.world import (
    HOME,
    SMALL,
    Office,
    a_goal_at_work,
    an_office,
    at_work,
    press,
    ready,
    settle,
    shown,
    wait,
    write,
)
from tui.screens.confirm import Confirm

ACT = {"tool": "shell", "command": "rm -r assets/old", "folder": "/srv/site"}
SIZES = pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])


async def held(office: Office) -> None:
    """An agent that meets a red line: its task waits, and its run ends."""
    links = await at_work(office, 3, "links")
    answer = await office.do("CheckAct", links, task=3, act=ACT)
    assert (answer["allowed"], answer["waits"]) == (False, 1)
    await office.end(links)
    office.clock.forward(20)


async def at_it_again(office: Office) -> Agent:
    """Somebody works on the task anew."""
    return await at_work(office, 3, "links")


@SIZES
async def test_an_act_is_held_released_by_key_and_done_once(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        await held(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            assert "! red line" in shown(app)
            await press(pilot, "enter")
            await picture(pilot, "it-is-held")
            await press(pilot, "escape", "a")
            assert isinstance(app.screen, Confirm)
            assert "red line data_deletion: rm -r assets/old" in shown(app)
            assert "command: rm -r assets/old" in shown(app)
            await picture(pilot, "exactly-this")
            await press(pilot, "enter")  # cancel has the focus
            await wait(pilot, office, 10)
            assert (await office.approval()).status == "pending"

            await press(pilot, "a")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            await wait(pilot, office, 4)
            assert (await office.approval()).status == "pending", "it is held for five seconds"
            await wait(pilot, office, 2)
            assert (await office.approval()).status == "approved"
            assert (await office.task(3)).status == "pending"

            links = await at_it_again(office)
            other = {**ACT, "command": "rm -r assets"}
            with pytest.raises(Conflict, match="approved something else"):
                await office.do("CheckAct", links, task=3, act=other, approval=1)
            assert (await office.do("CheckAct", links, task=3, act=ACT))["allowed"]
            assert (await office.approval()).status == "consumed"
            assert (await office.do("CheckAct", links, task=3, act=ACT))["waits"] == 2, "one yes is one act"
            await settle(pilot)
            assert "! red line" in shown(app)


@pytest.mark.soak
async def test_an_act_is_refused_with_a_reason(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        await held(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "b")
            await write(pilot, "Keep the old assets")
            await press(pilot, "enter")
            await wait(pilot, office, 6)
            refused = await office.approval()
            assert (refused.status, refused.note) == ("rejected", "Keep the old assets")
            task = await office.task(3)
            assert (task.status, task.reason) == ("pending", "Keep the old assets")
            links = await at_it_again(office)
            again = await office.do("CheckAct", links, task=3, act=ACT)
            assert not again["allowed"]
            assert "Keep the old assets" in again["why"]
            await settle(pilot)
            assert not any(item.kind == "red_line" for item in app.room.view.inbox()), "it is not asked again"
            await picture(pilot, "refused")


QUOTE = {"kind": "quote", "path": "docs/notes.md", "lines": [
    {"line": 12, "text": 'TODO: say "no" to \\n'}, {"line": 40, "text": "    FIXME"},
]}  # fmt: skip


@SIZES
async def test_a_quote_is_read_line_by_line_before_it_goes_out(tmp_path: Path, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        links = await at_work(office, 3, "links")
        asked = await office.do(
            "AddOutput", links, task=3, type="data", title="Quote 2 marked lines", content=json.dumps(QUOTE, indent=1),
            publish=True,
        )  # fmt: skip
        await office.end(links)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            block = next(each for each in app.room.detail.prose.blocks if "red line" in str(each.heading))
            exactly = [
                "content: (JSON)", "  kind: quote", "  path: docs/notes.md", "  lines:",
                '    line 12: TODO: say "no" to \\n', "    line 40:     FIXME",
            ]  # fmt: skip
            assert "\n".join(exactly) in block.body
            approval = await office.approval(asked["waits"])
            assert f"sha256: {approval.payload['sha256']}" in block.body

            await press(pilot, "a")
            assert isinstance(app.screen, Confirm)
            confirm = "\n".join(app.screen._lines)
            assert "\n".join(f"  {line}" for line in exactly) in confirm
            assert f"content sha256 {approval.payload_hash[:32]}" in confirm
            assert "Approve T3?" in shown(app)


async def test_giving_up_is_asked_in_words(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_goal_at_work(office)
        coordinator = await office.agent("coordinator", "plan", goal_id=goal)
        await office.do(
            "RequestApproval", coordinator, kind="goal_failure", entity=f"goal:{goal}", title="Give G1 up?",
            payload={"goal": goal, "why": 'No "Markdown" here'},
        )  # fmt: skip
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            block = next(each for each in app.room.detail.prose.blocks if "goal failure" in str(each.heading))
            assert 'why: No "Markdown" here\ngoal: G1' in block.body
            assert "{" not in block.body
