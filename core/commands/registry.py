"""What a command is, and the one registry of them. Tool lists, HTTP routes and the CLI are made from it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from core.blackboard.transaction import Transaction
from core.domain.actors import Actor
from core.domain.entities import AgentRecord, Run
from core.domain.errors import Forbidden, Invalid
from core.domain.guardrails import Guardrails
from core.domain.lifecycles import Who
from core.domain.limits import LINES_MAX, NESTED_MAX, TEXT_MAX, TITLE_MAX
from core.domain.worktrees import wrong_with

Answer = dict[str, Any]
INTEGER_MAX = 2**63 - 1


def _sound(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("the text holds half a character (a lone surrogate)") from None
    return text


def _on_one_line(text: str) -> str:
    """A second line in a title could look like a line of the program (F15)."""
    if len(text.splitlines()) > 1:
        raise ValueError("a title is one line; this has a line end in it")
    return text


def _repository(text: str) -> str:
    if text and (why := wrong_with(text)):
        raise ValueError(f"this names no repository: {why}")
    return text


Title = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=TITLE_MAX),
    AfterValidator(_sound),
    AfterValidator(_on_one_line),
]
Text = Annotated[str, StringConstraints(max_length=TEXT_MAX), AfterValidator(_sound)]


def _together(texts: tuple[str, ...]) -> tuple[str, ...]:
    if sum(map(len, texts)) > TEXT_MAX:
        raise ValueError(f"together they are longer than {TEXT_MAX} characters")
    return texts


Lines = Annotated[tuple[Text, ...], Field(max_length=LINES_MAX), AfterValidator(_together)]
Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=2000),
    AfterValidator(_sound),
]
Repository = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=1000), AfterValidator(_sound), AfterValidator(_repository)
]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,39}$")]


def _require_storable(value: Any, deep: int = 0) -> None:
    if deep > NESTED_MAX:
        raise ValueError(f"lists and objects are nested more than {NESTED_MAX} deep")
    if isinstance(value, str):
        _sound(value)
    elif isinstance(value, int) and not -INTEGER_MAX <= value <= INTEGER_MAX:
        raise ValueError("a number is larger than 64 bits")
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number is not finite")
    elif isinstance(value, Mapping):
        for name, part in value.items():
            _require_storable(name)
            _require_storable(part, deep + 1)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _require_storable(part, deep + 1)


def _require_bounded(value: Any) -> None:
    if isinstance(value, int) and not -INTEGER_MAX <= value <= INTEGER_MAX:
        raise ValueError("a number is larger than 64 bits")
    if isinstance(value, (list, tuple)):
        for part in value:
            _require_bounded(part)
    elif isinstance(value, BaseModel):
        for _name, part in value:
            _require_bounded(part)


class Request(BaseModel):
    """What is asked of the board by name and arguments: a command, or a query. Unknown fields are errors.

    `who` holds the capacities that may send it at all; `example` are arguments that parse, as an agent is shown them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    who: ClassVar[frozenset[Who]] = frozenset()
    example: ClassVar[dict[str, Any]] = {}

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, arguments: Any) -> Any:
        """What the board cannot store is refused at the door, however deep it lies in free-form fields."""
        _require_storable(arguments)
        return arguments

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        """A number may come as a text (from an address, from a model), and is one only now."""
        _require_bounded(self)
        return self


class Command(Request):
    """A request to change the blackboard (S1-02); lifecycles narrow by state what `who` allows.

    Every command that an agent may send has an `example`.
    """

    reads_guardrails: ClassVar[bool] = False  # the file is read again first, if it changed


@dataclass(frozen=True, slots=True)
class Act:
    """One command being carried out: the transaction, who acts, in which capacities, and the red lines in force."""

    tx: Transaction
    actor: Actor
    capacities: frozenset[Who]
    agent: AgentRecord | None = None
    run: Run | None = None
    guardrails: Guardrails = field(default_factory=Guardrails)

    @property
    def label(self) -> str:
        """Who acts, as the board writes it."""
        return self.actor.label

    def own_run(self) -> Run:
        """The run of the acting agent. Raises Forbidden for anybody else."""
        if self.run is None:
            raise Forbidden("Only an agent's run can do this.", "Send it with the token of a run at work.")
        return self.run

    def require_own_goal(self, goal_id: int) -> None:
        """Raises Forbidden when an agent's run is about another goal: what it may shape ends there (C-10, F15)."""
        if self.run is None or self.run.goal_id == goal_id:
            return
        leads = bool(self.capacities & {Who.CEO, Who.COORDINATOR})
        if self.run.goal_id is not None or not leads:
            about = f"G{self.run.goal_id}" if self.run.goal_id else "no goal"
            raise Forbidden(
                f"R{self.run.id} is about {about}, not about G{goal_id}; nothing was written.",
                "Comment there instead; those who work on it decide.",
            )

    def own_agent(self) -> AgentRecord:
        """The acting agent. Raises Forbidden for anybody else."""
        if self.agent is None:
            raise Forbidden("Only an agent can do this.", "Send it with the token of a run at work.")
        return self.agent


C = TypeVar("C", bound=Command)
R = TypeVar("R", bound=BaseModel)
Handler = Callable[[Act, Any], Answer]


@dataclass(frozen=True, slots=True)
class Registered:
    """A command's name, model, handler and one line of help."""

    name: str
    model: type[Command]
    handler: Handler
    about: str

    @property
    def example(self) -> dict[str, Any]:
        """Arguments that parse; empty for a command that no agent sends."""
        return self.model.example


REGISTRY: dict[str, Registered] = {}


def handles(model: type[C]) -> Callable[[Callable[[Act, C], Answer]], Callable[[Act, C], Answer]]:
    """Register the function that carries a command out."""

    def register(handler: Callable[[Act, C], Answer]) -> Callable[[Act, C], Answer]:
        about = (model.__doc__ or "").strip().splitlines()[0]
        REGISTRY[model.__name__] = Registered(model.__name__, model, handler, about)
        return handler

    return register


def letters(text: str) -> frozenset[Who]:
    """A set of capacities from their letters, e.g. 'HC'."""
    return frozenset(Who(letter) for letter in text)


def parse(name: str, arguments: dict[str, Any]) -> Command:
    """A command from its name and plain arguments. Raises Invalid, which names each wrong field."""
    registered = REGISTRY.get(name)
    if registered is None:
        raise Invalid(f"There is no command {name!r}.", "Known: " + ", ".join(sorted(REGISTRY)) + ".")
    return build(registered.model, **arguments)


def build(model: type[R], /, **arguments: Any) -> R:
    """A command or query from keyword arguments. Raises Invalid, which names each wrong field."""
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in item['loc']) or 'arguments'}: "
            + ("there is no such field" if item["type"] == "extra_forbidden" else item["msg"])
            for item in error.errors()
        )
        fields = ", ".join(model.model_fields)
        raise Invalid(f"{model.__name__} was refused: {problems}.", f"Its fields are: {fields}.") from None
