"""The company itself: its people, its money, and what it asks the operator."""

from dataclasses import dataclass
from typing import Any, ClassVar

from core.domain.entities.base import Entity
from core.domain.states import (
    AgentStatus,
    ApprovalKind,
    ApprovalStatus,
    Autonomy,
    BudgetPeriod,
    BudgetScope,
    OrgStatus,
    Role,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Company(Entity):
    """`budget_micros` is what stage B may spend a day; `auto_in_a_row` counts its goals since a person last looked."""

    table: ClassVar[str] = "company"
    letter: ClassVar[str] = "C"
    added: ClassVar[dict[str, Any]] = {"auto_in_a_row": 0}
    name: str
    mission: str
    locale: str
    org_status: OrgStatus
    autonomy: Autonomy
    dispatching: bool
    stop_reason: str
    budget_micros: int
    auto_in_a_row: int
    created_at: int
    updated_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRecord(Entity):
    """A hired agent. `manager_id` is who it reports to; `runner` is {"kind": …, settings}."""

    table: ClassVar[str] = "agents"
    letter: ClassVar[str] = "A"
    added: ClassVar[dict[str, Any]] = {"duties": ""}
    slug: str
    name: str
    role: Role
    capabilities: tuple[str, ...]
    manager_id: int | None
    runner: dict[str, Any]
    status: AgentStatus
    max_runs: int
    budget_micros: int
    cooldown_until: int | None
    duties: str
    created_at: int
    updated_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(Entity):
    """A limit on money for the company, an agent or a goal, a period.

    `extra_micros` was granted once, for the period that began at `extra_period` (ms); `warned_period` is the period in
    which 80 % was told.
    """

    table: ClassVar[str] = "budgets"
    letter: ClassVar[str] = "B"
    scope: BudgetScope
    scope_id: int
    limit_micros: int
    period: BudgetPeriod
    extra_micros: int
    extra_period: int
    warned_period: int
    created_at: int
    updated_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval(Entity):
    """A question to the operator. `entity` names its subject, e.g. `task:12`."""

    table: ClassVar[str] = "approvals"
    letter: ClassVar[str] = "Q"
    kind: ApprovalKind
    entity: str
    title: str
    payload: dict[str, Any]
    payload_hash: str
    status: ApprovalStatus
    requested_by: str
    run_id: int | None
    decided_by: str | None
    decided_at: int | None
    note: str
    consumed_at: int | None
    expires_at: int | None
    created_at: int
    updated_at: int
    version: int
