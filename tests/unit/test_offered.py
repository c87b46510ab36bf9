"""What a run is offered: the calls that the program's own agents make, and nothing that its role may not send."""

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from core.agents.rehearsal import answering, ceo
from core.agents.rehearsal.runner import DUTIES
from core.agents.runner import Desk
from core.commands.door import capacities_of
from core.commands.registry import REGISTRY, Answer, letters, parse
from core.domain.states import Role, RunKind
from core.reading.chinese import ABOUT
from core.reading.offered import COMMANDS, KINDS, MENTIONED, QUERIES, api_facts, offered, tools
from core.reading.registry import READS, parse_query
from core.simulation.agents import Player
from core.simulation.habits import USUAL
from core.simulation.policy import Bounds, Person, Policy
from core.simulation.trial import Size, trial

AGENTS = letters("ACRX")
# By which calls a run comes to its end, in whatever way (S2-05, S3-02, S3-08, S3-12).
ENDS: dict[RunKind, set[str]] = {
    RunKind.PROPOSE: {"CreateGoal"},
    RunKind.EXPLORE: {"EditGoal", "AddComment"},
    RunKind.SPLIT: {"CreateTask"},
    RunKind.PLAN: {"ActivateGoal", "OpenRound", "ReportGoal", "RequestApproval"},
    RunKind.BROADCAST: {"ClaimTask", "AnswerOffer", "AddComment"},
    RunKind.EXECUTE: {"StartTask", "PostPlan", "AddOutput", "AddComment", "SubmitTask", "FailTask", "BlockTask",
                      "AskOperator", "CheckAct"},
    RunKind.REVIEW: {"ReviewTask"},
    RunKind.RULE: {"RuleTask"},
    RunKind.ROUND_REVIEW: {"ReviewRound"},
    RunKind.STALL: {"UnblockTask", "CancelTask", "SplitTask", "EditTask", "RequestApproval"},
    RunKind.REPORT: {"ReportGoal", "OpenRound"},
}  # fmt: skip
KNOWINGLY_NOT = {
    # Scripted liars try it; the board refuses it while the turn goes on.
    (RunKind.DISCUSS, "ActivateGoal"),
    # The rehearsal's report goes with a file of its own; who plans and finds all done needs none.
    (RunKind.PLAN, "AddOutput"),
}


def kinds() -> Iterator[tuple[RunKind, Role]]:
    return ((kind, role) for role, kinds_of_it in KINDS.items() for kind in kinds_of_it)


class Called(ast.NodeVisitor):
    """The commands that a function and all that it uses of its own package may send, whichever way they go."""

    def __init__(self, package: str, methods: type | None = None) -> None:
        self.commands: set[str] = set()
        self._package, self._methods = package, methods
        self._seen: set[Any] = set()

    def look(self, function: Callable[..., Any]) -> set[str]:
        if function not in self._seen and isinstance(function, FunctionType):
            self._seen.add(function)
            outer, self._names = getattr(self, "_names", {}), function.__globals__
            self.visit(ast.parse(textwrap.dedent(inspect.getsource(function))))
            self._names = outer
        return self.commands

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and node.value in REGISTRY:
            self.commands.add(node.value)

    def visit_Name(self, node: ast.Name) -> None:
        self._used(self._names.get(node.id))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name):
            owner = self._names.get(node.value.id)
            if isinstance(owner, ModuleType):
                self._used(getattr(owner, node.attr, None))
            elif node.value.id == "self" and self._methods is not None:
                self._used(getattr(self._methods, node.attr, None))
            elif node.value.id == "shift":
                from core.agents.rehearsal.shift import Shift

                self._used(getattr(Shift, node.attr, None))
        self.generic_visit(node)

    def _used(self, thing: Any) -> None:
        if isinstance(thing, FunctionType) and thing.__module__.startswith(self._package):
            self.look(thing)


