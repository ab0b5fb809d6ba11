"""`nacre mcp`: serves the tools of a contract to MCP clients."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import os
from typing import TYPE_CHECKING

from nacre.cli.frame import explain_waiting
from nacre.cli.interruption import Interruption
from nacre.cli.parser import add_tools
from nacre.complaints import take_stderr
from nacre.contracts import command_contract_names
from nacre.errors import ConfigError, InvalidRequestError
from nacre.json_lines.stdio_transport import take_streams

if TYPE_CHECKING:
    from nacre.backend import Backend

EPILOG = """\
Without --http it serves one client on stdin and stdout, until the client closes them. With --http it prints its
address and serves many. A token is required unless the address is this machine's own; it can be given as
NACRE_MCP_TOKEN too, where other users cannot see it.

examples:
  nacre mcp
  nacre mcp --http 127.0.0.1:8000
  PYTHONPATH=. nacre mcp --backend my_place:Container
  NACRE_MCP_TOKEN=… nacre mcp --http 0.0.0.0:8000 --allow-host build.example
"""

TOKEN_VARIABLE = "NACRE_MCP_TOKEN"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--http", metavar="HOST:PORT", help="serve over streamable HTTP; port 0 takes a free one")
    parser.add_argument("--token", help="what clients must send as their bearer token")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="a further name that clients may use for it"
    )
    parser.add_argument(
        "--lease", type=int, metavar="S", help="how long a client that answers nothing is believed to be there (30)"
    )
    parser.add_argument(
        "--structured", action="store_true", help="for programs: results as objects beside the text, with their schema"
    )
    parser.add_argument(
        "--contract", choices=command_contract_names(), default="workspace", help="the shape of the shell"
    )
    parser.add_argument(
        "--backend",
        metavar="MODULE:NAME",
        help="a place of your own where commands run: a backend, or a function that makes one",
    )
    add_tools(parser)


def main(namespace: argparse.Namespace) -> int:
    if namespace.http is None and (namespace.token or namespace.allow_host or namespace.lease is not None):
        raise InvalidRequestError(
            "--token, --allow-host and --lease go with --http; pipes have one client", field="http"
        )
    if namespace.http is None:
        explain_waiting("waiting for an MCP client on this terminal; `nacre install --help` adds nacre to a client")
    take_stderr()
    # Removed, so that no command sees it.
    token = os.environ.pop(TOKEN_VARIABLE, None)
    asyncio.run(Interruption().guard(_serve(namespace, namespace.token or token)))
    return 0


def _backend_named(spec: str) -> Backend:
    """Return the backend `MODULE:NAME`, or what it makes when it is called without arguments.

    Raises:
        ConfigError: there is no such module or name, or it is no backend.
    """
    module, _, name = spec.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"--backend {spec}: {error}; write MODULE:NAME of a module that Python can import", key="backend"
        ) from error
    backend = found() if isinstance(found, type) or not hasattr(found, "start") else found
    if not all(hasattr(backend, part) for part in ("start", "keeps", "notice")):
        raise ConfigError(
            f"--backend {spec} is no backend: it needs start, keeps and notice (docs/guides/write-a-backend.md)",
            key="backend",
        )
    made: Backend = backend
    return made


async def _serve(namespace: argparse.Namespace, token: str | None) -> None:
    from nacre.mcp.toolbox import Toolbox

    toolbox = Toolbox(
        namespace.contract,
        tools=namespace.tools.split(","),
        structured=namespace.structured,
        backend=None if namespace.backend is None else _backend_named(namespace.backend),
    )
    if namespace.http is None:
        from nacre.mcp.stdio_server import serve_stdio

        await serve_stdio(toolbox, *take_streams())
        return
    # The SDK takes most of a second to load: only for HTTP.
    try:
        from nacre.http_server.address import LEASE_SECONDS, address_of, listen
        from nacre.mcp.handlers import Handlers
        from nacre.mcp.http import serve_http, url_of
        from nacre.mcp.sdk_server import build
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"--http needs the extra http ({error.name} is missing): pip install 'nacre-shell[http]'", key="http"
        ) from error

    host, port = address_of(namespace.http)
    lease = LEASE_SECONDS if namespace.lease is None else namespace.lease
    listener = listen(host, port, token=token, lease=lease)
    print(url_of(listener), flush=True)
    handlers = Handlers(toolbox)
    await serve_http(build(handlers), listener, host=host, token=token, hosts=namespace.allow_host, on_end=handlers.end)
