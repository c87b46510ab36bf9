"""Which commands and queries a run is offered: of all that its role may send, what makes sense in its kind of run.

The API part of prompts and the tools of chat agents are made from it. The door still decides about each call; what is
not offered is not forbidden, it is only not told. Whatever an agent is expected to use is told to it (S1-22).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

import core.commands
import core.reading  # noqa: F401 - fills the registries
from core.commands.door import capacities_of
from core.commands.registry import REGISTRY, Registered, Request
from core.domain.states import Role, RunKind
from core.reading.chinese import ABOUT
from core.reading.registry import READS, RegisteredRead

# Who gets which kinds of run, as the rules of the tick queue them.
KINDS: Mapping[Role, tuple[RunKind, ...]] = {
    Role.CEO: (RunKind.HEARTBEAT, RunKind.PROPOSE, RunKind.MENTION),
    Role.COORDINATOR: (
        RunKind.EXPLORE, RunKind.SPLIT, RunKind.PLAN, RunKind.STALL, RunKind.RULE, RunKind.ROUND_REVIEW,
        RunKind.REPORT, RunKind.MENTION,
    ),
    Role.PLANNER: (RunKind.SPLIT, RunKind.MENTION),
    Role.EXECUTOR: (RunKind.DISCUSS, RunKind.BROADCAST, RunKind.EXECUTE, RunKind.MENTION),
    Role.REVIEWER: (RunKind.REVIEW, RunKind.MENTION),
    Role.CHALLENGER: (RunKind.REVIEW, RunKind.MENTION),
}  # fmt: skip
# What puts the tasks of a goal right, for who leads.
_TASKS = ("CreateTask", "EditTask", "AddDependency", "WaiveDependency", "SplitTask", "CancelTask", "SendBackTask")
# What a CEO may do in each of its runs; its mode says what is due (S0-12, S1-04).
_CEO = (
    "AddComment", "CreateGoal", "EditGoal", "ProposeHire", "ProposeOrganisation", "CreateTask", "EnqueueTask",
    "EditTask", "UnblockTask", "RequestApproval",
)  # fmt: skip
# Sub-tasks are made where work is planned: who carries a task out makes no other (F23).
_EXECUTE = (
    "StartTask", "PostPlan", "CheckAct", "AddOutput", "AddComment", "SubmitTask", "RebutReview", "AskOperator",
    "BlockTask", "FailTask",
)  # fmt: skip
_REPORT = (
    "ReportGoal", "AddOutput", "OpenRound", "CancelTask", "AnswerChallenge", "RequestApproval", "AddComment"
)  # fmt: skip
# In the order in which a run has use for them.
COMMANDS: Mapping[RunKind, tuple[str, ...]] = {
    RunKind.PROPOSE: _CEO,
    RunKind.HEARTBEAT: _CEO,
    RunKind.EXPLORE: ("EditGoal", "AddComment"),
    RunKind.SPLIT: ("CreateTask", "AddDependency", "AddComment"),
    RunKind.DISCUSS: ("CreateTask", "AddDependency", "AddComment"),
    RunKind.PLAN: ("ActivateGoal", "OpenRound", *_TASKS, "ReportGoal", "RequestApproval", "AddComment"),
    RunKind.BROADCAST: ("ClaimTask", "AnswerOffer", "AddComment", "RebutReview"),
    RunKind.EXECUTE: _EXECUTE,
    RunKind.REVIEW: ("ReviewTask", "AddComment", "ChallengeRound"),
    RunKind.RULE: ("RuleTask", "AddComment"),
    RunKind.ROUND_REVIEW: ("ReviewRound", "AddComment"),
    RunKind.STALL: ("UnblockTask", "AssignTask", "EnqueueTask", *_TASKS, "RequestApproval", "AddComment"),
    RunKind.REPORT: _REPORT,
}
# Who is mentioned answers, and does what its role is asked for in passing; what it made and came back it mends.
MENTIONED: Mapping[Role, tuple[str, ...]] = {
    Role.CEO: _CEO,
    Role.COORDINATOR: (
        "AddComment", "AnswerChallenge", "EditGoal", *_TASKS, "EnqueueTask", "AssignTask", "UnblockTask",
        "RequestApproval",
    ),
    Role.PLANNER: ("AddComment", "CreateTask", "EditTask", "EnqueueTask", "AddDependency"),
    Role.EXECUTOR: ("AddComment", "EditTask", "EnqueueTask", "RebutReview"),
    Role.REVIEWER: ("AddComment", "ChallengeRound"),
    Role.CHALLENGER: ("AddComment", "ChallengeRound"),
}  # fmt: skip

_WORDS, _FEW_WORDS = 13, 6  # so many words of a field are told: of a command, of a query
# The rows of the specification are for people who change the program.
_ROWS = re.compile(r"\s*\((?:[A-Z]\d*-?\d+(?:…\d+)?(?:, )?)+\)")

_ONE_TASK = ("ReadTask", "ReadGoal", "ListComments", "SearchBoard", "ReadText")
_WORK = ("ReadTask", "ReadOutput", "ReadGoal", "ListTasks", "ListComments", "ListOutputs", "SearchBoard", "ReadText")
_KNOWN = ("ListExperiences", "ReadKnowledge")
_LEAD = ("ReadGoal", "ReadRound", "ListTasks", "ReadTask", "ListComments", "ListOutputs", "ReadOutput", "ReadStaff",
         "SearchBoard", "ReadText")  # fmt: skip
QUERIES: Mapping[RunKind, tuple[str, ...]] = {
    RunKind.PROPOSE: ("ListGoals", "ReadGoal", "ReadStaff", "ListComments", "SearchBoard", *_KNOWN, "ReadText"),
    RunKind.HEARTBEAT: ("ListGoals", *_LEAD),
    RunKind.EXPLORE: ("ReadGoal", "ListComments", "ListGoals", "SearchBoard", *_KNOWN, "ReadText"),
    RunKind.SPLIT: ("ReadGoal", "ListTasks", "ReadTask", "ReadStaff", "SearchBoard", *_KNOWN, "ReadText"),
    RunKind.DISCUSS: ("ReadGoal", "ListTasks", "ReadTask", "ListComments", "ReadStaff", "SearchBoard", *_KNOWN,
                      "ReadText"),
    RunKind.PLAN: (*_LEAD, *_KNOWN),
    RunKind.BROADCAST: _ONE_TASK,
    RunKind.EXECUTE: (*_WORK, *_KNOWN),
    RunKind.REVIEW: (*_WORK, "ReadChanges", "ReadRound", "ReadKnowledge"),
    RunKind.RULE: (*_WORK, "ReadChanges"),
    RunKind.MENTION: ("ListGoals", *_LEAD, *_KNOWN),
    RunKind.ROUND_REVIEW: _LEAD,
    RunKind.STALL: _LEAD,
    RunKind.REPORT: _LEAD,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Offered:
    """What a run is told that it can call, in the order in which it is told."""

    commands: tuple[Registered, ...]
    queries: tuple[RegisteredRead, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names of all of it."""
        return frozenset({one.name for one in self.commands} | {one.name for one in self.queries})


