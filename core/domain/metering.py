"""Whether what an agent asks of models is counted by Opsroom, as its runner's settings say. Pure."""

from collections.abc import Mapping
from typing import Any

from core.domain.runner_uses import PROGRAMS


def metering_words(runner: Mapping[str, Any]) -> str:
    """'not metered: …' for a program with a login of its own; through what it is counted; "" for other agents."""
    if is_unmetered(runner):
        return "not metered: it has a login of its own, and only what it tells is counted"
    return f"metered by the gateway {runner['gateway']}" if runner.get("kind") in PROGRAMS else ""


def is_unmetered(runner: Mapping[str, Any]) -> bool:
    """Whether nobody but the program itself counts what it uses."""
    return runner.get("kind") in PROGRAMS and not runner.get("gateway")
