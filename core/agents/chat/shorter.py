"""What is sent again when a conversation is longer than the model's window: less of what was looked up. Pure."""

from core.agents.models.conversation import Assistant, Message, ToolResult, User
from core.prompting.prompt import STABLE, LayerName, Prompt

_KEPT = 600  # code points of what was said or read before
# In the order of the prompt's own budget these go first; all of them can be looked up (F12).
_FIRST_OUT = frozenset({LayerName.KNOWLEDGE, LayerName.EXPERIENCES, LayerName.PREDECESSORS})


def shorter(messages: list[Message], prompt: Prompt, told: str, cut: str) -> list[Message]:
    """The conversation with a smaller first message (`told` ends it) and clipped results (`cut` ends each)."""
    first = messages[:1]
    if any(layer.name in _FIRST_OUT for layer in prompt.layers):
        kept = [layer.text for layer in prompt.layers if layer.name not in STABLE | _FIRST_OUT]
        first = [User("\n\n".join([*kept, told]))]
    return [*first, *(_clipped(message, cut) for message in messages[1:])]


def _clipped(message: Message, cut: str) -> Message:
    if len(message.text) <= _KEPT:
        return message
    text = message.text[:_KEPT] + cut
    match message:
        case ToolResult():
            return ToolResult(message.call_id, text, message.failed)
        case Assistant():
            return Assistant(text, message.calls, message.thoughts)
        case User():
            return message
