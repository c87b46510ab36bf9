"""Who acts: the operator, an agent through its current run, or the system."""

from dataclasses import dataclass

HUMAN = "human"
SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Operator:
    """The person in the room, at the command line, or at the owner's socket."""

    @property
    def label(self) -> str:
        return HUMAN


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent through one run. `fence` must equal the run's, else the write is refused."""

    agent_id: int
    slug: str
    run_id: int
    fence: int

    @property
    def label(self) -> str:
        return self.slug


@dataclass(frozen=True, slots=True)
class System:
    """The program itself. Under a ticker's lease `lease_fence` guards each write of a tick."""

    part: str = "system"
    lease_fence: int | None = None

    @property
    def label(self) -> str:
        return SYSTEM


Actor = Operator | Agent | System
