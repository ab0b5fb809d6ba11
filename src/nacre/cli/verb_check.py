"""`nacre check`: prints the guard's verdict about a command and runs nothing.

With `--jsonl` there is exactly one answer per input line; input that cannot be read or checked is denied by the rule
`unchecked`.
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from nacre import api, config
from nacre.cli.frame import complain, explain_waiting, say
from nacre.contracts import command_contract_names, contract_named
from nacre.contracts.contract import Companion, SeriesContract
from nacre.errors import ConfigError
from nacre.guard.approval import is_guarded, judge, policy_of
from nacre.guard.explanation import explain_verdict
from nacre.guard.review import unchecked
from nacre.guard.rules.rule_file import RuleFileError, load_rules
from nacre.guard.verdict import ALLOWED, Verdict
from nacre.planning.plan import plan
from nacre.profile import Profile
from nacre.regular_file import read_regular_text
from nacre.request import ShellRequest

Judge = Callable[[str], Verdict]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("command", nargs="?", help="the command to judge; read from standard input when left out")
    parser.add_argument("--jsonl", action="store_true", help='one {"command": …} a line in, one verdict a line out')
    parser.add_argument("--json", action="store_true", help="print JSON (this is the default form)")
    parser.add_argument(
        "--contract",
        choices=[*command_contract_names(), api.PROFILE.contract],
        default="workspace",
        help="judge as a call of this contract does; workspace when left out",
    )
    parser.add_argument(
        "--profile",
        choices=("default", "strict"),
        help="which rules hold, in place of policy.guard_profile",
    )
    parser.add_argument("--explain", action="store_true", help="say in words which part decided, and why")
    parser.add_argument("--rules", metavar="FILE", help="a TOML file of your own rules, in place of policy.rules_file")
    parser.add_argument("--replay", metavar="LOG", help="count what the rules would have said about an audit log")


def main(namespace: argparse.Namespace) -> int:
    try:
        judged = _judge(namespace)
        if namespace.replay is not None:
            with Path(namespace.replay).open(encoding="utf-8", errors="replace") as log:
                print(json.dumps(replay(log, judged)))
            return 0
    except (ConfigError, RuleFileError) as exc:
        say(f"nacre check: {exc}")
        return 2
    except OSError as exc:
        say(f"nacre check: {exc.filename} cannot be read: {exc.strerror}")
        return 2
    if namespace.jsonl or namespace.command is None:
        explain_waiting("reading from this terminal what to judge")
    if namespace.jsonl:
        for line in sys.stdin.buffer:
            print(json.dumps(check_line(line, judged).json()), flush=True)
        return 0
    command = namespace.command if namespace.command is not None else sys.stdin.read()
    verdict = judged(command)
    print(explain_verdict(command, verdict) if namespace.explain else json.dumps(verdict.json()))
    return 0


def _judge(namespace: argparse.Namespace) -> Judge:
    """Return what judges a command with the settings, environment and directory of a call here."""
    cwd, environ = config.working_directory(), dict(os.environ)
    settings = config.load(environ, cwd=cwd).settings
    for notice in settings.notices:
        complain(notice)
    profile = _profile(namespace.contract)
    chosen = settings.policy
    if namespace.profile is not None:
        chosen = chosen._replace(guard_profile=namespace.profile)
    if namespace.rules is not None:
        chosen = chosen._replace(rules_file=None)
    policy = policy_of(chosen, profile)
    if namespace.rules is not None:
        policy = replace(policy, rules=load_rules(read_regular_text(namespace.rules), namespace.rules))
    if not is_guarded(profile, chosen):
        return lambda command: ALLOWED
    env = plan(ShellRequest(command="true"), profile, settings, cwd=cwd, environ=environ).command.env
    return lambda command: judge(command, policy, env, cwd=cwd)


def _profile(name: str) -> Profile:
    if name == api.PROFILE.contract:
        return api.PROFILE
    contract = contract_named(name)
    if isinstance(contract, SeriesContract):
        return contract.decode_series({"commands": ["true"]}).profile
    assert not isinstance(contract, Companion)
    return contract.profile


def check_line(line: str | bytes, judged: Judge) -> Verdict:
    """Judge one line of `--jsonl` input."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return unchecked("the line is not JSON")
    command = row.get("command") if isinstance(row, dict) else None
    if not isinstance(command, str):
        return unchecked('the line has no "command" that is a string')
    return judged(command)


def replay(lines: Iterable[str], judged: Judge) -> dict[str, object]:
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
        verdict = judged(command)
        if verdict.decision != "allow":
            counts[verdict.decision][verdict.rule or ""] += 1
    return {"commands": total, "skipped": skipped, "ask": dict(counts["ask"]), "deny": dict(counts["deny"])}
