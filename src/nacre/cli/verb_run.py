"""`nacre run`: runs a command to its end, passes its output through and exits with its code."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from nacre.api import PROFILE, run_with
from nacre.cli import PLACE_OPTIONS
from nacre.cli.frame import DENIED, OUR_FAILURE, complain
from nacre.cli.interruption import Interruption
from nacre.engine.call_log import OUTCOME_WORDS
from nacre.engine.observers import Observers
from nacre.errors import DeniedError, InvalidRequestError, NacreError
from nacre.request import check_timeout
from nacre.result import Exited, Lost, ShellResult, Signalled, Stopped, TimedOut

if TYPE_CHECKING:
    import argparse

    from nacre.call_budget import Budget
    from nacre.cli.progress import PassThrough
    from nacre.guard.approval import Approver

TIMED_OUT = 124
# The end of a command that takes longer is told to a person at the terminal.
LONG_SECONDS = 2.0

EPILOG = """\
exit code: the command's own (128+n for a signal); 124 on timeout or a spent budget, 126 denied, 125 nacre's own failure

One word is a script, as bash -c takes it; several words are one command with its arguments, passed on as they are.

examples:
  nacre run -- 'make test && git status'
  nacre run -- ls -la 'My Documents'
  nacre run --timeout 600 --cwd src --env CC=clang -- 'make | tail -n 5'
  nacre run --budget cpu=60,memory=2G,processes=200 -- make test
  nacre run --json -- 'false | tail'
  git diff | nacre run --stdin -- wc -l
  nacre run --on ssh://build-host -- make -C /srv/app test
  nacre run --pty --timeout 3600 -- vim notes.txt

--pty gives the command a terminal: every key goes to it, also Ctrl-C; Ctrl-] three times within a second ends it.
"""


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where and how long a command runs."""
    parser.add_argument("--cwd", help="directory to run in (default: this one)")
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds until everything is ended (default: 300)")
    parser.add_argument(
        "--env", action="append", default=[], metavar="K=V", help="a variable for the command; may be given often"
    )


def add_budget(parser: argparse.ArgumentParser) -> None:
    """Add the option that says what a command may spend."""
    parser.add_argument(
        "--budget",
        metavar="LIMIT=N,…",
        help="what it may spend: cpu and wall (seconds), memory, file and output (1G, 500M), processes",
    )


def budget_of(namespace: argparse.Namespace | SimpleNamespace) -> Budget | None:
    """Return the budget of the options; None without one."""
    if namespace.budget is None:
        return None
    from nacre.budget_words import budget_in

    return budget_in(namespace.budget)


