"""What other programs may ask the owner's socket: outputs together, states of tasks, who is to be woken."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from core.commands.comments import AddComment
from core.commands.company import HireAgent
from core.commands.goal_progress import DispatchGoal
from core.commands.goals import CreateGoal
from core.company import OpenCompany, socket_path
from core.config import Config
from tests import founding
from tests.server.served import serving


@asynccontextmanager
async def a_served_company(folder: Path) -> AsyncIterator[tuple[OpenCompany, httpx2.AsyncClient]]:
    """A company with goal 1 at work, whose task 1 names an agent, and a client of its socket."""
    await founding.a_company(folder, Config(name="Acme"))
    company = await OpenCompany.open(folder, role="owner")
    path = socket_path(folder)
    try:
        async with serving(lambda: company.local_door, path, company.board.readers):
            await company.execute(HireAgent(slug="ada", name="Ada", role="executor"))
            await company.execute(CreateGoal(title="One"))
            await company.execute(DispatchGoal(goal=1, discussion=False))
            await company.execute(AddComment(task=1, kind="question", body="@ada how many?"))
            transport = httpx2.AsyncHTTPTransport(uds=str(path))
            async with httpx2.AsyncClient(transport=transport, base_url="http://opsroom") as client:
                yield company, client
    finally:
        await company.close()


async def test_every_question_has_its_answer(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as (_company, client):
        nothing = {"total": 0, "left_out": 0, "bytes": 0, "outputs": []}
        for path, answer in (
            ("/api/tasks/1/outputs/aggregate", {"of": "task:1", **nothing}),
            ("/api/goals/1/outputs/aggregate?limit=5", {"of": "goal:1", **nothing}),
            ("/api/goals/1/tasks/status", {"pending": 1}),
            ("/api/mentions/agents", ["ada"]),
        ):
            found = await client.get(path)
            assert (found.status_code, found.json()) == (200, {"answer": answer}), path


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/tasks/9/outputs/aggregate", 404),
        ("/api/goals/9/outputs/aggregate", 404),
        ("/api/goals/9/tasks/status", 404),
        (f"/api/tasks/{2**63}/outputs/aggregate", 404),
        ("/api/goals/1/outputs/aggregate?limit=many", 422),
        ("/api/goals/1/outputs/aggregate?limit=-1", 422),
        ("/api/goals/G1/outputs/aggregate", 404),
    ],
)
async def test_every_refusal_has_its_status(tmp_path: Path, path: str, status: int) -> None:
    async with a_served_company(tmp_path / "acme") as (_company, client):
        assert (await client.get(path)).status_code == status


async def test_questions_change_nothing(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as (company, client):
        before: Any = await company.board.readers.last_event()
        assert (await client.post("/api/mentions/agents")).status_code == 405
        await client.get("/api/goals/1/tasks/status")
        assert await company.board.readers.last_event() == before


async def test_the_owner_writes_a_report_that_was_not_written_when_it_starts(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    async with a_served_company(folder) as (company, _client):
        assert company.board.writer is not None
        await company.board.writer.submit(_put_report)
        assert not (folder / "reports").exists()
    again = await OpenCompany.open(folder, role="owner")
    await again.start()
    await again.close()
    assert (folder / "reports" / "G1-v1.md").read_text() == "# Whole\n"


def _put_report(tx: Any) -> None:
    from core.domain.entities import Output

    tx.insert(
        Output, "ReportComposed", goal_id=1, task_id=None, run_id=None, type="document", summary="",
        title="Report on G1, version 1", content="# Whole\n", path=None, sha256="0", size=8, created_by="cora",
    )  # fmt: skip
