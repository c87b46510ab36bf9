"""A clock that stands still until somebody moves it."""

START = 1_800_000_000_000


class Clock:
    """Milliseconds that pass only when somebody says so."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def advance(self, ms: int) -> None:
        """Let time pass; a negative number steps the clock back."""
        self.now += ms
