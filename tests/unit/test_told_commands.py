"""What the board offers next is told to a person as keys and subcommands, never as names of commands."""

import pytest

from core.domain.lifecycles import GOAL, TASK
from core.domain.states import GoalStatus, TaskStatus
from tui.told_commands import Where, hint_for


def test_each_way_on_is_a_key_in_the_room_and_a_subcommand_in_the_shell() -> None:
    hint = "Read it and approve it (ReviewGoal), or edit it."
    assert hint_for("room", hint) == "Read it and approve it (a approve), or edit it."
    assert hint_for("shell", hint) == "Read it and approve it (opsroom goal review), or edit it."
    reporting = GOAL.hint(GoalStatus.REPORTING)
    assert hint_for("room", reporting) == "Possible now: a accept, b cancel, r send back."
    assert hint_for("shell", reporting) == "Possible now: opsroom approve, opsroom goal cancel, opsroom revise."


@pytest.mark.parametrize("where", ["room", "shell"])
def test_no_hint_of_a_lifecycle_names_a_command(where: Where) -> None:
    hints = [*(GOAL.hint(each) for each in GoalStatus), *(TASK.hint(each) for each in TaskStatus)]
    told = [hint_for(where, hint) for hint in hints]
    assert not [hint for hint in told if "→" in hint or "Goal" in hint or "Task" in hint]
    assert "A task that is done stays so." in told


def test_what_only_agents_do_is_not_offered_and_plain_words_stay() -> None:
    assert hint_for("room", "Possible now: CloseTurn (→ active).") == ""
    assert hint_for("shell", "Answer it (AnswerChallenge), then wait.") == "Answer it, then wait."
    assert hint_for("shell", "Start it (again).") == "Start it (again)."
