"""What a runner runs on is told in a few words; which programs go on in a terminal is as the catalogue says."""

from typing import Any

import pytest

from core.agents.programs.catalogue import interactive_of
from core.doctor.known import known
from core.domain.attach import IN_TERMINAL, no_terminal
from core.domain.runner_uses import runner_line, uses_of


@pytest.mark.parametrize(
    ("runner", "line", "uses"),
    [
        (
            {"kind": "chat", "url": "http://a:b@h:1/v1", "model": "m", "key": "env:K"},
            "chat, m at h:1",
            "m at h:1 by env:K",
        ),
        ({"kind": "chat", "url": "http://[", "key": "sk-1"}, "chat, no model at no address", "no model at no address"),
        ({"kind": "command", "command": ["./a.sh", "x"]}, "command, the program ./a.sh", "the program ./a.sh"),
        ({"kind": "command", "program": "claude", "model": "s"}, "command, claude with s", "claude with s"),
        ({"kind": "acp", "program": "codex"}, "acp, codex", "codex (acp)"),
        ({"kind": "rehearsal"}, "rehearsal", "rehearsal"),
        ({}, "none", "nothing"),
    ],
)
def test_it_is_told_without_a_key(runner: dict[str, Any], line: str, uses: str) -> None:
    assert (runner_line(runner), uses_of(runner)) == (line, uses)


def test_programs_with_a_terminal_are_those_of_the_catalogue() -> None:
    assert {name for name in ("script", *known().programs) if interactive_of(name)[0]} == IN_TERMINAL


@pytest.mark.parametrize(
    ("runner", "why"),
    [
        ({"kind": "command", "program": "claude"}, ""),
        ({"kind": "acp", "program": "codex"}, ""),
        ({"kind": "command", "program": "claude", "gateway": "x"}, "through the gateway"),
        ({"kind": "command", "command": ["./a.sh"]}, "a program of your own"),
        ({"kind": "command", "program": "gemini"}, "works by 'gemini'"),
        ({"kind": "rehearsal"}, "of the kind 'rehearsal'"),
        ({}, "of the kind 'unknown'"),
    ],
)
def test_the_reason_for_no_terminal_is_said(runner: dict[str, Any], why: str) -> None:
    found = no_terminal(runner)
    assert why in found
    assert bool(found) == bool(why)
