"""`nacre call`: makes one tool call as a model would, and prints the answer."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys

from nacre.cli.frame import complain
from nacre.cli.interruption import Interruption
from nacre.cli.parser import add_tools
from nacre.contracts import contract_names
from nacre.contracts.contract import Reply
from nacre.errors import InvalidRequestError
from nacre.tool import Tool

EPILOG = """\
The answer goes to stdout: for basic and openai the bare object, else {"text", "is_error", "details"}. A refused
request is an answer too, so the exit code is 0 whenever an answer was printed.

examples:
  nacre call basic '{"command": "echo hi"}'
  echo '{"command": "make", "mode": "slow"}' | nacre call modes -
  nacre call openai '{"commands": ["make", "git status"], "timeout_ms": 60000}'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("contract", choices=contract_names(), help="the shape of the tool")
    add_tools(parser)
    parser.add_argument("--pretty", action="store_true", help="indent the answer, for people")
    parser.add_argument("arguments", nargs="?", default="-", help="the arguments as JSON; - or nothing reads stdin")


def main(namespace: argparse.Namespace) -> int:
    # As bytes, so that json detects the encoding.
    text = sys.stdin.buffer.read() if namespace.arguments == "-" else namespace.arguments
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = f"the arguments are not JSON: {_reason(error)}" if text.strip() else "there are no arguments"
        wrong = InvalidRequestError(f"{problem}; give one JSON object", field="arguments")
        reply = Tool(namespace.contract).refusal(wrong)
    else:
        reply = asyncio.run(_call(namespace.contract, arguments, namespace.tools.split(",")))
    for notice in reply.notices:
        complain(notice)
    print(json.dumps(reply.json(), indent=2 if namespace.pretty else None))
    return 0


def _reason(error: ValueError | RecursionError) -> str:
    """Say why a text is no JSON, in words that are not Python's."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno}, column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    return "it is nested too deeply" if isinstance(error, RecursionError) else "a number has too many digits"


async def _call(contract: str, arguments: object, tools: list[str]) -> Reply:
    # No later call could use the state of a session.
    async with Tool(contract, tools=tools, session=False) as tool:
        return await Interruption().guard(tool.call(arguments))
