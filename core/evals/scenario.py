"""A scenario: the state of a company, the run that begins in it, and what must be true of the calls of that run."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, StringConstraints, model_validator

import core.commands  # noqa: F401 - fills the registry
from core.commands.registry import REGISTRY
from core.domain.ceo_mode import CeoMode
from core.domain.errors import Invalid
from core.domain.goals import canonical_hash
from core.domain.states import Role, RunKind
from core.evals.expecting import Expectation, wrong_matchers
from core.evals.names import names_in
from core.evals.places import Written, read_toml

SHIPPED = Path(__file__).parent / "scenarios"
OPERATOR = "operator"
_MEMBER = re.compile(
    r"(?P<slug>[a-z][a-z0-9-]*) +(?P<role>[a-z]+)(?: +under +(?P<boss>[a-z][a-z0-9-]*))?(?: *: *(?P<can>.+))?"
)
_Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Member(_Strict):
    """Somebody of the staff, hired by the operator before anything else happens."""

    slug: str
    role: Role
    boss: str | None
    capabilities: tuple[str, ...]


class Step(_Strict):
    """One command on the way to the state, or time that passes.

    `by` is the operator or an agent; an agent acts in a run of kind `run` about `task`, `goal` or `round`, and calls
    that follow each other in the same kind of run about the same thing are one run. `name` keeps the answer: `$name` is
    its id from then on, `$name.tasks.0` another part of it.
    """

    do: str = ""
    by: str = OPERATOR
    with_: dict[str, Any] = Field(default_factory=dict, alias="with")
    name: _Name | None = None
    run: RunKind = RunKind.MENTION
    task: str | None = None
    goal: str | None = None
    round: str | None = None
    wait_minutes: float = Field(0, ge=0, le=10_000)
    ticks: int = Field(0, ge=0, le=100)

    @model_validator(mode="after")
    def _does_something(self) -> "Step":
        if bool(self.do) + bool(self.wait_minutes) + bool(self.ticks) != 1:
            raise ValueError("a step has exactly one of do, wait_minutes, ticks")
        return self

    @property
    def about(self) -> dict[str, str]:
        """What an agent's run of this step is about."""
        named = {"task_id": self.task, "goal_id": self.goal, "round_id": self.round}
        return {name: value for name, value in named.items() if value is not None}


class Begin(_Strict):
    """The run that is judged. The company's own ticks begin it, as they would in life.

    `never` = true: the ticks must begin no such run.
    """

    agent: str
    run: RunKind
    task: str | None = None
    goal: str | None = None
    round: str | None = None
    never: bool = False


class Scenario(_Strict):
    """All of a scenario file. `mode` is the CEO's mode in which the run must begin; other agents have none."""

    about: str = Field(min_length=1)
    mode: CeoMode | None = None
    mission: str = ""
    locale: Literal["en", "zh"] = "en"
    staff: tuple[str, ...] = Field(min_length=1)
    steps: tuple[Step, ...] = ()
    begin: Begin
    expect: tuple[Expectation, ...] = ()
    _name: str = PrivateAttr("")
    _written: Written | None = PrivateAttr(None)

    @property
    def name(self) -> str:
        """What the file is called, without its ending; of a case that and the case, e.g. `claim-matrix-ada`."""
        return self._name

    @property
    def names(self) -> frozenset[str]:
        """By which it can be chosen: its own name, and the file's for all cases in it."""
        return frozenset({self._name, self.written.path.stem})

    @property
    def written(self) -> Written:
        """The file that it was read from."""
        assert self._written is not None
        return self._written

    @property
    def members(self) -> tuple[Member, ...]:
        """The staff, in the order of the file."""
        return tuple(member_of(line) for line in self.staff)

    @property
    def group(self) -> str:
        """Under which agreement is counted: the mode of a CEO, or the role of another agent."""
        if self.mode is not None:
            return str(self.mode)
        return next(str(member.role) for member in self.members if member.slug == self.begin.agent)

    @property
    def hash(self) -> str:
        """Of everything but what the file says for people, so that a baseline knows whether it was another one."""
        return canonical_hash(self.model_dump(mode="json", exclude={"about"}, exclude_defaults=True))

    @property
    def state_hash(self) -> str:
        """Of what leads to the state in which its run begins: who shares it begins on the same board."""
        return canonical_hash(self.model_dump(mode="json", include={"mission", "locale", "staff", "steps"}))


def member_of(line: str) -> Member:
    """`ada executor under vera: charts, maps` as a member. Raises ValueError."""
    match = _MEMBER.fullmatch(line.strip())
    if match is None:
        raise ValueError(
            f"{line!r} is not of the form 'slug role', 'slug role under boss', 'slug role: ability, ability'"
        )
    if match["role"] not in set(Role):
        raise ValueError(f"there is no role {match['role']!r}; there are {', '.join(Role)}")
    able = tuple(part.strip() for part in (match["can"] or "").split(",") if part.strip())
    return Member(slug=match["slug"], role=Role(match["role"]), boss=match["boss"], capabilities=able)


