"""`nacre env`: shows which variables a command would see, and why others are removed.

Only the names of removed variables are printed. `--jsonl` judges variables from standard input instead; every line gets
exactly one answer, and an unreadable line counts as a secret.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence

from nacre import config
from nacre.environment.filter import Profile, child_environment, judge
from nacre.environment.noninteractive import noninteractive_defaults
from nacre.output.redaction.redactor import Redactor

Answer = Mapping[str, str | bool | None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print one object: kept and stripped")
    shape.add_argument(
        "--jsonl", action="store_true", help='judge {"name", "value"} lines from standard input, one answer a line'
    )
    parser.add_argument(
        "--profile", choices=("default", "strict"), default="default", help="strict keeps core variables only"
    )


def main(namespace: argparse.Namespace) -> int:
    if namespace.jsonl:
        for line in sys.stdin.buffer:
            print(json.dumps(answer(line, namespace.profile)), flush=True)
        return 0
    own_venv = sys.prefix if sys.prefix != sys.base_prefix else None
    left = config.load(os.environ, cwd=config.working_directory()).settings.environment.unset_defaults
    child = child_environment(os.environ, profile=namespace.profile, unset_defaults=left, own_venv=own_venv)
    given = sorted(name for name in noninteractive_defaults() if name not in left)
    redactor = Redactor(child.hidden)
    kept = {name: redactor.redact_text(value) for name, value in sorted(child.kept.items())}
    stripped = sorted(child.stripped, key=lambda variable: variable.name)
    if namespace.json:
        reasons = [{"name": each.name, "rule": each.rule, "reason": each.reason} for each in stripped]
        print(json.dumps({"profile": namespace.profile, "kept": kept, "set": given, "stripped": reasons}))
        return 0
    for line in report(kept, given, {each.name: f"{each.rule}: {each.reason}" for each in stripped}):
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


def report(kept: Mapping[str, str], given: Sequence[str], stripped: Mapping[str, str]) -> Iterator[str]:
    yield f"kept ({len(kept)}):"
    yield from (f"  {name}={json.dumps(value)[1:-1]}" for name, value in kept.items())
    yield f"of these nacre sets ({len(given)}; environment.unset_defaults leaves them as they are):"
    yield from (f"  {name}" for name in given)
    yield f"stripped ({len(stripped)}):"
    width = max(map(len, stripped), default=0)
    yield from (f"  {name:<{width}}  {reason}" for name, reason in stripped.items())
