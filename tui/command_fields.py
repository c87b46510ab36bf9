"""A form from a command's model: which fields it has, what can be typed into each, and the arguments from what was
typed. Pure; the command's own checks have the last word.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import ValidationError

from core.commands.registry import Command
from core.domain.entities import Approval, Goal
from tui.letters import RETURN
from tui.projection import Projection
from tui.staff_text import read_amount
from tui.targets import tag_of, typed, words_of
from tui.targets import thing as named
from tui.text import in_words

Kind = Literal["id", "usd", "yes", "choice", "number", "text", "lines", "json"]

_IDS = {
    "goal": "goal", "task": "task", "run": "run", "round": "round", "approval": "approval", "depends_on": "task",
    "parent": "task", "retry_of": "task",
}  # fmt: skip
_PREFIXES = {"goal": "G", "task": "T", "run": "R", "round": "N", "approval": "Q"}
_OF_MACHINES = frozenset({"content_hash", "payload_hash", "idempotency_key"})
"""Fields that nobody types: hashes are those of what the question shows."""
_HINTS: dict[Kind, str] = {
    "usd": "US dollars, like 5.00", "yes": "yes or no", "number": "a number", "text": "",
    "lines": f"one a line; ^j begins the next ({RETURN})", "json": "JSON",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its name, its words, what is typed into it, and what it holds when nothing is."""

    name: str
    label: str
    kind: Kind
    required: bool
    hint: str
    choices: tuple[str, ...] = ()


def fields_of(model: type[Command]) -> list[Field]:
    """The fields that a person fills in, those that are needed first."""
    found = [
        _field(name, info.annotation, info.is_required(), None if info.is_required() else info.default)
        for name, info in model.model_fields.items()
        if name not in _OF_MACHINES
    ]
    return sorted(found, key=lambda each: not each.required)


def _field(name: str, annotation: Any, required: bool, default: Any) -> Field:
    kind, choices = _kind(name, _bare(annotation))
    label = in_words(name.removesuffix("_micros")) if kind == "usd" else in_words(name)
    label = "amount" if name == "micros" else label
    hint = " · ".join(choices) if choices else _HINTS.get(kind, "")
    if kind == "id":
        hint = f"like {_PREFIXES.get(_IDS.get(name, ''), '')}3"
    if not required:
        usual = _usual(kind, default)
        hint = "; ".join(part for part in (hint, f"empty: {usual}" if usual else "may be empty") if part)
    return Field(name, label, kind, required, hint, choices)


