"""Whether an agent's runner settings can be used, asked before they are sent: the checks of a run's beginning."""

import importlib
from collections.abc import Callable, Collection, Mapping
from typing import Any

from core.domain.company_items import RUNNER_EXAMPLE
from core.domain.errors import Invalid

# module:function that raises Invalid for settings that cannot be used; imported when asked, an HTTP client takes long.
_CHECKS: Mapping[str, str] = {
    "acp": "core.agents.acp.catalogue:check",
    "chat": "core.agents.chat.settings:check",
    "command": "core.agents.programs.catalogue:check",
}


def check_runner(runner: Mapping[str, Any], kinds: Collection[str]) -> None:
    """Raises Invalid with the reason and what is known, for a kind that a company does not have, or wrong settings.

    `kinds` are those that it has (`core.config.runner_kinds`). Nothing is asked over a line and no key is read. May
    read a file the first time.
    """
    kind = runner.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        has = f"It has: {', '.join(sorted(kinds))}" if kinds else "It has none"
        named = "names no kind" if not kind else f"is of the kind {str(kind)[:80]!r}, which this company does not have"
        raise Invalid(f"The runner {named}; nothing was changed.", f"{has}; e.g. {RUNNER_EXAMPLE}.")
    if kind in _CHECKS:
        module, _, name = _CHECKS[kind].partition(":")
        check: Callable[[Mapping[str, Any]], None] = getattr(importlib.import_module(module), name)
        check(runner)


# module:class whose fields are the settings of a kind.
_SETTINGS: Mapping[str, str] = {
    "acp": "core.agents.acp.settings:AcpSettings",
    "chat": "core.agents.chat.settings:RunnerSettings",
    "command": "core.agents.programs.settings:CommandSettings",
}


def settings_words(kind: str) -> str:
    """The names of the settings that a kind knows, in their order; empty for one that is not known."""
    if kind not in _SETTINGS:
        return ""
    module, _, name = _SETTINGS[kind].partition(":")
    model = getattr(importlib.import_module(module), name)
    return ", ".join(model.model_fields)