def offered(role: Role, kind: RunKind) -> Offered:
    """What a run of this kind of an agent of this role is offered (S3-23, C-02); only what the role may send at all."""
    may = capacities_of(role)
    names = MENTIONED[role] if kind == RunKind.MENTION else COMMANDS[kind]
    commands = tuple(REGISTRY[name] for name in names if REGISTRY[name].model.who & may)
    return Offered(commands, tuple(READS[name] for name in QUERIES[kind] if READS[name].model.who & may))


def _plain(about: str) -> str:
    return _ROWS.sub("", about)


def api_facts(role: Role, kind: RunKind, locale: str = "en") -> dict[str, list[dict[str, str]]]:
    """The same as text for a prompt: {"commands", "reads": [{name, about, example, fields}]}.

    `example` is JSON on one line; `fields` names all of them, optional ones with a question mark, and the words that a
    field may have. `about` is in the language of `locale` ("en" or "zh").
    """
    found = offered(role, kind)
    return {
        "commands": [told(one.name, one.about, one.model, locale, _WORDS) for one in found.commands],
        "reads": [told(one.name, one.about, one.model, locale, _FEW_WORDS) for one in found.queries],
    }


def told(name: str, about: str, model: type[Request], locale: str = "en", most: int = _WORDS) -> dict[str, str]:
    """One command or query as text: {name, about, example, fields}, as `api_facts` tells it."""
    fields = ", ".join(_field(field, info, most) for field, info in model.model_fields.items())
    example = json.dumps(model.example, ensure_ascii=False)
    words = ABOUT.get(name, _plain(about)) if locale == "zh" else _plain(about)
    return {"name": name, "about": words, "example": example, "fields": fields}


def _field(name: str, info: FieldInfo, most: int) -> str:
    """`kind?: note|question`: the name, whether it may be left out, and its words if there are not too many."""
    words = _words_of(info.annotation)
    named = name if info.is_required() else f"{name}?"
    return f"{named}: {'|'.join(words)}" if 1 < len(words) <= most else named


def _words_of(annotation: Any) -> tuple[str, ...]:
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return tuple(annotation)
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    parts = [part for part in get_args(annotation) if part is not type(None)]
    is_optional = get_origin(annotation) in (Union, UnionType) and len(parts) == 1
    return _words_of(parts[0]) if is_optional else ()


def tools(role: Role, kind: RunKind) -> list[dict[str, Any]]:
    """The same as functions for a model, with their JSON schemas."""
    found = offered(role, kind)
    commands = [function(one.name, one.about, one.model) for one in found.commands]
    return commands + [function(one.name, one.about, one.model) for one in found.queries]


def function(name: str, about: str, model: type[Request]) -> dict[str, Any]:
    """One command or query as a function for a model."""
    return {
        "type": "function",
        "function": {"name": name, "description": _plain(about), "parameters": model.model_json_schema()},
    }
