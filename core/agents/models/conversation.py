"""A conversation with a model in one neutral form; the adapters put it into the words of a wire format."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


class FinishReason(StrEnum):
    """Why an answer ended."""

    END = "end"
    CALLS = "calls"  # the model waits for the results of its calls
    LENGTH = "length"  # the bound on the answer's tokens
    CONTEXT = "context"  # the model's window is full
    FILTER = "filter"  # the provider held the answer back
    REFUSAL = "refusal"  # the model declined
    PAUSED = "paused"  # the provider wants the answer sent back to go on
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Text:
    """Text of an answer, or a layer of the system text; `stable` layers stay the same between requests."""

    text: str
    stable: bool = False


@dataclass(frozen=True, slots=True)
class Thought:
    """What the model thought aloud; in a stream, a part of it. `signature` and `hidden` are for the provider alone.

    In a stream a signature without text ends a thought. Servers that speak chat completions have no signatures: there
    it is the name of the field that the thought came in.
    """

    text: str
    signature: str = ""
    hidden: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for.

    `arguments` is None when what the model wrote (`text`) is no whole JSON object; `problem` then says why, so that the
    caller can answer the model. `kept` holds fields of the provider that go back as they came.
    """

    id: str
    name: str
    text: str
    arguments: Mapping[str, Any] | None
    problem: str = ""
    kept: Mapping[str, Any] = field(default_factory=dict)

    def sendable(self) -> dict[str, Any]:
        """The arguments as an object that every server takes back; what is no JSON travels as text inside one."""
        return dict(self.arguments) if self.arguments is not None else {"not_json": self.text}


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer. `tokens_in` counts all input, with `cache_read` and `cache_write` among it."""

    tokens_in: int = 0
    tokens_out: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True)
class Finish:
    """The last piece of an answer. `told` is the provider's own word for the reason."""

    reason: FinishReason
    told: str = ""


Piece = Text | Thought | ToolCall | Usage | Finish


@dataclass(frozen=True, slots=True)
class User:
    """What the model is told. `stable` texts are worth keeping in the provider's cache."""

    text: str
    stable: bool = False


@dataclass(frozen=True, slots=True)
class Assistant:
    """What the model said before."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    thoughts: tuple[Thought, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one call; each call of an Assistant message needs one before the next request."""

    call_id: str
    text: str
    failed: bool = False


Message = User | Assistant | ToolResult


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the model may call; `schema` is the JSON schema of its arguments."""

    name: str
    about: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """The JSON schema that the text of the answer must follow. A name is letters, digits, `_` and `-`."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request: the layers of the system text, the conversation, and what the model may do."""

    messages: tuple[Message, ...]
    system: tuple[Text, ...] = ()
    tools: tuple[Tool, ...] = ()
    choice: Literal["auto", "required", "none"] = "auto"
    answer: AnswerSchema | None = None
    max_tokens: int = 4096
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. `usage` is None when the server told none: unknown, not zero."""

    text: str
    calls: tuple[ToolCall, ...]
    thoughts: tuple[Thought, ...]
    usage: Usage | None
    finish: Finish

    def message(self) -> Assistant:
        """The answer as a message of the next request."""
        return Assistant(self.text, self.calls, self.thoughts)


class Gathered:
    """The pieces of one answer, taken in as they come."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._thoughts: list[Thought] = []
        self._calls: list[ToolCall] = []
        self._usage: Usage | None = None
        self._finish = Finish(FinishReason.UNKNOWN)

    def take(self, piece: Piece) -> None:
        """The next piece."""
        match piece:
            case Text():
                self._texts.append(piece.text)
            case Thought():
                self._thoughts.append(piece)
            case ToolCall():
                self._calls.append(piece)
            case Usage():
                self._usage = piece
            case Finish():
                self._finish = piece

    def answer(self) -> Answer:
        """The whole answer."""
        return Answer(
            "".join(self._texts), tuple(self._calls), _joined(self._thoughts), self._usage, self._finish
        )  # fmt: skip


def _joined(parts: Iterable[Thought]) -> tuple[Thought, ...]:
    """Whole thoughts from the parts of a stream."""
    whole: list[Thought] = []
    ended = True
    for part in parts:
        if part.hidden or ended:
            whole.append(part)
        else:
            last = whole[-1]
            whole[-1] = Thought(last.text + part.text, part.signature or last.signature)
        ended = bool(part.hidden) or (bool(part.signature) and not part.text)
    return tuple(whole)


def tool_call(id: str, name: str, text: str, kept: Mapping[str, Any] | None = None, *, cut: bool = False) -> ToolCall:
    """A call with its arguments read. `cut` says that the answer ended at its bound, so an empty text is no `{}`."""
    try:
        arguments = json.loads(text if text.strip() or cut else "{}", parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        told = "they were cut off by the bound on tokens" if cut else f"they are no JSON ({error})"
        return ToolCall(id, name, text, None, told, kept or {})
    if not isinstance(arguments, dict):
        told = f"they are to be one JSON object, not {type(arguments).__name__}"
        return ToolCall(id, name, text, None, told, kept or {})
    return ToolCall(id, name, text, arguments, "", kept or {})


def count(value: object) -> int:
    """A number of tokens as a server told it; whatever is no such number counts 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**40 else 0


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")