REHEARSAL: dict[RunKind, tuple[Callable[..., Any], ...]] = {
    **{kind: (duty,) for kind, duty in DUTIES.items()},
    RunKind.MENTION: (answering.answer, ceo.take_note),
}
SIMULATED = {
    RunKind.PROPOSE: Player.propose, RunKind.EXPLORE: Player.explore, RunKind.DISCUSS: Player.discuss,
    RunKind.SPLIT: Player.split, RunKind.HEARTBEAT: Player.look_after, RunKind.BROADCAST: Player.look_at_offers,
    RunKind.EXECUTE: Player.execute, RunKind.REVIEW: Player.review, RunKind.RULE: Player.rule,
    RunKind.MENTION: Player.reply, RunKind.PLAN: Player.plan, RunKind.ROUND_REVIEW: Player.review_round,
    RunKind.STALL: Player.unstick, RunKind.REPORT: Player.report,
}  # fmt: skip


def called_by_agents(kind: RunKind) -> set[str]:
    rehearsal = Called("core.agents.rehearsal")
    found = set().union(*(rehearsal.look(duty) for duty in REHEARSAL[kind]))
    return found | Called("core.simulation", Player).look(SIMULATED[kind])


@pytest.mark.parametrize("kind", RunKind)
def test_what_our_agents_call_is_offered(kind: RunKind) -> None:
    called = called_by_agents(kind)
    assert called, "the look at the sources found nothing"
    may = set().union(*(offered(role, kind).names for role in Role if kind in KINDS[role]))
    assert {command for command in called - may if (kind, command) not in KNOWINGLY_NOT} == set()


def test_the_look_at_the_sources_sees_calls_behind_calls() -> None:
    assert {"StartTask", "AddOutput", "SubmitTask", "BlockTask", "RebutReview", "PostPlan"} <= called_by_agents(
        RunKind.EXECUTE
    )
    assert {"ReportGoal", "AddOutput", "CancelTask"} <= called_by_agents(RunKind.REPORT)
    assert "ReviewTask" not in called_by_agents(RunKind.EXECUTE)


@pytest.mark.parametrize(("kind", "role"), list(kinds()))
def test_a_run_can_come_to_its_end_and_read(kind: RunKind, role: Role) -> None:
    names = offered(role, kind).names
    assert ENDS.get(kind, {"AddComment"}) <= names
    # Marks at clipped texts name it; and nobody speaks of a task without having seen one.
    assert "ReadText" in names
    assert names & {"ReadTask", "ReadGoal"}


@pytest.mark.parametrize("kind", RunKind)
@pytest.mark.parametrize("role", Role)
def test_nobody_is_offered_what_the_door_would_refuse_to_the_role(kind: RunKind, role: Role) -> None:
    found = offered(role, kind)
    assert all(one.model.who & capacities_of(role) for one in (*found.commands, *found.queries))
    assert len({one.name for one in found.commands}) == len(found.commands)


def test_what_must_not_be_offered() -> None:
    broadcast = offered(Role.EXECUTOR, RunKind.BROADCAST).names
    assert not broadcast & {"StartTask", "SubmitTask", "AddOutput", "FailTask", "CreateTask", "EditTask"}
    for kind in (RunKind.EXECUTE, RunKind.BROADCAST, RunKind.DISCUSS):
        assert not offered(Role.EXECUTOR, kind).names & {"ReviewTask", "ReviewRound", "ReportGoal", "ProposeHire"}
    for role in (Role.REVIEWER, Role.CHALLENGER):
        for kind in (RunKind.REVIEW, RunKind.MENTION):
            assert not offered(role, kind).names & {"SubmitTask", "CreateTask", "EditTask", "CancelTask", "ClaimTask"}
    assert "ReviewTask" not in offered(Role.REVIEWER, RunKind.MENTION).names
    assert not offered(Role.COORDINATOR, RunKind.ROUND_REVIEW).names & {"ReportGoal", "OpenRound", "CancelTask"}
    ceo = set().union(
        *(offered(Role.CEO, kind).names for kind in (RunKind.PROPOSE, RunKind.HEARTBEAT, RunKind.MENTION))
    )
    assert not ceo & {"ActivateGoal", "CancelTask", "ReviewRound", "RuleTask", "StartTask", "ClaimTask"}


