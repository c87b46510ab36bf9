"""A run as a conversation: the model calls, the board answers, until the run has given the board what it owes."""

import asyncio

from core.agents.chat.answers import SchemaAnswers
from core.agents.chat.asking import Asking
from core.agents.chat.carrying import Done, carried_out, tools_of
from core.agents.chat.ending import Ended
from core.agents.chat.meter import Meter
from core.agents.chat.settings import ChatSettings
from core.agents.chat.shorter import shorter
from core.agents.giving_up import block_task, not_done
from core.agents.models.conversation import Answer, FinishReason, Message, ModelRequest, Text, User
from core.agents.models.errors import Failure, ModelError
from core.agents.owing import REMINDERS, is_no_reply, owed_by
from core.agents.runner import Assignment, Desk, Outcome, Told
from core.agents.stuck import Stuck
from core.agents.words import words
from core.domain.states import RunStatus

_SHORT_ANSWER = 1024  # tokens that are left for an answer once the window proved to be small
_REASON = 300  # code points of a model's own words in an outcome


class Talk:
    """One run. `met` says whether the board has got what the run owes."""

    def __init__(
        self, assignment: Assignment, desk: Desk, settings: ChatSettings, asking: Asking, meter: Meter
    ) -> None:  # fmt: skip
        self._assignment = assignment
        self._desk = desk
        self._settings = settings
        self._asking = asking
        self._meter = meter
        role, kind = assignment.agent.role, assignment.run.kind
        self._tools = tools_of(role, kind)
        self._owed = owed_by(role, kind)
        self._messages: list[Message] = [User(assignment.prompt.user)]
        self._by_schema = SchemaAnswers(assignment) if settings.answers == "schema" else None
        self._says_schema = True
        system = assignment.prompt.system if self._by_schema is None else self._by_schema.system(assignment.prompt)
        self._system = (Text(system, stable=True),)
        self._stuck = Stuck()
        self._nudged = 0
        self._answers = False
        self._shortened = False
        self.met = False

    @property
    def is_over(self) -> bool:
        """The run's work is done, whatever else happens: what it owed was the one thing that ends it."""
        return self.met and self._owed.final

    async def through(self) -> Outcome:
        """Talk to the end. Raises Ended when it cannot go on, ModelError, and Fenced."""
        for turn in range(self._settings.turns):
            await self._desk.may_go_on()
            limit, why = self._meter.used_up
            if limit:
                raise Ended(RunStatus.FAILED, limit, why)
            await self._take_up_remarks()
            answer = await self._heard_answer()
            self._look_at(answer)
            self._messages.append(answer.message())
            answer = self._understood(answer)
            if answer.calls:
                await self._carry_out(turn, answer)
                if self.met and self._by_schema is not None:
                    return Outcome()
            elif answer.finish.reason is FinishReason.PAUSED or await self._take_up_remarks():
                continue
            elif self.met and answer.finish.reason is not FinishReason.LENGTH:
                return Outcome()
            elif self._owed.silence and is_no_reply(answer.text):
                return Outcome(exit_kind="no_reply")
            else:
                self._nudge(answer)
        raise Ended(RunStatus.FAILED, "turns", not_done(self._settings.turns))

    async def _take_up_remarks(self) -> bool:
        """What the operator said into the run meanwhile, as the operator's word; whether there was any."""
        said = []
        while (remark := await self._desk.remark_now()) is not None:
            said.append(User(self._words("remark", text=remark)))
        self._messages += said
        # An answer to the operator is words, and needs no call.
        self._answers = self._answers or bool(said)
        return bool(said)

    async def _heard_answer(self) -> Answer:
        """The next answer; what the operator said has reached the model by it, and not by a request that failed."""
        try:
            answer = await self._answer()
        except ModelError as error:
            if error.partial:
                self._desk.remarks_reached()
            raise
        except asyncio.CancelledError:
            # It was on its way: the model may have it.
            self._desk.remarks_reached()
            raise
        self._desk.remarks_reached()
        return answer

    async def _answer(self) -> Answer:
        """The next answer. Once a run, a conversation that is too long is sent again, shorter."""
        try:
            answer = await self._asking.answer(self._request())
        except ModelError as error:
            if error.kind is not Failure.CONTEXT or self._shortened:
                raise
        else:
            if answer.finish.reason is not FinishReason.CONTEXT:
                return answer
            if self._shortened:
                raise ModelError(Failure.CONTEXT, "The conversation fills the model's window.")
        self._shortened = True
        self._desk.tell(Told.NOTICE, text="the conversation is longer than the model's window; sent again, shorter")
        prompt, cut = self._assignment.prompt, self._words("result_cut")
        self._messages = shorter(self._messages, prompt, self._words("shortened"), cut)
        return await self._answer()

    def _understood(self, answer: Answer) -> Answer:
        """An answer by a schema as the calls that it means; any other as it is."""
        if self._by_schema is None:
            return answer
        if self._says_schema and not self._asking.knows_schemas:
            self._says_schema = False
            self._desk.tell(Told.NOTICE, text="the server takes no schema for answers: the model is told it in words")
        return self._by_schema.understood(answer)

    def _request(self) -> ModelRequest:
        # Many servers take what the answer may have for taken already.
        bound = min(self._settings.answer_tokens, _SHORT_ANSWER) if self._shortened else self._settings.answer_tokens
        by_schema, tools = (None, self._tools) if self._by_schema is None else (self._by_schema.schema, ())
        return ModelRequest(
            tuple(self._messages), self._system, tools, answer=by_schema, max_tokens=bound,
            temperature=self._settings.temperature,
        )  # fmt: skip

    def _look_at(self, answer: Answer) -> None:
        """Raises Ended for an answer that nothing can be made of."""
        said = answer.text.strip()[:_REASON]
        match answer.finish.reason:
            case FinishReason.FILTER:
                raise Ended(
                    RunStatus.FAILED, "filter", f"the provider held the answer back: {said or 'no reason given'}"
                )
            case FinishReason.REFUSAL:
                raise Ended(RunStatus.FAILED, "refusal", f"the model declined: {said or 'it gave no reason'}")
            case _:
                pass
        bound = self._settings.calls_a_turn
        if len(answer.calls) > bound:
            told = f"{len(answer.calls)} calls in one turn; {bound} is the bound"
            raise Ended(RunStatus.PROTOCOL_VIOLATION, "calls", told)

    async def _carry_out(self, turn: int, answer: Answer) -> None:
        """All calls of one answer, one after the other in their order."""
        why = ""
        for call in answer.calls:
            done = await carried_out(self._desk, call, self._tools, self._words("result_cut"))
            # Who answers by a schema has no calls that a result could belong to.
            self._messages.append(done.result if self._by_schema is None else User(done.result.text))
            if done.answer is not None and self._owed.met_by(call.name, done.answer):
                self.met = True
            why = why or self._circling(turn, done)
        if why:
            if not self.met:
                await block_task(self._assignment, self._desk, why)
            raise Ended(RunStatus.FAILED, "stuck", why)

    def _circling(self, turn: int, done: Done) -> str:
        return self._stuck.note(turn, done.action, done.error or done.result.text, failed=bool(done.error))

    def _nudge(self, answer: Answer) -> None:
        """Words without the call that the run owes: the model is told so, at most twice (Ended then)."""
        is_cut = answer.finish.reason is FinishReason.LENGTH
        free, self._answers = self._answers and not is_cut, False
        if self._nudged == REMINDERS and not free:
            if is_cut:
                bound = self._settings.answer_tokens
                raise Ended(RunStatus.FAILED, "length", f"its answers are cut off at {bound} tokens")
            said = answer.text.strip()[:_REASON]
            told = f"it ended in words without a call on the board, after {REMINDERS} reminders: {said}"
            raise Ended(RunStatus.PROTOCOL_VIOLATION, "no_board_call", told)
        self._nudged += 0 if free else 1
        names = ", ".join(tool.name for tool in self._tools if tool.name in self._owed.commands)
        told = self._words("owes_or_silent" if self._owed.silence else "owes", commands=names)
        if self._by_schema is not None:
            told = self._by_schema.told_problem()
        if is_cut:
            told = f"{self._words('cut', bound=self._settings.answer_tokens)} {told}"
        elif not answer.text.strip():
            told = f"{self._words('empty')} {told}"
        count = "" if free else f" ({self._nudged} of {REMINDERS})"
        self._desk.tell(Told.NOTICE, text=f"reminded{count}: {told}")
        self._messages.append(User(told))

    def _words(self, name: str, **values: object) -> str:
        return words(self._assignment.company.locale, name, **values)
