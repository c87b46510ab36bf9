"""No refusal leaves whoever meets it without a word on what to do next."""

import ast
from collections.abc import Iterator
from pathlib import Path

from core.domain import errors
from tests.command_line import ROOT

KINDS = {name for name, each in vars(errors).items() if isinstance(each, type) and name != "OpsroomError"}


def hints_of(tree: ast.AST) -> Iterator[tuple[int, ast.expr | None]]:
    """The line and the hint of each refusal that is made here; a choice of two gives both."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS:
            named = next((each.value for each in node.keywords if each.arg == "hint"), None)
            hint = node.args[1] if len(node.args) > 1 else named
            for each in (hint.body, hint.orelse) if isinstance(hint, ast.IfExp) else (hint,):
                yield node.lineno, each


def test_every_refusal_has_a_hint() -> None:
    found = [
        (path, line, hint)
        for path in sorted(Path(ROOT, "core").rglob("*.py"))
        for line, hint in hints_of(ast.parse(path.read_text(encoding="utf-8")))
    ]
    empty = [
        f"{path.relative_to(ROOT)}:{line}"
        for path, line, hint in found
        if hint is None or (isinstance(hint, ast.Constant) and not hint.value)
    ]
    assert len(found) > 300
    assert empty == []
