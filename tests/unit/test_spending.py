"""What was spent, by whom, for what and when; how the budgets stand; and the same on the command line."""

from pathlib import Path

import pytest

from core.domain.entities import Run
from core.domain.errors import Conflict
from core.spending import Spending, Spent, spending
from core.waiting import owed
from tests.unit.budgets import DAY_MS, limit, queued, ran, start
from tests.unit.world import World
from tui.cli import main
from tui.cli.budgets import _tell
from tui.cli.deciding import _choice, item_text
from tui.panes.spent import spent_rows
from tui.panes.staff import Money
from tui.sparkline import sparkline


async def look(world: World) -> Spending:
    return await spending(world.board.readers, world.clock())


def of(rows: tuple[Spent, ...]) -> dict[str, tuple[int, int, int]]:
    return {row.name: (row.cost_micros, row.held_back_micros, row.runs) for row in rows}


async def test_spend_by_agent_goal_model_and_day(world: World) -> None:
    goal = await world.an_active_goal(title="Audit")
    await ran(world, 30, goal_id=goal.id)
    world.clock.advance(DAY_MS)
    await ran(world, 12, goal_id=goal.id)
    run = await ran(world, 5, "bob")
    await world.read(lambda tx: tx.update(tx.get(Run, run), "RunModelTold", model="m-1", tokens_in=7, tokens_out=2))
    live = await queued(world, goal_id=goal.id)
    await start(world, live)
    found = await look(world)
    assert of(found.agents) == {"ada": (42, 21, 2), "bob": (5, 0, 1)}
    assert of(found.goals) == {"Audit": (42, 21, 2)}
    assert of(found.models) == {"": (42, 21, 2), "m-1": (5, 0, 1)}
    assert [(row.tokens_in, row.tokens_out) for row in found.models if row.name] == [(7, 2)]
    assert (found.cost_micros, found.held_back_micros) == (47, 21)
    assert (len(found.days), found.by_day[-2:]) == (14, (30, 17))
    assert found.agents[0].by_day[-2:] == (30, 12)
    assert found.days[-1] == world.clock() - world.clock() % DAY_MS


async def test_what_is_older_than_two_weeks_is_in_the_sum_alone(world: World) -> None:
    await ran(world, 30)
    world.clock.advance(13 * DAY_MS)
    assert (await look(world)).by_day == (30, *[0] * 13)
    world.clock.advance(DAY_MS)
    found = await look(world)
    assert (found.by_day, found.cost_micros) == ((0,) * 14, 30)


