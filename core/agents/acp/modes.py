"""The modes of a session: which one is at work, and by what request another is set."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.agents.programs.scripts import mapping

MODE, MODEL = "mode", "model"


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen, of what. `option` is the id of a session's setting; empty where it has a request of its own."""

    current: str
    known: tuple[str, ...]
    option: str = ""


def modes_of(facts: Mapping[str, Any]) -> Choice | None:
    """The modes in an answer or an update; None if it names none. Settings go first: their answers tell what holds."""
    found = option_of(facts, MODE)
    if found is not None:
        return found
    modes = mapping(facts.get("modes"))
    current = modes.get("currentModeId")
    if not isinstance(current, str):
        return None
    listed = modes.get("availableModes")
    known = [mapping(each).get("id") for each in listed] if isinstance(listed, list) else []
    return Choice(current, tuple(each for each in known if isinstance(each, str)))


def option_of(facts: Mapping[str, Any], category: str) -> Choice | None:
    """The setting of a session of this category, e.g. `model`; None if it has none."""
    listed = facts.get("configOptions")
    options = [mapping(each) for each in listed] if isinstance(listed, list) else []
    for option in options:
        current, name = option.get("currentValue"), option.get("id")
        if category in (option.get("category"), name) and isinstance(current, str) and isinstance(name, str):
            return Choice(current, tuple(_values(option.get("options"))), name)
    return None


def _values(options: object) -> list[str]:
    """The values of a choice, also of one in groups."""
    listed = [mapping(each) for each in options] if isinstance(options, list) else []
    groups = [mapping(each) for one in listed if isinstance(one.get("options"), list) for each in one["options"]]
    return [each["value"] for each in (*listed, *groups) if isinstance(each.get("value"), str)]
