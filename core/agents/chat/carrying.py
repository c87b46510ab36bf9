"""Carries out what a model calls. What is wrong with a call is answered to the model, which may do it better."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.agents.models.conversation import Tool, ToolCall, ToolResult
from core.agents.runner import Desk, Told
from core.commands.registry import REGISTRY, Answer
from core.domain.errors import Fenced, OpsroomError
from core.domain.states import Role, RunKind
from core.reading.offered import tools
from core.reading.registry import READS

_ANSWER_MAX = 40_000  # code points that the model is told of one answer


@dataclass(frozen=True, slots=True)
class Done:
    """One call with what the model is answered. `answer` is the board's to a command; `error` why it was refused."""

    call: ToolCall
    result: ToolResult
    answer: Answer | None = None
    error: str = ""

    @property
    def action(self) -> str:
        """What was done, as a text to compare: the name and the arguments."""
        if self.call.arguments is None:
            return f"{self.call.name} {self.call.text}"
        return f"{self.call.name} {json.dumps(self.call.arguments, sort_keys=True, ensure_ascii=False)}"


def tools_of(role: Role, kind: RunKind) -> tuple[Tool, ...]:
    """What a run of this kind of an agent of this role may call."""
    functions = (each["function"] for each in tools(role, kind))
    return tuple(Tool(each["name"], each["description"], each["parameters"]) for each in functions)


async def carried_out(desk: Desk, call: ToolCall, offered: tuple[Tool, ...], cut: str) -> Done:
    """Carry one call out; `cut` ends an answer that is too long to be told whole. Raises Fenced, and nothing else."""
    if call.arguments is None:
        return _refused(desk, call, _malformed(call, offered))
    reads = call.name in READS
    try:
        answer = await (desk.read if reads else desk.call)(call.name, **call.arguments)
    except Fenced:
        raise
    except OpsroomError as error:
        hint = (
            error.hint if reads or call.name in REGISTRY else f"You have: {', '.join(tool.name for tool in offered)}."
        )
        return _refused(desk, call, _error(error.code, error.message, hint))
    text = json.dumps(answer, ensure_ascii=False, default=str)
    told = text if len(text) <= _ANSWER_MAX else text[:_ANSWER_MAX] + cut
    return Done(call, ToolResult(call.id, told), None if reads else answer)


def _refused(desk: Desk, call: ToolCall, told: Mapping[str, Any]) -> Done:
    why = f"{told['error']['code']}: {told['error']['message']}"[:1000]
    desk.tell(Told.REFUSED, command=call.name[:100], error=why)
    text = json.dumps(told, ensure_ascii=False, default=str)
    return Done(call, ToolResult(call.id, text, failed=True), error=why)


def _malformed(call: ToolCall, offered: tuple[Tool, ...]) -> dict[str, Any]:
    schema = next((dict(tool.schema) for tool in offered if tool.name == call.name), None)
    hint = "Send the call again; its arguments are one JSON object" + (" of this schema." if schema else ".")
    told = _error("invalid", f"The arguments of {call.name} cannot be used: {call.problem}.", hint)
    if schema is not None:
        told["error"]["schema"] = schema
    return told


def _error(code: str, message: str, hint: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "hint": hint}}
