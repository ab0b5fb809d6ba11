"""`nacre log`: shows the audit log, one line per call."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import deque
from typing import Any

from nacre import audit, config


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one object a line, as it was written")
    parser.add_argument("-n", "--last", type=int, metavar="N", help="only the last N calls")


def main(namespace: argparse.Namespace) -> int:
    entries = audit.entries(config.state_dir(os.environ))
    chosen = entries if namespace.last is None else deque(entries, maxlen=max(0, namespace.last))
    for entry in chosen:
        print(json.dumps(entry) if namespace.json else _line(entry))
    return 0


# The spelling of outcomes in texts; earlier versions wrote `timedout`.
_WORDS = {"timedOut": "timed out", "timedout": "timed out", "notStarted": "not started", "signalled": "killed"}


def _line(entry: dict[str, Any]) -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.get("time", 0)))
    code = entry.get("exitCode")
    outcome = entry.get("outcome", "?")
    outcome = _WORDS.get(outcome, outcome)
    status = outcome if code is None else f"{outcome} {code}"
    took = f"{entry['durationMs'] / 1000:.2f}s" if "durationMs" in entry else "-"
    size = (entry.get("stdoutBytes") or 0) + (entry.get("stderrBytes") or 0)
    # json.dumps escapes control and direction characters, so that a command cannot disguise itself.
    command = json.dumps(entry.get("command", ""))
    job = f"  ({entry['jobId']})" if "jobId" in entry else ""
    return f"{when}  {entry.get('contract', '?'):<9} {status:<12} {took:>8} {size:>10} B  {command}{job}"
