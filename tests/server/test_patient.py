"""Connections that say nothing do not shut others out."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from core.server import patient
from core.server.socket import CONNECTIONS_MAX
from tests.server.served import a_served_company


async def test_silent_connections_shut_nobody_out(tmp_path: Path) -> None:
    async with a_served_company(tmp_path) as served:
        address = urlsplit((await served.doors.listen()).url)
        silent = [await asyncio.open_connection(address.hostname, address.port) for _ in range(CONNECTIONS_MAX + 5)]
        async with served.client() as client:
            assert (await client.get("/api")).status_code == 200
        for _, writer in silent:
            writer.close()


@pytest.mark.parametrize("begun", [b"", b"GET /api HT"])
async def test_a_head_that_does_not_come_whole_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun: bytes
) -> None:
    monkeypatch.setattr(patient, "HEAD_S", 0.3)
    async with a_served_company(tmp_path) as served:
        address = urlsplit((await served.doors.listen()).url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(begun)
        try:
            async with asyncio.timeout(60):
                while await reader.read(65_536):
                    pass
        except ConnectionResetError:
            pass
        writer.close()
