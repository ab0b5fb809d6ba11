"""`nacre run`: a command to its end, with its output passed through and its exit code handed on."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import os
import signal
import sys
from typing import Any

from nacre.errors import InvalidRequestError
from nacre.result import Exited, Lost, ShellResult, Signalled, Stopped, TimedOut
from nacre.running import PROFILE, check_timeout, run_with

TIMED_OUT, OUR_FAILURE = 124, 125

EPILOG = """\
exit code: the command's own (128+n for a signal); 124 on timeout, 126 denied, 125 nacre's own failure

examples:
  nacre run -- 'make test'
  nacre run --timeout 600 --cwd src --env CC=clang -- 'make | tail -n 5'
  nacre run --json -- 'false | tail'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cwd", help="directory to run in (default: this one)")
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds until everything is ended (default: 300)")
    parser.add_argument(
        "--env", action="append", default=[], metavar="K=V", help="a variable for the command; may be given often"
    )
    parser.add_argument("--json", action="store_true", help="print one object at the end instead of the output")
    parser.add_argument("command", help="the shell command; put -- before it")


def main(namespace: argparse.Namespace) -> int:
    if namespace.timeout is not None:
        check_timeout(namespace.timeout)
    result = asyncio.run(_run(namespace))
    if namespace.json:
        print(json.dumps(as_object(result)))
    else:
        for notice in result.notices:
            print(f"nacre: {notice}", file=sys.stderr)
        if result.output.truncation is None and isinstance(result.outcome, TimedOut):
            print(f"nacre: timed out after {result.outcome.limit:g} s", file=sys.stderr)
    return exit_code(result)


async def _run(namespace: argparse.Namespace) -> ShellResult:
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # The command dies with us, and is waited for: cancel, and let the engine stop it.
        loop.add_signal_handler(number, task.cancel)
    try:
        return await run_with(
            namespace.command,
            PROFILE if namespace.json else dataclasses.replace(PROFILE, streams="split"),
            timeout=namespace.timeout,
            cwd=namespace.cwd,
            env=_variables(namespace.env),
            passthrough=None if namespace.json else _pass_through,
        )
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _variables(pairs: list[str]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise InvalidRequestError(f"--env {pair!r} must look like NAME=VALUE", field="env")
        found[name] = value
    return found


def _pass_through(stream: int, data: memoryview) -> None:
    while data:
        data = data[os.write(stream, data) :]


def exit_code(result: ShellResult) -> int:
    match result.outcome:
        case Exited() | Signalled():
            return result.exit_code or 0
        case TimedOut():
            return TIMED_OUT
        case Stopped() | Lost():
            return OUR_FAILURE


def as_object(result: ShellResult) -> dict[str, Any]:
    """What `--json` prints."""
    death = result.outcome.name if isinstance(result.outcome, Signalled) else None
    return {
        "outcome": type(result.outcome).__name__.lower(),
        "exitCode": result.exit_code,
        "signal": death,
        "text": result.text,
        "stages": list(result.stages),
        "notices": list(result.notices),
        "artifactId": None if result.artifact is None else str(result.artifact.id),
        "wallTimeMs": round(result.elapsed * 1000),
    }
