"""What must be true of the calls of a run, and why it is not. Pure; no model judges anything."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.commands.registry import parse
from core.domain.errors import Invalid
from core.domain.states import TaskStatus

_SHOWN = 120  # code points of a value in a reason


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an agent, its arguments as JSON. `refused` is why the board did not do it; empty: it did."""

    command: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    refused: str = ""

    def as_json(self) -> dict[str, Any]:
        """As it stands in a baseline."""
        return {"command": self.command, "arguments": dict(self.arguments), "refused": self.refused}


class Expectation(BaseModel):
    """Exactly one of `call`, `never`, `only`, `told`, `untold` and `task`.

    `call`: so many carried out calls of it (at least one unless said otherwise) have all the arguments of `with`; of a
    list of commands those of any of them count; with `tried` those that were refused count too.
    `never`: none was even tried that has them. `only`: nothing else was even tried; `[]` is a run without a call.
    `told`: the prompt, or the answer to a query, has these words, whatever their case; `untold`: none has them.
    `task`: when the run has ended, this task (its id, or `$name`) is `status`, or one of these.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
    call: str | tuple[str, ...] | None = None
    never: str | None = None
    only: tuple[str, ...] | None = None
    told: str | None = Field(None, min_length=1)
    untold: str | None = Field(None, min_length=1)
    task: int | str | None = None
    status: TaskStatus | tuple[TaskStatus, ...] = ()
    tried: bool = False
    with_: dict[str, Any] = Field(default_factory=dict, alias="with")
    times: int | None = Field(None, ge=0)
    at_least: int | None = Field(None, ge=0)
    at_most: int | None = Field(None, ge=0)
    why: str = ""

    @model_validator(mode="after")
    def _is_one(self) -> "Expectation":
        parts = (self.call, self.never, self.only, self.told, self.untold, self.task)
        if sum(part is not None for part in parts) != 1:
            raise ValueError("an expectation has exactly one of call, never, only, told, untold, task")
        if (self.task is None) == bool(self.status):
            raise ValueError("task and status go together")
        counts = (self.times, self.at_least, self.at_most)
        if self.call is None and (self.tried or any(count is not None for count in counts)):
            raise ValueError("times, at_least, at_most and tried go with call")
        if self.times is not None and (self.at_least is not None or self.at_most is not None):
            raise ValueError("times says both bounds; leave at_least and at_most out")
        if self.call is None and self.never is None and self.with_:
            raise ValueError("with goes with call or never")
        return self

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that it speaks of."""
        if self.call is None and self.never is None:
            return self.only or ()
        return self.call if isinstance(self.call, tuple) else (self.call or self.never or "",)

    @property
    def statuses(self) -> tuple[TaskStatus, ...]:
        """The states of which `task` is to be in one."""
        return self.status if isinstance(self.status, tuple) else (self.status,)

    @property
    def bounds(self) -> tuple[int, int | None]:
        """How often `call` is wanted: at least, and at most if that is bounded."""
        if self.times is not None:
            return self.times, self.times
        least = self.at_least if self.at_least is not None else 0 if self.at_most is not None else 1
        return least, self.at_most


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of a run besides its calls: the texts that it was told, and the tasks' states after its end."""

    told: Sequence[str] = ()
    tasks: Mapping[int, TaskStatus] = field(default_factory=dict)


def broken(expected: Iterable[Expectation], calls: Sequence[Call], seen: Seen | None = None) -> list[str]:
    """The reasons for which a run was not as expected, in the order of the expectations; none: it was."""
    return [
        f"{problem} ({each.why})" if each.why else problem
        for each in expected
        for problem in _broken(each, calls, seen or Seen())
    ]


def _broken(expected: Expectation, calls: Sequence[Call], seen: Seen) -> Iterator[str]:
    words = expected.told or expected.untold
    if words is not None:
        is_told = any(words.casefold() in text.casefold() for text in seen.told)
        if is_told != (expected.told is not None):
            yield f"{_short(words)} was {'told' if is_told else 'not told'}"
    elif expected.task is not None:
        status = seen.tasks.get(int(expected.task))
        if status is None or status not in expected.statuses:
            yield f"T{expected.task} is {status or 'not there'} in the end, not {' or '.join(expected.statuses)}"
    elif expected.only is not None:
        others = list(dict.fromkeys(call.command for call in calls if call.command not in expected.only))
        if others:
            allowed = "only " + ", ".join(expected.only) if expected.only else "nothing"
            yield f"{', '.join(others)} was called; {allowed} was to be"
    elif expected.never is not None:
        if any(not _differences(expected.with_, call) for call in calls if call.command == expected.never):
            yield f"{expected.never} was called{_with(expected.with_)}; it must not be"
    else:
        yield from _miscounted(expected, [call for call in calls if call.command in expected.commands])


