"""How each known program is started and read; a script of the operator's own needs no row."""

from dataclasses import dataclass

from core.agents.access import Access
from core.agents.programs.pieces import Parser
from core.agents.programs.scripts import JsonParser, TextParser
from core.agents.programs.settings import SCRIPT, CommandSettings
from core.domain.errors import Invalid


@dataclass(frozen=True, slots=True)
class Start:
    """One process: its arguments and what its environment is told beside the allowed."""

    argv: tuple[str, ...]
    environment: dict[str, str]


class Script:
    """The operator's own command, as it stands. It cannot be gone on with."""

    resumes = False

    def start(self, settings: CommandSettings, access: Access, session: str) -> Start:
        """Its command, with the way to the board in its environment."""
        told = dict(access.environment)
        if settings.model:
            told["OPSROOM_MODEL"] = settings.model
        return Start((*settings.command, *settings.args), told)

    def parser(self, settings: CommandSettings) -> Parser:
        """By the setting `output`."""
        return JsonParser() if settings.output == "json" else TextParser()


def program_of(settings: CommandSettings) -> Script:
    """Raises Invalid for a program that is not known."""
    if settings.program == SCRIPT:
        return Script()
    raise Invalid(f"There is no program {settings.program[:80]!r} in the catalogue.", f"Known: {SCRIPT}.")
