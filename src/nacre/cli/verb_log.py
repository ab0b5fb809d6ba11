"""`nacre log`: shows the audit log, one line per call, or all that it has about one call."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from nacre import audit, config
from nacre.cli.following import appended_lines
from nacre.cli.frame import USAGE, complain
from nacre.cli.listing import GREEN, RED, SIGN_COLUMNS, Paper, paper
from nacre.warden import path_lookup

# How many calls come before those that are followed.
BEFORE_FOLLOWING = 10

OUTCOMES = ("exited", "signalled", "timedOut", "stopped", "lost", "denied", "notStarted")
# The spelling of outcomes in texts.
_WORDS = {"timedOut": "timed out", "notStarted": "not started", "signalled": "killed"}
# How earlier versions wrote them.
_EARLIER = {"timedout": "timedOut"}

EPILOG = """\
A call has failed when it exited with another code than 0 or did not exit by itself. Text shortens long commands;
--json has them whole, with the id of each call. On a terminal there are a header and colours (not with NO_COLOR).

`show ID` prints every fact about a call: ID is the id of a call or of a job. Without an ID it is the newest call. What
ran on a terminal is replayed on yours then (q leaves); --cast prints the recording itself, for any asciicast player.

examples:
  nacre log -n 20
  nacre log show bg_1
  nacre log show bg_1 --cast > demo.cast
  nacre log --failed --project .
  nacre log -f --json
