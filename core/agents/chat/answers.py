"""Answers by a schema instead of calls of tools, for small local models: one object, made into calls on the board.

The order of the fields is measured: a small model that writes its reason first chooses the action better. The board
sees the same calls as from any other agent, and refuses the same.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.agents.models.conversation import Answer, AnswerSchema, ToolCall
from core.agents.owing import NO_REPLY
from core.agents.runner import Assignment
from core.domain.entities import Task
from core.domain.states import RunKind, TaskStatus
from core.prompting.prompt import STABLE, LayerName, Prompt

_SHOWN = 120
_Words = Mapping[str, tuple[str, str]]
_TALK: _Words = {
    "say": ("`text` goes on the board as your comment", "`text` 作为你的评论写上看板"),
    "silence": ("you have nothing to add", "你没有要补充的"),
}
# By kind of run: each action with what it means, in English and in Chinese.
_ACTIONS: Mapping[RunKind, _Words] = {
    RunKind.BROADCAST: {
        "claim": ("the task asks for what you are able to do: you take it", "任务需要你的能力：由你来做"),
        "observe": (
            "it is not yours, but `text` (at most 200 characters) helps whoever does it",
            "任务不是你的，但 `text`（最多 200 字）对做的人有帮助",
        ),
        "silence": ("nothing here concerns what you do", "与你的领域无关"),
    },
    RunKind.EXECUTE: {
        "deliver": ("`text` is the whole output of the task", "`text` 是任务的完整产出"),
        "hand_in": (
            "the output is on the board; `text` (50 to 500 characters) hands it over: decisions, problems, advice",
            "产出已在看板上；`text`（50 到 500 字）是交接：决定、问题、建议",
        ),
        "fail": ("it cannot be done; `text` says why", "做不了；`text` 说明原因"),
    },
    RunKind.DISCUSS: _TALK,
    RunKind.MENTION: _TALK,
}
_TOLD = (
    "Answer every time with one JSON object and nothing else. Its fields, in this order: `text`: your words; `task_id`:"
    " the number of the task (12 for T12), 0 for none; `action`: one of\n{actions}",
    "每次只回答一个 JSON 对象，不要写别的。字段依次为：`text`：你要说的话；`task_id`：任务编号（T12 写 12），没有则为"
    " 0；`action`：以下之一\n{actions}",
)


# One of each: without them small models choose the same action every time.
_EXAMPLES: Mapping[RunKind, tuple[str, str]] = {
    RunKind.BROADCAST: (
        "For an agent that is able to do `maps`:\n"
        'T7 "Draw the park": {"text": "It asks for a map, and I draw maps.", "task_id": 7, "action": "claim"}\n'
        'T8 "Bake the bread": {"text": "It asks for bread, not for maps.", "task_id": 8, "action": "silence"}\n'
        'T9 "Print the map": {"text": "The map is 40 cm wide: take large paper.", "task_id": 9, "action": "observe"}',
        "假设某代理的能力是 `maps`：\n"
        'T7「画公园」：{"text": "需要地图，而我画地图。", "task_id": 7, "action": "claim"}\n'
        'T8「烤面包」：{"text": "需要面包，我不懂。", "task_id": 8, "action": "silence"}\n'
        'T9「印地图」：{"text": "地图宽 40 厘米，请用大纸。", "task_id": 9, "action": "observe"}',
    ),
}


class Unfit(Exception):
    """This kind of run asks for more than such an answer can say; the text is for people."""


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    task: int
    action: str


class SchemaAnswers:
    """The answers of one run. Raises Unfit for a kind of run that it cannot serve. `problem` is of the last answer."""

    def __init__(self, assignment: Assignment) -> None:
        kind = assignment.run.kind
        if kind not in _ACTIONS:
            known = ", ".join(sorted(_ACTIONS))
            raise Unfit(
                f"a run of the kind {kind} needs calls of tools, and this agent answers by a schema (it can: {known});"
                " leave `answers` out of its runner, or give this work to an agent with tools"
            )
        self._assignment = assignment
        self._words = _ACTIONS[kind]
        self._zh = assignment.company.locale == "zh"
        self._started = assignment.task is None or assignment.task.status != TaskStatus.CLAIMED
        self._turn = 0
        self.problem = ""
        fields = {"text": {"type": "string"}, "task_id": {"type": "integer"},
                  "action": {"type": "string", "enum": list(self._words)}}  # fmt: skip
        schema = {
            "type": "object", "properties": fields, "required": list(fields), "additionalProperties": False,
        }  # fmt: skip
        self.schema = AnswerSchema("answer", schema)

    def system(self, prompt: Prompt) -> str:
        """The lasting layers of the prompt, with how to answer in the place of what can be called."""
        layers = [layer.text for layer in prompt.layers if layer.name in STABLE and layer.name is not LayerName.API]
        lines = "\n".join(f"- {name}: {words[self._zh]}" for name, words in self._words.items())
        examples = _EXAMPLES.get(self._assignment.run.kind, ("", ""))[self._zh]
        return "\n\n".join(part for part in (*layers, _TOLD[self._zh].format(actions=lines), examples) if part)

    def understood(self, answer: Answer) -> Answer:
        """The answer with the calls that it means, or as the word of silence; as it is, with a `problem`, else."""
        said, self.problem = self._read(answer.text)
        if said is None:
            return answer
        if said.action == "silence":
            return replace(answer, text=NO_REPLY, calls=())
        self._turn += 1
        calls = tuple(
            ToolCall(f"answer-{self._turn}-{number}", name, json.dumps(arguments, ensure_ascii=False), arguments)
            for number, (name, arguments) in enumerate(self._calls(said), 1)
        )
        return replace(answer, calls=calls)

    def told_problem(self) -> str:
        """What was wrong with the last answer, for the model."""
        error = {"code": "invalid", "message": self.problem, "schema": self.schema.schema}
        return json.dumps({"error": error}, ensure_ascii=False)

    def _read(self, text: str) -> tuple[_Said | None, str]:
        try:
            told = json.loads(text)
        except (ValueError, RecursionError) as error:
            return None, f"The answer is no JSON object: {error}."
        if not isinstance(told, dict):
            return None, "The answer is no JSON object."
        words, task, action = told.get("text"), told.get("task_id"), told.get("action")
        if not isinstance(words, str) or isinstance(task, bool) or not isinstance(task, int):
            return None, "The answer has `text` (a text) and `task_id` (a whole number)."
        if not isinstance(action, str) or action not in self._words:
            return None, f"There is no action {str(action)[:_SHOWN]!r}; there are: {', '.join(self._words)}."
        return _Said(words.strip(), task, action), ""

    def _calls(self, said: _Said) -> list[tuple[str, dict[str, Any]]]:
        """The calls of one answer, in their order."""
        own = self._assignment.task
        match said.action:
            case "claim":
                return [("ClaimTask", {"task": said.task})]
            case "observe":
                return [("AddComment", {"task": said.task, "kind": "observation", "body": said.text})]
            case "say":
                return [("AddComment", {**self._place(said.task), "body": said.text})]
            case "fail":
                return [("FailTask", {"task": self._number(own, said), "reason": said.text})]
            case "hand_in":
                task = self._number(own, said)
                handoff = {"task": task, "kind": "handoff", "body": said.text}
                return [("AddComment", handoff), ("SubmitTask", {"task": task})]
            case _:
                return self._delivery(own, said)

    def _delivery(self, own: Task | None, said: _Said) -> list[tuple[str, dict[str, Any]]]:
        task = self._number(own, said)
        begins = [] if self._started else [("StartTask", {"task": task})]
        self._started = True
        output = {"task": task, "type": "document", "title": own.title if own else "Output", "content": said.text,
                  "must_haves": list(own.must_haves) if own else []}  # fmt: skip
        return [*begins, ("AddOutput", output)]

    def _number(self, own: Task | None, said: _Said) -> int:
        """A run at a task is about that one, whatever number the model wrote."""
        return said.task if own is None else own.id

    def _place(self, task: int) -> dict[str, int]:
        """Where a comment goes: below the run's task, else the task that was named, else its goal."""
        if self._assignment.task is not None:
            return {"task": self._assignment.task.id}
        if task or self._assignment.goal is None:
            return {"task": task}
        return {"goal": self._assignment.goal.id}
