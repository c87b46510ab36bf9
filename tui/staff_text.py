"""Agents, hires and changes of the organisation as lines that a person edits, and back. Pure.

A line is `label: value`; what belongs to it is indented below. Every line that cannot be understood is named.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from core.domain.entities import AgentRecord
from core.domain.states import BudgetPeriod, Role
from tui.goal_text import Problem
from tui.text import plain

MICROS = 1_000_000
USD_MAX = 1_000_000_000
_LABEL = re.compile(r"([a-z ]+?)\s*:\s?(.*)", re.IGNORECASE)
KIND = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
SLUG = re.compile(r"[a-z][a-z0-9-]{0,39}")
_MOVES = re.compile(r"([a-z][a-z0-9-]*)\s*>\s*(\S*)")
_DOES = re.compile(r"([a-z][a-z0-9-]*)\s*:\s?(.*)")
_SETTING = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_AMOUNT = re.compile(
    r"\$?\s*([0-9][0-9,]*(?:\.[0-9]{1,6})?)\s*(?:\$|usd)?(?:\s+(?:a\s+|in\s+)?([a-z]+))?", re.IGNORECASE
)


def usd(micros: int) -> str:
    """`5.00`; what is no whole cent is told to the micro."""
    whole, rest = divmod(micros, MICROS)
    return f"{whole}.{f'{rest:06d}'.rstrip('0').ljust(2, '0')}"


def read_amount(text: str) -> tuple[int, BudgetPeriod | None] | None:
    """Micros and the period of `5 a day`, `$2.50 week`, `0`; None when it is no amount."""
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        return None
    period = {"all": BudgetPeriod.TOTAL, **{str(each): each for each in BudgetPeriod}}.get((match[2] or "").casefold())
    if match[2] and period is None:
        return None
    try:
        amount = Decimal(match[1].replace(",", ""))
    except InvalidOperation:
        return None
    return (int(amount * MICROS), period) if amount <= USD_MAX else None


@dataclass(frozen=True, slots=True)
class Field:
    """One line of a form: its label, how the value is shown, and how it is read (raises ValueError with the reason)."""

    name: str
    label: str
    show: Callable[[Any], str]
    read: Callable[[str], Any]


def _text(value: Any) -> str:
    return plain(str(value or ""))


def _as_is(text: str) -> str:
    return text


def _named(text: str) -> str:
    if not text:
        raise ValueError("what is it called? write a name behind it")
    return text


def _slug(text: str) -> str:
    if not SLUG.fullmatch(text):
        raise ValueError("a short name has small letters, digits and -, begins with a letter, and has 40 at most")
    return text


def _names(text: str) -> tuple[str, ...]:
    return tuple(each for each in re.split(r"[,\s]+", text.strip()) if each)


def _role(text: str) -> str:
    if text not in set(Role):
        raise ValueError(f"there is no role {text!r}; there are: {', '.join(Role)}")
    return text


def _money(text: str) -> int:
    found = read_amount(text or "0")
    if found is None or found[1] not in (None, BudgetPeriod.DAY):
        raise ValueError(f"{text!r} is no amount of US dollars a day")
    return found[0]


def _number(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"{text!r} is no whole number")
    return int(text)


def _runner(text: str) -> dict[str, Any]:
    if KIND.fullmatch(text):
        return {"kind": text}
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ValueError('the runner is its kind, or its kind and settings like {"kind": "rehearsal"}')
    return value


def _listed(value: Any) -> str:
    return ", ".join(plain(str(each)) for each in value or ())


def runner_words(runner: Any) -> str:
    """A runner's kind; with its settings, as the JSON that they are, where it has any."""
    if isinstance(runner, Mapping) and set(runner) == {"kind"} and KIND.fullmatch(str(runner["kind"])):
        return str(runner["kind"])
    return json.dumps(runner, ensure_ascii=True)


def _runner_shown(value: Any) -> str:
    return runner_words(value or {"kind": "rehearsal"})


_NAME = Field("name", "name", _text, _named)
_CAN = Field("capabilities", "can", _listed, _names)
_MANAGER = Field("manager", "reports to", _text, _as_is)
_RUNS = Field("max_runs", "runs at once", lambda value: str(value or 1), _number)
_RUNNER = Field("runner", "runner", _runner_shown, _runner)
HIRE = (
    _NAME, Field("slug", "short name", _text, _slug), Field("role", "role", _text, _role), _CAN, _MANAGER,
    Field("budget_micros", "usd a day", lambda value: usd(int(value or 0)), _money), _RUNS, _RUNNER,
)  # fmt: skip
PROPOSED = (*HIRE, Field("why", "why", _text, _as_is))
AGENT = (_NAME, _CAN, _MANAGER, Field("duties", "duties", _text, _as_is), _RUNS, _RUNNER)
HELP = {
    "usd a day": "# usd a day: 0 is no limit of its own",
    "role": f"# role: {', '.join(Role)}",
    "can": "# can: what it is able to do, in words with commas between them",
}


HOW = ("# agent > manager: whom it reports to; nothing behind > is nobody", "# agent: what it answers for")


def lines_of(fields: Sequence[Field], values: Mapping[str, Any]) -> str:
    """The text to edit."""
    shown = [f"{each.label}: {each.show(values.get(each.name))}".rstrip().replace("\n", "\n  ") for each in fields]
    return "\n".join([*shown, "", *(HELP[each.label] for each in fields if each.label in HELP)]) + "\n"


