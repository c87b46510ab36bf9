"""What the unit tests share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.world import World, a_company


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A started company with a mission and a small staff: vera, cora, rita, chad, ada, bob."""
    async with a_company(tmp_path) as made:
        yield made
