"""How a must-have is written in a command: with the id it keeps, and how one can see that it is there."""

import json

from pydantic import BaseModel, ConfigDict, Field

from core.commands.registry import Act, Text, Title
from core.domain.entities import Goal


class MustHaveDraft(BaseModel):
    """One must-have as somebody wants it. Without an id it is known by its text, or new."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    id: str = Field("", max_length=20, description="The id that it keeps, e.g. M2; empty for a new one")
    text: Title
    verify: Text = Field("", description="How one can see that it is there")


def delivered_ids(act: Act, goal: Goal) -> set[str]:
    """The ids of must-haves that an output of the goal names: other words may not take one of them over."""
    rows = act.tx.all("SELECT DISTINCT must_haves FROM outputs WHERE goal_id = :goal", goal=goal.id)
    return {must_id for row in rows for must_id in json.loads(row["must_haves"])}
