"""The search for commands that break a law of the board (Hypothesis); the machine itself is in `machine`."""

import pytest
from hypothesis import HealthCheck, settings

from tests.simulation.machine import CommandsMachine


class TestCommands(CommandsMachine.TestCase):  # type: ignore[misc,name-defined]
    """A short search for every run of the tests."""

    settings = settings(
        max_examples=4, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )


@pytest.mark.soak
class TestCommandsForLong(CommandsMachine.TestCase):  # type: ignore[misc,name-defined]
    """A long one."""

    settings = settings(
        max_examples=120, stateful_step_count=80, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
