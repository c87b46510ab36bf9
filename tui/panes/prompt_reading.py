"""Reads what the prompts' screen shows, for its workers: kept and planned prompts, own texts, knowledge."""

import asyncio

from core.company import OpenCompany
from core.domain.entities import AgentRecord, Knowledge, Run
from core.domain.errors import NotFound, OpsroomError
from core.knowledge import listed, read_sections
from core.prompting.comparing import compare
from tui.panes.prompt_layers import Told, Versus
from tui.panes.prompt_runs import planned_parts
from tui.panes.prompt_sources import OwnTexts, Sections
from tui.prompt_text import is_planned, words_of_plan, words_of_run
from tui.text import capital

FIRST_LINE = 200  # characters of a section that a row can show
_SECTIONS = f"SELECT id, path, heading, ltrim(substr(body, 1, {FIRST_LINE}), char(10, 13, 32)) AS first FROM knowledge"


async def read_told(company: OpenCompany, row_id: str) -> Told:
    """The prompt of a row (`run:12`, `now:ada:3`); what hinders that is told in its `problem`."""
    kind, name = row_id.split(":")[:2]
    words = f"R{name}" if kind == "run" else name
    try:
        if kind == "run":
            return await _of_run(company, row_id, int(name))
        _, task, asked = planned_parts(row_id)
        words = capital(words_of_plan(name, task, asked or await company.kind_now(name, task)))
        return Told(row_id, words, await company.preview_prompt(name, task, asked))
    except OpsroomError as problem:
        return Told(row_id, words, problem=str(problem))


async def is_run(company: OpenCompany, number: int) -> bool:
    """Whether there is, or was, such a run."""
    return bool(await company.board.readers.value("SELECT count(*) FROM runs WHERE id = :id", id=number))


async def _of_run(company: OpenCompany, row_id: str, number: int) -> Told:
    readers = company.board.readers
    runs = await readers.entities(Run, "id = :id", id=number)
    if not runs:
        raise NotFound(f"There is no R{number} on this board.")
    run = runs[0]
    (agent,) = await readers.entities(AgentRecord, "id = :id", id=run.agent_id)
    if is_planned(run):
        return Told(row_id, capital(words_of_run(run, agent.slug, "would be told now")), await company.run_prompt(run))
    words = capital(words_of_run(run, agent.slug, "was told"))
    try:
        prompt = await company.kept_prompt(number)
    except OpsroomError as problem:
        return Told(row_id, words, problem=str(problem), is_past=True)
    return Told(row_id, words, prompt, is_past=True, is_as_recorded=run.prompt_hash in ("", prompt.hash))


async def read_versus(company: OpenCompany, before: str, after: str) -> Versus | str:
    """Two rows compared; or why they cannot be."""
    old, new = await read_told(company, before), await read_told(company, after)
    for told in (old, new):
        if told.prompt is None:
            return told.problem
    assert old.prompt is not None
    assert new.prompt is not None
    return Versus(old, new, await asyncio.to_thread(compare, old.prompt, new.prompt))


async def read_own_texts(company: OpenCompany) -> OwnTexts:
    """All templates, read anew where a file changed."""
    problems = await asyncio.to_thread(company.library.check)
    return OwnTexts(tuple(company.library.entries()), tuple(problems), is_known=True)


async def read_knowledge(company: OpenCompany) -> Sections:
    """The board's sections by path, and what of the folder is left out."""
    rows = await company.board.readers.all(f"{_SECTIONS} ORDER BY path, id")
    found = []
    for row in rows:
        place = f"{row['path']} § {row['heading']}" if row["heading"] else row["path"]
        found.append((int(row["id"]), place, str(row["first"])))
    return Sections(tuple(found), await asyncio.to_thread(_left_out, company), is_known=True)


def _left_out(company: OpenCompany) -> dict[str, str]:
    """Of the owner what it knows; else the folder is looked through."""
    if company.knowledge is not None and company.knowledge.left_out:
        return dict(company.knowledge.left_out)
    listing = listed(company.folder)
    problems = {path: read_sections(company.folder, path) for path in listing.files}
    return {**listing.left_out, **{path: why for path, why in problems.items() if isinstance(why, str)}}


async def read_section(company: OpenCompany, number: int) -> Knowledge | None:
    """One section whole."""
    found = await company.board.readers.entities(Knowledge, "id = :id", id=number)
    return found[0] if found else None
