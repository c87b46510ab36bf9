"""The README begins with the two commands, and its keys and links are real."""

import re
from pathlib import Path

import pytest

from tests.command_line import ROOT
from tui.actions import (
    ACTIONS,
    AGENT_KEYS,
    BOARD_KEYS,
    HISTORY_KEYS,
    PROMPT_KEYS,
    SHOWN,
    TALK_KEYS,
    WATCH_KEYS,
    WIDGET_KEYS,
)
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
    rows += [(" ".join(f"`{key}`" for key in keys.split()), f"prompts: {about}") for keys, about in PROMPT_KEYS]
    rows += [(" ".join(f"`{key}`" for key in keys.split()), f"watch: {about}") for keys, about in WATCH_KEYS]
    rows += [(" ".join(f"`{key}`" for key in keys.split()), f"history: {about}") for keys, about in HISTORY_KEYS]
    rows += [(" ".join(f"`{key}`" for key in keys.split()), f"board: {about}") for keys, about in BOARD_KEYS]
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
        if words not in ([], ["DIR"]):
            make_parser().parse_args([word.strip('"') for word in words])


def test_every_page_for_people_is_linked() -> None:
    more = README.partition("## More")[2]
    pages = {"phases.md", "guardrails.md", "ceo.md", "evals.md", "architecture.md", "lifecycles.md"}
    assert {page for page in pages if f"](docs/{page})" not in more} == set()


def test_what_the_pages_say_of_a_plan_in_the_rehearsal_is_so() -> None:
    from core.agents.rehearsal.plans import is_complex
    from core.domain.entities import Goal, Task
    from tests.unit.facts import a

    told = (ROOT / "docs" / "phases.md").read_text(encoding="utf-8")
    asks = re.search(r"--constraint '(.+?)'", told)
    assert asks is not None
    task = a(Task, must_haves=("M1",), constraints=(), intent="", risk="standard")
    must = {"id": "M1", "text": f"An inventory, {asks[1]}", "verify": "", "waived_by": ""}
    assert is_complex(task, a(Goal, must_haves=(), constraints=(asks[1],)))
    assert is_complex(task, a(Goal, must_haves=(must,), constraints=()))
    assert not is_complex(task, a(Goal, must_haves=(), constraints=()))
