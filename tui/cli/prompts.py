"""`opsroom prompts …`: the templates checked, what runs were told or would be told now, and how two of them differ."""

import argparse
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.domain.errors import Invalid, NotFound
from core.domain.states import RunKind
from core.prompting.comparing import LayerDifference, compare, difference
from core.prompting.prompt import Layer, LayerName, Prompt
from core.prompting.templates import OWN, Entry, Library, Problem
from tui.cli import opening
from tui.cli.exits import Exit
from tui.cli.names import folder_of, number_of, quoted
from tui.cli.output import drawn, facts, note, print_json, say, table
from tui.prompt_text import ABOUT, bar_text, is_planned, left_out_words, share, words_of_plan, words_of_run
from tui.text import amount, counted

if TYPE_CHECKING:
    from core.company import OpenCompany


@dataclass(frozen=True, slots=True)
class Told:
    """A prompt and whose it is. `run` is None for one that is only thought of; `recorded` is the board's hash of it."""

    prompt: Prompt
    words: str
    run: int | None = None
    agent: str = ""
    task: int | None = None
    kind: str = ""
    is_kept: bool = False
    recorded: str = ""

    @property
    def is_as_recorded(self) -> bool:
        """Whether the kept file is what the board's hash was made of."""
        return not self.is_kept or self.recorded in ("", self.prompt.hash)


# ------------------------------------------------------------- templates


def check(arguments: argparse.Namespace) -> int:
    """Every template in every language, and a company's own ones: 1 with the place of whatever is wrong."""
    library = _library(folder_of(arguments.dir) if arguments.dir is not None else None)
    problems = library.check()
    entries = library.entries()
    if arguments.json:
        own = sum(entry.own is not None for entry in entries)
        shown = [_problem_json(problem) for problem in problems]
        print_json({"templates": len(entries), "own": own, "problems": shown})
        return Exit.REFUSED if problems else Exit.OK
    for problem in problems:
        say(f"{_place(problem, library)}: {problem.what}")
    if problems:
        note(f"opsroom: {counted(len(problems), 'problem')} in {counted(len(entries), 'template')}."
             " A refused file of the company's own is not used: the shipped text is.")  # fmt: skip
        return Exit.REFUSED
    own = sum(entry.own is not None for entry in entries)
    say(f"{counted(len(entries), 'template')} render with their sample facts; {own} of them are the company's own.")
    return Exit.OK


def overrides(arguments: argparse.Namespace) -> int:
    """Which texts are the company's own, and how they differ from the shipped ones."""
    folder = folder_of(arguments.dir)
    library = _library(folder)
    problems = [problem for problem in library.check() if problem.file.endswith(OWN)]
    own = [entry for entry in library.entries() if entry.own is not None or entry.problem is not None]
    strangers = [problem for problem in problems if problem not in [entry.problem for entry in own]]
    if arguments.json:
        files = [
            {
                "file": entry.file, "used": entry.is_overridden,
                "problem": _problem_json(entry.problem) if entry.problem else None,
                "difference": "\n".join(_difference(entry)),
            }
            for entry in own
        ]  # fmt: skip
        print_json({"overrides": files, "unread": [_problem_json(problem) for problem in strangers]})
        return Exit.OK
    for entry in own:
        lines = _difference(entry)
        used = "used in the place of the shipped text" if entry.is_overridden else "refused: the shipped text is used"
        say(f"{entry.file}: {used}{'' if lines or entry.problem else '; it is the same text'}")
        if entry.problem is not None:
            say(f"  {_place(entry.problem, library)}: {entry.problem.what}")
        for line in lines:
            say(f"  {line}")
    for problem in strangers:
        say(f"{_place(problem, library)}: {problem.what}")
    if not own and not strangers:
        say(f"The company has no texts of its own; a file in {quoted(folder / 'prompts')} goes before the shipped one.")
    return Exit.OK


def _library(folder: Path | None) -> Library:
    if folder is None:
        return Library()
    from core.config import read_config

    read_config(folder)
    return Library(overrides=folder / "prompts")


