"""The CEO's mode: one function, four modes, a fixed priority (S0-01…08, S0-17)."""

from itertools import product

import pytest

from core.domain.ceo_mode import SLUGS, CeoMode, CeoModeContext, resolve_ceo_mode
from core.domain.entities import AgentRecord, Approval, Company
from core.domain.states import AgentStatus, ApprovalKind, ApprovalStatus, OrgStatus, Role
from tests.unit.facts import VERA, a, agent


def context(
    reports: int = 0,
    hires: int = 0,
    org: OrgStatus = OrgStatus.SETTLED,
    agents: tuple[AgentRecord, ...] = (),
    approvals: tuple[Approval, ...] = (),
    ceo: AgentRecord = VERA,
) -> CeoModeContext:
    team = tuple(agent(number, manager_id=VERA.id) for number in range(1, reports + 1))
    asked = tuple(
        a(Approval, id=number, kind=ApprovalKind.HIRE_AGENT, status=ApprovalStatus.PENDING) for number in range(hires)
    )
    return CeoModeContext(ceo, a(Company, org_status=org), (VERA, *team, *agents), (*asked, *approvals))


def mode(*arguments: object, **more: object) -> CeoMode:
    return resolve_ceo_mode(context(*arguments, **more)).mode  # type: ignore[arg-type]


SETTLED, PENDING = OrgStatus.SETTLED, OrgStatus.PENDING_REVIEW


def test_there_are_exactly_four_modes_with_a_slug_each() -> None:
    assert [str(one) for one in CeoMode] == ["team_building", "awaiting_hire", "awaiting_org", "operating"]
    assert list(SLUGS.values()) == ["team-building", "awaiting-hire", "awaiting-org", "operating"]


@pytest.mark.parametrize(
    ("reports", "hires", "org", "expected"),
    [
        (0, 0, SETTLED, CeoMode.TEAM_BUILDING),
        (0, 0, PENDING, CeoMode.TEAM_BUILDING),
        (0, 1, SETTLED, CeoMode.AWAITING_HIRE),
        (0, 3, PENDING, CeoMode.AWAITING_HIRE),
        (1, 0, PENDING, CeoMode.AWAITING_ORG),
        (2, 1, PENDING, CeoMode.AWAITING_ORG),
        (1, 0, SETTLED, CeoMode.OPERATING),
        (3, 2, SETTLED, CeoMode.OPERATING),
    ],
)
def test_the_first_match_wins(reports: int, hires: int, org: OrgStatus, expected: CeoMode) -> None:
    assert mode(reports, hires, org) == expected


def test_every_state_has_a_mode_and_its_reasons() -> None:
    for reports, hires, org in product(range(3), range(3), OrgStatus):
        answer = resolve_ceo_mode(context(reports, hires, org))
        assert answer.reasons
        assert all(answer.reasons)


def test_a_report_is_whoever_reports_to_this_ceo_and_is_not_terminated() -> None:
    for status, expected in (
        (AgentStatus.ACTIVE, CeoMode.OPERATING),
        (AgentStatus.PAUSED, CeoMode.OPERATING),
        (AgentStatus.TERMINATED, CeoMode.TEAM_BUILDING),
    ):
        assert mode(agents=(agent(1, manager_id=VERA.id, status=status),)) == expected
    assert mode(agents=(agent(1, manager_id=None), agent(2, manager_id=1))) == CeoMode.TEAM_BUILDING


def test_only_a_pending_hire_counts() -> None:
    for kind, status in product(ApprovalKind, ApprovalStatus):
        waits = (kind, status) == (ApprovalKind.HIRE_AGENT, ApprovalStatus.PENDING)
        asked = (a(Approval, kind=kind, status=status),)
        assert mode(approvals=asked) == (CeoMode.AWAITING_HIRE if waits else CeoMode.TEAM_BUILDING)


@pytest.mark.parametrize("role", [role for role in Role if role != Role.CEO])
def test_it_refuses_who_is_no_ceo(role: Role) -> None:
    with pytest.raises(ValueError, match=str(role)):
        mode(ceo=agent(1, role=role))
