"""What a program tells of its session while it works, made into the neutral stream of all programs."""

from collections.abc import Callable, Mapping
from typing import Any

from core.agents.acp.modes import modes_of
from core.agents.acp.tools import Tool, Tools, text_of
from core.agents.acp.words import Beginning, Joined
from core.agents.programs.pieces import Piece, Planned, Said, Scope, Thought, Turned, Used
from core.agents.programs.scripts import mapping, number, without_controls, word
from core.domain.budgets import MONEY_MAX

_PLAN_MAX = 30
_MARKS = {"completed": "[x]", "in_progress": "[>]"}


class Updates:
    """Of one run. `on_mode` hears of each session mode that the program says is at work now.

    While `replays` holds, a former session is told again: nothing of it is news. Of what is told of money only what a
    run has added counts; `begun_anew` says that the program counts from nothing. `clean` takes secrets out of a text.
    """

    def __init__(self, on_mode: Callable[[str], None], clean: Callable[[str], str]) -> None:
        self.tools = Tools(clean)
        self._clean = clean
        self.replays = False
        self.begun_anew = True
        self._on_mode = on_mode
        self._said = Joined()
        self._thought = Beginning()
        self._plan = ""
        self._answering = False
        self._cost: int | None = None

    def take(self, update: Mapping[str, Any]) -> list[Piece]:
        """One update; never raises, whatever stands in it. Kinds that are not known here tell nothing."""
        kind = update.get("sessionUpdate")
        if kind == "current_mode_update":
            self._on_mode(word(update.get("currentModeId")))
            return []
        if kind == "config_option_update":
            if (modes := modes_of(update)) is not None:
                self._on_mode(modes.current)
            return []
        try:
            return [] if self.replays else self._told(kind, update)
        except RecursionError:  # arguments that are nested without end
            return []

    def _told(self, kind: object, update: Mapping[str, Any]) -> list[Piece]:
        match kind:
            case "agent_message_chunk":
                said = without_controls(self._said.add(text_of(update.get("content"))))
                return [*self._turn(), *self._thoughts(), *([Said(said)] if said.strip() else [])]
            case "agent_thought_chunk":
                self._thought.add(text_of(update.get("content")))
                return self._turn()
            case "tool_call" | "tool_call_update":
                ended = update.get("status") in ("completed", "failed")
                turned = [] if ended else self._turn()
                pieces = [*turned, *self.flush(), *self.tools.take(update)]
                self._answering = self._answering and not ended
                return pieces
            case "plan":
                return [*self.flush(), *self._planned(update.get("entries"))]
            case "usage_update":
                return self._paid(mapping(update.get("cost")))
        return []

    def asked(self, facts: Mapping[str, Any]) -> tuple[Tool, list[Piece]]:
        """The call that the program asks about, and what is news of it."""
        tool, pieces = self.tools.asked(facts)
        return tool, [*self._turn(), *self.flush(), *pieces]

    def settled(self) -> list[Piece]:
        """Asked now and then: what waits for more that does not come."""
        said = without_controls(self._said.add(""))
        return [*([Said(said)] if said.strip() else []), *self.tools.settled()]

    def flush(self) -> list[Piece]:
        """What was told in parts, and is over: the turn ends, or something else begins."""
        said = without_controls(self._said.end())
        return [*self._thoughts(), *([Said(said)] if said.strip() else [])]

    def ended(self, facts: Mapping[str, Any]) -> list[Piece]:
        """The turn is over, with this answer; it may tell the tokens that it used."""
        pieces = self.flush()
        self._answering = False
        if (used := _tokens(facts)) is not None:
            pieces.append(Used(*used, None if self._cost is None else 0, Scope.STEP))
        return pieces

    def _turn(self) -> list[Piece]:
        """An answer of its model begins with the first word, thought or call after a result."""
        if self._answering:
            return []
        self._answering = True
        return [Turned()]

    def _thoughts(self) -> list[Piece]:
        thought = without_controls(self._thought.end())
        return [Thought(thought)] if thought.strip() else []

    def _planned(self, entries: object) -> list[Piece]:
        found = [mapping(each) for each in entries] if isinstance(entries, list) else []
        said = [self._clean(" ".join(word(each.get("content")).split()))[:200] for each in found[:_PLAN_MAX]]
        marks = [_MARKS.get(word(each.get("status")), "[ ]") for each in found]
        lines = [f"{mark} {text}" for mark, text in zip(marks, said, strict=False)]
        rest = [f"… {len(found) - _PLAN_MAX} more"] if len(found) > _PLAN_MAX else []
        plan = without_controls("\n".join(["its plan:", *lines, *rest]))
        if plan == self._plan or not lines:
            return []
        self._plan = plan
        return [Planned(plan)]

    def _paid(self, cost: Mapping[str, Any]) -> list[Piece]:
        amount = cost.get("amount")
        if cost.get("currency") != "USD" or isinstance(amount, bool) or not isinstance(amount, int | float):
            return []
        total = number(amount * 1_000_000, MONEY_MAX)
        before = self._cost if self._cost is not None else 0 if self.begun_anew else total
        self._cost = total
        more = max(0, total - before)
        return [Used(0, 0, more, Scope.STEP)] if more else []


def _tokens(facts: Mapping[str, Any]) -> tuple[int, int] | None:
    """In and out, of the answer to a prompt; None if it tells none."""
    usage = mapping(facts.get("usage"))
    if usage:
        tokens_out, total = number(usage.get("outputTokens")), number(usage.get("totalTokens"))
        # Some count what came from a cache within what was sent, some beside it: the total holds it once.
        return (total - tokens_out if total > tokens_out else number(usage.get("inputTokens"))), tokens_out
    count = mapping(mapping(mapping(facts.get("_meta")).get("quota")).get("token_count"))  # gemini's own words
    return (number(count.get("input_tokens")), number(count.get("output_tokens"))) if count else None
