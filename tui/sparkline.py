"""A row of figures as a row of bars, one cell each."""

from collections.abc import Sequence

_BARS = "▁▂▃▄▅▆▇█"
_NOTHING = "·"


def sparkline(figures: Sequence[int]) -> str:
    """One cell a figure, against the largest; nothing is a dot, and little is never nothing."""
    most = max(figures, default=0)
    return "".join(_NOTHING if each <= 0 else _BARS[(each * len(_BARS) - 1) // most] for each in figures)
