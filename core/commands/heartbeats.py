"""The CEO's heartbeat on demand."""

from core.commands.company import COMPANY_ID
from core.commands.registry import Act, Answer, Command, handles, letters
from core.domain.agenda import CALLED, HEARTBEAT
from core.domain.entities import AgentRecord, Company
from core.domain.errors import Conflict


class CallHeartbeat(Command):
    """Let the CEO look after the company now instead of at its next heartbeat."""

    who = letters("H")


@handles(CallHeartbeat)
def call_heartbeat(act: Act, command: CallHeartbeat) -> Answer:
    company = act.tx.get(Company, COMPANY_ID)
    if not company.dispatching:
        raise Conflict(f"The company is stopped: {company.stop_reason}.", "Start it; the heartbeat is due then anyway.")
    ceos = act.tx.select(AgentRecord, "role = 'ceo' AND status = 'active'")
    if not ceos:
        raise Conflict("There is no active CEO.", "Hire or resume one.")
    event = act.tx.record(CALLED, HEARTBEAT, ceos[0].id, {"ceo": ceos[0].slug})
    return {"called": True, "event": event.id}