def _difference(entry: Entry) -> tuple[str, ...]:
    return difference(entry.shipped or "", entry.own) if entry.own is not None else ()


def _problem_json(problem: Problem) -> dict[str, Any]:
    file = problem.file.removesuffix(OWN)
    return {"file": file, "line": problem.line, "what": problem.what, "own": file != problem.file,
            "fatal": problem.is_fatal}  # fmt: skip


def _place(problem: Problem, library: Library) -> str:
    """`file:line` as editors open it."""
    file = problem.file.removesuffix(OWN)
    folder = library.overrides if file != problem.file else library.folder
    path = folder / file.removeprefix("prompts/") if folder is not None else Path(file)
    return f"{path}:{problem.line}" if problem.line else str(path)


# ------------------------------------------------------------- what is told


def show(arguments: argparse.Namespace) -> int:
    """What a run was told, or what an agent would be told now."""
    layer = _layer_of(arguments.layer)
    told = opening.run(_told(arguments))
    prompt = told.prompt
    chosen = [each for each in prompt.layers if layer in (None, each.name)]
    if not chosen:
        there = ", ".join(str(each.name) for each in prompt.layers)
        raise NotFound(f"This prompt has no {layer}.", f"It has {there}.")
    if arguments.json:
        kept = prompt.to_json()
        kept["layers"] = [each for each in kept["layers"] if layer in (None, each["name"])]
        print_json({
            "run": told.run, "agent": told.agent, "task": told.task, "kind": told.kind, "kept": told.is_kept,
            "as_recorded": told.is_as_recorded, **kept,
        })  # fmt: skip
        return Exit.OK
    _warn(told)
    files = folder_of(arguments.dir) / "agents" / told.agent
    if told.run is None and not files.exists():
        note(f"opsroom: {told.agent} has no files in {files} yet: they are made when the company is first opened,"
             " and only then L1 tells of them.")  # fmt: skip
    if layer is not None:
        say(chosen[0].text)
        return Exit.OK
    _summary(told)
    for each in chosen:
        say(f"\n──── {each.name}, {ABOUT[each.name]} ────\n{drawn(each.text)}")
    return Exit.OK


def _summary(told: Told) -> None:
    prompt = told.prompt
    used = f"{amount(prompt.tokens)} of {amount(prompt.budget)}, {share(prompt.tokens, prompt.budget)} %"
    facts([("told", told.words), ("tokens", used), ("language", prompt.locale), ("hash", prompt.hash)])
    say()
    rows = [_row(layer, prompt.budget) for layer in prompt.layers]
    table(rows, ("layer", "about", "tokens", "share", "of the budget", "left out"))


def _row(layer: Layer, budget: int) -> list[str]:
    percent = f"{share(layer.tokens, budget)} %"
    left = "; ".join(left_out_words(one) for one in layer.left_out)
    return [layer.name, ABOUT[layer.name], f"{amount(layer.tokens):>6}", f"{percent:>5}",
            bar_text(layer.tokens, budget, 13), left]  # fmt: skip


def _warn(told: Told) -> None:
    for words in told.prompt.warnings:
        note(f"opsroom: {words}")
    if not told.is_as_recorded:
        note(
            f"opsroom: runs/{told.run}.prompt.json is not what R{told.run} was told: the board has another hash of it."
        )


def diff(arguments: argparse.Namespace) -> int:
    """How two runs were told otherwise, layer by layer; or a run, and the same run now."""
    first = number_of(arguments.run, "run")
    second = None if arguments.other in (None, "now") else number_of(arguments.other, "run")
    before, after = opening.run(_pair(folder_of(arguments.dir), first, second))
    found = compare(before.prompt, after.prompt)
    if arguments.json:
        print_json({
            "before": {"run": before.run, "tokens": before.prompt.tokens, "hash": before.prompt.hash},
            "after": {"run": after.run if second is not None else None, "tokens": after.prompt.tokens,
                      "hash": after.prompt.hash},
            "layers": [
                {"name": str(each.name), "before": each.before, "after": each.after, "added": each.added,
                 "removed": each.removed, "difference": "\n".join(each.lines)}
                for each in found
            ],
        })  # fmt: skip
        return Exit.OK
    for told in (before, after):
        _warn(told)
    say(f"--- {before.words}, {counted(before.prompt.tokens, 'token')}")
    say(f"+++ {after.words}, {counted(after.prompt.tokens, 'token')}")
    for each in found:
        _say_difference(each)
    return Exit.OK


