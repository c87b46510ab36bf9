"""Output of the catalogue's programs. Failures look like success in some of them: the result's own word decides."""

from collections.abc import Mapping
from typing import Any

from core.agents.programs.limited import limited
from core.agents.programs.pieces import (
    Asked,
    Called,
    Finished,
    Noted,
    Piece,
    Resulted,
    Said,
    Scope,
    SessionIs,
    Thought,
    Turned,
    Used,
)
from core.agents.programs.scripts import mapping, number, object_of, word
from core.domain.budgets import MONEY_MAX


def _micros(dollars: object) -> int | None:
    if isinstance(dollars, bool) or not isinstance(dollars, int | float):
        return None
    return number(dollars * 1_000_000, MONEY_MAX)


def _failed(why: str, kind: str = "failed", *, status: object = None, named: object = "") -> Finished:
    return Finished(False, "rate_limited" if limited(why, status, named) else kind, why)


def _parts(value: object) -> list[Mapping[str, Any]]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _text_of(value: object) -> str:
    """A result's text, whether it is one or a list of parts."""
    parts = _parts(value)
    return "\n".join(word(part.get("text")) for part in parts) if parts else word(value)


class ClaudeParser:
    """`claude -p --output-format stream-json`; money is the total of the process."""

    needs_result = True

    def __init__(self) -> None:
        self._answer = ""  # by its id: one answer is told in several events, a part each
        self._error = ""  # the kind of the last answer, where it is an error instead of one

    def take(self, line: str) -> list[Piece]:
        """What one event tells."""
        facts = object_of(line)
        if facts is None:
            return []
        message = mapping(facts.get("message"))
        content = _parts(message.get("content"))
        match facts.get("type"):
            case "system" if facts.get("subtype") == "init":
                return [SessionIs(word(facts.get("session_id")))]
            case "system" if facts.get("subtype") == "api_retry":
                return [self._refused(facts)]
            case "assistant":
                pieces = [piece for part in content if (piece := self._part(part)) is not None]
                before, self._answer = self._answer, word(message.get("id"))
                self._error = word(facts.get("error"))
                return pieces if self._answer and self._answer == before else [Turned(), *pieces]
            case "user":
                return [piece for part in content if (piece := self._part(part)) is not None]
            case "result":
                return self._result(facts)
            case _:
                return []

    def _part(self, part: Mapping[str, Any]) -> Piece | None:
        match part.get("type"):
            case "text":
                return Said(word(part.get("text")))
            case "thinking":
                return Thought(word(part.get("thinking")))
            case "tool_use":
                return Called(word(part.get("id")), word(part.get("name")), word(part.get("input")))
            case "tool_result":
                failed = part.get("is_error") is True
                return Resulted(word(part.get("tool_use_id")), _text_of(part.get("content")), failed)
            case _:
                return None

    def _refused(self, facts: Mapping[str, Any]) -> Piece:
        why = f"{word(facts.get('error_status'))} {word(facts.get('error'))}".strip()
        seconds = round(number(facts.get("retry_delay_ms")) / 1000)
        count = f"{number(facts.get('attempt'))} of {number(facts.get('max_retries'))}"
        return Noted(f"its provider refused ({why}); it asks again in {seconds} s ({count})")

    def _result(self, facts: Mapping[str, Any]) -> list[Piece]:
        usage = mapping(facts.get("usage"))
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        tokens_in = sum(number(usage.get(name)) for name in names)
        cost = _micros(facts.get("total_cost_usd"))
        pieces: list[Piece] = [Used(tokens_in, number(usage.get("output_tokens")), cost, Scope.PROCESS)]
        pieces += [
            Asked(f"refused: {word(denied.get('tool_name'))} {word(denied.get('tool_input'))}")
            for denied in _parts(facts.get("permission_denials"))[:20]
        ]
        subtype = word(facts.get("subtype"))
        if facts.get("is_error") is True or subtype != "success":
            why, kind = word(facts.get("result")) or subtype, "max_turns" if "turns" in subtype else "failed"
            return [*pieces, _failed(why, kind, status=facts.get("api_error_status"), named=self._error)]
        return [*pieces, Finished(True)]


