"""Nothing that a program's call holds is left out of the question, nor of what a yes for the run covers (S4-08)."""

from typing import Any

import pytest

from core.agents.acp.tools import Tool, Tools
from core.agents.acp.wishes import is_the_boards, wish_of
from core.commands.permissions import AskPermission, _checked, _cover
from core.commands.registry import build
from core.domain.permissions import asked
from core.guardrails import shipped


def tool(**facts: Any) -> Tool:
    return Tools(lambda text: text).merged({"toolCallId": "t", "title": "Do it", **facts})


def question(**facts: Any) -> AskPermission:
    return build(AskPermission, **asked(wish_of(tool(**facts), "/w")))


def run(raw: Any, **more: Any) -> dict[str, Any]:
    return {"kind": "execute", "rawInput": raw, **more}


def change(path: str, new: str = "b\n") -> list[dict[str, Any]]:
    return [{"type": "diff", "path": path, "oldText": "a\n", "newText": new}]


def edit(raw: Any = None, path: str = "/w/a", **more: Any) -> dict[str, Any]:
    return {"kind": "edit", "content": change(path), "rawInput": raw, **more}


PLAIN = run({"command": "npm test"})
EVIL = {"NODE_OPTIONS": "--require /tmp/evil.js"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (run({"command": "bash", "args": ["-c", "ls"]}), run({"command": "bash", "args": ["-c", "touch x"]})),
        (run({"command": "npm", "args": ["test"]}), run({"command": "npm", "args": ["install"]})),
        (PLAIN, run({"command": "npm test", "args": ["x"]})),
        (PLAIN, run({"command": "npm test", "args": "x"})),
        (PLAIN, run({"command": "npm test", "cmd": "npm install"})),
        (PLAIN, run({"command": "npm test", "env": EVIL})),
        (PLAIN, run({"command": "npm test", "sandbox": "off"})),
        (PLAIN, run({"command": "npm test", "with_escalated_permissions": True})),
        (PLAIN, run({"command": "npm test", "cwd": "/w", "workdir": "/tmp"})),
        (PLAIN, run({"command": "npm test"}, locations=[{"path": "/etc"}])),
        (PLAIN, run({"command": "npm test"}, locations=[{"path": "/w/../etc"}])),
        (run(["npm", "test"]), run(["npm", "install"])),
        ({"kind": "fetch", "rawInput": {"url": "http://x/a"}},
         {"kind": "fetch", "rawInput": {"url": "http://x/a", "method": "PUT", "body": "all of it"}}),
        ({"kind": "edit", "rawInput": {"command": "create", "path": "/w/a", "file_text": "a"}},
         {"kind": "edit", "rawInput": {"command": "create", "path": "/h/.bashrc", "file_text": "a"}}),
        ({"kind": "edit", "locations": [{"path": "/w/a"}]}, {"kind": "edit", "locations": [{"path": "/etc/a"}]}),
        (edit({"path": "/w/a"}), {"kind": "move", "content": change("/w/a", "a\n"), "rawInput": {"to": "/h/x"}}),
        (edit({"path": "/w/a"}), {"kind": "delete", "content": change("/w/a", ""), "rawInput": {"path": "/w/a"}}),
        (edit({"path": "/w/a"}), edit({"path": "/etc/x"})),
        (edit({"path": "/w/a"}), edit({"path": "/w/a", "mode": "0777"})),
        (edit({"path": "/w/a"}), edit({"path": "/w/a"}, locations=[{"path": "/w/b"}])),
        (edit(), edit(path="/w/link/../a")),
    ],
)  # fmt: skip
def test_a_yes_to_one_is_none_to_another(first: dict[str, Any], second: dict[str, Any]) -> None:
    one, two = _cover(question(**first)), _cover(question(**second))
    assert not one.covers(two)
    assert one.covers(_cover(question(**first)))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (PLAIN, run({"command": "npm test -- a", "description": "Runs the tests", "timeout": 60_000, "cwd": "/w"})),
        (PLAIN, run({"command": ["npm", "test"]}, locations=[{"path": "/w"}, {"path": "/w/a"}])),
        (edit({"path": "/w/a"}), edit({"file_path": "/w/a", "old_string": "a", "new_string": "b", "offset": 1})),
        (edit({"path": "a"}, path="a"), edit({"path": "/w/a", "content": "b\n"}, locations=[{"path": "a"}])),
        ({"kind": "read", "rawInput": {"path": "a"}}, {"kind": "read", "rawInput": {"path": "/w/a", "offset": 3}}),
    ],
)  # fmt: skip
def test_what_says_the_same_again_is_covered(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert _cover(question(**first)).covers(_cover(question(**second)))


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        (run({"command": "bash", "args": ["-c", "ls 'a b'"]}), "bash -c 'ls '\"'\"'a b'\"'\"''"),
        (run({"command": ["bash", "-lc", "ls; id"]}), "bash -lc 'ls; id'"),
        (run({"command": ["ls", ";", "id"]}), "ls ';' id"),
    ],
)
def test_a_command_in_parts_is_shown_as_one_line(facts: dict[str, Any], shown: str) -> None:
    assert question(**facts).command == shown


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        (run({"command": "bash", "args": ["-lc", "rm -rf data"]}), "data_deletion"),
        (run({"command": ["bash", "-lc", "rm -rf data"]}), "data_deletion"),
        (run({"command": "ls", "then": "rm -rf data"}), "data_deletion"),
        (run({"command": "ls", "hooks": [{"after": ["nice", "rm", "-rf", "data"]}]}), "data_deletion"),
        ({"kind": "other", "rawInput": {"script": "bash -lc 'rm -rf data'"}}, "data_deletion"),
        ({"kind": "read", "rawInput": {"file_path": "/w/.env"}}, "secret_exposure"),
        ({"kind": "read", "locations": [{"path": "/w/.env"}]}, "secret_exposure"),
        ({"kind": "edit", "locations": [{"path": "/w/guardrails.yaml"}]}, "authority_change"),
        ({"kind": "delete", "rawInput": {"path": "customers.csv"}}, "data_deletion"),
    ],
)
def test_a_red_line_is_sought_in_all_of_it(facts: dict[str, Any], line: str) -> None:
    found = _checked(shipped(), question(**facts)).line
    assert found is not None
    assert found.name == line


