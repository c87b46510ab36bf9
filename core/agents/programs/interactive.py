"""The terminal to an agent's program itself: how a person goes on with the session of a run, outside of Opsroom."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.agents.programs.catalogue import filled, interactive_of
from core.agents.programs.environment import environment_of
from core.agents.programs.settings import SCRIPT, ProgramSettings, place_of
from core.domain.entities import AgentRecord, Run
from core.domain.errors import Invalid

_TERMINAL = ("TERM", "COLORTERM", "TERM_PROGRAM", "LINES", "COLUMNS")


@dataclass(frozen=True, slots=True)
class Terminal:
    """What is started: the program with its arguments, the folder that its run worked in, and its environment."""

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]


async def terminal_of(
    folder: Path, agent: AgentRecord, run: Run, workplace: Path | None, ours: Mapping[str, str] = os.environ
) -> Terminal:
    """How the program of this agent goes on with the session of this run. `folder` is the company's, `workplace` the
    work tree of the run, if it had one. It is given what its runs are given, but no token: it does not reach the board.

    Raises Invalid, which says why there is no such way.
    """
    runner = agent.runner
    program = str(runner.get("program", SCRIPT))
    words, names, homes = interactive_of(program) if runner.get("kind") in ("command", "acp") else ((), (), ())
    if not words:
        raise Invalid(f"The runner of {agent.slug} has no program that works in a terminal.", "Read what it said here.")
    if not run.session:
        raise Invalid(f"{run.name_tag} left no session to go on with.", "Another run of its task may have one.")
    if not (run.session.isascii() and run.session[0].isalnum() and run.session.isprintable()):
        raise Invalid(f"The session of {run.name_tag} is no name that could be an argument.", "Look at it with care.")
    if runner.get("gateway"):
        raise Invalid(
            f"{agent.slug} asks its model through the gateway, with the token of a run.",
            "Go on with its session in a new run instead (ResumeSession).",
        )
    told = ProgramSettings.model_validate(
        {name: runner[name] for name in ("command", "env", "cwd") if name in runner}
    )  # fmt: skip
    start = tuple(filled(word, {"@SESSION@": run.session}) for word in words)
    # The agent's `command` says where its program is; that of another protocol may be another program.
    first = told.command[:1] if runner.get("kind") == "command" else []
    place = await place_of(told, (*(first or start[:1]), *start[1:]), folder, agent.slug, ours, workplace)
    home = str(folder / "homes" / agent.slug)  # the folder of an open company is a whole path
    own = dict.fromkeys(homes if runner.get("own_home") is True else (), home)
    environment = environment_of(ours, (*place.named, *names, *_TERMINAL), own)
    environment["TERM"] = ours.get("TERM", "xterm-256color")
    environment.pop("NO_COLOR", None)
    return Terminal(place.argv, place.cwd, environment)
