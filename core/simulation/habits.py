"""What scripted agents are like: chances from 0 to 1, each drawn anew from a seeded source."""

import random
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

WORKS = ("wrong", "fail", "block", "ask", "hang", "late", "crash", "silent", "limited")


class Habits(BaseModel):
    """How likely an agent is to do what. Whatever is left over is good work.

    The first nine are what becomes of one piece of work, so together they are 1 at most; each other is drawn for itself
    wherever it can happen. `hang`, `late`, `crash`, `silent` and `limited` may befall any run.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    wrong: float = Field(0.15, ge=0, le=1, description="Delivers something wrong")
    fail: float = Field(0.05, ge=0, le=1, description="Gives the task up")
    block: float = Field(0.08, ge=0, le=1, description="Says that something keeps it from going on")
    ask: float = Field(0.06, ge=0, le=1, description="Puts the task before the operator")
    hang: float = Field(0.05, ge=0, le=1, description="Lives on and says nothing until its time is over")
    late: float = Field(0.0, ge=0, le=1, description="Is silent for some minutes, then goes on well")
    crash: float = Field(0.06, ge=0, le=1, description="Its program ends with an error")
    silent: float = Field(0.06, ge=0, le=1, description="Ends without a result")
    limited: float = Field(0.06, ge=0, le=1, description="Its provider refuses more requests for now")
    decline: float = Field(0.3, ge=0, le=1, description="Claims nothing of what is offered")
    mention: float = Field(0.3, ge=0, le=1, description="Asks a colleague while it works")
    lie: float = Field(0.0, ge=0, le=1, description="Submits or approves what is not there, first of all")
    repeat: float = Field(0.0, ge=0, le=1, description="Makes a call a second time")
    object: float = Field(0.0, ge=0, le=1, description="Objects to plans, and in discussions")
    plan: float = Field(0.0, ge=0, le=1, description="Posts its plan before it works")
    circle: float = Field(0.0, ge=0, le=1, description="Answers a mention by mentioning the next agent")
    thank: float = Field(0.0, ge=0, le=1, description="Answers a mention by thanking who made it, by name")
    refuse: float = Field(0.0, ge=0, le=1, description="As a reviewer refuses whatever is delivered")
    rebut: float = Field(0.0, ge=0, le=1, description="Contradicts a refusal of its work")
    challenge: float = Field(0.0, ge=0, le=1, description="As a reviewer challenges the coordinator's decisions")
    adjust: float = Field(0.0, ge=0, le=1, description="As the coordinator asks for a change of the goal")

    @model_validator(mode="after")
    def _one_piece_of_work(self) -> "Habits":
        together = sum(getattr(self, name) for name in WORKS)
        if together > 1 + 1e-9:
            raise ValueError(f"{', '.join(WORKS)} are {together:g} together; they can be 1 at most")
        return self

    def draw(self, source: random.Random) -> str:
        """What an executor does with a task this time."""
        weights = [getattr(self, name) for name in WORKS]
        return source.choices((*WORKS, "good"), (*weights, max(0.0, 1 - sum(weights))))[0]

    def happens(self, source: random.Random, name: str) -> bool:
        """Whether one thing happens."""
        return bool(source.random() < getattr(self, name))

    def but(self, **changed: float) -> "Habits":
        """The same, but for these."""
        values: dict[str, Any] = {**self.model_dump(), **changed}
        return Habits(**values)


GOOD = Habits(**dict.fromkeys(Habits.model_fields, 0.0))
USUAL = Habits(late=0.03, lie=0.05, repeat=0.1, object=0.1, plan=0.2, circle=0.05, thank=0.05, rebut=0.2,
               challenge=0.1, adjust=0.05)  # fmt: skip
HARD = Habits(
    wrong=0.26, fail=0.08, block=0.1, ask=0.08, hang=0.06, late=0.06, crash=0.1, silent=0.08, limited=0.08, decline=0.6,
    lie=0.3, repeat=0.3, object=0.4, plan=0.5, circle=0.3, thank=0.3, refuse=0.3, rebut=0.5, challenge=0.4, adjust=0.2,
)  # fmt: skip
