"""The desk that notes what a run calls is a desk like any other: whatever a runner asks of it reaches the real one."""

import inspect
from typing import Any, cast

import pytest

from core.agents.runner import Desk
from core.blackboard.readers import Readers
from core.commands.door import Door
from core.domain.actors import Agent
from core.domain.errors import Conflict, Fenced
from core.evals.expecting import Call
from core.evals.noting import NotingDesk

METHODS = sorted(name for name, value in vars(Desk).items() if inspect.isfunction(value) and not name.startswith("_"))


class Ears:
    """A real desk whose board is not there, and what the noting one heard of it."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.seen: list[str] = []
        self.told: list[str] = []
        self.inner = Desk(
            Agent(1, "ada", 7, 1), cast(Door, object()), cast(Readers, object()),
            lambda kind, facts: self.told.append(kind), self.nothing,
        )  # fmt: skip
        self.desk = NotingDesk(self.inner, self.calls.append, self.seen.append)

    async def nothing(self, pid: int, started: int) -> None:
        self.told.append(f"process {pid}")


@pytest.mark.parametrize("name", METHODS)
async def test_each_method_is_that_of_the_desk_it_was_given(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[Any] = []

    async def waited(desk: Desk, *given: Any, **named: Any) -> dict[str, int]:
        reached.append((given, named, vars(desk) | vars(ears.inner) == vars(desk)))
        return {"id": 1}

    def at_once(desk: Desk, *given: Any, **named: Any) -> dict[str, int]:
        reached.append((given, named, vars(desk) | vars(ears.inner) == vars(desk)))
        return {"id": 1}

    ears = Ears()
    parameters = list(inspect.signature(getattr(Desk, name)).parameters.values())[1:]
    given = [each.name for each in parameters if each.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD]
    named = {"task": 1} if any(each.kind == inspect.Parameter.VAR_KEYWORD for each in parameters) else {}
    is_waited = inspect.iscoroutinefunction(getattr(Desk, name))
    monkeypatch.setattr(Desk, name, waited if is_waited else at_once)
    answer = getattr(ears.desk, name)(*given, **named)
    assert (await answer if is_waited else answer) == {"id": 1}
    assert reached == [(tuple(given), named, True)]


async def test_what_a_runner_tells_reaches_the_run() -> None:
    ears = Ears()
    ears.desk.say("I begin")
    ears.desk.note_call("ClaimTask", {"task": 1}, {"id": 1})
    await ears.desk.note_process(4711, 5)
    await ears.desk.spent(1, 2, 3)
    assert ears.told == ["text", "call", "process 4711"]
    assert ears.calls == []


async def test_what_is_done_refused_or_too_late_is_noted_and_what_is_read_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ears = Ears()
    errors = iter([None, Conflict("It is taken.", "Take another."), Fenced("The run is over.", "")])

    async def call(desk: Desk, command: str, **arguments: Any) -> dict[str, Any]:
        if (error := next(errors)) is not None:
            raise error
        return {}

    async def read(desk: Desk, query: str, **arguments: Any) -> dict[str, Any]:
        return {"title": "The sign"}

    monkeypatch.setattr(Desk, "call", call)
    monkeypatch.setattr(Desk, "read", read)
    await ears.desk.call("ClaimTask", task=1)
    for kind in (Conflict, Fenced):
        with pytest.raises(kind):
            await ears.desk.call("ClaimTask", task=2)
    await ears.desk.read("ReadTask", task=1)
    assert [(each.command, each.arguments["task"]) for each in ears.calls] == [("ClaimTask", n) for n in (1, 2, 2)]
    assert [each.refused for each in ears.calls] == ["", "It is taken. Take another.", "fenced"]
    assert ears.seen == ['{"title": "The sign"}']
