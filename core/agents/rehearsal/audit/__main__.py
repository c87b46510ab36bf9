"""The child process's door: `python -m core.agents.rehearsal.audit KIND FOLDER`.

Writes JSON lines: `{"progress": {done, total, what}}` a few times a second, and at the end either
`{"result": {...}}` or `{"error": "..."}` with exit 1. See `KINDS` for the kinds.
"""

import argparse
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from core.agents.rehearsal.audit.survey import AuditError, Progress

SECONDS_BETWEEN = 0.25


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise AuditError(f"The audit was called wrongly: {message}.")


def main(arguments: list[str]) -> int:
    """Do one audit and write its lines; the exit code is 1 when there is no result."""
    try:
        asked = _asked(arguments)
        result = KINDS[asked.kind](asked.folder, _further(asked.json_arguments), _throttled())
    except AuditError as error:
        _write({"error": str(error)})
        return 1
    except BrokenPipeError:
        raise
    except Exception as error:  # a reader of the lines must learn of any failure
        traceback.print_exc()
        _write({"error": f"The audit failed ({type(error).__name__}: {error})."})
        return 1
    _write({"result": result})
    return 0


def _asked(arguments: list[str]) -> argparse.Namespace:
    parser = _Parser(prog="python -m core.agents.rehearsal.audit", allow_abbrev=False)
    parser.add_argument("kind", choices=list(KINDS))
    parser.add_argument("folder", help="the folder to audit; after -- when it begins with a dash")
    parser.add_argument("--json-arguments", default="{}", help="a JSON object, or @FILE that holds one")
    return parser.parse_args(arguments)


def _further(text: str) -> dict[str, Any]:
    """The further arguments; a long claim comes in a file, for an argument's length is bounded."""
    try:
        if text.startswith("@"):
            with open(text[1:], encoding="utf-8") as file:
                text = file.read()
        further = json.loads(text)
    except (OSError, ValueError) as error:
        raise AuditError(f"The further arguments cannot be read: {error}.") from error
    if not isinstance(further, dict):
        raise AuditError("The further arguments are not a JSON object.")
    return further


def _throttled() -> Progress:
    last = -SECONDS_BETWEEN

    def tell(done: int, total: int | None, what: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN:
            last = now
            _write({"progress": {"done": done, "total": total, "what": what}})

    return tell


def _write(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line, ensure_ascii=True) + "\n")
    sys.stdout.flush()


# Each kind imports its own modules only: the parsers of one are slow to load for the others.


def _inventory(folder: str, further: dict[str, Any], tell: Progress) -> Any:
    from core.agents.rehearsal.audit.inventory import inventory

    return inventory(folder, tell, **_taken(further))


def _marks(folder: str, further: dict[str, Any], tell: Progress) -> Any:
    from core.agents.rehearsal.audit.marks import marks

    return marks(folder, tell, **_taken(further))


def _history(folder: str, further: dict[str, Any], tell: Progress) -> Any:
    from core.agents.rehearsal.audit.history import history

    return history(folder, tell, **_taken(further))


def _documentation(folder: str, further: dict[str, Any], tell: Progress) -> Any:
    from core.agents.rehearsal.audit.documentation import documentation

    return documentation(folder, tell, **_taken(further))


def _duplicates(folder: str, further: dict[str, Any], tell: Progress) -> Any:
    from core.agents.rehearsal.audit.duplicates import duplicates

    return duplicates(folder, tell, **_taken(further))


def _closer_look(folder: str, further: dict[str, Any], tell: Progress) -> Any:
    from core.agents.rehearsal.audit.closer import closer_look

    return closer_look(folder, tell=tell, **_taken(further, path=str))


def _recompute(folder: str, further: dict[str, Any], tell: Progress) -> Any:
    from core.agents.rehearsal.audit.recheck import recompute

    further = {"size": 5, **further}
    return recompute(folder=folder, tell=tell, **_taken(further, kind=str, claimed=object, seed=int, size=int))


def _taken(further: dict[str, Any], **wanted: type) -> dict[str, Any]:
    """The further arguments when they are just the wanted ones; raises AuditError."""
    unknown = sorted(set(further) - set(wanted))
    if unknown:
        raise AuditError(f"Unknown further arguments: {', '.join(unknown)}.")
    for name, kind in wanted.items():
        if not isinstance(further.get(name), kind) or name not in further:
            raise AuditError(f"The further argument {name} is missing or of the wrong kind.")
    return further


KINDS: dict[str, Callable[[str, dict[str, Any], Progress], Any]] = {
    "inventory": _inventory,
    "marks": _marks,
    "history": _history,
    "documentation": _documentation,
    "duplicates": _duplicates,
    "closer_look": _closer_look,
    "recompute": _recompute,
}

if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:
        # Nobody reads any more; Python must not complain when it closes its output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
