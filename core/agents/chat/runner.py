"""A run as a conversation with a model: it calls commands, the board answers, until it has nothing more to call."""

import json
import time
from collections.abc import Mapping
from typing import Any

import httpx2

from core.agents.chat.settings import ChatSettings
from core.agents.runner import Assignment, Desk, Outcome
from core.domain.errors import Fenced, OpsroomError
from core.domain.states import RunStatus
from core.reading.offered import tools
from core.reading.registry import READS

_ANSWER_MAX = 40_000  # code points that the model is told of one answer
_SAID_MAX = 2000


class _Ended(Exception):
    """The conversation cannot go on; `outcome` says why, without what it cost."""

    def __init__(self, status: RunStatus, kind: str, detail: str, retry_at: int | None = None) -> None:
        super().__init__(detail)
        self.outcome = Outcome(status, kind, detail, retry_at=retry_at)


class ChatRunner:
    """Speaks the protocol of `/v1/chat/completions` with tools; answers are not streamed."""

    def __init__(self, settings: ChatSettings) -> None:
        self._settings = settings

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        """Talk until the model calls nothing more, or the bound on turns is reached. Cancelling closes the line."""
        key = self._settings.key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with httpx2.AsyncClient(timeout=self._settings.timeout_s, headers=headers) as client:
            talk = _Talk(self._settings, client, desk, assignment)
            try:
                ended = await talk.through()
            except _Ended as end:
                ended = end.outcome
        return Outcome(
            ended.status, ended.exit_kind, ended.detail, talk.tokens_in, talk.tokens_out, retry_at=ended.retry_at
        )


class _Talk:
    def __init__(
        self, settings: ChatSettings, client: httpx2.AsyncClient, desk: Desk, assignment: Assignment
    ) -> None:  # fmt: skip
        self._settings = settings
        self._client = client
        self._desk = desk
        self._assignment = assignment
        self._tools = tools(assignment.agent.role, assignment.run.kind)
        self._messages: list[dict[str, Any]] = []
        self.tokens_in = 0
        self.tokens_out = 0

    async def through(self) -> Outcome:
        self._messages = [
            {"role": "system", "content": self._assignment.prompt.system},
            {"role": "user", "content": self._assignment.prompt.user},
        ]
        for _ in range(self._settings.turns):
            message = await self._next()
            said, calls = message.get("content"), message.get("tool_calls") or []
            if isinstance(said, str) and said.strip():
                self._desk.say(said.strip()[:_SAID_MAX])
            if not isinstance(calls, list):
                raise _Ended(RunStatus.PROTOCOL_VIOLATION, "protocol", "the model's tool_calls are no list")
            if not calls:
                return Outcome()
            if len(calls) > self._settings.calls_a_turn:
                bound = f"{len(calls)} calls in one turn; {self._settings.calls_a_turn} is the bound"
                raise _Ended(RunStatus.PROTOCOL_VIOLATION, "calls", bound)
            self._messages.append({"role": "assistant", "content": said, "tool_calls": calls})
            for call in calls:
                self._messages.append(await self._carried_out(call))
        raise _Ended(RunStatus.FAILED, "turns", f"it was not done after {self._settings.turns} turns")

    async def _next(self) -> Mapping[str, Any]:
        """The model's next message."""
        asked = {
            "model": self._settings.model, "messages": self._messages, "tools": self._tools, "tool_choice": "auto",
            "stream": False,
        }  # fmt: skip
        # ASCII: a model may have said half a character, which no UTF-8 holds.
        body, headers = json.dumps(asked).encode("ascii"), {"Content-Type": "application/json"}
        try:
            response = await self._client.post(f"{self._settings.url}/chat/completions", content=body, headers=headers)
        except httpx2.HTTPError as error:
            told = f"the model server does not answer ({type(error).__name__})"
            raise _Ended(RunStatus.FAILED, "server", told) from None
        if response.status_code == 429:
            told = "the model server takes no more requests for now"
            raise _Ended(RunStatus.RATE_LIMITED, "rate_limited", told, _retry_at(response.headers.get("retry-after")))
        if response.status_code != 200:
            told = f"the model server answered {response.status_code}: {response.text[:300]}"
            raise _Ended(RunStatus.FAILED, "server", told)
        try:
            told = response.json()
            message = told["choices"][0]["message"]
            self._count(told.get("usage"))
            if not isinstance(message, Mapping):
                raise TypeError("a message is an object")
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            why = f"the model server's answer is no chat completion ({type(error).__name__})"
            raise _Ended(RunStatus.PROTOCOL_VIOLATION, "protocol", why) from None
        return message

    def _count(self, usage: Any) -> None:
        if isinstance(usage, Mapping):
            self.tokens_in += _whole(usage.get("prompt_tokens"))
            self.tokens_out += _whole(usage.get("completion_tokens"))

    async def _carried_out(self, call: Any) -> dict[str, Any]:
        """The answer to one call. What is wrong with it is answered to the model, which may do it better."""
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise _Ended(RunStatus.PROTOCOL_VIOLATION, "protocol", "a tool call names no function")
        answer: dict[str, Any]
        try:
            arguments = json.loads(function.get("arguments") or "{}")
            if not isinstance(arguments, dict):
                raise TypeError("they are to be one JSON object")
        except (ValueError, TypeError, RecursionError) as error:
            answer = _error("invalid", f"The arguments are no JSON object: {error}.", "Send the call again.")
        else:
            try:
                ask = self._desk.read if function["name"] in READS else self._desk.call
                answer = await ask(function["name"], **arguments)
            except Fenced:
                raise
            except OpsroomError as error:
                answer = _error(error.code, error.message, error.hint)
        text = json.dumps(answer, ensure_ascii=False, default=str)
        return {"role": "tool", "tool_call_id": str(call.get("id", "")), "content": text[:_ANSWER_MAX]}


def _error(code: str, message: str, hint: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "hint": hint}}


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**40 else 0


def _retry_at(header: str | None) -> int | None:
    """When a server takes requests again (ms UTC), if it says so in seconds."""
    if header is None or not header.strip().isdecimal():
        return None
    return time.time_ns() // 1_000_000 + min(int(header.strip()[:9]), 86_400) * 1000