def _miscounted(expected: Expectation, tried: Sequence[Call]) -> Iterator[str]:
    least, most = expected.bounds
    named, was = " or ".join(expected.commands), "tried" if expected.tried else "done"
    done = [call for call in tried if expected.tried or not call.refused]
    fitting = [call for call in done if not _differences(expected.with_, call)]
    if len(fitting) < least:
        bound = _times(least) if most == least else f"at least {_times(least)}"
        wanted = f"{named} was {was} {_times(len(fitting))}{_with(expected.with_)}, not {bound}"
        others = ["; ".join(_differences(expected.with_, call)) for call in done if call not in fitting]
        refused = [f"refused: {call.refused}" for call in tried if call.refused]
        yield ": ".join([wanted, *(others + refused)[:1]])
    elif most is not None and len(fitting) > most:
        yield f"{named} was {was} {_times(len(fitting))}{_with(expected.with_)}, not {_times(most)} at most"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _with(wanted: Mapping[str, Any]) -> str:
    return f" with the expected {', '.join(wanted)}" if wanted else ""


# Arguments -----------------------------------------------------------------------------------------------------

_MATCHERS = frozenset({"is", "contains", "lacks", "matches", "one_of", "at_least", "at_most"})


def wrong_matchers(wanted: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the conditions on arguments, whatever the call."""
    for path, condition in wanted.items():
        if isinstance(condition, Mapping):
            unknown = sorted(set(condition) - _MATCHERS)
            if unknown or not condition:
                known = ", ".join(sorted(_MATCHERS))
                yield f"{path}: there is no condition {', '.join(unknown) or 'in it'}; there are {known}"
                continue
        for name, value in _conditions(condition):
            if name == "matches":
                try:
                    re.compile(value)
                except (re.error, TypeError) as error:
                    yield f"{path}: {value!r} is no regular expression: {error}"
            elif name == "one_of" and not isinstance(value, (list, tuple)):
                yield f"{path}: one_of takes a list"
            elif name in ("at_least", "at_most") and not isinstance(value, (int, float)):
                yield f"{path}: {name} takes a number"


def _conditions(condition: Any) -> list[tuple[str, Any]]:
    return list(condition.items()) if isinstance(condition, Mapping) else [("is", condition)]


def _differences(wanted: Mapping[str, Any], call: Call) -> list[str]:
    """How the arguments of a call are other than wanted."""
    if not wanted:
        return []
    arguments = _whole(call)
    found = []
    for path, condition in wanted.items():
        values = list(_values(arguments, path.split(".")))
        for name, value in _conditions(condition):
            negative = name == "lacks"
            held = [_holds(name, value, each) for each in values]
            if not (all(held) if negative else any(held)):
                found.append(
                    f"{path} {_words(name)} {_short(value)}, but is {_short(values[0]) if values else 'missing'}"
                )
    return found


def _whole(call: Call) -> dict[str, Any]:
    """The arguments with what the command takes for those that were left out."""
    try:
        return parse(call.command, dict(call.arguments)).model_dump(mode="json")
    except Invalid:
        return dict(call.arguments)


def _values(value: Any, path: Sequence[str]) -> Iterator[Any]:
    """What stands at a path; `*` is every element of a list."""
    if not path:
        yield value
    elif path[0] == "*" and isinstance(value, (list, tuple)):
        for each in value:
            yield from _values(each, path[1:])
    elif isinstance(value, Mapping) and path[0] in value:
        yield from _values(value[path[0]], path[1:])
    elif isinstance(value, (list, tuple)) and path[0].isdigit() and int(path[0]) < len(value):
        yield from _values(value[int(path[0])], path[1:])


def _holds(name: str, wanted: Any, value: Any) -> bool:
    if name == "is":
        return bool(value == wanted)
    if name == "one_of":
        return value in wanted
    if name == "contains":
        return _contains(value, wanted)
    if name == "lacks":
        return not _contains(value, wanted)
    if name == "matches":
        return isinstance(value, str) and re.search(wanted, value) is not None
    size = value if isinstance(value, (int, float)) else len(value) if isinstance(value, (str, list, dict)) else 0
    return bool(size >= wanted if name == "at_least" else size <= wanted)


def _contains(value: Any, wanted: Any) -> bool:
    if isinstance(value, str):
        return str(wanted).casefold() in value.casefold()
    return isinstance(value, (list, tuple, Mapping)) and wanted in value


_WORDS = {
    "is": "is to be", "contains": "is to contain", "lacks": "is to lack", "matches": "is to match",
    "one_of": "is to be one of", "at_least": "is to be (or hold) at least", "at_most": "is to be (or hold) at most",
}  # fmt: skip


def _words(name: str) -> str:
    return _WORDS[name]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
