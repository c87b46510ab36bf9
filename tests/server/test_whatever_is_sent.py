"""Whatever comes over HTTP is answered as JSON that says what to do, and is never a fault of ours."""

import asyncio
import itertools
import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable

from core.domain.states import Role, RunKind
from core.reading.offered import offered
from core.server.callers import Tokens
from core.server.openapi import document
from core.server.table import ROWS, Row
from tests.server.served import Served, a_served_company

QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]


@dataclass
class Place:
    """A served company in a thread of its own: its address, and tokens of the operator, a worker and a coordinator."""

    url: str
    tokens: list[str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with a_place(tmp_path_factory.mktemp("sent")) as found:
        yield found


@pytest.fixture
def place_of_its_own(tmp_path: Path) -> Iterator[Place]:
    """Nobody has ended its runs yet."""
    with a_place(tmp_path) as found:
        yield found


@contextmanager
def a_place(folder: Path) -> Iterator[Place]:
    """For as long as the context lasts."""
    ready: list[Place] = []
    begun, over = threading.Event(), threading.Event()

    def live() -> None:
        try:
            asyncio.run(serve(folder, ready, begun, over))
        finally:
            begun.set()

    thread = threading.Thread(target=live)
    thread.start()
    with ExitStack() as stack:
        stack.callback(thread.join)
        stack.callback(over.set)
        assert begun.wait(60)
        yield ready[0]


async def serve(folder: Path, ready: list[Place], begun: threading.Event, over: threading.Event) -> None:
    # A second goes by between two requests: how fast one may ask is tested elsewhere.
    seconds = itertools.count()
    async with a_served_company(folder / "acme", Tokens(lambda: float(next(seconds)))) as served:
        ready.append(Place((await served.doors.listen()).url, await tokens_of(served)))
        begun.set()
        await asyncio.to_thread(over.wait)


async def tokens_of(served: Served) -> list[str]:
    await served.doors.admit_operator()
    own = (served.company.folder / "operator.token").read_text().strip()
    return [own, (await served.working_run()).token, (await served.run(2)).token]


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
PARTS = st.sampled_from(["1", "2", "99", "0", "-1", "ada", "M1", "T1", str(2**63), "9" * 40, "1_0", "%00", "%ff", "é"])


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, str, bytes | None]:
    """A request to an address that there is, with fields that it has, or others, right or wrong."""
    row: Row = draw(st.sampled_from(ROWS))
    path = "/".join(draw(PARTS) if part.startswith("{") else part for part in row.path.split("/"))
    names = [name for name in row.of.model.model_fields if name not in row.in_path]
    right = {name: value for name, value in row.of.example.items() if name in names}
    wrong = draw(st.dictionaries(st.sampled_from([*names, "other"]), JUNK, max_size=3))
    sent = {**(right if draw(st.booleans()) else {}), **wrong}
    if row.method == "GET":
        query = str(httpx2.QueryParams({name: str(value).replace("\ud800", "") for name, value in sent.items()}))
        return row.method, f"{path}?{query}", None
    as_bytes = draw(st.binary(max_size=20)) if draw(st.integers(0, 9)) == 0 else json.dumps(sent).encode()
    return row.method, path, as_bytes


@settings(derandomize=True, database=None, deadline=None, suppress_health_check=QUIET)
@given(requests(), st.integers(0, 2))
def test_whatever_is_sent_has_an_answer(place: Place, request: tuple[str, str, bytes | None], who: int) -> None:
    method, path, content = request
    headers = {"Authorization": f"Bearer {place.tokens[who]}"}
    found = CLIENT.request(method, place.url + path, content=content, headers=headers)
    assert found.status_code in (200, 403, 404, 409, 422), found.text
    body: dict[str, Any] = found.json()
    assert ("answer" in body) if found.status_code == 200 else (body["error"]["message"] and "hint" in body["error"])


CLIENT = httpx2.Client(trust_env=False, timeout=60)


def test_broken_requests_leave_the_server_at_work(place: Place) -> None:
    import socket

    port = int(place.url.rpartition(":")[2])
    for sent in (
        b"\x00" * 100,
        b"GET\r\n\r\n",
        b"GET /api HTTP/1.1\r\n\r\n",
        b"GET /api HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://elsewhere.example/api HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /api/goals HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        b"POST /api/goals HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\nhalf",
        b"GET /api HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
        b"GET /api HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\xfe\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            told = b"".join(iter(lambda: connection.recv(65_536), b""))
        assert not told or told.startswith(b"HTTP/1.1 4"), (sent[:60], told[:200])
        assert CLIENT.get(f"{place.url}/api/about").status_code == 200


EXAMPLES = 40  # of each operation, each way, by each caller
A_FEW = 3


@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_schemathesis_finds_nothing_at_once(place_of_its_own: Place, mode: str) -> None:
    """What a run is offered: the operator's operations, three times as many, are in the soak."""
    look_by_schema(place_of_its_own, mode, 1, A_FEW)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("who", [0, 1], ids=["operator", "run"])
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_schemathesis_finds_nothing(place_of_its_own: Place, mode: str, who: int) -> None:
    look_by_schema(place_of_its_own, mode, who, EXAMPLES)


def look_by_schema(place: Place, mode: str, who: int, examples: int) -> None:
    """So many requests to each operation that the document makes possible (positive), or that it forbids (negative)."""
    import schemathesis
    from schemathesis.generation import GenerationMode
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    # What a schema cannot say (that M9 is a must-have of this goal) is refused with 422 though it fits the schema.
    unsaid = [positive_data_acceptance]
    schema = schemathesis.openapi.from_dict(document())
    schema.config.base_url = place.url
    headers = {"Authorization": f"Bearer {place.tokens[who]}"}
    own = offered(Role.EXECUTOR, RunKind.EXECUTE).names
    answers: Counter[int] = Counter()
    for found in schema.get_all_operations():
        operation = found.ok()
        name = str(operation.definition.raw["operationId"]).rstrip("23")
        if operation.path == "/api/events" or (who and name not in own):
            continue  # a stream that does not end; what this run is not offered

        @settings(
            max_examples=examples, derandomize=True, database=None, deadline=None,
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(operation.as_strategy(generation_mode=GenerationMode(mode)))
        def tried(case: Any) -> None:
            answered = case.call(headers=headers)
            answers[answered.status_code] += 1
            case.validate_response(answered, excluded_checks=unsaid)

        try:
            tried()
        except Unsatisfiable:
            # Nothing can be wrong in an operation that takes nothing.
            assert mode == "negative"
    assert sum(answers.values()) > 10 * examples
    # It had work to do: what was right was answered, what was wrong refused.
    assert answers[200] if mode == "positive" else answers[422]
