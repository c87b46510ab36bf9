"""A scripted model for real programs: it decides by what a request offers and holds; side requests do no harm."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.models.script import Act, Asked, Call, Turn
from tests.programs.company import HANDOFF

SIGN = "Mondays, 9 to 16."
# The shell tool of each program, and what its command is called.
_SHELLS = {"Bash": "command", "exec_command": "cmd", "bash": "command", "run_shell_command": "command"}
# codex asks nobody about a command that stays in its sandbox.
_LEAVES = {"sandbox_permissions": "require_escalated", "justification": "The sign has to be written."}
_CLAIMS, _DELIVERS = "ClaimTask", "SubmitTask"
_STEPS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("StartTask", {"task": 1}),
    ("AddOutput", {"task": 1, "type": "document", "title": "The sign", "must_haves": ["M1"]}),
    ("AddComment", {"task": 1, "kind": "handoff", "body": HANDOFF}),
    ("SubmitTask", {"task": 1}),
)


def offered(asked: Asked, name: str) -> str:
    """What a program calls a tool of the board; empty if it does not offer it."""
    return next((tool for tool in asked.tools if tool.endswith(name)), "")


def shell(asked: Asked, command: str, *, leaves: bool = False) -> Call | None:
    """A call of the program's own shell; None if it offers none. `leaves`: it asks to be run out of a sandbox."""
    name = next((tool for tool in asked.tools if tool in _SHELLS), None)
    if name is None:
        return None
    more = {"description": "Runs a command."} if _SHELLS[name] == "command" else _LEAVES if leaves else {}
    return Call(name, {_SHELLS[name]: command, **more})


@dataclass
class Worker:
    """Claims the task, writes `sign.txt` by `command` in a shell, puts what the shell said on the board, and submits.

    Its `said` are the results that came back, in order. With `by_curl` it uses the board by the shell alone. `leaves`:
    its command asks to be run out of a sandbox, where there is one.
    """

    command: str = f"printf '{SIGN}' > sign.txt; cat sign.txt"
    by_curl: bool = False
    leaves: bool = False
    said: list[str] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Act:
        """One answer of the model."""
        self.said += [result for result in asked.results if result not in self.said]
        if not (offered(asked, _DELIVERS) or offered(asked, _CLAIMS)):
            return Turn("A title")
        if self.by_curl:
            return self._by_curl(asked)
        if offered(asked, _DELIVERS):
            return self._deliver(asked)
        return self._board(asked, _CLAIMS, {"task": 1}) or Turn("It is claimed.")

    def work(self, asked: Asked) -> Call | None:
        """Its one call beside those on the board."""
        return shell(asked, self.command, leaves=self.leaves)

    def _deliver(self, asked: Asked) -> Turn:
        work = self.work(asked)
        if work is not None and work.name not in asked.called:
            return Turn("To work.", (work,), thought="A sign, then.")
        for name, arguments in _STEPS:
            content = {"content": self._seen(asked)} if name == "AddOutput" else {}
            if turn := self._board(asked, name, {**arguments, **content}):
                return turn
        return Turn("It is handed in.")

    def _board(self, asked: Asked, name: str, arguments: Mapping[str, Any]) -> Turn | None:
        """A call that the conversation does not hold yet."""
        if any(call.endswith(name) for call in asked.called):
            return None
        return Turn(f"Now {name}.", (Call(offered(asked, name), arguments),))

    def _seen(self, asked: Asked) -> str:
        """What the shell told, as far as the conversation shows it."""
        return SIGN if any(SIGN in said for said in self.said) else "The shell told nothing."

    def _by_curl(self, asked: Asked) -> Turn:
        steps = _STEPS if offered(asked, _DELIVERS) else ((_CLAIMS, {"task": 1}),)
        commands = [
            _curl(name, {**facts, **({"content": SIGN} if name == "AddOutput" else {})}) for name, facts in steps
        ]
        work = shell(asked, " && ".join(commands))
        if work is None or work.name in asked.called:
            return Turn("It is done.")
        return Turn("By curl.", (work,))


def _curl(name: str, arguments: Mapping[str, Any]) -> str:
    told = json.dumps(arguments).replace("'", "")
    return (
        f"curl -sS --fail-with-body -H \"Authorization: Bearer $OPSROOM_TOKEN\" -d '{told}'"
        f' "$OPSROOM_URL/api/commands/{name}"'
    )
