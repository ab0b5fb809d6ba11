"""`nacre check`: prints the guard's verdict about a command and runs nothing.

With `--jsonl` there is exactly one answer per input line; input that cannot be read or checked is denied by the rule
`unchecked`.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from nacre.cli.frame import say
from nacre.guard.explanation import explain_verdict
from nacre.guard.review import Policy, review, unchecked
from nacre.guard.rules.rule_file import RuleFileError, load_rules
from nacre.guard.verdict import Verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("command", nargs="?", help="the command to judge; read from standard input when left out")
    parser.add_argument("--jsonl", action="store_true", help='one {"command": …} a line in, one verdict a line out')
    parser.add_argument("--json", action="store_true", help="print JSON (this is the default form)")
    parser.add_argument("--profile", choices=("default", "strict"), default="default")
    parser.add_argument("--explain", action="store_true", help="say in words which part decided, and why")
    parser.add_argument("--rules", metavar="FILE", help="a TOML file with your own rules")
    parser.add_argument("--replay", metavar="LOG", help="count what the rules would have said about an audit log")


def main(namespace: argparse.Namespace) -> int:
    try:
        policy = _policy(namespace)
        if namespace.replay is not None:
            with Path(namespace.replay).open(encoding="utf-8", errors="replace") as log:
                print(json.dumps(replay(log, policy)))
            return 0
    except (RuleFileError, OSError) as exc:
        say(f"nacre check: {exc}")
        return 2
    if namespace.jsonl:
        for line in sys.stdin.buffer:
            print(json.dumps(check_line(line, policy).json()), flush=True)
        return 0
    command = namespace.command if namespace.command is not None else sys.stdin.read()
    verdict = review(command, policy)
    print(explain_verdict(command, verdict) if namespace.explain else json.dumps(verdict.json()))
    return 0


def _policy(namespace: argparse.Namespace) -> Policy:
    if namespace.rules is None:
        return Policy(namespace.profile)
    text = Path(namespace.rules).read_text(encoding="utf-8")
    return Policy(namespace.profile, load_rules(text, namespace.rules))


def check_line(line: str | bytes, policy: Policy) -> Verdict:
    """Judge one line of `--jsonl` input."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return unchecked("the line is not JSON")
    command = row.get("command") if isinstance(row, dict) else None
    if not isinstance(command, str):
        return unchecked('the line has no "command" that is a string')
    return review(command, policy)


def replay(lines: Iterable[str], policy: Policy) -> dict[str, object]:
    """Count the verdicts of each rule over the commands of an audit log."""
    total = 0
    counts: dict[str, Counter[str]] = {"ask": Counter(), "deny": Counter()}
    skipped = 0
    for line in lines:
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        command = row.get("command") if isinstance(row, dict) else None
        if not isinstance(command, str):
            skipped += 1
            continue
        total += 1
        verdict = review(command, policy)
        if verdict.decision != "allow":
            counts[verdict.decision][verdict.rule or ""] += 1
    return {"commands": total, "skipped": skipped, "ask": dict(counts["ask"]), "deny": dict(counts["deny"])}