def read_file(path: Path) -> list[Scenario]:
    """The scenarios in a file: one, or one a case. Raises Invalid, which names the file and the line of what is wrong.

    A case has a `name` and, over what the file says, whatever else a scenario has; its steps and expectations come
    after the file's.
    """
    written = read_toml(path)
    if "cases" not in written.value:
        return [_scenario(written, path.stem)]
    cases = written.value["cases"]
    if not (isinstance(cases, list) and cases and all(isinstance(case, dict) for case in cases)):
        raise written.wrong("cases is to be a list: [[cases]] before each", "cases")
    found: dict[str, Scenario] = {}
    for number in range(len(cases)):
        part = written.part("cases", number)
        name = part.value.get("name")
        if not isinstance(name, str) or re.fullmatch(r"[a-z][a-z0-9-]*", name) is None:
            raise written.wrong("a case has a name of small letters, digits and hyphens", "cases", number)
        if name in found:
            raise written.wrong(f"there is a case {name} already", "cases", number)
        found[name] = _scenario(part.without("name"), f"{path.stem}-{name}")
    return list(found.values())


def _scenario(written: Written, name: str) -> Scenario:
    for number, line in enumerate(written.value.get("staff", ())):
        try:
            member_of(line)
        except (ValueError, AttributeError) as error:
            raise written.wrong(f"staff: {error}", "staff", number) from None
    scenario = written.build(Scenario)
    scenario._name = name
    scenario._written = written
    for place, problem in _problems(scenario):
        raise written.wrong(problem, *place)
    return scenario


def read_scenarios(folder: Path = SHIPPED) -> list[Scenario]:
    """Every scenario in a folder, by file. Raises Invalid for the first wrong file, or when there is none."""
    found = [scenario for path in sorted(folder.glob("*.toml")) for scenario in read_file(path)]
    if not found:
        raise Invalid(f"{folder} holds no scenario.", "Name a folder with .toml files, or install Opsroom again.")
    return found


Problem = tuple[Sequence[object], str]


def _problems(scenario: Scenario) -> Iterator[Problem]:
    """What is wrong beyond the form of the file."""
    slugs = [member.slug for member in scenario.members]
    for number, member in enumerate(scenario.members):
        if member.boss is not None and member.boss not in slugs[:number]:
            yield ("staff", number), f"{member.slug} reports to {member.boss}, who was not named before"
    yield from _step_problems(scenario, slugs)
    begin = scenario.begin
    kept = {step.name for step in scenario.steps if step.name}
    if begin.agent not in slugs:
        yield ("begin", "agent"), f"nobody of the staff is called {begin.agent!r}"
    elif (scenario.mode is None) == any(m.role == Role.CEO for m in scenario.members if m.slug == begin.agent):
        place = ("begin", "agent") if scenario.mode is None else ("mode",)
        yield place, "a run of the CEO has a mode, and no other has one"
    for part in ("task", "goal", "round"):
        for name in names_in(getattr(begin, part)) - kept:
            yield ("begin", part), f"${name} is the answer of no step"
    if not scenario.expect and not begin.never:
        yield ("begin",), "nothing is expected of the run"
    for number, expected in enumerate(scenario.expect):
        for problem in (
            *_expectation_problems(expected),
            *(f"${n} is the answer of no step" for n in names_in([expected.with_, expected.task]) - kept),
        ):
            yield ("expect", number), problem


def _step_problems(scenario: Scenario, slugs: Sequence[str]) -> Iterator[Problem]:
    kept: set[str] = set()
    for number, step in enumerate(scenario.steps):
        place = ("steps", number)
        if step.by not in (OPERATOR, *slugs):
            yield (*place, "by"), f"{step.by!r} is neither the operator nor of the staff"
        if step.do:
            for problem in _command_problems(step.do, step.with_):
                yield (*place, "do"), problem
        for name in names_in([step.with_, step.task, step.goal, step.round]) - kept:
            yield place, f"${name} is the answer of no earlier step"
        if step.name:
            kept.add(step.name)


def _expectation_problems(expected: Expectation) -> Iterator[str]:
    for command in expected.commands:
        yield from _command_problems(command, expected.with_)
    yield from wrong_matchers(expected.with_)


def _command_problems(command: str, arguments: dict[str, Any]) -> Iterator[str]:
    registered = REGISTRY.get(command)
    if registered is None:
        yield f"there is no command {command!r}"
        return
    fields = registered.model.model_fields
    for name in arguments:
        if name.split(".")[0] not in fields:
            yield f"{command} has no {name}; it has {', '.join(fields) or 'no arguments'}"
