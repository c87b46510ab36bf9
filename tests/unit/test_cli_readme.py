"""The README begins with the two commands, and its keys and links are real."""

import re
from pathlib import Path

import pytest

from tests.command_line import ROOT
from tui.actions import ACTIONS, AGENT_KEYS, SHOWN, TALK_KEYS, WIDGET_KEYS
from tui.cli.parser import make_parser

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_first_lines_are_the_two_commands() -> None:
    first = [line.partition("#")[0].strip() for line in README.splitlines()[:4]]
    assert first == ["```sh", "make demo", "make test", "```"]


def test_the_keys_are_those_of_the_room() -> None:
    rows = [(" ".join(f"`{SHOWN.get(key, key)}`" for key in action.keys), action.about) for action in ACTIONS]
    rows += [(" ".join(f"`{key}`" for key in keys.split()), about) for keys, about in WIDGET_KEYS]
    rows += [(" ".join(f"`{key}`" for key in keys.split()), f"{where}: {about}") for keys, where, about in TALK_KEYS]
    rows += [(f"`{keys}`", f"agents: {about}") for keys, about in AGENT_KEYS]
    expected = "\n".join(f"| {keys} | {about} |" for keys, about in rows)
    assert expected in README, f"the table of keys should be:\n{expected}"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/cli.md"])
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert "://" in target or (Path(ROOT / page).parent / target).exists(), target


def test_its_commands_are_known_to_the_parser() -> None:
    block = README.partition("## The command line")[2].partition("```sh\n")[2].partition("```")[0]
    for line in block.splitlines():
        words = line.partition("#")[0].split()[1:]
        if words != ["DIR"]:
            make_parser().parse_args([word.strip('"') for word in words])
