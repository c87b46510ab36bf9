"""Whether a regular expression stays cheap on any text: the ways in which it can match from one place are bounded.

A pattern runs in the thread that serves the whole board, on text that an agent chose. Python's engine cannot be
interrupted, so a pattern that could take for ever is refused when the file is read. Pure.
"""

import importlib
import re
from typing import Any

WINDOW = 2_000  # characters that one search looks at
WAYS_MAX = 5_000  # from one place; a gap of 40 between two words has 41
PATTERN_MAX = 500  # characters
_parser: Any = importlib.import_module("re._parser")  # the tree that the engine itself is made from


class Costly(ValueError):
    """The pattern could take too long; the message says why and what to do."""


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, without regard to case. Raises re.error (with `pos`), or Costly."""
    if not pattern.strip():
        raise Costly("an empty pattern is found everywhere; leave it out")
    if len(pattern) > PATTERN_MAX:
        raise Costly(f"it has {len(pattern)} characters; at most {PATTERN_MAX}, so split it in two")
    try:
        made = re.compile(pattern, re.IGNORECASE)
        ways = _ways(_parser.parse(pattern, re.IGNORECASE))
    except (RecursionError, OverflowError):
        raise Costly("it is nested too deeply or repeats too often") from None
    if ways > WAYS_MAX:
        raise Costly("it could take for ever; bound its repeats, e.g. .{0,40} for .*, and put none inside another")
    if made.search("") is not None:
        raise Costly("it matches nothing at all, so it is found everywhere")
    return made


def _ways(nodes: Any) -> int:
    """An upper bound of the ways in which a sequence can match from one place."""
    ways = 1
    for operator, argument in nodes:
        ways *= _ways_of(str(operator), argument)
        if ways > WAYS_MAX:
            return ways
    return ways


def _ways_of(operator: str, argument: Any) -> int:
    match operator:
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            low, high, item = argument
            return _repeats(int(low), min(int(high), max(WINDOW, int(low))), _ways(item))
        case "SUBPATTERN":
            return _ways(argument[-1])
        case "ATOMIC_GROUP":
            return _ways(argument)
        case "ASSERT" | "ASSERT_NOT":
            return _ways(argument[1])
        case "BRANCH":
            return _branches(argument[1])
        case "GROUPREF_EXISTS":
            return sum(_ways(part) for part in argument[1:] if part is not None)
        case _:
            return 1


def _repeats(low: int, high: int, each: int) -> int:
    if each == 1:
        return high - low + 1
    ways = 0
    for times in range(low, high + 1):
        ways += min(each**times, WAYS_MAX + 1) if times < 64 else WAYS_MAX + 1
        if ways > WAYS_MAX:
            break
    return ways


def _branches(branches: Any) -> int:
    """Only alternatives that begin alike may match one after the other from the same place."""
    alike: dict[int | None, list[Any]] = {}
    for branch in branches:
        alike.setdefault(_first(branch), []).append(branch)
    unknown = sum(_ways(branch) for branch in alike.pop(None, []))
    return unknown + max((_alternatives(group) for group in alike.values()), default=0)


def _first(nodes: Any) -> int | None:
    """The character that a sequence begins with, if that is certain."""
    for operator, argument in nodes:
        if str(operator) == "SUBPATTERN":
            return _first(argument[-1])
        if str(operator) != "AT":
            return int(argument) if str(operator) == "LITERAL" else None
    return None


def _alternatives(group: list[Any]) -> int:
    """Words exclude each other unless one begins with the other."""
    if any(str(operator) != "LITERAL" for branch in group for operator, _ in branch):
        return sum(_ways(branch) for branch in group)
    words = ["".join(chr(code) for _, code in branch) for branch in group]
    return max(sum(word.startswith(other) for other in words) for word in words)
