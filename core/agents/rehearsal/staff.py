"""The staff of the rehearsal company as data, and how it is hired. `core.rehearsal` founds the company."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from core.commands.company import HireAgent
from core.commands.registry import Answer, Command
from core.domain.states import Role


@dataclass(frozen=True, slots=True)
class Member:
    """One agent to hire."""

    slug: str
    name: str
    role: Role
    manager: str | None = None
    capabilities: tuple[str, ...] = ()
    max_runs: int = 1
    runner: dict[str, Any] = field(default_factory=lambda: {"kind": "rehearsal"})


STAFF: tuple[Member, ...] = (
    Member("carla", "Carla, CEO", Role.CEO),
    Member("orlo", "Orlo, coordinator", Role.COORDINATOR, "carla"),
    Member("vera", "Vera, reviewer", Role.REVIEWER, "carla", max_runs=2),
    Member("surveyor", "Sanna, surveyor", Role.EXECUTOR, "orlo", ("inventory",)),
    Member("scout", "Milo, scout", Role.EXECUTOR, "orlo", ("marks", "closer-look")),
    Member("archivist", "Hedda, archivist", Role.EXECUTOR, "orlo", ("history",)),
    Member("librarian", "Dario, librarian", Role.EXECUTOR, "orlo", ("documentation",)),
    Member("twin-finder", "Tilda, twin-finder", Role.EXECUTOR, "orlo", ("duplicates",)),
)


class Hires(Protocol):
    """Whoever carries commands out as the operator, e.g. an open company."""

    async def execute(self, command: Command) -> Answer:
        """Send a command as the operator."""
        ...


async def hire_staff(company: Hires, staff: tuple[Member, ...] = STAFF) -> None:
    """Hire the staff, managers first."""
    for member in staff:
        await company.execute(
            HireAgent(
                slug=member.slug,
                name=member.name,
                role=member.role,
                capabilities=member.capabilities,
                manager=member.manager,
                runner=member.runner,
                max_runs=member.max_runs,
            )
        )
