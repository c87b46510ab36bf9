"""A Chinese company is told in Chinese: what the program itself says, outside of what others wrote (D-06)."""

import pytest

from core.domain.ceo_mode import CeoMode, Trigger, ceo_mode_cue
from core.prompting.gathering_lines import entry, in_language


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
