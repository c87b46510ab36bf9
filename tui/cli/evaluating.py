"""`opsroom eval`: play scenarios, score what the agents do in code, and compare it with a recorded baseline."""

import argparse
import asyncio
import contextlib
import logging
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from core.agents.chat.settings import from_environment
from core.domain.errors import Invalid
from core.evals.baseline import (
    BAR,
    Agreement,
    Baseline,
    agreement,
    asked_of,
    percent,
    read_baseline,
    require_place,
    write_baseline,
)
from core.evals.contestants import Chat, Rehearsal, read_replies
from core.evals.evaluation import chosen, mode_of
from core.evals.evaluation import evaluate as played
from core.evals.playing import Contestant, Played
from core.evals.report import Report, Result
from core.evals.scenario import SHIPPED, Scenario, read_scenarios
from tui.cli.exits import Exit
from tui.cli.output import facts, note, print_json, say, table
from tui.text import counted, one_line, wrap

REPEAT_MAX = 100
WHY_LEAST = 30  # cells
RUNNERS = ("rehearsal", "recorded", "chat")


def evaluate(arguments: argparse.Namespace) -> int:
    """Play, record, compare and tell.

    1 when a scenario was not passed; with a baseline the agreement decides instead.
    """
    if not 1 <= arguments.repeat <= REPEAT_MAX:
        raise Invalid(f"--repeat {arguments.repeat} is not possible.", f"Give a number from 1 to {REPEAT_MAX}.")
    mode = mode_of(arguments.mode)
    folder = SHIPPED if arguments.folder is None else Path(arguments.folder)
    scenarios = chosen(read_scenarios(folder), arguments.scenario, mode)
    # What is wrong with a file is said before anything is played.
    baseline = None if arguments.against is None else read_baseline(Path(arguments.against))
    if arguments.record is not None:
        require_place(Path(arguments.record))
    with _contestant(arguments) as contestant, tempfile.TemporaryDirectory(prefix="opsroom-eval-") as place:
        report = asyncio.run(played(scenarios, contestant, Path(place), repeat=arguments.repeat, told=_progress))
    if arguments.record is not None:
        write_baseline(Path(arguments.record), report)
    found = None if baseline is None else _compared(baseline, report, arguments.scenario, mode)
    if arguments.json:
        print_json({**report.as_json(), "agreement": None if found is None else found.as_json()})
    else:
        _tell(report, found)
    return Exit.OK if (report.ok if found is None else found.ok) else Exit.REFUSED


@contextlib.contextmanager
def _contestant(arguments: argparse.Namespace) -> Iterator[Contestant]:
    kind = arguments.runner or ("recorded" if arguments.replies is not None else "rehearsal")
    if kind not in RUNNERS:
        raise Invalid(f"There is no runner {kind!r}.", f"There are: {', '.join(RUNNERS)}.")
    if (kind == "recorded") != (arguments.replies is not None):
        raise Invalid("--runner recorded and --replies FILE go together.", "Give both, or neither.")
    # The programs of agents that are looked at may fail by intention.
    logging.getLogger("core").setLevel(logging.CRITICAL)
    if kind == "recorded":
        yield read_replies(Path(arguments.replies))
        return
    if kind == "chat":
        yield Chat(from_environment())
        return
    with tempfile.TemporaryDirectory(prefix="opsroom-eval-") as name:
        audited = Path(name) / "archive"
        audited.mkdir()
        (audited / "notes.txt").write_text("Counted by hand.\n", encoding="utf-8")
        yield Rehearsal(audited)


def _compared(baseline: Baseline, report: Report, scenario: str | None, mode: str | None) -> Agreement:
    return agreement(baseline, report.results, asked_of(baseline, scenario, mode))


def _progress(scenario: Scenario, repetition: int, played: Played) -> None:
    note(f"opsroom: {scenario.name}, repetition {repetition}: {'passed' if played.passed else 'not passed'}")


def _tell(report: Report, found: Agreement | None) -> None:
    facts(
        [
            ("runner", report.runner),
            ("model", report.model),
            ("prompts", report.prompt_hash[:12]),
            ("passed", f"{sum(result.ok for result in report.results)} of {len(report.results)} scenarios"),
        ]
    )
    say()
    table(
        [row for result in report.results for row in _rows(result, _room_for_why(report))],
        ("scenario", "begins as", "passed", "why not"),
    )
    if found is not None:
        say()
        _tell_agreement(found)


def _room_for_why(report: Report) -> int:
    """The cells that the other columns leave on the terminal, or in a line of 120."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 120
    others = max((len(each.name) + len(each.group) for each in report.results), default=0)
    return max(WHY_LEAST, width - others - 15)


def _rows(result: Result, room: int) -> Iterator[tuple[str, str, str, str]]:
    """A scenario, and below it what its reason has no room for."""
    first, *more = wrap(one_line(result.why), room) or [""]
    yield result.name, result.group, f"{result.passed} of {len(result.runs)}", first
    for part in more:
        yield "", "", "", part


def _tell_agreement(found: Agreement) -> None:
    before = found.baseline
    others = len(found.other_prompts)
    prompts = f"other prompts in {counted(others, 'scenario')}" if others else "the same prompts"
    say(f"Compared with {before.model} ({before.runner}), {prompts}; {percent(BAR):g} % in each mode is the bar.")
    say()
    rows = [
        (name, f"{percent(share):g} %", "ok" if share >= BAR else "BELOW THE BAR")
        for name, share in found.groups.items()
    ]
    table(rows, ("begins as", "agreement", ""))
    if found.differences:
        say()
        changed = [(each.name, f"{percent(each.agreement):g} %", each.before, each.now) for each in found.differences]
        table(changed, ("scenario", "agreement", "before", "now"))
    if found.new:
        say()
        say(f"Not in the baseline, and not compared: {', '.join(found.new)}.")