def read_lines(fields: Sequence[Field], text: str) -> tuple[dict[str, Any], list[Problem]]:
    """The values, and what is wrong line by line."""
    known = {each.label: each for each in fields}
    found: dict[str, tuple[int, str]] = {}
    last, problems = "", []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("  ") and last:
            found[last] = (found[last][0], f"{found[last][1]}\n{line[2:]}")
            continue
        match = _LABEL.fullmatch(line)
        label = " ".join(match[1].casefold().split()) if match else ""
        if match is None or label not in known:
            problems.append(Problem(number, f"begin it with one of: {', '.join(known)}"))
        elif label in found:
            problems.append(Problem(number, f"{label} is there twice"))
        else:
            last, found[label] = label, (number, match[2])
    values: dict[str, Any] = {}
    for label, (number, written) in found.items():
        try:
            values[known[label].name] = known[label].read(written.strip())
        except ValueError as problem:
            problems.append(Problem(number, str(problem)))
    problems += [Problem(1, f"the line {label}: is missing") for label in known if label not in found]
    return values, sorted(problems, key=lambda each: each.line)


def changed(fields: Sequence[Field], begun: str, text: str) -> tuple[dict[str, Any], list[Problem]]:
    """What differs from the text as it was begun: what a person did not touch is not sent."""
    values, problems = read_lines(fields, text)
    before, _ = read_lines(fields, begun)
    return {name: value for name, value in values.items() if before.get(name) != value}, problems


def values_of(agent: AgentRecord, manager: str) -> dict[str, Any]:
    """An agent as the form shows it."""
    return {
        "name": agent.name, "capabilities": agent.capabilities, "manager": manager, "duties": agent.duties,
        "max_runs": agent.max_runs, "runner": dict(agent.runner),
    }  # fmt: skip


def runner_lines(runner: Mapping[str, Any]) -> str:
    """A runner's settings to edit, one a line: texts as they are where nothing else could be meant, others as JSON."""
    named = sorted(runner, key=lambda name: name != "kind")
    return "".join(f"{plain(str(name))}: {_setting(runner[name])}\n" for name in named)


def _setting(value: Any) -> str:
    is_clear = isinstance(value, str) and value == value.strip() and value and _said_as_json(value) is None
    return value if is_clear and plain(value) == value else json.dumps(value, ensure_ascii=True)


def _said_as_json(text: str) -> tuple[Any] | None:
    try:
        return (json.loads(text),)
    except (ValueError, RecursionError):
        return None


def read_runner(text: str) -> tuple[dict[str, Any], list[Problem]]:
    """The settings in such lines, or in one JSON object, and what is wrong line by line."""
    kept = "\n".join(line for line in text.split("\n") if not line.startswith("#"))
    if kept.lstrip().startswith("{"):
        whole = _said_as_json(kept)
        if whole is None or not isinstance(whole[0], dict):
            return {}, [Problem(1, "this is no JSON object")]
        return whole[0], []
    found: dict[str, Any] = {}
    problems = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#") or not line.strip():
            continue
        name, colon, value = line.partition(":")
        if not colon or not _SETTING.fullmatch(name.strip()):
            problems.append(Problem(number, "write a setting and its value: model: qwen3"))
        elif name.strip() in found:
            problems.append(Problem(number, f"{name.strip()} is there twice"))
        elif not value.strip():
            problems.append(Problem(number, f"{name.strip()} has no value; take the line out for what is usual"))
        else:
            read = _said_as_json(value.strip())
            found[name.strip()] = value.strip() if read is None else read[0]
    return found, problems


def changes_text(payload: Mapping[str, Any]) -> str:
    """A change of the organisation, to edit."""
    lines = [f"why: {_text(payload.get('why'))}".replace("\n", "\n  "), ""]
    for change in payload.get("changes") or ():
        slug = plain(str(change.get("agent", "")))
        if change.get("manager") is not None:
            lines.append(f"{slug} > {plain(str(change['manager']))}".rstrip())
        if change.get("duties") is not None:
            lines.append(f"{slug}: {_text(change['duties'])}".replace("\n", "\n  "))
    return "\n".join([*lines, "", *HOW]) + "\n"


def read_changes(text: str) -> tuple[dict[str, Any], list[Problem]]:
    """The changes and the reason, and what is wrong line by line."""
    why, problems, said_why = "", [], False
    changes: dict[str, dict[str, str]] = {}
    last: tuple[str, str] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("  "):
            if last is None and said_why:
                why += f"\n{line[2:]}"
            elif last is not None:
                changes[last[0]][last[1]] += f"\n{line[2:]}"
            continue
        move, does = _MOVES.fullmatch(line.strip()), _DOES.fullmatch(line.strip())
        match = move or does
        if match is None:
            problems.append(Problem(number, "write agent > manager, or agent: what it answers for"))
        elif does is not None and not said_why and does[1] == "why":
            why, said_why = does[2], True
        else:
            name, value = ("manager", match[2]) if move else ("duties", match[2])
            change = changes.setdefault(match[1], {"agent": match[1]})
            if name in change:
                problems.append(Problem(number, f"{name} of {match[1]} is there twice"))
            change[name], last = value, (match[1], name)
    if not changes:
        problems.append(Problem(1, "nothing would change; leave and reject it instead"))
    return {"changes": list(changes.values()), "why": why}, problems
