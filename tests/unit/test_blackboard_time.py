"""The board's time never runs backwards, and never stands still while the wall's clock catches up."""

from pathlib import Path

from core.blackboard.board import Board
from core.blackboard.transaction import Transaction


class Wall:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def __call__(self) -> int:
        return self.now


def note(tx: Transaction) -> int:
    tx.record("Noted", "ticker", 0, {})
    return tx.now


async def test_time_goes_on_from_the_last_event_while_the_wall_is_behind(tmp_path: Path) -> None:
    wall = Wall()
    board = await Board.open(tmp_path / "board.db", clock=wall, create=True, role="owner")
    try:
        assert board.writer is not None
        assert await board.writer.submit(note) == 1_000_000
        wall.now = 400_000
        assert await board.writer.submit(note) == 1_000_000
        wall.now = 430_000
        assert await board.writer.submit(note) == 1_030_000
        wall.now = 1_040_000
        assert await board.writer.submit(note) == 1_040_000
    finally:
        await board.close()
