"""`nacre web`: the page for a browser and a phone."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys

from nacre.cli.frame import complain
from nacre.cli.interruption import Interruption
from nacre.errors import ConfigError

EPILOG = """\
It prints the address of the page with its token; open it in a browser. Only this machine can connect, unless --host
says otherwise: then nothing is encrypted, so use it on a network you trust, or use a tunnel. NACRE_WEB_TOKEN sets the
token, so that the address stays the same with --port.

examples:
  nacre web
  nacre web --port 8022
  nacre web --host 0.0.0.0 --port 8022 --allow-host build.example
"""

TOKEN_VARIABLE = "NACRE_WEB_TOKEN"
LEAST_TOKEN = 16
_TOKEN = re.compile(r"[A-Za-z0-9_.~-]+\Z")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", metavar="H", help="the address to serve on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port; 0 takes a free one (default)")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="a further name that browsers may use for it"
    )


def main(namespace: argparse.Namespace) -> int:
    if not 0 <= namespace.port <= 65535:
        raise ConfigError(f"--port must be from 0 to 65535, got {namespace.port}", key="port")
    # Removed, so that no command sees it.
    given = os.environ.pop(TOKEN_VARIABLE, None)
    if given is not None and (len(given) < LEAST_TOKEN or not _TOKEN.match(given)):
        raise ConfigError(
            f"{TOKEN_VARIABLE} must have at least {LEAST_TOKEN} letters, digits, or any of _.~-", key=TOKEN_VARIABLE
        )
    interruption = Interruption()
    interruption.take_signals()
    try:
        asyncio.run(interruption.guard(_serve(namespace, given)))
    except SystemExit:
        # Interrupting is how it ends.
        return 0
    return 0


async def _serve(namespace: argparse.Namespace, given: str | None) -> None:
    from nacre.engine.engine import from_environment

    try:
        from nacre.http_server.address import listen
        from nacre.web.page_gate import Gate, new_token, own_hosts
        from nacre.web.page_server import address_with_token, serve_page, warning_for
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"nacre web needs the extra web ({error.name} is missing): pip install 'nacre-shell[web]'", key="web"
        ) from error

    token = given or new_token()
    listener = listen(namespace.host, namespace.port, token=token, option="host")

    def ready() -> None:
        if (warning := warning_for(listener)) is not None:
            complain(f"warning: {warning}")
        print(address_with_token(listener, token), flush=True)
        if sys.stdout.isatty():
            print("open it in a browser; Ctrl+C ends the page, agents and jobs go on", file=sys.stderr)

    with listener:
        await serve_page(
            from_environment(), listener, Gate(token, own_hosts(namespace.host, namespace.allow_host)), ready
        )