"""

Test = Callable[[dict[str, Any]], bool]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="show ID", help="all that the log has about one call")
    parser.add_argument("--json", action="store_true", help="one object a line, as it was written")
    parser.add_argument("--cast", action="store_true", help="with show: print the recording of a terminal")
    parser.add_argument(
        "--speed", type=float, default=1.0, metavar="N", help="with show: replay N times as fast (default: 1)"
    )
    parser.add_argument("-n", "--last", type=int, metavar="N", help="only the last N calls")
    parser.add_argument("-f", "--follow", action="store_true", help="go on with the calls to come, until interrupted")
    parser.add_argument("--failed", action="store_true", help="only calls that failed")
    parser.add_argument("--outcome", choices=OUTCOMES, help="only calls with this outcome")
    parser.add_argument(
        "--project", metavar="DIR", help="only calls in the project of this directory (the nearest .git or nacre.toml)"
    )


def main(namespace: argparse.Namespace) -> int:
    state_dir = config.state_dir(os.environ)
    if namespace.words:
        return _show(namespace, state_dir)
    wanted = _wanted(namespace)
    # Before the log is read, so that no call is missed between the two.
    coming = appended_lines(os.path.join(os.path.abspath(state_dir), audit.NAME)) if namespace.follow else iter(())
    last = BEFORE_FOLLOWING if namespace.follow and namespace.last is None else namespace.last
    entries: Iterator[dict[str, Any]] = filter(wanted, audit.entries(state_dir))
    sheet = paper()
    if not namespace.json:
        sheet.header(f"  {'TIME':<19}  {'CONTRACT':<9} {'OUTCOME':<12} {'TOOK':>8} {'OUTPUT':>10}    COMMAND")
    for entry in entries if last is None else deque(entries, maxlen=max(0, last)):
        print(json.dumps(entry) if namespace.json else _line(entry, sheet))
    # The calls to come may take long.
    sys.stdout.flush()
    for line in coming:
        found = audit.decode_line(line.decode("ascii", "replace"))
        if found is not None and wanted(found):
            print(json.dumps(found) if namespace.json else _line(found, sheet), flush=True)
    return 0


def _show(namespace: argparse.Namespace, state_dir: str) -> int:
    verb, *ids = namespace.words
    if not namespace.speed > 0:
        complain(f"--speed must be above 0, got {namespace.speed:g}")
        return USAGE
    if verb != "show" or len(ids) > 1:
        complain(f"nacre log takes no arguments, or show and one id; got {' '.join(namespace.words)!r}")
        return USAGE
    entries = list(audit.entries(state_dir))
    if not entries:
        print("no calls")
        return 0
    wanted = ids[0] if ids else str(entries[-1].get("call"))
    # A call that became a job has two entries with the same id: its start and its end.
    found = [entry for entry in entries if wanted in (entry.get("call"), entry.get("jobId"))]
    if not found:
        complain(
            f"no call {wanted!r} in the log; `nacre log --json` has the ids of calls, `nacre jobs list` those of jobs"
        )
        return USAGE
    if namespace.cast:
        return _print_cast(found, state_dir)
    for number, entry in enumerate(found):
        if namespace.json:
            print(json.dumps(entry))
            continue
        shown = {**entry, "time": _when(entry)}
        width = max(map(len, shown))
        # json.dumps escapes control and direction characters, so that no fact can disguise itself.
        lines = [f"{name:<{width}}  {value if name == 'time' else json.dumps(value)}" for name, value in shown.items()]
        print(*[""] * bool(number), *lines, sep="\n")
    if namespace.json or not sys.stdout.isatty() or not sys.stdin.isatty() or not _on_terminal(found):
        return 0
    return _replay(found, state_dir, namespace.speed)


def _on_terminal(entries: list[dict[str, Any]]) -> bool:
    """Whether a call may have a recording: one that ran on a terminal is a job, or has kept it."""
    return any("recording" in entry or "jobId" in entry for entry in entries)


def _replay(entries: list[dict[str, Any]], state_dir: str, speed: float) -> int:
    # Loaded for the few calls that have one.
    from nacre.cli.replay import read_recording, recording_of, replay
    from nacre.screen.virtual_screen import INSTALL, has_emulator

    path = recording_of(entries, state_dir)
    if path is None:
        return 0
    if not has_emulator():
        complain(f"it has a recording, which is not replayed here: {INSTALL}")
        return 0
    print(asyncio.run(replay(read_recording(path), speed=speed)))
    return 0


def _print_cast(entries: list[dict[str, Any]], state_dir: str) -> int:
    from nacre.cli.replay import recording_of

    path = recording_of(entries, state_dir)
    if path is None:
        complain("this call has no recording: it had no terminal, or pty.record is false, or it was removed since")
        return USAGE
    with open(path, encoding="utf-8") as file:
        for line in file:
            print(line, end="")
    return 0


def _when(entry: dict[str, Any]) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.get("time", 0)))


def _wanted(namespace: argparse.Namespace) -> Test:
    """Return the test that the filters make."""
    tests: list[Test] = []
    if namespace.failed:
        tests.append(_has_failed)
    if namespace.outcome is not None:
        tests.append(lambda entry: _outcome(entry) == namespace.outcome)
    if namespace.project is not None:
        project = path_lookup.project_of(os.path.abspath(namespace.project)).rstrip("/") + "/"
        tests.append(lambda entry: f"{entry.get('cwd', '')}/".startswith(project))
    return lambda entry: all(test(entry) for test in tests)


def _outcome(entry: dict[str, Any]) -> str:
    outcome = str(entry.get("outcome", "?"))
    return _EARLIER.get(outcome, outcome)


def _has_failed(entry: dict[str, Any]) -> bool:
    if _outcome(entry) == "exited":
        return bool(entry.get("exitCode"))
    # The start of a job has no outcome of its own.
    return _outcome(entry) in OUTCOMES


def _line(entry: dict[str, Any], sheet: Paper) -> str:
    when = _when(entry)
    code, outcome = entry.get("exitCode"), _outcome(entry)
    word = _WORDS.get(outcome, outcome)
    status = f"{word if code is None else f'{word} {code}':<12}"
    took = f"{entry['durationMs'] / 1000:.2f}s" if entry.get("durationMs") is not None else "-"
    size = (entry.get("stdoutBytes") or 0) + (entry.get("stderrBytes") or 0)
    job = f"  ({entry['jobId']})" if "jobId" in entry else ""
    before, after = f"{when}  {entry.get('contract', '?'):<9} ", f" {took:>8} {size:>10} B  "
    room = SIGN_COLUMNS + len(before) + len(status) + len(after)
    command = sheet.command(entry.get("command", ""), before=room, after=len(job))
    painted = sheet.paint(status, RED if _has_failed(entry) else GREEN)
    sign = sheet.sign({**entry, "outcome": outcome})
    return f"{sign}{before}{painted}{after}{command}{job}"