def test_every_kind_and_role_is_thought_of() -> None:
    assert COMMANDS.keys() | {RunKind.MENTION} == set(RunKind) == set(QUERIES)
    assert set(MENTIONED) == set(Role)
    told = set().union(*(offered(role, kind).names for role in Role for kind in RunKind))
    assert told >= set(READS), "a query that nobody is told of"
    untold = {name for name, one in REGISTRY.items() if one.model.who & AGENTS} - told
    # A runner sends these for its program; a model has no use for them.
    assert untold == {"AskPermission", "WithdrawPermission"}


@pytest.mark.parametrize("name", [name for name, one in sorted(REGISTRY.items()) if one.model.who & AGENTS])
def test_each_command_of_agents_has_an_example_that_parses(name: str) -> None:
    example = json.loads(json.dumps(REGISTRY[name].example))
    assert example
    parse(name, example)


@pytest.mark.parametrize("name", sorted(READS))
def test_each_query_has_an_example_that_parses(name: str) -> None:
    example = json.loads(json.dumps(READS[name].example))
    assert example
    parse_query(name, example)
    assert READS[name].about


def test_the_api_is_told_in_lines_that_fit_into_a_list() -> None:
    for kind, role in kinds():
        for locale in ("en", "zh"):
            told = api_facts(role, kind, locale)
            for one in (*told["commands"], *told["reads"]):
                assert set(one) == {"name", "about", "example", "fields"}
                assert not set("\n`") & set(one["example"]), one
                assert "\n" not in one["about"]
                assert one["about"].endswith((".", "。")), one
                assert isinstance(json.loads(one["example"]), dict)
    told = api_facts(Role.EXECUTOR, RunKind.BROADCAST)
    fields = {one["name"]: one["fields"] for one in (*told["commands"], *told["reads"])}
    assert fields["AnswerOffer"] == "task, answer: open|claim|observation|no_reply"
    assert fields["AddComment"].startswith("task?, goal?, kind?: note|observation|")
    assert fields["ReadTask"] == "task, expand?"
    assert next(one for one in told["commands"] if one["name"] == "ClaimTask")["fields"] == "task"
    assert "(S" not in json.dumps(told)


def test_everything_offered_is_told_in_chinese_too() -> None:
    for kind, role in kinds():
        english, chinese = api_facts(role, kind), api_facts(role, kind, "zh")
        for part in ("commands", "reads"):
            assert [one["name"] for one in english[part]] == [one["name"] for one in chinese[part]]
            for one, other in zip(english[part], chinese[part], strict=True):
                assert re.search(r"[一-鿿]", other["about"]), other
                assert (one["example"], one["fields"]) == (other["example"], other["fields"])
    assert set(ABOUT) <= set(REGISTRY) | set(READS)


def test_tools_have_schemas_that_refuse_unknown_fields() -> None:
    for tool in tools(Role.EXECUTOR, RunKind.EXECUTE):
        parameters = tool["function"]["parameters"]
        assert parameters["additionalProperties"] is False
        assert parameters["type"] == "object"


@pytest.mark.soak
@pytest.mark.parametrize("seed", [2, 3])
async def test_in_a_long_life_nothing_is_called_that_was_not_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    called: set[tuple[Role, RunKind, str]] = set()
    inner = Desk.call

    async def call(self: Desk, command: str, /, **arguments: Any) -> Answer:
        run = await self.readers.one(
            "SELECT kind, role FROM runs JOIN agents ON agents.id = agent_id WHERE runs.id = :r", r=self.actor.run_id
        )
        assert run is not None
        called.add((Role(run["role"]), RunKind(run["kind"]), command))
        return await inner(self, command, **arguments)

    monkeypatch.setattr(Desk, "call", call)
    policy = Policy(habits=USUAL, operator=Person(explore=seed == 2), caps=Bounds(round_cap=3))
    await trial(tmp_path, policy, Size(ticks=100, tasks=3 * (seed == 3)), seed)
    assert len({kind for _, kind, _ in called}) >= 6
    assert all(kind in KINDS[role] for role, kind, _ in called)
    strange = {(kind, name) for role, kind, name in called if name not in offered(role, kind).names}
    assert strange <= KNOWINGLY_NOT
