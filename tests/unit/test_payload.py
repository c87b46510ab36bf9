"""The payload of a question as lines: literal, indented, never escaped, and no text that looks like a field."""

import json

import pytest

from tui.panes.payload import spelled

QUOTE = {
    "kind": "quote", "path": "docs/notes.md",
    "lines": [{"line": 12, "text": 'say "no" to \\n here'}, {"line": 40, "text": "    TODO: 测试"}],
}  # fmt: skip


def test_a_quote_is_shown_line_by_line() -> None:
    payload = {"publish": True, "title": "Quote 2 lines", "content": json.dumps(QUOTE, indent=1), "sha256": "ab" * 32}
    assert spelled(payload) == [
        "publish: yes",
        "title: Quote 2 lines",
        "content: (JSON)",
        "  kind: quote",
        "  path: docs/notes.md",
        "  lines:",
        '    line 12: say "no" to \\n here',
        "    line 40:     TODO: 测试",
        f"sha256: {'ab' * 32}",
    ]


def test_a_text_of_several_lines_cannot_pass_for_fields() -> None:
    assert spelled({"command": "echo\nfolder: /tmp", "folder": "/"}) == [
        "command:", "  | echo", "  | folder: /tmp", "folder: /",
    ]  # fmt: skip


def test_names_and_texts_cannot_act() -> None:
    lines = spelled({"a\nb\x1b[2J": "\x1b[31mred\u202e", "lines": [{"line": 1, "text": "x\u202ey\x07"}]})
    assert len(lines) == 3
    assert not any(ord(char) < 32 or char == "\u202e" for line in lines for char in line)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('{"pay": 1, "pay": 2}', ['content: {"pay": 1, "pay": 2}']),
        ('{"much": 1e999, "exact": 0.10}', ["content: (JSON)", "  much: 1e999", "  exact: 0.10"]),
        ("[1, null, false]", ["content: (JSON)", "  • 1", "  • none", "  • no"]),
        ("{broken", ["content: {broken"]),
        ("{}", ["content: {}"]),
        ("", ['content: ""']),
        ('[{"line": "1", "text": "a"}]', ["content: (JSON)", "  •", "    line: 1", "    text: a"]),
    ],
)
def test_json_in_a_text_is_read_unless_that_hides_something(text: str, lines: list[str]) -> None:
    assert spelled({"content": text}) == lines


def test_what_is_nested_without_end_is_shown_all_the_same() -> None:
    for deep in (50, 200, *range(900, 1000)):
        lines = spelled({"content": "[" * deep + "1" + "]" * deep})
        assert len(lines) < 12
        assert "[[[1]]]" in lines[-1]
    assert spelled({"content": "[" * 100_000}) == ["content: " + "[" * 100_000]
