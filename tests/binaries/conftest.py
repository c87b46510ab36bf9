"""Which of the real programs `make test` tries: the quickest; the others have `make soak` and `make agents`."""

import pytest

QUICKEST = "codex"


def pytest_itemcollected(item: pytest.Item) -> None:
    """Others than the quickest cost up to half a minute a test."""
    variant = item.name.partition("[")[2]
    if variant and QUICKEST not in variant:
        item.add_marker(pytest.mark.soak)
