"""The operator's hand on a run at work: words into it, pause and resume. `core.domain.attach` says which runs can."""

from typing import Any

from core.commands.registry import Act, Answer, Command, Reason, handles, letters
from core.domain.attach import REMARKS_WAITING, can_hear, cannot_hear
from core.domain.entities import AgentRecord, Remark, Run
from core.domain.errors import Conflict
from core.domain.lifecycles import RUN
from core.domain.states import RemarkStatus, RunStatus

_AT_WORK = (RunStatus.STARTING, RunStatus.RUNNING)


class SpeakToRun(Command):
    """Say something into a run at work. Its agent hears it once, before its next turn; the board says if it never did.

    Raises Conflict for a run that has not begun or has ended, and for one whose runner cannot hear.
    """

    who = letters("H")
    run: int
    text: Reason


@handles(SpeakToRun)
def speak_to_run(act: Act, command: SpeakToRun) -> Answer:
    run = _at_work(act, command.run)
    waiting = act.tx.value("SELECT count(*) FROM remarks WHERE run_id = :run AND status = 'waiting'", run=run.id)
    if waiting >= REMARKS_WAITING:
        raise Conflict(
            f"{waiting} remarks wait for {run.name_tag} already; nothing was said.", "Wait until it has heard them."
        )
    remark = act.tx.insert(
        Remark, "RunSpokenTo", run_id=run.id, author=act.label, body=command.text, status=RemarkStatus.WAITING
    )  # fmt: skip
    return {"id": remark.id, "run": run.id, "status": str(remark.status)}


class HearRemark(Command):
    """Take up the oldest words that wait for a run: in one transaction, so they are heard once or told as unheard."""

    who = letters("S")
    run: int


@handles(HearRemark)
def hear_remark(act: Act, command: HearRemark) -> Answer:
    waiting = "run_id = :run AND status = 'waiting' ORDER BY id LIMIT 1"
    for remark in act.tx.select(Remark, waiting, run=command.run):
        act.tx.update(remark, "RemarkHeard", status=RemarkStatus.HEARD, told={"run_id": command.run})
        return {"id": remark.id, "text": remark.body, "author": remark.author}
    return {"id": None}


class MissRemark(Command):
    """Words that were taken up reached nobody: the run ended in that moment."""

    who = letters("S")
    remark: int


@handles(MissRemark)
def miss_remark(act: Act, command: MissRemark) -> Answer:
    remark = act.tx.get(Remark, command.remark)
    if remark.status == RemarkStatus.HEARD:
        act.tx.update(remark, "RemarkUnheard", status=RemarkStatus.UNHEARD, told={"run_id": remark.run_id})
    return {"id": remark.id}


class PauseRun(Command):
    """Hold a run before its next turn; its clocks stand still until it is resumed, and it may be killed meanwhile."""

    who = letters("H")
    run: int


@handles(PauseRun)
def pause_run(act: Act, command: PauseRun) -> Answer:
    run = _at_work(act, command.run)
    if run.paused_at is not None:
        raise Conflict(f"{run.name_tag} is paused already.", "Let it go on (ResumeRun).")
    act.tx.update(run, "RunPaused", paused_at=act.tx.now)
    return {"id": run.id, "paused": True}


class ResumeRun(Command):
    """Let a paused run go on."""

    who = letters("H")
    run: int


@handles(ResumeRun)
def resume_run(act: Act, command: ResumeRun) -> Answer:
    run = act.tx.get(Run, command.run)
    if run.paused_at is None:
        hint = "ResumeSession goes on with an ended one." if run.status in RUN.final else ""
        raise Conflict(f"{run.name_tag} is not paused.", hint)
    act.tx.update(run, "RunResumed", paused_at=None)
    return {"id": run.id, "paused": False}


class RecordSession(Command):
    """Keep by what id a run's own program or model server knows it, as soon as it tells it."""

    who = letters("S")
    run: int
    session: str


@handles(RecordSession)
def record_session(act: Act, command: RecordSession) -> Answer:
    run = act.tx.get(Run, command.run)
    session = command.session[:1000]
    if session and session != run.session:
        act.tx.update(run, "RunSessionKnown", session=session)
    return {"id": run.id}


def _at_work(act: Act, run_id: int) -> Run:
    """The run, if it is at work on a runner that hears. Raises Conflict with what to do instead."""
    run = act.tx.get(Run, run_id)
    where = f"comment on T{run.task_id}" if run.task_id is not None else "comment on what it is about"
    if run.status not in _AT_WORK:
        if run.status == RunStatus.QUEUED:
            raise Conflict(f"{run.name_tag} has not begun yet.", f"Wait for it, or {where}: it reads that.")
        raise Conflict(
            f"{run.name_tag} has ended ({run.status}).", f"Go on with its session (ResumeSession), or {where}."
        )
    kind: Any = act.tx.get(AgentRecord, run.agent_id).runner.get("kind", "")
    if not can_hear(kind):
        raise Conflict(
            f"{run.name_tag} {cannot_hear(kind)}; nothing was done.", f"{where[0].upper()}{where[1:]}, or kill it."
        )
    return run
