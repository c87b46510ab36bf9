"""Whether what an agent asks of models is counted by Opsroom, as its runner's settings say. Pure."""

from collections.abc import Mapping
from typing import Any

_PROGRAMS = ("command", "acp")


def metering_words(runner: Mapping[str, Any]) -> str:
    """'not metered: …' for a program with a login of its own; through what it is counted; "" for other agents."""
    if runner.get("kind") not in _PROGRAMS:
        return ""
    if gateway := runner.get("gateway"):
        return f"metered by the gateway {gateway}"
    return "not metered: it has a login of its own, and only what it tells is counted"


def is_unmetered(runner: Mapping[str, Any]) -> bool:
    """Whether nobody but the program itself counts what it uses."""
    return metering_words(runner).startswith("not metered")