def _say_difference(found: LayerDifference) -> None:
    if not found.lines:
        say(f"{found.name}, {ABOUT[found.name]}: the same, {counted(found.after or 0, 'token')}")
        return
    sizes = " → ".join("none" if size is None else amount(size) for size in (found.before, found.after))
    say(f"{found.name}, {ABOUT[found.name]}: {sizes} tokens, {found.added} lines added, {found.removed} removed")
    for line in found.lines:
        say(f"  {line}")


def _layer_of(text: str | None) -> LayerName | None:
    if text is None:
        return None
    found = next((name for name in LayerName if name.lower() == text.lower()), None)
    if found is None:
        raise Invalid(f"There is no layer {text!r}.", f"There are: {', '.join(LayerName)}.")
    return found


async def _told(arguments: argparse.Namespace) -> Told:
    folder = folder_of(arguments.dir)
    if (arguments.run is None) == (arguments.agent is None):
        raise Invalid("Say whose prompt: --run R12, or --agent ada [--task T3].", "One of both, not more.")
    if arguments.run is not None:
        if arguments.task is not None or arguments.kind is not None:
            raise Invalid("--task and --kind go with --agent.", "A run has its own.")
        async with _company(folder) as company:
            return await _of_run(company, number_of(arguments.run, "run"))
    task = number_of(arguments.task, "task") if arguments.task is not None else None
    if arguments.kind is not None and arguments.kind not in set(RunKind):
        raise Invalid(f"There is no run of kind {arguments.kind!r}.", f"There are: {', '.join(RunKind)}.")
    kind = RunKind(arguments.kind) if arguments.kind is not None else None
    async with _company(folder) as company:
        prompt = await company.preview_prompt(arguments.agent, task, kind)
        told = kind or await company.kind_now(arguments.agent, task)
        words = words_of_plan(arguments.agent, task, told)
        return Told(prompt, words, None, arguments.agent, task, str(told))


async def _pair(folder: Path, first: int, second: int | None) -> tuple[Told, Told]:
    async with _company(folder) as company:
        before = await _of_run(company, first)
        after = await _of_run(company, first if second is None else second, now=second is None)
        return before, after


async def _of_run(company: "OpenCompany", number: int, *, now: bool = False) -> Told:
    """What a run was told; one that was not told anything yet, or `now`, what it would be told."""
    from core.domain.entities import AgentRecord, Run

    readers = company.board.readers
    runs = await readers.entities(Run, "id = :id", id=number)
    if not runs:
        raise NotFound(f"There is no R{number} on this board.", "`opsroom task show` lists a task's runs.")
    run = runs[0]
    (agent,) = await readers.entities(AgentRecord, "id = :id", id=run.agent_id)
    is_kept = not (now or is_planned(run))
    prompt = await (company.kept_prompt(number) if is_kept else company.run_prompt(run))
    words = words_of_run(run, agent.slug, "was told" if is_kept else "would be told now")
    return Told(prompt, words, number, agent.slug, run.task_id, str(run.kind), is_kept, run.prompt_hash)


@asynccontextmanager
async def _company(folder: Path) -> AsyncIterator["OpenCompany"]:
    """For reading, whoever owns the board."""
    from core.company import OpenCompany

    company = await OpenCompany.open(folder, role="reader", clock=opening.now_ms)
    await asyncio.to_thread(company.library.refresh)
    try:
        yield company
    finally:
        await company.close()
