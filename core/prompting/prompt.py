"""What one run is told: a list of layers, each with its text, its tokens, and what was left out of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class LayerName(StrEnum):
    """The layers of a prompt in their order (S4-01); the names are the sources' own."""

    SELF = "L1"
    ROLE = "L2a"
    PROJECT = "L2b"
    TASK = "L2c"
    PREDECESSORS = "L2d"
    API = "L2-api"
    GUARDRAILS = "L2e"
    REVIEW = "L2f"
    EXPERIENCES = "L3a"
    KNOWLEDGE = "L3b"


# What stays the same from one run of an agent to the next: a model's system text.
STABLE = frozenset({LayerName.SELF, LayerName.ROLE, LayerName.API, LayerName.GUARDRAILS, LayerName.REVIEW})


@dataclass(frozen=True, slots=True)
class LeftOut:
    """`count` things of a kind did not fit; `how` is the call that reads them, e.g. 'ListComments {"task": 12}'."""

    what: str
    count: int
    how: str


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: its text as the agent reads it, and the files of `prompts/` that it was made from."""

    name: LayerName
    text: str
    tokens: int
    left_out: tuple[LeftOut, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """All layers of a run, in order. Texts from the board stand between fences that carry `nonce`.

    `experiences` are the ids of those that were put in; `warnings` name files that were missing in the locale.
    """

    layers: tuple[Layer, ...]
    budget: int
    nonce: str
    locale: str
    experiences: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Of all layers (o200k_base)."""
        return sum(layer.tokens for layer in self.layers)

    @property
    def text(self) -> str:
        """The whole prompt."""
        return "\n\n".join(layer.text for layer in self.layers)

    @property
    def system(self) -> str:
        """The layers that do not change from run to run, for models that take them apart."""
        return "\n\n".join(layer.text for layer in self.layers if layer.name in STABLE)

    @property
    def user(self) -> str:
        """The other layers."""
        return "\n\n".join(layer.text for layer in self.layers if layer.name not in STABLE)

    @property
    def hash(self) -> str:
        """The sha256 of the text without the nonce: equal facts and templates have equal hashes."""
        return hashlib.sha256(self.text.replace(self.nonce, "").encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """As it is kept beside the run's transcript."""
        layers = [
            {
                "name": str(layer.name),
                "text": layer.text,
                "tokens": layer.tokens,
                "left_out": [{"what": one.what, "count": one.count, "how": one.how} for one in layer.left_out],
                "sources": list(layer.sources),
            }
            for layer in self.layers
        ]
        return {
            "layers": layers, "tokens": self.tokens, "budget": self.budget, "nonce": self.nonce, "locale": self.locale,
            "experiences": list(self.experiences), "warnings": list(self.warnings), "hash": self.hash,
        }  # fmt: skip

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> "Prompt":
        """The other way round. Raises LookupError, TypeError or ValueError for what `to_json` never wrote."""
        layers = tuple(
            Layer(
                LayerName(layer["name"]),
                str(layer["text"]),
                int(layer["tokens"]),
                tuple(LeftOut(str(one["what"]), int(one["count"]), str(one["how"])) for one in layer["left_out"]),
                tuple(map(str, layer["sources"])),
            )
            for layer in kept["layers"]
        )
        return cls(
            layers, int(kept["budget"]), str(kept["nonce"]), str(kept["locale"]),
            tuple(map(int, kept["experiences"])), tuple(map(str, kept["warnings"])),
        )  # fmt: skip
