"""Outputs: what was delivered, hashed and verified by the program itself (S2-25, F9)."""

import hashlib
import stat
from pathlib import Path

from pydantic import Field

from core.commands.approvals import consume
from core.commands.moves import require_current_run
from core.commands.redlines import line_of_publication, pass_gate
from core.commands.registry import Act, Answer, Command, Text, Title, handles, letters
from core.domain.entities import Approval, Decision, Goal, Output, Task
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.limits import FILE_OUTPUT_MAX, INLINE_OUTPUT_MAX
from core.domain.states import OutputType, TaskStatus


class AddOutput(Command):
    """Deliver something for a task (or, by the coordinator, for a goal). The program hashes what is really there."""

    who = letters("AC")
    reads_guardrails = True
    example = {
        "task": 12, "type": "document", "title": "Number of files", "summary": "43 files in 6 folders.",
        "content": "There are 43 files.", "must_haves": ("M1",),
    }  # fmt: skip
    task: int | None = None
    goal: int | None = None
    type: OutputType = Field(description="code, document, data, config or other (S4-02)")
    title: Title
    summary: Text = ""
    content: str | None = Field(None, description=f"The text itself, up to {INLINE_OUTPUT_MAX} bytes")
    path: str | None = Field(None, description="Or a file below the company's outputs folder")
    must_haves: tuple[str, ...] = Field((), description="Ids of the task's must-haves that it delivers")
    decisions: tuple[int, ...] = Field((), description="Numbers of the goal's decisions that it carries out (S2-24)")
    publish: bool = Field(False, description="It is to leave the company: a red line, checked before it is kept")
    approval: int | None = Field(None, description="The approval that this act uses up, if it needed one")
    approved_payload: dict[str, object] = Field(default_factory=dict, description="What that approval was about")


@handles(AddOutput)
def add_output(act: Act, command: AddOutput) -> Answer:
    tx = act.tx
    if (command.task is None) == (command.goal is None):
        raise Invalid("An output belongs to a task or to a goal.", "Name exactly one of them.")
    if command.task is not None:
        task = tx.get(Task, command.task)
        require_current_run(act, task)
        if task.status != TaskStatus.WORKING:
            raise Conflict(f"{task.name_tag} is {task.status}: it takes no output now.", "Start the task first.")
        _require_must_haves_of(task, command)
        goal_id = task.goal_id
    else:
        goal_id = tx.get(Goal, command.goal or 0).id
        if command.must_haves:
            raise Invalid("What is delivered to a goal covers no must-have: nobody reviews it.", "Deliver to a task.")
        if act.own_run().goal_id != goal_id:
            raise Forbidden(f"Your run is not about G{goal_id}.", "Deliver to the goal that you were called for.")
    if command.approval is not None and not command.publish:
        subjects = frozenset({f"task:{command.task}", f"goal:{goal_id}"})
        consume(act, tx.get(Approval, command.approval), dict(command.approved_payload), subjects)
    decisions = [_decision(act, goal_id, number) for number in dict.fromkeys(command.decisions)]
    sha256, size = _verify(act, command)
    gate = _publication_gate(act, command, sha256) if command.publish else {"allowed": True}
    if not gate["allowed"]:
        return gate
    output = tx.insert(
        Output, "OutputAdded",
        goal_id=goal_id, task_id=command.task, run_id=act.own_run().id, type=command.type, title=command.title,
        summary=command.summary, content=command.content, path=command.path, sha256=sha256, size=size,
        must_haves=tuple(dict.fromkeys(command.must_haves)), publish=command.publish,
        created_by=act.label,
    )  # fmt: skip
    for decision in decisions:
        tx.update(decision, "DecisionCovered", covered_by=(*decision.covered_by, output.id))
    return {"id": output.id, "sha256": sha256, "size": size}


def _publication_gate(act: Act, command: AddOutput, sha256: str) -> Answer:
    """What leaves the company stands at the red line; the person sees exactly what would (D-03)."""
    if command.task is None:
        raise Invalid("Only an output of a task can be published.", "Make a task of it, or leave `publish` out.")
    shown = command.model_dump(mode="json", include={"type", "title", "summary", "content", "path"}, exclude_none=True)
    payload = {"publish": True, **shown, "sha256": sha256}
    return pass_gate(act, act.tx.get(Task, command.task), line_of_publication(act, payload), payload, command.approval)


def _require_must_haves_of(task: Task, command: AddOutput) -> None:
    strange = [must_id for must_id in command.must_haves if must_id not in task.must_haves]
    if strange:
        raise Invalid(
            f"{task.name_tag} does not have to deliver {', '.join(strange)}.",
            f"Its must-haves are: {', '.join(task.must_haves) or 'none'}.",
        )


def _decision(act: Act, goal_id: int, number: int) -> Decision:
    decision = act.tx.get(Decision, number)
    if decision.goal_id != goal_id:
        raise Invalid(f"Decision {number} is about G{decision.goal_id}.", f"Name decisions of G{goal_id}.")
    return decision


def _verify(act: Act, command: AddOutput) -> tuple[str, int]:
    if (command.content is None) == (command.path is None):
        raise Invalid("An output has content or a path.", "Give exactly one of them.")
    if command.content is not None:
        try:
            data = command.content.encode()
        except UnicodeEncodeError:
            raise Invalid("The content holds half a character.", "Send valid Unicode, or a file.") from None
        if not data.strip():
            raise Invalid("The output is empty.", "Empty submissions are refused (S3-11).")
        if len(data) > INLINE_OUTPUT_MAX:
            raise Invalid(
                f"The content has {len(data)} bytes; at most {INLINE_OUTPUT_MAX} lie on the board.",
                "Write it to a file in the outputs folder and give its path.",
            )
        return hashlib.sha256(data).hexdigest(), len(data)
    return hash_file(outputs_folder(act), command.path or "")


def outputs_folder(act: Act) -> Path:
    """The folder of delivered files, beside the board's own file."""
    file = act.tx.value("SELECT file FROM pragma_database_list WHERE name = 'main'")
    return Path(file).parent / "outputs"


def hash_file(folder: Path, path: str) -> tuple[str, int]:
    """sha256 and size of a delivered file. Raises Invalid when it is missing, empty, or outside the folder."""
    try:
        target = (folder / path).resolve()
    except (OSError, ValueError, RuntimeError):  # a NUL in the name, a circle of links
        raise Invalid(f"{path!r} is no path.", "Give the path of a file below outputs/.") from None
    if not target.is_relative_to(folder.resolve()):
        raise Invalid(
            f"{path!r} is outside the outputs folder.", "Write the file below outputs/ and give its path there."
        )
    try:
        # Opening a pipe would wait for its other end, and the whole board with it.
        if not stat.S_ISREG(target.stat().st_mode):
            raise Invalid(f"{path!r} is no file.", "Give the path of a file.")
        if target.stat().st_size > FILE_OUTPUT_MAX:
            raise Invalid(
                f"{path!r} has more than {FILE_OUTPUT_MAX // 1_048_576} MiB.",
                "Deliver it in parts, or a summary of it.",
            )
        with target.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
    except OSError as error:
        raise Invalid(f"{path!r} cannot be read: {error.strerror}.", "Write the file first.") from None
    if size == 0:
        raise Invalid(f"{path!r} is empty.", "Empty submissions are refused (S3-11).")
    return digest, size