def _bare(annotation: Any) -> Any:
    """The type below `Annotated` and beside None."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        kinds = [each for each in get_args(annotation) if each is not type(None)]
        return _bare(kinds[0])
    return annotation


def _kind(name: str, bare: Any) -> tuple[Kind, tuple[str, ...]]:
    if bare is bool:
        return "yes", ()
    if get_origin(bare) is Literal:
        return "choice", tuple(str(each) for each in get_args(bare))
    if isinstance(bare, type) and issubclass(bare, Enum):
        return "choice", tuple(str(each.value) for each in bare)
    if bare is int:
        return ("usd" if name.endswith("micros") else "id" if name in _IDS else "number"), ()
    if bare is str:
        return "text", ()
    if get_origin(bare) is tuple and _bare(get_args(bare)[0]) is str:
        return "lines", ()
    return "json", ()


def _usual(kind: Kind, default: Any) -> str:
    if isinstance(default, Enum):
        return str(default.value)
    match kind:
        case "yes":
            return "" if default is None else "yes" if default else "no"
        case "usd":
            return "" if default is None else f"{default / 1_000_000:.2f}"
        case "choice" | "number" | "text":
            return "" if default is None else str(default)
        case _:
            return ""


def prefilled(fields: Sequence[Field], view: Projection, ref: str) -> dict[str, str]:
    """What is filled in already: the selected thing, where a field asks for one of its kind."""
    kind = ref.partition(":")[0]
    thing = named(view, ref)
    filled: dict[str, str] = {}
    for field in fields:
        is_its_kind = field.name == kind and (field.kind == "id" or kind == "agent")
        if is_its_kind:
            filled[field.name] = tag_of(view, ref)
        elif field.name == "goal" and field.kind == "id" and getattr(thing, "goal_id", None):
            filled[field.name] = f"G{getattr(thing, 'goal_id', '')}"
    return filled


def arguments(
    fields: Sequence[Field], texts: Mapping[str, str], view: Projection
) -> tuple[dict[str, Any], dict[str, str]]:
    """The arguments from what was typed, and by field what is wrong with it. What is empty is left out."""
    found: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for field in fields:
        text = texts.get(field.name, "").strip()
        if not text:
            if field.required:
                wrong[field.name] = "this is needed"
            continue
        try:
            found[field.name] = _value(field, text, view)
        except ValueError as problem:
            wrong[field.name] = str(problem)
    return found, wrong


def _value(field: Field, text: str, view: Projection) -> Any:
    match field.kind:
        case "id":
            return _id(field, text, view)
        case "usd":
            amount = read_amount(text)
            if amount is None or amount[1] is not None:
                raise ValueError("this is no amount of US dollars; type it like 5.00")
            return amount[0]
        case "yes":
            if text.casefold() not in ("yes", "y", "no", "n"):
                raise ValueError("yes or no")
            return text.casefold().startswith("y")
        case "choice":
            if text not in field.choices:
                raise ValueError(f"one of {', '.join(field.choices)}")
            return text
        case "number":
            try:
                return int(text)
            except ValueError:
                raise ValueError("this is no whole number") from None
        case "lines":
            return [line.strip() for line in text.split(RETURN) if line.strip()]
        case "json":
            try:
                return json.loads(text.replace(RETURN, "\n"))
            except (ValueError, RecursionError):
                raise ValueError("this is no JSON") from None
        case _:
            return text.replace(RETURN, "\n")


def _id(field: Field, text: str, view: Projection) -> int:
    kind = _IDS[field.name]
    if text.isdecimal():
        return int(text)
    letter = _PREFIXES[kind]
    if text[:1].upper() == letter and text[1:].isdecimal():
        return int(text[1:])
    if (ref := typed(view, text)).startswith(f"{kind}:"):
        return int(ref.partition(":")[2])
    raise ValueError(f"type it like {letter}3")


def built(model: type[Command], given: dict[str, Any]) -> tuple[Command | None, dict[str, str]]:
    """The command, or by field why it is none; what belongs to no field stands under an empty name."""
    try:
        return model.model_validate(given), {}
    except ValidationError as error:
        wrong = {}
        for item in error.errors():
            name = str(item["loc"][0]) if item["loc"] else ""
            wrong[name] = item["msg"].removeprefix("Value error, ")
        return None, wrong


def with_hash(model: type[Command], given: dict[str, Any], view: Projection) -> dict[str, Any]:
    """The arguments with the hash of what is decided on, as it stands now: another content is refused by the board."""
    approval = view.tables.get(Approval, given.get("approval"))
    goal = view.tables.get(Goal, given.get("goal"))
    more: dict[str, Any] = {}
    if "payload_hash" in model.model_fields and approval is not None:
        more["payload_hash"] = approval.payload_hash
    if "content_hash" in model.model_fields and goal is not None:
        more["content_hash"] = goal.content_hash
    return {**given, **more}


def told(fields: Sequence[Field], given: Mapping[str, Any], view: Projection) -> list[str]:
    """The arguments as a person reads them, a line each; a thing with its title."""
    lines = []
    for field in fields:
        if field.name not in given:
            continue
        value = given[field.name]
        if field.kind == "id":
            ref = f"{_IDS[field.name]}:{value}"
            text = f"{tag_of(view, ref)} {words_of(view, ref)}".strip()
        elif field.kind == "usd":
            text = f"${value / 1_000_000:,.2f}"
        elif field.kind == "yes":
            text = "yes" if value else "no"
        elif field.kind == "lines":
            text = "; ".join(value)
        elif field.kind == "json":
            text = json.dumps(value, ensure_ascii=False)
        else:
            text = str(value)
        lines.append(f"{field.label}: {text}")
    return lines