async def test_runs_whose_cost_is_not_known_are_counted_beside_the_sums(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    await ran(world, 30)
    assert (await look(world)).without_cost == 0
    run = await queued(world)
    await start(world, run)
    await world.system("RecordCost", run=run, tokens_in=700, tokens_out=3)
    found = await look(world)
    assert (found.without_cost, found.cost_micros) == (1, 30)
    _tell(found)
    said = " ".join(capsys.readouterr().out.split())
    assert "1 run of these days at no known cost" in said
    assert "today 0.00003 USD + unknown" in said
    assert (found.agents[0].without_cost, found.agents[0].without_cost_today) == (1, 1)
    money = Money.of(found)
    assert money.words == "today $0.00 + unknown · 14 days $0.00 + unknown"
    last = spent_rows(found)[-1]
    assert (last.id, last.cells[:2]) == ("head:unknown", (("+ unknown", "warn"), ("1", "dim")))
    world.clock.advance(14 * DAY_MS)
    assert (await look(world)).without_cost == 0


async def test_how_the_budgets_stand(world: World) -> None:
    await limit(world, 50, "agent", slug="ada")
    await limit(world, 100, period="month")
    await ran(world, 50)
    await start(world, await queued(world))
    company, ada = (await look(world)).budgets
    assert (company.scope, company.spent_micros, company.percent, company.is_used_up) == ("company", 50, 50, False)
    assert (ada.name, ada.left_micros, ada.is_used_up, ada.warned) == ("ada", 0, True, True)
    assert (company.waits, ada.waits) == (None, (await world.pending("agent:5"))[0].id)


async def test_a_board_on_which_nothing_was_spent(world: World) -> None:
    found = await look(world)
    assert (found.cost_micros, found.budgets, found.agents, found.goals, found.models) == (0, (), (), (), ())


@pytest.mark.parametrize(
    ("figures", "bars"),
    [((), ""), ((0, 0), "··"), ((1, 1000), "▁█"), ((5, 5), "██"), ((0, 4, 8), "·▄█"), ((2**62, 1), "█▁")],
)
def test_a_sparkline_shows_that_little_is_not_nothing(figures: tuple[int, ...], bars: str) -> None:
    assert sparkline(figures) == bars


# On the command line ------------------------------------------------------------------------------------------------


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main([*words])
    told = capsys.readouterr()
    return code, told.out + told.err


def test_budgets_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "c")
    main(["init", folder])
    main(["goal", "add", folder, "One"])
    main(["agent", "hire", folder, "ada", "--role", "executor"])
    assert "No budget is set." in said(capsys, "budget", folder)[1]
    assert said(capsys, "budget", "set", folder, "company", "2.50", "--period", "month")[1] == (
        "company: 2.50 USD a month.\n"
    )
    assert said(capsys, "budget", "raise", folder, "company", "1", "--once")[1] == (
        "company: 3.50 USD now, 2.50 USD from the next period on.\n"
    )
    for scope in ("ada", "G1"):
        assert said(capsys, "budget", "set", folder, scope, "1")[0] == 0
    told = said(capsys, "budget", "show", folder)[1]
    assert "budget of the company: 0.00 USD of 3.50 USD this month (0 %); limit 2.50 USD a month, 1.00 USD more" in told
    assert "budget of ada: " in told
    assert "budget of G1 One: " in told
    assert said(capsys, "budget", "set", folder, "A1", "0")[1] == "A1: no limit.\n"
    assert "budget of ada" not in said(capsys, "budget", folder)[1]


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("set", "nobody", "1"), 2, "no agent 'nobody'"), (("set", "company", "much"), 2, "no amount"),
        (("set", "company", "-1"), 2, ""), (("raise", "company", "0"), 2, "RaiseBudget was refused"),
        (("raise", "company", "1"), 1, "no budget of the company"), (("set", "G9", "1"), 1, "no G9"),
        (("set", "", "1"), 2, "Whose budget"),
    ],
)  # fmt: skip
def test_what_is_no_budget_is_refused(
    words: tuple[str, str, str], code: int, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "c")
    main(["init", folder])
    capsys.readouterr()
    verb, *rest = words
    try:
        got, told = said(capsys, "budget", verb, folder, *rest)
    except SystemExit as error:
        got, told = int(str(error.code)), capsys.readouterr().err
    assert got == code
    assert why in told


async def test_the_question_names_the_commands_that_answer_it(world: World) -> None:
    goal = await world.an_active_goal()
    await limit(world, 100, "agent", slug="ada")
    await limit(world, 1_000_000, "goal", scope_id=goal.id)
    await ran(world, 1_000_000, goal_id=goal.id)
    await start(world, await queued(world, goal_id=goal.id))
    told = "\n".join([item_text(item, Path("/srv/acme")) for item in await owed(world.board.readers)])
    for command in (
        "raise once: opsroom approve /srv/acme Q1", "raise for good: opsroom budget raise /srv/acme A5 1.9999",
        "leave held: opsroom reject /srv/acme Q1 --note 'why'", "pause: opsroom agent pause /srv/acme ada",
        "raise for good: opsroom budget raise /srv/acme G1 1\n", "pause: opsroom goal pause /srv/acme G1",
    ):  # fmt: skip
        assert command in told


async def test_to_send_back_raises_nothing(world: World) -> None:
    await limit(world, 100)
    await ran(world, 100)
    await start(world, await queued(world))
    (item,) = await owed(world.board.readers)
    with pytest.raises(Conflict, match="send back is not possible"):
        _choice(item, "r", "send back", Path("/srv/acme"))
