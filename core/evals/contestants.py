"""Whose behaviour can be looked at: the rehearsal agents, replies that were written down, or a model."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from core.agents.chat.runner import ChatRunner
from core.agents.chat.settings import ChatSettings
from core.agents.models.waiting import Retrying
from core.agents.rehearsal.runner import RehearsalRunner
from core.agents.runner import Assignment, Desk, Outcome, Runner
from core.domain.errors import Fenced, Invalid, OpsroomError
from core.evals.names import filled
from core.evals.places import read_toml
from core.evals.playing import Answers
from core.evals.scenario import Scenario
from core.reading.offered import tools
from core.reading.registry import READS


class Rehearsal:
    """The agents that need no model; `audited` is the folder that they look at."""

    kind = "rehearsal"
    model = "rehearsal"

    def __init__(self, audited: Path) -> None:
        self._audited = audited

    def runner(self, scenario: Scenario, repetition: int, answers: Answers) -> Runner:
        """The same for every scenario."""
        return RehearsalRunner(self._audited)

    def texts(self, assignment: Assignment) -> tuple[str, ...]:
        """They have no tools."""
        return ()


class Chat:
    """A model behind a model server; `retrying` says how patient it is with the server."""

    kind = "chat"

    def __init__(self, settings: ChatSettings, retrying: Retrying | None = None) -> None:
        self._settings = settings
        self._retrying = retrying
        self.model = settings.model

    def runner(self, scenario: Scenario, repetition: int, answers: Answers) -> Runner:
        """The same for every scenario."""
        return ChatRunner(self._settings, retrying=self._retrying)

    def texts(self, assignment: Assignment) -> tuple[str, ...]:
        """Its tools are a part of the prompt too."""
        return (json.dumps(tools(assignment.agent.role, assignment.run.kind), sort_keys=True),)


class Reply(BaseModel):
    """One call, or query, that was written down. `repetition` (from 1) says in which one; None: in each."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
    call: str
    with_: dict[str, Any] = Field(default_factory=dict, alias="with")
    repetition: int | None = Field(None, ge=1)


class Recorded:
    """Replies from a file: a scenario's calls, made one after the other whatever the board answers."""

    kind = "recorded"

    def __init__(self, replies: Mapping[str, Sequence[Reply]], model: str, *, literal: bool = False) -> None:
        """`literal`: a `$name` in the replies is meant as it stands."""
        self._replies = replies
        self._literal = literal
        self.model = model

    def runner(self, scenario: Scenario, repetition: int, answers: Answers) -> Runner:
        """Raises Invalid when nothing was written down for the scenario, or a reply names what it does not have."""
        if scenario.name not in self._replies:
            raise Invalid(
                f"{self.model} holds no replies for {scenario.name}.",
                f"Write `{scenario.name} = []` if it makes no call.",
            )
        mine = [each for each in self._replies[scenario.name] if each.repetition in (None, repetition)]
        if self._literal:
            return _Reader([(each.call, each.with_) for each in mine])
        try:
            return _Reader([(each.call, filled(each.with_, answers)) for each in mine])
        except KeyError as error:
            raise Invalid(
                f"{self.model}: {scenario.name} has no {error.args[0]}.",
                f"Its named steps are: {', '.join(answers) or 'none'}.",
            ) from None

    def texts(self, assignment: Assignment) -> tuple[str, ...]:
        """Nobody reads anything here."""
        return ()


class _Reader:
    def __init__(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        self._calls = calls

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        for command, arguments in self._calls:
            try:
                await (desk.read if command in READS else desk.call)(command, **arguments)
            except Fenced:
                raise
            except OpsroomError as error:
                desk.say(f"refused: {error}")
        return Outcome()


def read_replies(path: Path) -> Recorded:
    """Replies as TOML (docs/evals.md), or those in a baseline (.json). Raises Invalid, with file and line."""
    if path.suffix == ".json":
        return _from_baseline(path)
    written = read_toml(path)
    replies: dict[str, list[Reply]] = {}
    for name, calls in written.value.items():
        if not isinstance(calls, list):
            raise written.wrong(f"{name} is to be a list of calls: [[{name}]] before each, or {name} = []", name)
        replies[name] = [written.build(Reply, call, (name, str(number))) for number, call in enumerate(calls)]
    return Recorded(replies, path.name)


def _from_baseline(path: Path) -> Recorded:
    from core.evals.baseline import read_baseline

    baseline = read_baseline(path)
    return Recorded(
        {
            each.name: [
                Reply(call=call.command, with_=dict(call.arguments), repetition=number)
                for number, run in enumerate(each.runs, 1)
                for call in run.calls
            ]
            for each in baseline.scenarios
        },
        path.name,
        literal=True,
    )
