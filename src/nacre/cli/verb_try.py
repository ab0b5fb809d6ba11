"""`nacre try`: runs a command on an overlay of the workspace, lists what it would change, commits or discards that."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from dataclasses import replace
from typing import Any

from nacre import config
from nacre.api import PROFILE
from nacre.cli.frame import complain, say
from nacre.cli.interruption import Interruption
from nacre.cli.listing import paper
from nacre.cli.verb_run import add_budget, add_place, as_object, budget_of, command_of, exit_code, variables_of
from nacre.contracts.companions.changes_tool import settled_text
from nacre.engine.call_origin import CallOrigin
from nacre.engine.engine import from_environment
from nacre.engine.observers import Observers
from nacre.errors import InvalidRequestError
from nacre.request import ShellRequest, check_call
from nacre.result import ShellResult
from nacre.tries.committing import commit, discard
from nacre.tries.report import facts_of_changes, lines_of, summary_of
from nacre.tries.try_store import TryEntry, TryStore

VERBS = ("list", "show", "commit", "discard")

EPILOG = """\
The command sees its changes; the workspace does not until they are committed. All other files are read-only meanwhile,
and temporary files are private. The exit code is the command's own.

examples:
  nacre try -- 'rm -rf build; make'
  nacre try list
  nacre try show try_1
  nacre try commit try_1 src/a.py docs     only these paths
  nacre try discard try_1
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    add_budget(parser)
    parser.add_argument("--json", action="store_true", help="print objects instead of text")
    parser.add_argument(
        "words",
        nargs="+",
        metavar="COMMAND | list | show ID | commit ID [PATH…] | discard ID [PATH…]",
        help="a command, with -- before it; or what to do with an earlier try",
    )


def main(namespace: argparse.Namespace) -> int:
    verb, *rest = namespace.words
    if verb not in VERBS:
        return _run(namespace)
    store = TryStore(config.state_dir(os.environ))
    if verb == "list":
        return _list(store, as_json=namespace.json)
    if not rest:
        raise InvalidRequestError(f"nacre try {verb} needs the id of a try; see nacre try list", field="id")
    entry = store.get(rest[0])
    return _show(entry, as_json=namespace.json) if verb == "show" else _settle(entry, verb, rest[1:], namespace)


def _run(namespace: argparse.Namespace) -> int:
    command = command_of(namespace.words)
    env = variables_of(namespace.env)
    check_call(command, timeout=namespace.timeout, env=env)
    interruption = Interruption()
    interruption.take_signals()
    result = asyncio.run(interruption.guard(_tried(namespace, command, env, interruption)))
    if namespace.json:
        tried = None if result.tried is None else result.tried.json()
        print(json.dumps({**as_object(result), "try": tried}))
    else:
        for notice in result.notices:
            complain(notice)
    return exit_code(result)


async def _tried(
    namespace: argparse.Namespace, command: str, env: dict[str, str], interruption: Interruption
) -> ShellResult:
    from nacre.engine.trying import run_try

    engine = from_environment()
    limit = engine.settings.execution.timeout_seconds if namespace.timeout is None else namespace.timeout
    request = ShellRequest(command=command, timeout=limit, env=env or None, tries=True, budget=budget_of(namespace))
    result = await run_try(
        engine,
        request,
        PROFILE if namespace.json else replace(PROFILE, streams="split"),
        CallOrigin(
            cwd=config.working_directory() if namespace.cwd is None else config.absolute(namespace.cwd),
            observers=Observers(passthrough=None if namespace.json else interruption.pass_through),
        ),
    )
    assert isinstance(result, ShellResult)
    return result


def _list(store: TryStore, *, as_json: bool) -> int:
    entries = store.list()
    if as_json:
        print(json.dumps([_facts(entry) for entry in entries]))
        return 0
    if not entries:
        say("no tries")
        return 0
    sheet = paper()
    sheet.header(f"{'ID':<8} {'TIME':<19}  {'STATE':<10} COMMAND")
    for entry in entries:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.facts["startedAt"]))
        row = f"{entry.id:<8} {when}  {entry.state:<10} "
        print(f"{row}{sheet.command(entry.facts.get('command', ''), before=len(row))}")
    return 0


def _show(entry: TryEntry, *, as_json: bool) -> int:
    changes = entry.changes()
    if as_json:
        print(json.dumps({**_facts(entry), "changes": facts_of_changes(changes)}))
        return 0
    left = [change for change in changes if not change.settled]
    print(f"{entry.id} ({entry.state}) in {entry.root}: {summary_of(left)}")
    for line in lines_of(left):
        print(line)
    return 0


def _settle(entry: TryEntry, verb: str, paths: list[str], namespace: argparse.Namespace) -> int:
    act = commit if verb == "commit" else discard
    settled = act(entry, paths or None, here=config.working_directory())
    if namespace.json:
        conflicts = [conflict._asdict() for conflict in settled.conflicts]
        print(json.dumps({"id": entry.id, "done": facts_of_changes(settled.done), "conflicts": conflicts}))
    else:
        print(settled_text(entry, verb, settled))
    return 1 if settled.conflicts else 0


def _facts(entry: TryEntry) -> dict[str, Any]:
    facts = entry.facts
    return {
        "id": entry.id,
        "command": facts.get("command"),
        "root": entry.root,
        "state": entry.state,
        "startedAt": facts.get("startedAt"),
        "jobId": facts.get("jobId"),
    }
