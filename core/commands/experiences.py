"""Experiences: the operator keeps or drops what agents want each other to know; each undoes the other."""

from core.commands.registry import Act, Answer, Command, handles, letters
from core.domain.entities import Experience
from core.domain.errors import Conflict
from core.domain.states import ExperienceStatus


class KeepExperience(Command):
    """Let agents be told of an experience when their task is about the same (S3-09)."""

    who = letters("H")
    experience: int


@handles(KeepExperience)
def keep_experience(act: Act, command: KeepExperience) -> Answer:
    return _move(act, command.experience, ExperienceStatus.KEPT, "ExperienceKept", "DropExperience")


class DropExperience(Command):
    """Tell no agent of an experience; it stays on the board."""

    who = letters("H")
    experience: int


@handles(DropExperience)
def drop_experience(act: Act, command: DropExperience) -> Answer:
    return _move(act, command.experience, ExperienceStatus.DROPPED, "ExperienceDropped", "KeepExperience")


def _move(act: Act, number: int, status: ExperienceStatus, event: str, undo: str) -> Answer:
    experience = act.tx.get(Experience, number)
    if experience.status == status:
        raise Conflict(f"{experience.name_tag} is {status} already; nothing was written.", f"{undo} undoes it.")
    act.tx.update(experience, event, status=status)
    return {"id": experience.id, "status": str(status), "was": str(experience.status)}
