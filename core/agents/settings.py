"""What the runner settings of every kind of agent outside this program share, and how they are checked."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from core.domain.errors import Invalid
from core.domain.wrong_settings import wrong_setting


class SharedSettings(BaseModel):
    """What is read elsewhere, by the dispatcher, the prompts and the budgets. `provider` names a cool-down (F14)."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)
    kind: str = ""
    provider: str = ""
    prompt_tokens: int | None = None
    brings_self: bool = False
    run_cost_micros: int | None = None


S = TypeVar("S", bound=SharedSettings)


def checked(model: type[S], runner: Mapping[str, Any]) -> S:
    """The settings of an agent. Raises Invalid, which names what is wrong and never repeats a value."""
    try:
        return model.model_validate(dict(runner))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, each['loc']))}: {wrong_setting(each)}" for each in error.errors(include_input=False)
        )
        known = ", ".join(model.model_fields)
        raise Invalid(f"The runner's settings are wrong: {problems}.", f"Known: {known}.") from None
