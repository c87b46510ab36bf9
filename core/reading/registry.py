"""What a query is, and the one registry of them. Tools, HTTP routes and the API part of prompts are made from it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import Field

from core.blackboard.readers import Readers
from core.commands.door import capacities_of
from core.commands.registry import INTEGER_MAX, Answer, Request, build, letters
from core.domain.actors import Actor, Agent, Operator, System
from core.domain.errors import Fenced, Forbidden, Invalid
from core.domain.lifecycles import Who, people
from core.domain.states import Role, RunStatus

LIMIT, LIMIT_MAX = 20, 50

Id = Annotated[int, Field(ge=1, le=INTEGER_MAX)]
Words = Annotated[str, Field(min_length=1, max_length=200)]
Limit = Annotated[int, Field(ge=1, le=LIMIT_MAX, description=f"At most so many, up to {LIMIT_MAX}")]


class Query(Request):
    """A question to the blackboard; it changes nothing. Unknown fields and filters are errors (S2-40)."""

    who: ClassVar[frozenset[Who]] = letters("HCRAXS")


@dataclass(frozen=True, slots=True)
class Look:
    """One query being answered: the board's readers, and who looks."""

    readers: Readers
    actor: Actor
    capacities: frozenset[Who]
    slug: str = ""

    @property
    def sees(self) -> dict[str, Any]:
        """The parameters of the conditions in `visible`: `me`, and whether nothing is hidden."""
        return {"me": self.slug, "sees_all": int(not isinstance(self.actor, Agent))}


Q = TypeVar("Q", bound=Query)
Handler = Callable[[Look, Any], Awaitable[Answer]]
_NAMED = 5  # unknown fields that an error repeats


@dataclass(frozen=True, slots=True)
class RegisteredRead:
    """A query's name, model, handler and one line of help."""

    name: str
    model: type[Query]
    handler: Handler
    about: str

    @property
    def example(self) -> dict[str, Any]:
        """Arguments that parse."""
        return self.model.example


READS: dict[str, RegisteredRead] = {}


def answers(
    model: type[Q],
) -> Callable[[Callable[[Look, Q], Awaitable[Answer]]], Callable[[Look, Q], Awaitable[Answer]]]:
    """Register the function that answers a query."""

    def register(handler: Callable[[Look, Q], Awaitable[Answer]]) -> Callable[[Look, Q], Awaitable[Answer]]:
        about = (model.__doc__ or "").strip().splitlines()[0]
        READS[model.__name__] = RegisteredRead(model.__name__, model, handler, about)
        return handler

    return register


def parse_query(name: str, arguments: dict[str, Any]) -> Query:
    """A query from its name and plain arguments. Raises Invalid, which names each wrong field and the known ones."""
    registered = READS.get(name)
    if registered is None:
        raise Invalid(f"There is no query {name!r}.", "Known: " + ", ".join(sorted(READS)) + ".")
    known = registered.model.model_fields
    if unknown := [field for field in arguments if field not in known]:
        named = ", ".join(repr(field[:80]) for field in unknown[:_NAMED]) + (", …" if len(unknown) > _NAMED else "")
        fields = ", ".join(known) or "none"
        raise Invalid(
            f"{name} was refused: there is no filter {named}; there are: {fields}.", f"Its fields are: {fields}."
        )
    return build(registered.model, **arguments)


async def read(readers: Readers, actor: Actor, name: str, arguments: dict[str, Any]) -> Answer:
    """Answer a query as this actor may see it; the answer is plain JSON.

    Raises Invalid, NotFound, Forbidden; Fenced when the run of an agent is no longer current; BoardError.
    """
    query = parse_query(name, arguments)
    look = await _admit(readers, actor)
    if not (query.who & look.capacities):
        raise Forbidden(f"{name} is not for {actor.label}.", f"It is for {people(query.who)}.")
    return await READS[name].handler(look, query)


async def _admit(readers: Readers, actor: Actor) -> Look:
    match actor:
        case Operator():
            return Look(readers, actor, frozenset({Who.OPERATOR}))
        case System():
            return Look(readers, actor, frozenset({Who.SYSTEM}))
        case Agent():
            return await _admit_agent(readers, actor)


async def _admit_agent(readers: Readers, actor: Agent) -> Look:
    run = await readers.one(
        "SELECT runs.status, runs.fence, agent_id, slug, role FROM runs JOIN agents ON agents.id = agent_id"
        " WHERE runs.id = :run",
        run=actor.run_id,
    )
    is_current = (
        run is not None
        and (run["agent_id"], run["fence"]) == (actor.agent_id, actor.fence)
        and run["status"] in (RunStatus.STARTING, RunStatus.RUNNING)
    )
    if run is None or not is_current:
        state = "unknown" if run is None else run["status"]
        raise Fenced(f"Run R{actor.run_id} is {state} and no longer current; nothing was read.", "Stop working.")
    return Look(readers, actor, capacities_of(Role(run["role"])), run["slug"])