def add_sandbox(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what a command is confined to."""
    for option, (_, values, text) in PLACE_OPTIONS.items():
        parser.add_argument(option, metavar=values, help=text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    add_budget(parser)
    add_sandbox(parser)
    parser.add_argument("--json", action="store_true", help="print one object at the end instead of the output")
    parser.add_argument(
        "--stdin",
        action="store_true",
        help="pass standard input on to the command, which else reads an empty one; the guard does not judge it",
    )
    parser.add_argument(
        "--pty", action="store_true", help="run it on a terminal of its own, for programs that need one"
    )
    parser.add_argument("command", nargs="+", help="a script, or a command and its arguments; put -- before it")


def plain(arguments: list[str]) -> SimpleNamespace | None:
    """Parse a command without options; None for other arguments. Importing argparse takes 5 ms."""
    words = arguments[1:] if arguments[:1] == ["--"] else arguments
    if len(words) != 1 or words[0].startswith("-"):
        return None
    return SimpleNamespace(
        command=words,
        cwd=None,
        env=[],
        json=False,
        pty=False,
        stdin=False,
        timeout=None,
        budget=None,
        on=None,
        sandbox=None,
        access=None,
        network=None,
    )


def main(namespace: argparse.Namespace | SimpleNamespace) -> int:
    for option, (variable, _, _) in PLACE_OPTIONS.items():
        if (value := getattr(namespace, option.lstrip("-"))) is not None:
            os.environ[variable] = value
    if "NACRE_ON" in os.environ:
        from nacre.cli.chosen_place import choose_place

        choose_place()
    if namespace.json:
        return _json(namespace)
    result = _result(namespace)
    for notice in result.notices:
        complain(notice)
    if isinstance(result.outcome, TimedOut):
        complain(f"timed out after {result.outcome.limit:g} s; everything was ended")
    if isinstance(result.outcome, Stopped) and result.outcome.by != "request":
        complain(f"{result.outcome.by}; everything was ended")
    if isinstance(result.outcome, Lost):
        complain(f"how the command ended is not known: {result.outcome.reason}")
    if sys.stderr.isatty() and _is_worth_a_line(result):
        from nacre.cli.card_printing import card_of_result, print_end

        print_end(card_of_result(command_of(namespace.command), result), sys.stderr)
    return exit_code(result)


def _is_worth_a_line(result: ShellResult) -> bool:
    """Whether a person should read how it ended: it failed, took long, or has more output than was shown."""
    return not result.ok or result.elapsed >= LONG_SECONDS or result.artifact is not None


def _json(namespace: argparse.Namespace | SimpleNamespace) -> int:
    try:
        result = _result(namespace)
    except NacreError as error:
        denied = isinstance(error, DeniedError)
        print(json.dumps(_not_run("denied" if denied else "notStarted", error)))
        return DENIED if denied else OUR_FAILURE
    print(json.dumps(as_object(result)))
    return exit_code(result)


def _result(namespace: argparse.Namespace | SimpleNamespace) -> ShellResult:
    if namespace.timeout is not None:
        check_timeout(namespace.timeout)
    interruption = Interruption()
    interruption.take_signals()
    if namespace.pty:
        return asyncio.run(interruption.guard(_run_pty(namespace, interruption)))
    if not namespace.stdin:
        return asyncio.run(interruption.guard(_run(namespace, interruption, None)))
    from nacre.cli.stdin_feed import fed_fifo

    with fed_fifo() as fifo:
        return asyncio.run(interruption.guard(_run(namespace, interruption, fifo)))


def command_of(words: list[str]) -> str:
    """Return the script: one word as it is, several as one command whose words stay what they are."""
    if len(words) == 1:
        return words[0]
    import shlex

    return shlex.join(words)


async def _run(
    namespace: argparse.Namespace | SimpleNamespace, interruption: Interruption, stdin: str | None
) -> ShellResult:
    if sys.stderr.isatty() and not namespace.json:
        from nacre.cli.progress import Progress, wants_progress

        if wants_progress(sys.stderr):
            progress = Progress(sys.stderr)
            counted, asking = progress.passing(interruption.pass_through), progress.asking(_approver(namespace))
            async with progress.drawing():
                return await _run_with(namespace, counted, asking, stdin)
    shown = None if namespace.json else interruption.pass_through
    return await _run_with(namespace, shown, _approver(namespace), stdin)


async def _run_with(
    namespace: argparse.Namespace | SimpleNamespace,
    passthrough: PassThrough | None,
    approver: Approver | None,
    stdin: str | None,
) -> ShellResult:
    return await run_with(
        command_of(namespace.command),
        PROFILE if namespace.json else replace(PROFILE, streams="split"),
        timeout=namespace.timeout,
        cwd=namespace.cwd,
        env=variables_of(namespace.env),
        observers=Observers(passthrough=passthrough),
        approver=approver,
        stdin=stdin,
        budget=budget_of(namespace),
    )


async def _run_pty(namespace: argparse.Namespace | SimpleNamespace, interruption: Interruption) -> ShellResult:
    from nacre.cli.attended_run import run_pty
    from nacre.terminals import NoTerminalError

    try:
        return await run_pty(
            command_of(namespace.command),
            interruption,
            shows=not namespace.json,
            stdin=namespace.stdin,
            timeout=namespace.timeout,
            cwd=namespace.cwd,
            env=variables_of(namespace.env),
            budget=budget_of(namespace),
            approver=_approver(namespace),
        )
    except NoTerminalError as error:
        result = await _run(namespace, interruption, None)
        return replace(result, notices=(*result.notices, f"{error}: the command ran with pipes"))


def _approver(namespace: argparse.Namespace | SimpleNamespace) -> Approver | None:
    """Return what asks the person at the terminal; None where there is none."""
    if not os.isatty(2) or not (namespace.stdin or os.isatty(0)):
        return None
    from nacre.cli.terminal_approval import ask

    return ask


def variables_of(pairs: list[str]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise InvalidRequestError(f"--env {pair!r} must look like NAME=VALUE", field="env")
        found[name] = value
    return found


def exit_code(result: ShellResult) -> int:
    match result.outcome:
        case Exited() | Signalled():
            return result.exit_code or 0
        case TimedOut():
            return TIMED_OUT
        case Stopped() if result.cause == "limit" and result.clock != "stop":
            return TIMED_OUT
        case Stopped() | Lost():
            return OUR_FAILURE


def as_object(result: ShellResult) -> dict[str, Any]:
    """Return the object that `--json` prints."""
    death = result.outcome.name if isinstance(result.outcome, Signalled) else None
    return {
        "outcome": OUTCOME_WORDS[type(result.outcome)],
        "exitCode": result.exit_code,
        "signal": death,
        "text": result.text,
        "stages": list(result.stages),
        "notices": list(result.notices),
        "artifactId": None if result.artifact is None else str(result.artifact.id),
        "wallTimeMs": round(result.elapsed * 1000),
        **({"cause": result.cause, "clock": result.clock} if result.remote or result.clock is not None else {}),
        **({} if result.sandbox is None else {"sandbox": dict(result.sandbox)}),
    }


def _not_run(outcome: str, error: NacreError) -> dict[str, Any]:
    """Return the object that `--json` prints without a result; the reason is a notice, not output."""
    return {
        "outcome": outcome,
        "exitCode": None,
        "signal": None,
        "text": "",
        "stages": [],
        "notices": [str(error)],
        "artifactId": None,
        "wallTimeMs": 0,
    }
