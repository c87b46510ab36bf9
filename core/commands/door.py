"""The one door: carries commands out for an actor, one savepoint each, with idempotency keys and fences."""

import json
from collections.abc import Sequence
from typing import Protocol

from core.blackboard.owner import check_lease
from core.blackboard.transaction import Transaction
from core.blackboard.writer import Writer
from core.commands.autonomy import note_decision
from core.commands.registry import REGISTRY, Act, Answer, Command
from core.domain.actors import Actor, Agent, Operator, System
from core.domain.entities import AgentRecord, Run
from core.domain.errors import Conflict, Fenced, Forbidden
from core.domain.goals import canonical_hash
from core.domain.guardrails import GuardrailBook, Guardrails
from core.domain.lifecycles import Who, people
from core.domain.records import encode
from core.domain.states import Role, RunStatus

TICKER_LEASE = "ticker"
_REVIEWERS = frozenset({Role.REVIEWER, Role.CHALLENGER})


class Door(Protocol):
    """What everybody sends commands to: in the owner's process, or through its socket."""

    async def execute(self, actor: Actor, command: Command, *, key: str | None = None) -> Answer:
        """Carry one command out. Raises an OpsroomError; then nothing was written."""
        ...


class LocalDoor:
    """The door inside the process that owns the board."""

    def __init__(self, writer: Writer, owner: str, book: GuardrailBook | None = None) -> None:
        self._writer = writer
        self.owner = owner
        self.book = book or GuardrailBook()

    async def execute(self, actor: Actor, command: Command, *, key: str | None = None) -> Answer:
        """Carry one command out; with a key, at most once (the same key gives the stored answer again)."""
        if command.reads_guardrails and self.book.renew is not None:
            await self.book.renew()
        return await self._writer.submit(lambda tx: self._once(tx, actor, command, key))

    async def execute_all(self, actor: Actor, commands: Sequence[Command]) -> list[Answer]:
        """Carry several commands out in one savepoint: all or none."""
        return await self._writer.submit(lambda tx: [self._once(tx, actor, command, None) for command in commands])

    def _once(self, tx: Transaction, actor: Actor, command: Command, key: str | None) -> Answer:
        if key is None:
            return self._perform(tx, actor, command)
        name = type(command).__name__
        request = canonical_hash([name, actor.label, command.model_dump(mode="json")])
        known = tx.one("SELECT request_hash, answer FROM commands WHERE idempotency_key = :key", key=key)
        if known is not None:
            if known["request_hash"] != request:
                raise Conflict(f"The key {key!r} was used for another command.", "Use a new key for a new command.")
            answer: Answer = json.loads(known["answer"])
            return answer
        answer = self._perform(tx, actor, command)
        tx.connection.execute(
            "INSERT INTO commands(idempotency_key, name, request_hash, answer, at) VALUES (?, ?, ?, ?, ?)",
            (key, name, request, encode(answer), tx.now),
        )
        return answer

    def _perform(self, tx: Transaction, actor: Actor, command: Command) -> Answer:
        act = self._admit(tx, actor, command)
        tx.actor = actor.label
        tx.run_id = act.run.id if act.run else None
        tx.cause = act.run.cause if act.run else None
        answer = REGISTRY[type(command).__name__].handler(act, command)
        if isinstance(actor, Operator):
            note_decision(act, command)
        return answer

    def _admit(self, tx: Transaction, actor: Actor, command: Command) -> Act:
        """Who acts, in which capacities; refuses runs that are not current, and commands that are not theirs."""
        match actor:
            case Operator():
                act = Act(tx, actor, frozenset({Who.OPERATOR}), guardrails=self.book.current)
            case System():
                if actor.lease_fence is not None:
                    check_lease(tx, TICKER_LEASE, self.owner, actor.lease_fence)
                act = Act(tx, actor, frozenset({Who.SYSTEM}), guardrails=self.book.current)
            case Agent():
                act = _admit_agent(tx, actor, self.book.current)
        if not (command.who & act.capacities):
            raise Forbidden(f"{type(command).__name__} is not for {actor.label}.", f"It is for {people(command.who)}.")
        return act


def _admit_agent(tx: Transaction, actor: Agent, guardrails: Guardrails) -> Act:
    run = tx.find(Run, actor.run_id)
    if (
        run is None
        or run.agent_id != actor.agent_id
        or run.fence != actor.fence
        or run.status not in (RunStatus.STARTING, RunStatus.RUNNING)
    ):
        state = "unknown" if run is None else run.status
        raise Fenced(f"Run R{actor.run_id} is {state} and no longer current; nothing was written.", "Stop working.")
    agent = tx.get(AgentRecord, actor.agent_id)
    return Act(tx, actor, capacities_of(agent.role), agent, run, guardrails)


def capacities_of(role: Role) -> frozenset[Who]:
    """In which capacities an agent of a role may act; a command's `who` names those that may send it."""
    capacities = {Who.ASSIGNEE}
    if role == Role.COORDINATOR:
        capacities.add(Who.COORDINATOR)
    if role in _REVIEWERS:
        capacities.add(Who.REVIEWER)
    if role == Role.CEO:
        capacities.add(Who.CEO)
    return frozenset(capacities)
