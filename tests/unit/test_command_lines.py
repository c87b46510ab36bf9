"""What a command line really runs is found behind shells and programs that run others (S4-08)."""

import pytest

from core.domain.command_lines import DEPTH_MAX, as_line, commands_within
from core.domain.errors import Invalid
from core.guardrails import shipped


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("rm -rf x", []),
        ("git status; rm x", []),
        ("bash script.sh -q", []),
        ("command -v rm git", []),
        ("env", []),
        ("xargs -n1", []),
        ("timeout 5", []),
        ("echo 'nice rm x'", []),
        ("ls # nice rm x", []),
        ("time pytest -q", ["pytest -q"]),
        ("bash -lc 'rm -rf x'", ["rm -rf x"]),
        ("sh -e -c 'cd a; rm b'", ["cd a", "rm b"]),
        ("bash -o pipefail -c 'rm b' name", ["rm b"]),
        ("bash <<< 'rm b'", ["rm b"]),
        ("bash <<<'rm b'", ["rm b"]),
        ("/usr/bin/env -i A=1 /opt/b/rm x", ["rm x"]),
        ("env -u HOME -S 'rm x'", ["rm x"]),
        ("sudo -nu ada -- rm x", ["rm x"]),
        ("nice -n 5 nohup ionice -c3 rm x &", ["rm x"]),
        ("timeout -k 1 --signal KILL 5 rm x", ["rm x"]),
        ("A=1 B='2 3' rm x", ["rm x"]),
        ("! rm x", ["rm x"]),
        ("if true; then rm x; else nice rm y; fi", ["true", "rm x", "rm y"]),
        ("ls | xargs -0 -I {} rm {}", ["rm {} {}"]),
        ("nice 2>/dev/null rm x", ["rm x"]),
        ("nice &>log rm x", ["rm x"]),
        ("ssh -p 22 host rm -rf x", ["rm -rf x"]),
        ("ssh host 'nice rm x'", ["rm x"]),
        ("su -c 'rm x' ada", ["rm x"]),
        ("flock -w 3 f rm x", ["rm x"]),
        ("busybox sh -c 'rm x'", ["sh -c rm x", "rm x"]),
        ("$(echo rm) -rf x", ["rm -rf x"]),
        ("`echo rm` -rf x", ["rm -rf x"]),
        ("echo \"a $(nice rm 'x y') b\"", ["rm x y"]),
        ("bash -c \"sh -c 'rm x'\"", ["sh -c rm x", "rm x"]),
        ("eval 'rm x'", ["rm x"]),
        ("it's late; nice rm x", []),  # a quote without an end, as a shell reads it
    ],
)
def test_the_commands_behind_others(text: str, commands: list[str]) -> None:
    assert commands_within(text) == commands


@pytest.mark.parametrize(
    "command",
    [
        "bash -lc 'rm -rf /srv/data'", ["bash", "-lc", "rm -rf /srv/data"], ["bash", "-c", "rm -rf /srv/data"],
        ["/bin/sh", "-lc", "git push --force"], "sh -ec 'rm -rf /srv/data'", "env rm -rf /srv/data",
        "nice rm -rf /srv/data", "time rm -rf /srv", "command rm -rf /srv/data", "timeout 5 rm -rf /srv/data",
        "xargs -n1 rm -rf < list", "! rm -rf /srv/data", "FOO=1 rm -rf /srv/data", "nohup rm -rf /srv/data &",
        "$(echo rm) -rf /srv", "busybox rm -rf /srv", "ionice -c3 rm -rf /srv", "su -c 'rm -rf /srv'",
        "ssh h rm -rf /srv", "ｎｉｃｅ rm -rf x", "ni\u200bce rm -rf x", "nice${IFS}rm${IFS}-rf${IFS}x", "NICE rm x",
        "cd a\nnice rm -rf x", "bash -lc 'cd a\nrm -rf x'",
    ],
    ids=ascii,
)  # fmt: skip
@pytest.mark.parametrize("field", ["command", "argv", "arguments"])
def test_a_red_line_is_seen_behind_them(command: str | list[str], field: str) -> None:
    touched = shipped().of_act({"tool": "shell", field: command})
    assert touched is not None
    assert touched.name in ("data_deletion", "outside_publication")


def test_a_program_and_its_arguments_apart_are_one_line() -> None:
    touched = shipped().of_act({"command": "bash", "args": ["-lc", "rm -rf data"]})
    assert touched is not None
    assert touched.name == "data_deletion"


@pytest.mark.parametrize(
    "command",
    [
        "time pytest -q", "bash -lc 'pytest -q && ruff check .'", "env CI=1 make test", "command -v rm git",
        "find . | xargs grep rm", "sudo apt-get install rm-tool", "timeout 60 npm test", "nice rm -rf build",
        "bash -lc 'rm -rf build dist'", "echo 'nice rm x'", ["bash", "-lc", "ls -la | head"],
    ],
    ids=str,
)  # fmt: skip
def test_what_is_harmless_stays_so_behind_them(command: str | list[str]) -> None:
    assert shipped().of_act({"tool": "shell", "command": command}) is None


def test_shells_without_end_cannot_be_checked() -> None:
    line = "rm -rf x"
    for _ in range(DEPTH_MAX):
        line = as_line(["bash", "-c", line])
    assert commands_within(line)[-1] == "rm -rf x"
    with pytest.raises(Invalid, match="shells in each other"):
        commands_within(as_line(["bash", "-c", line]))


@pytest.mark.parametrize(
    "sign", ["(", "$(", "`", "'", '"', '"$(', "\\", "<", "nice ", "bash -c ", "A=", "<<<", "-c ", "#"]
)
def test_any_text_is_read_to_its_end(sign: str) -> None:
    for text in (sign * 3000, sign * 3000 + "rm -rf x", f"nice {sign}x"):
        assert isinstance(commands_within(text), list)
