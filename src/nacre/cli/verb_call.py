"""`nacre call`: makes one tool call as a model would, and prints the answer."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from contextlib import aclosing

from nacre.cli.frame import complain, explain_waiting
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
    parser.add_argument("--pretty", action="store_true", help="for people: a card on a terminal, else indented JSON")
    parser.add_argument("arguments", nargs="?", default="-", help="the arguments as JSON; - or nothing reads stdin")


def main(namespace: argparse.Namespace) -> int:
    if namespace.arguments == "-":
        explain_waiting("reading the arguments from this terminal, as one JSON object")
    # As bytes, so that json detects the encoding.
    text = sys.stdin.buffer.read() if namespace.arguments == "-" else namespace.arguments
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = f"the arguments are not JSON: {_reason(error)}" if text.strip() else "there are no arguments"
        wrong = InvalidRequestError(f"{problem}; give one JSON object", field="arguments")
        arguments, reply = {"command": str(text)}, Tool(namespace.contract).refusal(wrong)
    else:
        reply = asyncio.run(_call(namespace.contract, arguments, namespace.tools.split(",")))
    if namespace.pretty and sys.stdout.isatty():
        _print_card(arguments, reply)
        return 0
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
        return await Interruption().guard(_progressing(tool, arguments))


async def _progressing(tool: Tool, arguments: object) -> Reply:
    """Make the call; at a terminal with a line that says how long it takes, and its last line."""
    if not sys.stderr.isatty():
        return await tool.call(arguments)
    from nacre.cli.progress import Progress, wants_progress

    if not wants_progress(sys.stderr):
        return await tool.call(arguments)
    progress = Progress(sys.stderr)
    async with progress.drawing(), aclosing(tool.stream(arguments)) as updates:
        async for update in updates:
            if isinstance(update, Reply):
                return update
            progress.last = update.text.encode()
    raise AssertionError("a stream ends with its reply")


def _print_card(arguments: object, reply: Reply) -> None:
    """Print the call as a card: its command, what the model reads, and how it ended."""
    from nacre.cli.card_printing import print_card
    from nacre.feed.card import Card
    from nacre.tui.reply_card import end_with

    given = arguments if isinstance(arguments, dict) else {}
    command = given.get("command") or "\n".join(map(str, given.get("commands") or ())) or json.dumps(arguments)
    card = Card(call="", command=str(command), notices=list(reply.notices))
    answer = reply.json()
    text = answer.get("text")
    card.tail.add(text if isinstance(text, str) else json.dumps(answer, indent=2))
    end_with(card, reply)
    print_card(card, sys.stdout, whole=True)
