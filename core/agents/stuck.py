"""When an agent goes round in circles: the same acts with the same answers, again and again. Pure."""

from collections import deque
from dataclasses import dataclass

SAME_RESULT = 4  # the same action with the same result so often in a row
SAME_ERROR = 3
ALTERNATING = 6  # two actions by turns, so many steps in all


@dataclass(frozen=True, slots=True)
class _Step:
    turn: int
    action: str
    result: str
    failed: bool


class Stuck:
    """Hears of each action of a run in order, and says when nothing new comes of them any more."""

    def __init__(self) -> None:
        self._steps: deque[_Step] = deque(maxlen=max(SAME_RESULT, SAME_ERROR, ALTERNATING))

    def note(self, turn: int, action: str, result: str, *, failed: bool = False) -> str:
        """Take in one action (its name and arguments as a text) and what came of it. Why it is stuck; empty if not.

        Errors are the same by their words: one without any is like no other.
        What is asked for several times in one turn counts once: the agent has not seen the first answer yet.
        """
        action = action.strip() or "an act without a name"
        step = _Step(turn, action, result, failed)
        last = self._steps[-1] if self._steps else None
        if last is not None and last.turn == turn:
            again = (last.action, last.result) == (action, result)
            if again or (failed and last.failed and last.result == result):
                return ""
        self._steps.append(step)
        return self._why()

    def _why(self) -> str:
        steps = list(self._steps)
        errors = [each.result.strip() for each in steps[-SAME_ERROR:] if each.failed]
        if len(errors) == SAME_ERROR and len(set(errors)) == 1 and errors[0]:
            return f"the same error {SAME_ERROR} times: {errors[0][:300]}"
        pairs = [(each.action, each.result) for each in steps]
        same = pairs[-SAME_RESULT:]
        if len(same) == SAME_RESULT and len(set(same)) == 1:
            return f"the same action with the same result {SAME_RESULT} times: {same[0][0][:300]}"
        turns = pairs[-ALTERNATING:]
        if len(turns) == ALTERNATING and len(set(turns[::2])) == 1 and len(set(turns[1::2])) == 1:
            if turns[0] == turns[1]:
                return ""
            return f"two actions by turns, {ALTERNATING} steps: {turns[0][0][:150]} and {turns[1][0][:150]}"
        return ""
