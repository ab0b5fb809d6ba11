"""`nacre env`: shows which variables a command would see, and why others are removed.

Only the names of removed variables are printed. `--jsonl` judges variables from standard input instead; every line gets
exactly one answer, and an unreadable line counts as a secret.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence

from nacre import config
from nacre.environment.filter import FilteredEnvironment, Profile, judge, with_call_environment
from nacre.environment.noninteractive import noninteractive_defaults
from nacre.environment.quiet_tools import quiet_variables
from nacre.output.redaction.redactor import Redactor
from nacre.planning.plan import shared_environment

Answer = Mapping[str, str | bool | None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print one object: kept and stripped")
    shape.add_argument(
        "--jsonl", action="store_true", help='judge {"name", "value"} lines from standard input, one answer a line'
    )
    parser.add_argument(
        "--profile", choices=("default", "strict"), help="strict keeps core variables only; else as your settings say"
    )


def main(namespace: argparse.Namespace) -> int:
    if namespace.jsonl:
        for line in sys.stdin.buffer:
            print(json.dumps(answer(line, namespace.profile or "default")), flush=True)
        return 0
    settings = config.load(os.environ, cwd=config.working_directory()).settings
    chosen = settings.environment
    if namespace.profile is not None:
        chosen = chosen._replace(env_profile=namespace.profile)
    if chosen.env_filter == "off":
        child = FilteredEnvironment(with_call_environment(os.environ, dict(settings.shell.env)), (), {})
        given, quiet = [], {}
    else:
        child = shared_environment(os.environ, chosen, settings.shell)
        given = sorted(name for name in noninteractive_defaults() if name not in chosen.unset_defaults)
        unwanted = {*os.environ, *chosen.unset_defaults, *dict(settings.shell.env)}
        quiet = {} if not settings.output.quiet_tools else _without(quiet_variables(), unwanted)
    own = dict(settings.shell.env)
    given = [name for name in given if name not in own]
    redactor = Redactor(child.hidden)
    kept = {name: redactor.redact_text(value) for name, value in sorted(child.kept.items())}
    stripped = sorted(child.stripped, key=lambda variable: variable.name)
    if namespace.json:
        reasons = [{"name": each.name, "rule": each.rule, "reason": each.reason} for each in stripped]
        found = {"profile": chosen.env_profile, "kept": kept, "set": given, "quiet": quiet, "shellEnv": sorted(own)}
        print(json.dumps(found | {"stripped": reasons}))
        return 0
    reasons_by_name = {each.name: f"{each.rule}: {each.reason}" for each in stripped}
    for line in report(kept, given, quiet, sorted(own), reasons_by_name):
        print(line)
    return 0


def answer(line: bytes, profile: Profile) -> Answer:
    """Judge one line of input."""
    try:
        variable = json.loads(line)
    except (ValueError, RecursionError):
        return unchecked("the line is not JSON")
    match variable:
        case {"name": str(name), "value": str(value)}:
            decision = judge(name, value, profile)
            return {
                "name": name,
                "strip": decision.strip,
                "rule": decision.rule,
                "reason": decision.reason,
                "redact_output": bool(decision.hidden),
            }
        case _:
            return unchecked('the line is not an object with the strings "name" and "value"')


def unchecked(reason: str) -> Answer:
    return {"name": None, "strip": True, "rule": "unchecked", "reason": reason, "redact_output": True}


def _without(variables: Mapping[str, str], unwanted: Collection[str]) -> dict[str, str]:
    return {name: value for name, value in sorted(variables.items()) if name not in unwanted}


def report(
    kept: Mapping[str, str],
    given: Sequence[str],
    quiet: Mapping[str, str],
    own: Sequence[str],
    stripped: Mapping[str, str],
) -> Iterator[str]:
    yield f"kept ({len(kept)}):"
    yield from (f"  {name}={json.dumps(value)[1:-1]}" for name, value in kept.items())
    yield f"of these nacre sets ({len(given)}; environment.unset_defaults leaves them as they are):"
    yield from (f"  {name}" for name in given)
    if quiet:
        yield f"in workspace and vendor calls nacre also sets ({len(quiet)}; output.quiet_tools turns them off):"
        yield from (f"  {name}={value}" for name, value in quiet.items())
    if own:
        yield f"and your setting shell.env ({len(own)}):"
        yield from (f"  {name}" for name in own)
    yield f"stripped ({len(stripped)}):"
    width = max(map(len, stripped), default=0)
    yield from (f"  {name:<{width}}  {reason}" for name, reason in stripped.items())
