"""Who works here, and what the company knows: staff, kept experiences, the files of its knowledge folder."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from core.commands.registry import Answer
from core.domain.errors import Invalid, NotFound
from core.domain.states import Role
from core.reading.registry import LIMIT, Id, Limit, Look, Query, answers
from core.reading.shapes import LINE, clipped, lines, page
from core.reading.visible import EXPERIENCE_SEEN


class ReadStaff(Query):
    """Who works here: role, capabilities, duties, whom they report to, and whether they are busy."""

    example = {"role": "executor"}
    role: Role | None = None
    limit: Limit = LIMIT
    after: Id | None = Field(None, description="Later than this one: `next` of the page before")


@answers(ReadStaff)
async def read_staff(look: Look, query: ReadStaff) -> Answer:
    """{"staff": [{id, slug, name, role, status, capabilities, duties, manager, live_runs, holds}], "next"}.

    `holds` are the tasks (ids) that it has claimed or works on. Who was dismissed is not among them.
    """
    rows = await look.readers.all(
        "SELECT id, slug, name, role, status, capabilities, duties,"
        " (SELECT slug FROM agents AS above WHERE above.id = agents.manager_id) AS manager,"
        " (SELECT count(*) FROM runs WHERE agent_id = agents.id AND status IN ('queued', 'starting', 'running'))"
        " AS live_runs, (SELECT json_group_array(tasks.id) FROM tasks WHERE assignee_id = agents.id"
        " AND tasks.status IN ('claimed', 'working')) AS holds FROM agents WHERE status <> 'terminated'"
        " AND (:role IS NULL OR role = :role) AND id > :after ORDER BY id LIMIT :most",
        role=query.role, after=query.after or 0, most=query.limit + 1,
    )  # fmt: skip
    shown, following = page(rows, query.limit, _colleague)
    return {"staff": shown, "next": following}


def _colleague(row: Mapping[str, Any]) -> Answer:
    of = f"agent:{row['id']}"
    return {
        **row, "capabilities": lines(json.loads(row["capabilities"]), of, "capabilities"),
        "duties": clipped(row["duties"], of, "duties", LINE), "holds": json.loads(row["holds"]),
    }  # fmt: skip


class ListExperiences(Query):
    """What others learnt and the operator kept, newest first; SearchBoard finds those about something."""

    example = {"limit": 10}
    limit: Limit = LIMIT
    before: Id | None = Field(None, description="Older than this one: `next` of the page before")


@answers(ListExperiences)
async def list_experiences(look: Look, query: ListExperiences) -> Answer:
    """{"experiences": [{id, task, author, body, status, uses, at}], "next"}; for agents kept ones only."""
    rows = await look.readers.all(
        "SELECT id, task_id AS task, author, body, status, uses, created_at AS at FROM experiences"
        f" WHERE {EXPERIENCE_SEEN} AND (:before IS NULL OR id < :before) ORDER BY id DESC LIMIT :most",
        before=query.before, most=query.limit + 1, **look.sees,
    )  # fmt: skip
    shown, following = page(
        rows, query.limit, lambda row: {**row, "body": clipped(row["body"], f"experience:{row['id']}", "body", LINE)}
    )
    return {"experiences": shown, "next": following}


class ReadKnowledge(Query):
    """The company's knowledge: its files, the sections of one, or the text of one section."""

    example = {"path": "knowledge/setup.md", "heading": "Install"}
    path: str | None = Field(None, max_length=500, description="Left out: which files there are")
    heading: str | None = Field(None, max_length=250, description="Left out: which sections the file has")
    limit: Limit = LIMIT
    after: str | None = Field(None, max_length=500, description="`next` of the page before")


@answers(ReadKnowledge)
async def read_knowledge(look: Look, query: ReadKnowledge) -> Answer:
    """{"files": [{path, sections}], "next"}, {"path", "sections": [{heading, characters, begins}], "next"},
    or {path, heading, body}: by how much is named.
    """
    if query.path is None:
        if query.heading is not None:
            raise Invalid("A heading without its file names nothing.", "Name `path` too, as the list of files has it.")
        return await _files(look, query)
    if query.heading is None:
        return await _sections(look, query)
    row = await look.readers.one(
        "SELECT path, heading, body FROM knowledge WHERE path = :path AND heading = :heading",
        path=query.path, heading=query.heading,
    )  # fmt: skip
    if row is None:
        raise NotFound(f"{query.path!r} has no section {query.heading!r}.", "Leave `heading` out to see what it has.")
    return row


async def _files(look: Look, query: ReadKnowledge) -> Answer:
    rows = await look.readers.all(
        "SELECT path, count(*) AS sections FROM knowledge WHERE path > :after GROUP BY path ORDER BY path LIMIT :most",
        after=query.after or "", most=query.limit + 1,
    )  # fmt: skip
    shown, following = page(rows, query.limit, dict, "path")
    return {"files": shown, "next": following}


async def _sections(look: Look, query: ReadKnowledge) -> Answer:
    rows = await look.readers.all(
        "SELECT heading, length(body) AS characters, substr(trim(body), 1, 100) AS begins FROM knowledge"
        " WHERE path = :path AND (:after IS NULL OR heading > :after) ORDER BY heading LIMIT :most",
        path=query.path, after=query.after, most=query.limit + 1,
    )  # fmt: skip
    if not rows and query.after is None:
        raise NotFound(f"There is no {query.path!r} in the company's knowledge.", "Leave `path` out to see its files.")
    shown, following = page(rows, query.limit, dict, "heading")
    return {"path": query.path, "sections": shown, "next": following}
