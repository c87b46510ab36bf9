"""`opsroom serve` and `opsroom mcp`: the company for other programs, over HTTP and as tools."""

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from core.config import Config, read_config
from core.domain.errors import Invalid
from tui.cli.logs import keep_log
from tui.cli.names import folder_of
from tui.cli.output import note, print_json, say

if TYPE_CHECKING:
    from core.company import OpenCompany
    from core.server.doors import Doors

_POLL_S = 0.25


def serve(arguments: argparse.Namespace) -> int:
    """Serve a company on loopback until a signal comes; own it too, whenever nobody else does."""
    from tui.cli.working import Interrupted, until_signal

    folder = folder_of(arguments.dir)
    config = read_config(folder)
    if arguments.web_port and not arguments.web:
        raise Invalid("--web-port is the port of --web.", "Add --web, or leave it out.")
    try:
        asyncio.run(until_signal(_serve(folder, config, arguments)))
    except Interrupted as interrupted:
        return interrupted.code
    return 0


async def _serve(folder: Path, config: Config, arguments: argparse.Namespace) -> None:
    from core.company import OpenCompany
    from core.server.doors import Doors
    from tui.cli.working import runners_of

    company = await OpenCompany.open(folder, runners_of(config, None))
    try:
        keep_log(folder)
        async with Doors(company) as doors:
            await doors.admit_operator()
            url = (await doors.listen(arguments.host, arguments.port)).url
            if company.is_owner:
                await _own_socket(doors)
            await company.start()
            async with _in_a_browser(folder, arguments) as page:
                _tell(folder, url, company.is_owner, page, arguments.json)
                await _serve_on(company, doors)
    finally:
        await company.close()


@asynccontextmanager
async def _in_a_browser(folder: Path, arguments: argparse.Namespace) -> AsyncIterator[str | None]:
    """The room for browsers, if that is asked for: gives its address."""
    if not arguments.web:
        yield None
        return
    from core.server.web import WebRoom
    from tui.cli.visiting import argv

    async with WebRoom(argv(folder)).listening(arguments.host, arguments.web_port) as url:
        yield url


async def _serve_on(company: "OpenCompany", doors: "Doors") -> None:
    """For ever. When the owner ends and this process takes over, its socket is ours to open."""
    if not company.is_owner:
        while not company.is_owner:  # noqa: ASYNC110 - a state of the company, which tells nobody
            await asyncio.sleep(_POLL_S)
        await _own_socket(doors)
        note("opsroom: the owner has ended; this process owns the company now.")
    await asyncio.Event().wait()


async def _own_socket(doors: "Doors") -> None:
    from tui.cli.working import open_socket

    await open_socket(doors, lambda words: note(f"opsroom: {words}"))


def _tell(folder: Path, url: str, is_owner: bool, page: str | None, as_json: bool) -> None:
    from core.server.callers import OPERATOR_TOKEN

    token = folder / OPERATOR_TOKEN
    if as_json:
        print_json({"url": url, "mcp": f"{url}/mcp", "web": page, "token_file": str(token), "owner": is_owner})
    else:
        say(f"Serving {folder} at {url} (MCP at {url}/mcp).")
        say(f"The operator's token is in {token}; only you can read it.")
        if page is not None:
            say(f"The room in a browser: {page}")
            say("Whoever opens that address decides as you do. It holds until this ends.")
        say("This process owns the company." if is_owner else "Another process owns it; commands are sent there.")
    sys.stdout.flush()


def mcp(arguments: argparse.Namespace) -> int:
    """Carry MCP messages between standard input and output and the company's server."""
    from core.company import socket_path
    from core.server.bridge import client_at, client_of
    from tui.cli.working import Interrupted, until_signal

    if arguments.dir is None and os.environ.get("OPSROOM_URL"):
        client = client_of(os.environ)
    else:
        folder = folder_of(arguments.dir or ".")
        read_config(folder)
        client = client_at(socket_path(folder))

    async def carry() -> None:
        from core.server.bridge import bridge, lines_of

        async with client:
            await bridge(client, lines_of(sys.stdin.fileno()), _write)

    try:
        asyncio.run(until_signal(carry()))
    except Interrupted as interrupted:
        return interrupted.code
    return 0


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
