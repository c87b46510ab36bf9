"""What a run was told, as far as the board keeps it: the text itself lies beside the run's transcript."""

from pydantic import Field

from core.commands.registry import Act, Answer, Command, handles, letters
from core.domain.entities import Experience, Run


class RecordPrompt(Command):
    """Note the hash of what a run is told, and which experiences are in it."""

    who = letters("S")
    run: int
    prompt_hash: str = Field(pattern=r"^[0-9a-f]{64}$", description="sha256 of the prompt without its nonce")
    experiences: tuple[int, ...] = Field((), description="Ids of the kept experiences that are in it")


@handles(RecordPrompt)
def record_prompt(act: Act, command: RecordPrompt) -> Answer:
    run = act.tx.update(act.tx.get(Run, command.run), "RunPrompted", prompt_hash=command.prompt_hash)
    for number in dict.fromkeys(command.experiences):
        experience = act.tx.find(Experience, number)
        if experience is not None:
            act.tx.update(experience, "ExperienceUsed", uses=experience.uses + 1)
    return {"id": run.id, "prompt_hash": run.prompt_hash}
