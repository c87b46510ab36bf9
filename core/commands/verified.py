"""The mechanical stage of a review, in code: before a task is handed in and again before its approval (S2-20, F9)."""

from collections.abc import Iterable

from core.commands.outputs import hash_file, outputs_folder
from core.commands.registry import Act
from core.domain.coverage import last_delivered
from core.domain.entities import Entity, Output, Task
from core.domain.errors import Conflict, Invalid
from core.domain.limits import INLINE_OUTPUT_MAX
from core.domain.references import named_ids
from core.domain.reviewing import unnamed


def require_delivered(act: Act, task: Task, handoff_of: int | None = None) -> None:
    """Raises Conflict that lists all that is missing.

    Outputs exist, have a text and hash as delivered; each must-have is named; with `handoff_of`, that run wrote a
    handoff. Only what the last run that delivered left counts, as in the goal's coverage: an earlier attempt's may be
    gone.
    """
    outputs = last_delivered(act.tx.select(Output, "task_id = :task ORDER BY id", task=task.id))
    missing = _spoiled(act, outputs)
    if not any(output.size > 0 for output in outputs):
        missing.append("it has no output, so it is not finished: deliver one (S4-04)")
    handoff = act.tx.value(
        "SELECT body FROM comments WHERE task_id = :task AND kind = 'handoff'"
        " AND (:run IS NULL OR run_id = :run) ORDER BY id DESC LIMIT 1",
        task=task.id, run=handoff_of,
    )  # fmt: skip
    if handoff is None and handoff_of is not None:
        missing.append("it has no handoff of this run: write a handoff comment of 50–500 characters")
    for must_id in unnamed(task.must_haves, outputs, handoff or ""):
        missing.append(
            f"{must_id} is named by no output of the last delivery and not in the handoff: deliver it and name it, also"
            " if an earlier run did (S2-21)"
        )
    if missing:
        what = "; ".join(missing)
        raise Conflict(f"{task.name_tag} is {task.status} and not complete: {what}.", "Make that good first.")


def require_real(act: Act, texts: Iterable[str]) -> None:
    """Raises Invalid for a task or an output that these texts name and that is not on the board (F9)."""
    things: dict[str, type[Entity]] = {Task.letter: Task, Output.letter: Output}
    for letter, number in named_ids(texts):
        if act.tx.find(things[letter], number) is None:
            raise Invalid(
                f"The text names {letter}{number}, which is not on this board; nothing was written.",
                "Name what is there; what is no id is written otherwise, e.g. with a hyphen.",
            )


def _spoiled(act: Act, outputs: list[Output]) -> list[str]:
    """What of the last delivery is gone, changed or without a text."""
    found = []
    for output in outputs:
        if output.path is None:
            if not (output.content or "").strip():
                found.append(f"{output.name_tag} is empty")
            continue
        try:
            sha256, size = hash_file(outputs_folder(act), output.path)
        except Invalid as error:
            found.append(f"{output.name_tag} is gone: {error.message.rstrip('.')}")
            continue
        if sha256 != output.sha256:
            found.append(f"{output.name_tag} changed after it was delivered")
        elif size <= INLINE_OUTPUT_MAX and not (outputs_folder(act) / output.path).read_bytes().strip():
            found.append(f"{output.name_tag} is empty")
    return found