def test_arguments_that_are_nested_without_end_are_not_taken_for_checked() -> None:
    deep = "[" * 1990 + "]" * 1990
    asks = build(AskPermission, title="Do it", kind="other", details=f"{deep}\n")
    assert not _checked(shipped(), asks).is_whole


def test_all_that_is_beside_what_is_shown_stands_in_the_details_and_what_is_shown_does_not() -> None:
    asks = question(**run({"command": "npm test", "env": EVIL, "description": "the tests"}, locations=[{"path": "/x"}]))
    assert "evil.js" in asks.details
    assert "at /x" in asks.details
    assert asks.more_arguments
    whole = "line\n" * 5000
    written = question(kind="edit", content=change("/w/a", whole), rawInput={"file_path": "/w/a", "content": whole})
    assert (written.details, written.more_arguments) == ("", False)
    assert "details" not in written.cut


OWN = {"title": "mcp__opsroom__ClaimTask", "kind": "other"}


@pytest.mark.parametrize(
    "facts",
    [
        OWN | {"rawInput": {"task": 1}},
        OWN | {"rawInput": {"task": "one"}},  # the board's to refuse
        OWN | {"rawInput": {}},
        {"title": "opsroom_ReadTask", "kind": "other", "rawInput": {"task": 1}},
        {"title": "ReadTask (opsroom MCP Server)", "kind": "read"},
        {"title": "mcp.opsroom.ClaimTask", "kind": "execute",
         "rawInput": {"server": "opsroom", "tool": "ClaimTask", "arguments": {"task": 1}}},
    ],
)  # fmt: skip
def test_calls_of_the_boards_own_tools_are_known(facts: dict[str, Any]) -> None:
    assert is_the_boards(tool(**facts))


@pytest.mark.parametrize(
    "facts",
    [
        OWN | {"kind": "fetch", "rawInput": {"url": "http://x"}},
        OWN | {"kind": "fetch"},
        OWN | {"kind": "switch_mode"},
        OWN | {"kind": "think", "rawInput": {"task": 1}},
        OWN | {"kind": "read", "rawInput": {"task": 1}},
        OWN | {"rawInput": {"task": 1, "script": "id"}},
        OWN | {"rawInput": {"argv": ["id"]}},
        OWN | {"rawInput": ["id"]},
        OWN | {"rawInput": "id"},
        OWN | {"rawInput": {"task": 1}, "locations": [{"path": "/etc/passwd"}]},
        OWN | {"rawInput": {"task": 1}, "content": change("/w/a")},
        OWN | {"kind": "execute", "rawInput": {"task": 1}},
        {"title": "mcp.opsroom.ClaimTask", "kind": "execute",
         "rawInput": {"server": "opsroom", "tool": "ClaimTask", "arguments": {"script": "id"}}},
        {"title": "mcp.opsroom.ClaimTask", "kind": "fetch",
         "rawInput": {"server": "opsroom", "tool": "ClaimTask", "arguments": {"task": 1}}},
    ],
)  # fmt: skip
def test_a_title_alone_makes_no_call_of_the_boards(facts: dict[str, Any]) -> None:
    assert not is_the_boards(tool(**facts))
