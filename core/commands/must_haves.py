"""How a must-have is written in a command: with the id it keeps, and how one can see that it is there."""

from pydantic import BaseModel, ConfigDict, Field

from core.commands.registry import Text, Title


class MustHaveDraft(BaseModel):
    """One must-have as somebody wants it. Without an id it is known by its text, or new."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    id: str = Field("", max_length=20, description="The id that it keeps, e.g. M2; empty for a new one")
    text: Title
    verify: Text = Field("", description="How one can see that it is there")
