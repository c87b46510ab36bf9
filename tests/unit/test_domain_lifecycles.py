"""The tables of who may move what where, alone and beside the commands and the document that are made from them."""

from pathlib import Path

import pytest

import core.commands  # noqa: F401 - fills the registry
from core.commands.registry import REGISTRY
from core.domain.errors import Conflict, Forbidden
from core.domain.lifecycles import INNER, LIFECYCLES, Lifecycle, Move, Who
from core.domain.lifecycles_document import document
from core.domain.states import ApprovalStatus, GoalStatus, RoundStatus, RunStatus, TaskStatus

STATES = {
    "goal": GoalStatus,
    "task": TaskStatus,
    "round": RoundStatus,
    "approval": ApprovalStatus,
    "run": RunStatus,
}
EVERY_MOVE = [(cycle, move) for cycle in LIFECYCLES.values() for move in cycle.moves]
EVERYBODY = frozenset(Who)


def name(value: object) -> str:
    """Short names for parameters."""
    if isinstance(value, Move):
        return f"{value.source}-{value.act}-{value.target}"
    return value.thing if isinstance(value, Lifecycle) else str(value)


@pytest.mark.parametrize("cycle", LIFECYCLES.values(), ids=name)
def test_whatever_is_not_in_the_table_is_a_conflict_that_names_the_state_and_the_next_acts(cycle: Lifecycle) -> None:
    acts = {move.act for move in cycle.moves}
    for source in STATES[cycle.thing]:
        for target in STATES[cycle.thing]:
            for act in acts:
                if cycle.find(source, target, act) is not None:
                    continue
                with pytest.raises(Conflict) as refused:
                    cycle.require("X1", source, target, act, EVERYBODY)
                assert source in refused.value.message
                assert act in refused.value.message
                for move in cycle.acts_from(source):
                    assert move.act in refused.value.hint


@pytest.mark.parametrize(("cycle", "move"), EVERY_MOVE, ids=name)
def test_a_move_is_for_exactly_those_in_the_table(cycle: Lifecycle, move: Move) -> None:
    if move.source is None:
        return
    for who in Who:
        if who in move.who:
            cycle.require("X1", move.source, move.target, move.act, frozenset({who}))
        else:
            with pytest.raises(Forbidden):
                cycle.require("X1", move.source, move.target, move.act, frozenset({who}))


@pytest.mark.parametrize("cycle", LIFECYCLES.values(), ids=name)
def test_every_state_is_reachable_and_only_final_ones_are_ends(cycle: Lifecycle) -> None:
    assert {move.target for move in cycle.moves} == set(STATES[cycle.thing])
    assert {state for state in STATES[cycle.thing] if not cycle.acts_from(state)} == cycle.final
    for state in cycle.final:
        assert "stays so" in cycle.hint(state)


@pytest.mark.parametrize(("cycle", "move"), EVERY_MOVE, ids=name)
def test_every_act_is_a_command_for_those_who_may_or_follows_from_commands(cycle: Lifecycle, move: Move) -> None:
    if move.act in INNER:
        assert move.act not in REGISTRY
        assert set(INNER[move.act]) <= set(REGISTRY)
    else:
        assert move.who <= REGISTRY[move.act].model.who


@pytest.mark.parametrize("act", sorted({move.act for _, move in EVERY_MOVE} - set(INNER)))
def test_a_command_of_a_lifecycle_is_open_to_nobody_beyond_its_moves(act: str) -> None:
    who = frozenset().union(*(move.who for _, move in EVERY_MOVE if move.act == act))
    assert REGISTRY[act].model.who == who


def test_the_document_is_up_to_date() -> None:
    text = (Path(__file__).parents[2] / "docs" / "lifecycles.md").read_text(encoding="utf-8")
    assert text == document(), "python -m core.domain.lifecycles_document > docs/lifecycles.md"
