"""What an agent's runner of the kind `acp` may say, checked when it is written down and when a run begins."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from core.agents.programs.settings import ProgramSettings, checked_program
from core.agents.settings import checked


class AcpSettings(ProgramSettings):
    """`program` is a row of the catalogue; empty for any other program, which `command` starts.

    `mode` is the session mode in which the program asks the operator; unless named that of the catalogue. With
    `unsupervised` the operator lets it act without being asked. `auth` is a way to log in that the program offers.
    `start_s` bounds the time until its session has begun.
    """

    program: str = Field("", max_length=40)
    mode: str = Field("", max_length=100)
    unsupervised: bool = False
    auth: str = Field("", max_length=100)
    start_s: float = Field(120, gt=0, le=3600)


def settings_of(runner: Mapping[str, Any]) -> AcpSettings:
    """The settings of an agent. Raises Invalid, which names what is wrong."""
    told = checked(AcpSettings, runner)
    return checked_program(told, needs_command=not told.program)
