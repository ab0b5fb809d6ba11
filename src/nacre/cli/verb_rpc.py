"""`nacre rpc`: serves the tools as JSON lines on stdin and stdout, for programs in any language."""

from __future__ import annotations

import argparse
import asyncio

from nacre.cli.frame import explain_waiting
from nacre.cli.interruption import Interruption
from nacre.cli.parser import add_tools
from nacre.complaints import take_stderr
from nacre.json_lines.stdio_transport import take_streams
from nacre.rpc.server import serve

EPILOG = """\
One request a line in, one answer a line out, and events between them; docs/guides/rpc.md has the whole protocol.
The end of input ends what runs in the foreground, then the server; background jobs live on.

examples:
  {"id": 1, "type": "bash", "command": "make test", "timeout": 600}
  {"id": 2, "type": "abort_bash"}
  {"id": 3, "type": "job", "list": true}
  {"id": 4, "type": "read", "uri": "artifact://1", "tail": 20}
  {"id": 5, "type": "check", "command": "rm -rf /"}
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_tools(parser)


def main(namespace: argparse.Namespace) -> int:
    explain_waiting("reading requests from this terminal, one JSON object a line (`nacre rpc --help`)")
    take_stderr()
    incoming, outgoing = take_streams()
    asyncio.run(Interruption().guard(serve(incoming, outgoing, tools=namespace.tools.split(","))))
    return 0
