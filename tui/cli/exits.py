"""The exit codes, in one table that the program, docs/cli.md and its test read."""

from enum import IntEnum


class Exit(IntEnum):
    """How a command ended, for scripts."""

    OK = 0
    REFUSED = 1
    USAGE = 2
    WAITS = 3
    UNSUCCESSFUL = 4
    STUCK = 5
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


MEANING: dict[Exit, str] = {
    Exit.OK: "it was done",
    Exit.REFUSED: "refused: the state, the board or the system does not allow it; the message says what to do",
    Exit.USAGE: "the command line, a file that it names, or a value is wrong",
    Exit.WAITS: "a decision waits for a person; the message names it and the command that takes it",
    Exit.UNSUCCESSFUL: "the work ended without success (failed, cancelled, or nobody can decide)",
    Exit.STUCK: "nothing happened for ten minutes; the message says what it waits for",
    Exit.HUNG_UP: "ended whole by SIGHUP (the terminal was closed)",
    Exit.INTERRUPTED: "ended whole by Ctrl-C (SIGINT)",
    Exit.TERMINATED: "ended whole by SIGTERM",
}
