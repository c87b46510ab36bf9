"""What every role is told in every kind of run, as kept files: a change of a text or of the order is seen and read.

`GOLDEN=renew pytest tests/prompting/test_goldens.py` writes them anew; read each difference before it is committed.
"""

import difflib
import os
import re

import pytest

from core.domain.states import Role, RunKind
from core.prompting.catalogue import LOCALES
from core.prompting.prompt import LayerName, Prompt
from tests.prompting.costs import GOLDEN, golden, table
from tests.prompting.facts import NONCE
from tests.prompting.told import prompts_of

NAMES = frozenset(
    {
        "ceo.propose", "ceo.heartbeat", "ceo.mention", "planner.split", "coordinator.explore", "coordinator.plan",
        "coordinator.rule", "coordinator.request", "coordinator.stall", "coordinator.round_review",
        "coordinator.report", "executor.discuss", "executor.broadcast", "executor.one_offer", "executor.execute",
        "executor.planned", "executor.revise", "executor.mention", "executor.inform", "reviewer.review",
        "reviewer.reply", "reviewer.second", "challenger.review",
    }
)  # fmt: skip
DOCUMENT = GOLDEN.parents[2] / "docs" / "prompts.md"
RENEWED = os.environ.get("GOLDEN") == "renew"


# One test a language: the scene is played once for it.
@pytest.mark.parametrize("locale", LOCALES)
def test_each_prompt_is_the_one_that_was_read(locale: str) -> None:
    prompts = prompts_of(locale)
    assert set(prompts) == NAMES
    for name, prompt in prompts.items():
        require_sound(name, prompt)
        if RENEWED:
            golden(name, locale).parent.mkdir(exist_ok=True)
            golden(name, locale).write_text(prompt.text + "\n", encoding="utf-8")
        kept = golden(name, locale).read_text(encoding="utf-8").splitlines()
        changed = "\n".join(difflib.unified_diff(kept, prompt.text.split("\n"), lineterm=""))
        assert not changed, f"{name}.{locale} differs; read it, then GOLDEN=renew writes it anew:\n{changed}"


def require_sound(name: str, prompt: Prompt) -> None:
    """Each fence is closed once before the next is opened, nothing was missing, and it is within its budget."""
    marks = [line for line in prompt.text.split("\n") if NONCE in line]
    assert all(line.startswith(f"<data {NONCE}") for line in marks[::2]), name
    assert all(line == f"</data {NONCE}>" for line in marks[1::2]), name
    assert len(marks) % 2 == 0, name
    assert not prompt.warnings, name
    assert prompt.tokens <= prompt.budget, name


def test_each_role_and_each_kind_of_run_has_its_files_and_no_other_lies_there() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {f"{name}.{locale}.txt" for name in NAMES for locale in LOCALES}
    assert {name.partition(".")[0] for name in NAMES} == set(Role)
    assert set(RunKind) <= {name.partition(".")[2] for name in NAMES}


def test_no_label_of_ours_is_english_in_a_chinese_prompt() -> None:
    for name in NAMES:
        text = golden(name, "zh").read_text(encoding="utf-8")
        assert not re.findall(rf"^[A-Z][a-z]+[ -~]*:\n<data {NONCE}", text, re.MULTILINE), name
        assert not re.findall(r" bytes\b|^  Delivers | answers [A-Z]+:|O\d+ of T\d+|, by \w+\)", text, re.MULTILINE), (
            name
        )


def test_the_documentation_has_the_layers_in_their_order() -> None:
    named = [
        line.split("|")[1].strip() for line in DOCUMENT.read_text(encoding="utf-8").split("\n") if line[:3] == "| L"
    ]
    assert named == list(LayerName)


def test_the_costs_in_the_documentation_are_those_of_the_files() -> None:
    assert table() in DOCUMENT.read_text(encoding="utf-8"), (
        "the table went stale: python -m tests.prompting.costs prints it anew"
    )
