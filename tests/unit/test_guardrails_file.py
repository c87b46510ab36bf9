"""`guardrails.yaml`: what is wrong in it is named with its line and column, and never stops a program (S2-05)."""

import os
from pathlib import Path

import pytest

from core.domain.guardrails import GUARDRAILS_FILE, GuardAction
from core.guardrails import SHIPPED, GuardrailWatch, read_guardrails, shipped, write_shipped

GOOD = """\
red_lines:
  - name: no_fridays
    about: Nothing is done on Fridays.
    action: block_and_notify
    tags: [friday]
    patterns:
      - 'on fridays?'
"""
ENTRY = "red_lines:\n  - name: one\n    action: block_and_notify\n"


def write(folder: Path, text: str | bytes) -> None:
    """The company's file."""
    (folder / GUARDRAILS_FILE).write_bytes(text.encode() if isinstance(text, str) else text)


def test_a_file_is_read(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    found = read_guardrails(tmp_path)
    assert found.problem == ""
    (line,) = found.lines
    assert (line.name, line.action, line.tags) == ("no_fridays", GuardAction.BLOCK_AND_NOTIFY, {"friday"})
    assert found.of_act({"when": "On Friday"}) is line


def test_without_a_file_the_shipped_lines_are_in_force(tmp_path: Path) -> None:
    assert read_guardrails(tmp_path) is shipped()


def test_a_new_company_gets_the_shipped_file_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    write_shipped(tmp_path)
    assert (tmp_path / GUARDRAILS_FILE).read_bytes() == SHIPPED.read_bytes()
    assert read_guardrails(tmp_path).problem == ""
    write(tmp_path, GOOD)
    write_shipped(tmp_path)
    assert (tmp_path / GUARDRAILS_FILE).read_text() == GOOD


@pytest.mark.parametrize("text", ["red_lines: []\n", "\ufeffred_lines: []", "---\nred_lines: []\n...\n"])
def test_a_company_may_choose_to_have_no_red_line(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    assert (read_guardrails(tmp_path).lines, read_guardrails(tmp_path).problem) == ((), "")


BROKEN: dict[str, tuple[str | bytes, int, int, str]] = {
    "an open bracket": ("red_lines: [\n", 2, 1, "expected"),
    "an open quote": ("red_lines:\n  - name: 'one\n", 3, 1, "end of stream"),
    "a tab": ("red_lines:\n\t- name: one\n", 2, 1, "cannot start any token"),
    "a wrong indent": ("red_lines:\n  - name: one\n   action: x\n", 3, 4, "expected"),
    "two documents": ("red_lines: []\n---\nred_lines: []\n", 2, 1, "another document"),
    "an unknown anchor": ("red_lines: *gone\n", 1, 12, "undefined alias"),
    "a control character": ("red_lines:\n  - na\x07me: one\n", 2, 7, "not allowed"),
    "a byte that is no UTF-8": (b"red_lines:\n  - name: \xff\n", 2, 11, "UTF-8"),
    "nothing": ("", 1, 1, "empty"),
    "only a remark": ("# nothing\n", 1, 1, "empty"),
    "a list at the top": ("- one\n", 1, 1, "red_lines"),
    "a word at the top": ("hello\n", 1, 1, "red_lines"),
    "no red_lines": ("{}\n", 1, 1, "lacks red_lines"),
    "a wrong key at the top": ("red_lines: []\nredlines: []\n", 2, 1, "unknown key 'redlines'"),
    "a key twice": ("red_lines: []\nred_lines: []\n", 2, 1, "second time"),
    "red_lines that are no list": ("red_lines:\n  name: one\n", 2, 3, "list"),
    "a line that is a word": ("red_lines:\n  - one\n", 2, 5, "a red line has the keys"),
    "a wrong key": (ENTRY + "    pattern: []\n", 4, 5, "unknown key 'pattern'"),
    "a key of a line twice": (ENTRY + "    action: block_and_notify\n", 4, 5, "second time"),
    "no name": ("red_lines:\n  - action: block_and_notify\n", 2, 5, "lacks name"),
    "no action": ("red_lines:\n  - name: one\n", 2, 5, "lacks action"),
    "an unknown action": ("red_lines:\n  - name: one\n    action: shout\n", 3, 13, "unknown action 'shout'"),
    "a name that is a number": ("red_lines:\n  - name: 7\n    action: block_and_notify\n", 2, 11, "quotes"),
    "a name that is none": ("red_lines:\n  - name: One Two\n    action: x\n", 2, 11, "is no name"),
    "a name twice": (ENTRY + "  - name: one\n    action: block_and_notify\n", 4, 11, "above already"),
    "a name that differs in its dash": (
        "red_lines:\n  - {name: a_b, action: block_and_notify}\n  - {name: a-b, action: block_and_notify}\n",
        3, 12, "above already",
    ),
    "tags that are no list": (ENTRY + "    tags: deploy\n", 4, 11, "list"),
    "a tag that is a list": (ENTRY + "    tags: [[a]]\n", 4, 12, "a tag is a text"),
    "a tag that is yes": (ENTRY + "    tags: [ok, yes]\n", 4, 16, "quotes"),
    "a tag with a blank": (ENTRY + "    tags: ['a b']\n", 4, 12, "is no tag"),
    "a bad regular expression": (ENTRY + "    patterns:\n      - 'drop (table'\n", 5, 15, "no regular expression"),
    "a bad plain expression": (ENTRY + "    patterns: [ok, a**]\n", 4, 22, "no regular expression"),
    "a catastrophic pattern": (ENTRY + "    patterns:\n      - '(a+)+b'\n", 5, 9, "for ever"),
    "a long pattern": (ENTRY + f"    patterns:\n      - '{'x' * 501}'\n", 5, 9, "501 characters"),
    "an empty pattern": (ENTRY + "    patterns:\n      - ''\n", 5, 9, "everywhere"),
    "a pattern that matches nothing at all": (ENTRY + "    patterns:\n      - 'x*'\n", 5, 9, "everywhere"),
    "about that is a list": (ENTRY + "    about: [x]\n", 4, 12, "about is a text"),
    "too many red lines": ("red_lines: [" + "{}," * 101 + "]\n", 1, 12, "at most 100"),
    "too many patterns": (ENTRY + "    patterns: [" + "a," * 201 + "]\n", 4, 15, "at most 200"),
    "a deep nest": ("red_lines: " + "[" * 5000 + "\n", 1, 1, "not valid YAML"),
    "too many bytes": ("#" * 300_000, 1, 1, "KiB"),
}  # fmt: skip


@pytest.mark.parametrize("how", BROKEN)
def test_what_is_broken_is_named_with_its_place(how: str, tmp_path: Path) -> None:
    text, line, column, what = BROKEN[how]
    write(tmp_path, text)
    found = read_guardrails(tmp_path)
    assert found.problem.startswith(f"{GUARDRAILS_FILE}, line {line}, column {column}: ")
    assert what in found.problem
    assert len(found.problem) < 1000
    assert found.lines == shipped().lines


def test_the_guide_tells_of_the_shipped_lines_and_shows_a_file_that_works(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guardrails.md").read_text()
    for line in shipped().lines:
        assert any(f"| `{line.name}` |" in row and f"`{line.action}`" in row for row in guide.splitlines())
    write(tmp_path, guide.split("```yaml\n")[1].split("```")[0])
    assert read_guardrails(tmp_path).problem == ""
    assert read_guardrails(tmp_path).of_act({"act": "清空全部数据库"}) is not None


def test_aliases_do_not_grow(tmp_path: Path) -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(24)
    )
    write(tmp_path, bomb)
    assert "unknown key 'a'" in read_guardrails(tmp_path).problem


def _folder(path: Path) -> None:
    path.mkdir()


def _link(path: Path) -> None:
    path.symlink_to("nowhere")


def _circle(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize("make", [_folder, _link, _circle, os.mkfifo])
def test_what_is_no_file_is_a_problem_and_hangs_nobody(make: object, tmp_path: Path) -> None:
    make(tmp_path / GUARDRAILS_FILE)  # type: ignore[operator]
    found = read_guardrails(tmp_path)
    assert found.problem.startswith(GUARDRAILS_FILE)
    assert found.lines == shipped().lines


async def test_the_last_good_lines_stay_in_force_while_the_file_is_broken(tmp_path: Path) -> None:
    watch = GuardrailWatch(tmp_path)
    write(tmp_path, GOOD)
    await watch.renew()
    good = watch.book.current.lines
    assert [line.name for line in good] == ["no_fridays"]
    write(tmp_path, "red_lines: [\n")
    await watch.renew()
    assert watch.book.current.problem
    assert watch.book.current.lines == good
    write(tmp_path, GOOD.replace("no_fridays", "no_mondays"))
    await watch.renew()
    assert (watch.book.current.problem, [line.name for line in watch.book.current.lines]) == ("", ["no_mondays"])
    (tmp_path / GUARDRAILS_FILE).unlink()
    await watch.renew()
    assert watch.book.current is shipped()


async def test_before_it_was_read_the_shipped_lines_are_in_force(tmp_path: Path) -> None:
    assert GuardrailWatch(tmp_path).book.current is shipped()
