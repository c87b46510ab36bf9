"""A Chinese company is told in Chinese: what the program itself says, outside of what others wrote (D-06)."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.ceo_mode import CeoMode, Trigger, ceo_mode_cue
from core.prompting.gathering_lines import entry, in_language
from core.prompting.layers import Writer, full
from core.prompting.prompt import LayerName
from core.prompting.templates import shipped_library
from tests.prompting.facts import NONCE, gathered


@pytest.mark.parametrize("mode", CeoMode)
@pytest.mark.parametrize("trigger", Trigger)
def test_the_first_words_to_a_ceo_are_chinese(mode: CeoMode, trigger: Trigger) -> None:
    assert not any(char.isascii() and char.isalpha() for char in ceo_mode_cue(mode, trigger, "zh"))


def test_only_the_labels_of_the_program_are_translated() -> None:
    made = entry("T1: Why: it is", "Why: late\n  Why: no", "End state: done")
    assert in_language(made, "zh") == "T1: Why: it is\n  原因：late\n      Why: no\n  终态：done"
    assert in_language(made, "en") == made


def test_a_ceo_without_a_goal_is_told_to_propose_one() -> None:
    assert ceo_mode_cue(CeoMode.OPERATING, Trigger.IDLE) == "No goal is alive. Propose exactly one draft."


def test_what_is_left_out_is_named_in_chinese_with_the_way_to_read_it(tmp_path: Path) -> None:
    for name, facts in gathered(tmp_path, "zh").items():
        nothing = dict.fromkeys(("bodies", "sections", "experiences", "comments", "predecessors", "items", "reads"), 0)
        layers = Writer(facts, shipped_library(), NONCE).layers(replace(full(facts), **nothing))
        told = re.findall(
            r"^未列出：(.*?)，共 \d+。读取方法：(.*)$", "\n".join(one.text for one in layers), re.MULTILINE
        )
        assert len(told) == sum(len(layer.left_out) for layer in layers if layer.name != LayerName.PROJECT), name
        assert all(how and not what.isascii() for what, how in told), (name, told)