class CodexParser:
    """`codex exec --json`; tokens are the total of the thread, money is not told."""

    needs_result = True

    def take(self, line: str) -> list[Piece]:
        """What one event tells."""
        facts = object_of(line)
        if facts is None:
            return []
        match facts.get("type"):
            case "thread.started":
                return [SessionIs(word(facts.get("thread_id")))]
            case "turn.started":
                return [Turned()]
            case "item.completed":
                return self._item(mapping(facts.get("item")))
            case "turn.completed":
                usage = mapping(facts.get("usage"))
                used = Used(
                    number(usage.get("input_tokens")), number(usage.get("output_tokens")), None, Scope.SESSION
                )  # fmt: skip
                return [used, Finished(True)]
            case "turn.failed":
                return [_failed(word(mapping(facts.get("error")).get("message")) or "its turn failed")]
            case _:
                return []

    def _item(self, item: Mapping[str, Any]) -> list[Piece]:
        name = word(item.get("id"))
        failed = item.get("status") == "failed"
        match item.get("type"):
            case "agent_message":
                return [Said(word(item.get("text")))]
            case "reasoning":
                return [Thought(word(item.get("text")))]
            case "command_execution":
                result = Resulted(name, word(item.get("aggregated_output")), failed)
                return [Called(name, "shell", word(item.get("command"))), result]
            case "mcp_tool_call":
                tool = f"{word(item.get('server'))}.{word(item.get('tool'))}"
                told = item.get("error") or item.get("result")
                return [Called(name, tool, word(item.get("arguments"))), Resulted(name, word(told), failed)]
            case "error":
                # A warning, e.g. of a model that it does not know: what ends its turn is told by `turn.failed`.
                return [Noted(word(item.get("message")))]
            case _:
                return []


class OpencodeParser:
    """`opencode run --format json`; tokens and money are told by step."""

    needs_result = True

    def take(self, line: str) -> list[Piece]:
        """What one event tells."""
        facts = object_of(line)
        if facts is None:
            return []
        part = mapping(facts.get("part"))
        match facts.get("type"):
            case "step_start":
                return [SessionIs(word(facts.get("sessionID"))), Turned()]
            case "text":
                return [Said(word(part.get("text")))]
            case "tool_use":
                return self._tool(part)
            case "step_finish":
                return self._step(part)
            case "error":
                error = mapping(facts.get("error"))
                data = mapping(error.get("data"))
                why = word(data.get("message")) or word(error.get("name"))
                return [_failed(why or "it told an error", status=data.get("statusCode"))]
            case _:
                return []

    def _tool(self, part: Mapping[str, Any]) -> list[Piece]:
        state, name = mapping(part.get("state")), word(part.get("callID"))
        failed = state.get("status") == "error"
        told = word(state.get("error") if failed else state.get("output"))
        return [Called(name, word(part.get("tool")), word(state.get("input"))), Resulted(name, told, failed)]

    def _step(self, part: Mapping[str, Any]) -> list[Piece]:
        tokens = mapping(part.get("tokens"))
        kept = mapping(tokens.get("cache"))
        tokens_in = number(tokens.get("input")) + number(kept.get("read")) + number(kept.get("write"))
        tokens_out = number(tokens.get("output")) + number(tokens.get("reasoning"))
        # It tells 0 where it knows no price.
        used = Used(tokens_in, tokens_out, _micros(part.get("cost")) or None, Scope.STEP)
        return [used, Finished(True)] if part.get("reason") != "tool-calls" else [used]


class GeminiParser:
    """`gemini --output-format stream-json`; its words come in pieces, tokens are the total of the process, no money."""

    needs_result = True

    def __init__(self) -> None:
        self._said = ""
        self._turns = True  # the next thing that its model says or calls begins an answer

    def take(self, line: str) -> list[Piece]:
        """What one event tells, with the words before it that are whole now."""
        facts = object_of(line)
        if facts is None:
            return []
        if facts.get("type") == "message" and facts.get("role") == "assistant":
            self._said += word(facts.get("content"))
            return self._turn()
        return [*self._words(), *self._event(facts)]

    def _event(self, facts: Mapping[str, Any]) -> list[Piece]:
        match facts.get("type"):
            case "init":
                return [SessionIs(word(facts.get("session_id")))]
            case "tool_use":
                called = Called(word(facts.get("tool_id")), word(facts.get("tool_name")), word(facts.get("parameters")))
                return [*self._turn(), called]
            case "tool_result":
                self._turns = True
                failed = facts.get("status") == "error"
                told = word(facts.get("output")) or word(mapping(facts.get("error")).get("message"))
                return [Resulted(word(facts.get("tool_id")), told, failed)]
            case "error":
                return [Noted(word(facts.get("message")))]
            case "result":
                return self._result(facts)
            case _:
                return []

    def _words(self) -> list[Piece]:
        said, self._said = self._said, ""
        return [Said(said)] if said else []

    def _turn(self) -> list[Piece]:
        begins, self._turns = self._turns, False
        return [Turned()] if begins else []

    def _result(self, facts: Mapping[str, Any]) -> list[Piece]:
        stats = mapping(facts.get("stats"))
        used = Used(number(stats.get("input_tokens")), number(stats.get("output_tokens")), None, Scope.PROCESS)
        if facts.get("status") == "success":
            return [used, Finished(True)]
        error = mapping(facts.get("error"))
        why = word(error.get("message")) or "it ended with an error"
        return [used, _failed(why, status=error.get("code"), named=error.get("type"))]
