"""Forms of commands: every command that a person may give has one, and what is typed becomes its arguments."""

import re

import pytest

from core.commands.budgets import SetBudget
from core.commands.goals import ReviewGoal
from core.commands.registry import REGISTRY
from core.domain.entities import Approval, Goal, Task
from core.domain.lifecycles import Who
from tests.unit.facts import a, agent
from tui.command_fields import arguments, built, fields_of, prefilled, told, with_hash
from tui.projection import Projection
from tui.told_commands import about_in_words

OPERATORS = sorted(name for name, each in REGISTRY.items() if Who.OPERATOR in each.model.who)


@pytest.fixture
def view() -> Projection:
    found = Projection()
    found.load(1, [
        a(Goal, id=1, title="Audit", content_hash="g" * 64), a(Task, id=3, goal_id=1, title="Count"),
        a(Approval, id=4, payload_hash="p" * 64), agent(2, "ada"),
    ])  # fmt: skip
    return found


@pytest.mark.parametrize("name", OPERATORS)
def test_each_command_has_a_field_for_all_that_it_needs_and_no_hash_is_typed(name: str, view: Projection) -> None:
    model = REGISTRY[name].model
    fields = fields_of(model)
    needed = {each.name for each in fields if each.required}
    assert needed == {each for each, info in model.model_fields.items() if info.is_required()}
    assert not any("hash" in each.name for each in fields)
    given, wrong = arguments(fields, {}, view)
    assert given == {}
    assert wrong.keys() == needed


def test_what_is_typed_becomes_arguments_and_is_told_in_words(view: Projection) -> None:
    fields = fields_of(SetBudget)
    texts = {"scope": "goal", "scope_id": "1", "limit_micros": "$2.50", "period": "week"}
    given, wrong = arguments(fields, texts, view)
    assert not wrong
    assert given == {"scope": "goal", "scope_id": 1, "limit_micros": 2_500_000, "period": "week"}
    assert built(SetBudget, given)[0] == SetBudget(**given)
    assert "limit: $2.50" in told(fields, given, view)


@pytest.mark.parametrize(
    ("command", "field", "text", "wrong"),
    [
        ("CancelTask", "task", "G1", "type it like T3"),
        ("SetBudget", "scope", "galaxy", "one of company"),
        ("SetBudget", "limit_micros", "five", "no amount"),
        ("SetBudget", "limit_micros", "5 a day", "no amount"),
        ("PauseGoal", "paused", "maybe", "yes or no"),
        ("EditTask", "priority", "high", "no whole number"),
        ("EditAgent", "runner", "{kind", "no JSON"),
        ("HireAgent", "slug", "  ", "needed"),
    ],
)
def test_what_cannot_be_understood_is_said_at_its_field(
    view: Projection, command: str, field: str, text: str, wrong: str
) -> None:
    _, problems = arguments(fields_of(REGISTRY[command].model), {field: text}, view)
    assert wrong in problems[field]


def test_what_the_command_itself_refuses_is_said_at_its_field() -> None:
    command, wrong = built(REGISTRY["HireAgent"].model, {"slug": "No Slug", "name": "x", "role": "executor"})
    assert command is None
    assert list(wrong) == ["slug"]


def test_the_selected_thing_is_filled_in(view: Projection) -> None:
    assert prefilled(fields_of(REGISTRY["CancelTask"].model), view, "task:3") == {"task": "T3"}
    assert prefilled(fields_of(REGISTRY["PauseGoal"].model), view, "task:3") == {"goal": "G1"}
    assert prefilled(fields_of(REGISTRY["PauseAgent"].model), view, "agent:2") == {"agent": "ada"}
    assert prefilled(fields_of(REGISTRY["DecideApproval"].model), view, "approval:4") == {"approval": "Q4"}
    assert prefilled(fields_of(REGISTRY["StopCompany"].model), view, "task:3") == {}


def test_a_decision_is_bound_to_the_content_that_is_shown(view: Projection) -> None:
    assert with_hash(ReviewGoal, {"goal": 1}, view) == {"goal": 1, "content_hash": "g" * 64}
    decide = REGISTRY["DecideApproval"].model
    assert with_hash(decide, {"approval": 4}, view) == {"approval": 4, "payload_hash": "p" * 64}
    assert with_hash(REGISTRY["CancelTask"].model, {"task": 3}, view) == {"task": 3}


@pytest.mark.parametrize("name", OPERATORS)
def test_a_command_is_told_without_rows_of_the_requirements(name: str) -> None:
    told_so = about_in_words(REGISTRY[name].about)
    assert not re.search(r"\([A-Z]\d?-?\d", told_so)
    assert told_so.endswith((".", "!"))


def test_lines_are_told_apart_by_their_sign(view: Projection) -> None:
    fields = fields_of(REGISTRY["EditTask"].model)
    given, wrong = arguments(fields, {"task": "T3", "constraints": "one⏎ two ⏎", "intent": "a⏎b"}, view)
    assert not wrong
    assert given == {"task": 3, "constraints": ["one", "two"], "intent": "a\nb"}
