"""Both wire formats, for every test that names one."""

import pytest

from tests.models.world import WIRES, Wire


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> Wire:
    """One wire format after the other."""
    told: Wire = request.param
    return told
