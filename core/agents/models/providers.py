"""The providers that a company's programs reach through the gateway: `[gateway.providers.NAME]` of `company.toml`."""

from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from core.agents.models.endpoint import Endpoint
from core.agents.models.keys import is_source
from core.domain.errors import Invalid

GatewayWire = Literal["openai", "responses", "anthropic", "gemini"]
ProviderName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]


class ProviderConfig(BaseModel):
    """Where a provider is, what it speaks, and where its key comes from; never the key itself.

    `url` ends before `/v1` or `/v1beta`. `wires`: `openai` are chat completions, `responses` OpenAI's other format.
    `models` names what may be asked (`*` stands for anything; nothing named: all), `rename` what is asked instead, by
    such names. Seconds: `first_s` to the first byte, `silence_s` of silence, `answer_s` of an answer in all.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    url: str = Field(max_length=2000)
    wires: tuple[GatewayWire, ...] = Field(min_length=1)
    key: str = Field("", max_length=1000)
    models: tuple[str, ...] = Field((), max_length=200)
    rename: dict[str, str] = Field(default_factory=dict, max_length=200)
    requests_per_run: int = Field(1000, ge=1, le=1_000_000)
    first_s: float = Field(600, gt=0, le=86_400)
    silence_s: float = Field(300, gt=0, le=86_400)
    answer_s: float = Field(3600, gt=0, le=86_400)

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        try:
            Endpoint(url, "")
        except Invalid as error:
            raise ValueError(error.message) from None
        return url.rstrip("/")

    @field_validator("key")
    @classmethod
    def _is_source(cls, key: str) -> str:
        # It may be the key itself, put where its source belongs: it is not repeated.
        if key and not is_source(key):
            raise ValueError("a key stands in no setting, only where it comes from: env:NAME, file:PATH, keyring:…")
        return key

    def asked_instead(self, model: str) -> str:
        """The model that is asked when a program asks for this one. Raises Invalid for one that may not be asked."""
        renamed = next((to for name, to in self.rename.items() if fnmatchcase(model, name)), None)
        if renamed is not None:
            return renamed
        if self.models and not any(fnmatchcase(model, name) for name in self.models):
            known = ", ".join((*self.models, *self.rename))
            raise Invalid(f"The model {model[:80]!r} is not allowed here.", f"Ask one of: {known}.")
        return model


class GatewayConfig(BaseModel):
    """`providers` by the name that an agent's runner gives as `gateway`."""

    model_config = ConfigDict(extra="forbid")
    providers: dict[ProviderName, ProviderConfig] = Field(default_factory=dict)

    @field_validator("providers", mode="before")
    @classmethod
    def _names_no_key(cls, providers: object) -> object:
        # Names are shown and kept, so what may be a key is refused without its words.
        for name in providers if isinstance(providers, dict) else ():
            digits = sum(letter.isdigit() for letter in str(name))
            if len(str(name)) >= 16 and (str(name).lower().startswith(("sk-", "sk_")) or digits >= 4):
                raise ValueError("a provider's name looks like a key: give it a short name")
        return providers
