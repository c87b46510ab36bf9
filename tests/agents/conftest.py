"""What the tests of chat agents share: both wire formats, and a key in the environment."""

import pytest

from tests.agents.chat_support import KEY, VARIABLE
from tests.models.world import WIRES, Wire


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> Wire:
    """One wire format after the other."""
    told: Wire = request.param
    return told


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    """The key that agents of `chat_support` name, where they look for it."""
    monkeypatch.setenv(VARIABLE, KEY)
    return KEY
