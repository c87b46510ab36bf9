"""How two prompts differ, layer by layer. Pure."""

from dataclasses import dataclass
from difflib import unified_diff

from core.prompting.prompt import LayerName, Prompt

SAME_NONCE = "NONCE"
CONTEXT = 3  # unchanged lines around a change


@dataclass(frozen=True, slots=True)
class LayerDifference:
    """One layer of two prompts: `lines` as of `diff -u`, without a header; none when the layer is the same in both.

    `before` and `after` are its tokens, None where the prompt does not have it.
    """

    name: LayerName
    before: int | None
    after: int | None
    lines: tuple[str, ...]

    @property
    def added(self) -> int:
        """Lines that only the second one has."""
        return sum(line.startswith("+") for line in self.lines)

    @property
    def removed(self) -> int:
        """Lines that only the first one has."""
        return sum(line.startswith("-") for line in self.lines)


def compare(before: Prompt, after: Prompt) -> tuple[LayerDifference, ...]:
    """Every layer that either has, in order. The nonces, which always differ, count for nothing."""
    olds = {layer.name: layer for layer in before.layers}
    news = {layer.name: layer for layer in after.layers}
    found = []
    for name in LayerName:
        old, new = olds.get(name), news.get(name)
        if old is None and new is None:
            continue
        lines = difference(_plain(old.text if old else "", before.nonce), _plain(new.text if new else "", after.nonce))
        found.append(LayerDifference(name, old.tokens if old else None, new.tokens if new else None, lines))
    return tuple(found)


def difference(before: str, after: str) -> tuple[str, ...]:
    """The lines of `diff -u` between two texts, without the header; none when they are equal."""
    # Only "\n" ends a line: what else might stays in its line.
    lines = unified_diff(_lines(before), _lines(after), n=CONTEXT, lineterm="")
    return tuple(lines)[2:]


def _lines(text: str) -> list[str]:
    return text.split("\n") if text else []


def _plain(text: str, nonce: str) -> str:
    return text.replace(nonce, SAME_NONCE) if nonce else text
