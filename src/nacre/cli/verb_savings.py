"""`nacre savings`: tokens that the minimiser saved, by command, filter and day, with the calls that were regretted."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping

from nacre import audit, config
from nacre.artifacts.openings import opened
from nacre.minimize.savings import Saving, Savings, count_savings

EPILOG = """\
A token is counted as 4 bytes. A shortened call is regretted when the same command runs again within 120 seconds, or
when its raw output is opened: by the read tool, or by a later command that names its artifact.
"""

# Rows of a table, and the width of a bar.
MOST_ROWS = 12
BAR = 24


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one object")


def main(namespace: argparse.Namespace) -> int:
    state_dir = config.state_dir(os.environ)
    found = count_savings(audit.entries(state_dir), opened(state_dir))
    print(json.dumps(_data(found)) if namespace.json else _text(found))
    return 0


def _data(found: Savings) -> dict[str, object]:
    parts = {name: {key: one.json() for key, one in part.items()} for name, part in found.parts().items()}
    return {"calls": found.calls, "total": found.total.json(), **parts}


def _text(found: Savings) -> str:
    if not found.total.calls:
        return f"{found.calls} calls, none of them shortened"
    lines = [f"{found.total.calls} of {found.calls} calls shortened: {_figures(found.total)}"]
    for name, part in found.parts().items():
        lines += ["", *_table(name, part)]
    return "\n".join(lines)


def _table(name: str, part: Mapping[str, Saving]) -> list[str]:
    # Days in their order, all others by what they saved.
    rows = list(part.items())[-MOST_ROWS:] if name == "day" else sorted(part.items(), key=lambda row: -row[1].tokens)
    most = max(one.tokens for _, one in rows)
    lines = [f"{'by ' + name:<24} {'calls':>6} {'tokens saved':>13} {'saved':>7} {'regret':>7}"]
    for key, one in rows[:MOST_ROWS]:
        bar = "█" * max(1, round(BAR * one.tokens / most)) if most > 0 else ""
        # json.dumps escapes control characters, so that a command cannot disguise itself.
        shown = json.dumps(key, ensure_ascii=False)[1:-1][:24]
        lines.append(f"{shown:<24} {one.calls:>6} {one.tokens:>13,} {one.percent:>6.1f}% {one.regrets:>7}  {bar}")
    if len(rows) > MOST_ROWS:
        lines.append(f"… and {len(rows) - MOST_ROWS} more")
    return lines


def _figures(one: Saving) -> str:
    return f"about {one.tokens:,} tokens saved ({one.percent:.1f} %), {one.regrets} regretted"
