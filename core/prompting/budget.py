"""What is cut when a prompt is too large, and in which order (F12). Pure; docs/prompts.md tells the same."""

from collections.abc import Iterator
from dataclasses import replace

from core.prompting.counting import tokens
from core.prompting.facts import PromptFacts
from core.prompting.layers import Cut, Writer, full
from core.prompting.prompt import Layer

JOINED = 2  # tokens that a line between two layers may cost
_FENCE = 24  # tokens around a value
# Last the long values: their length, how many must-haves are told whole, and how many reads stand in the API.
_SHORTER = (
    (1_000, 50, 99), (500, 40, 99), (250, 30, 99), (250, 30, 4), (120, 20, 4), (120, 10, 4), (60, 10, 4), (60, 5, 4),
    (30, 5, 4), (16, 3, 4), (8, 2, 4), (4, 1, 2), (0, 1, 2),
)  # fmt: skip


def fitted(writer: Writer, budget: int) -> tuple[tuple[Layer, ...], Cut]:
    """The layers of the fullest cut within the budget (tokens), and that cut.

    Only if roles and calls alone are larger does the result exceed it.
    """
    cut = full(writer.facts)
    smaller = _smaller(writer.facts, cut)
    layers = writer.layers(cut)
    while (excess := size_of(layers) - budget) > 0:
        saved = 0
        while saved < excess:
            step = next(smaller, None)
            if step is None:
                return layers, cut
            cut, saves = step
            saved += saves
        layers = writer.layers(cut)
    return layers, cut


def size_of(layers: tuple[Layer, ...]) -> int:
    """The tokens of a prompt, with what stands between its layers."""
    return sum(layer.tokens + JOINED for layer in layers)


def _smaller(facts: PromptFacts, cut: Cut) -> Iterator[tuple[Cut, int]]:
    """Ever smaller cuts, each with the tokens that it saves at least about (never more than it does, by much)."""
    for at in reversed(range(cut.bodies)):
        cut = replace(cut, bodies=at)
        yield cut, _cost(facts.knowledge[at].body)
    for at in reversed(range(cut.sections)):
        cut = replace(cut, sections=at)
        yield cut, _FENCE
    for at in reversed(range(cut.experiences)):
        cut = replace(cut, experiences=at)
        yield cut, _cost(facts.experiences[at].body)
    for at in reversed(range(cut.comments)):
        cut = replace(cut, comments=at)
        # The oldest goes first.
        yield cut, _cost(facts.comments[len(facts.comments) - 1 - at].body)
    for at in reversed(range(cut.predecessors)):
        cut = replace(cut, predecessors=at)
        one = facts.predecessors[at]
        yield cut, _cost(one.handoff) + sum(_cost(output.summary) for output in one.outputs)
    for length, musts, reads in _SHORTER[:3]:
        cut = replace(cut, length=length, musts=musts, reads=reads)
        yield cut, 10**9
    texts = [item for other in facts.others for item in other.items]
    for at in reversed(range(cut.items)):
        cut = replace(cut, items=at)
        yield cut, _cost(texts[at][: cut.length])
    for length, musts, reads in _SHORTER[3:]:
        cut = replace(cut, length=length, musts=musts, reads=reads)
        yield cut, 10**9


def _cost(text: str) -> int:
    return tokens(text[:1_200]) + _FENCE
