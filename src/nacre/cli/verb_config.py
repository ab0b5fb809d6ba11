"""`nacre config`: shows the effective settings and their sources."""

from __future__ import annotations

import argparse
import json
import os

from nacre import config
from nacre.cli.frame import complain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="show")
    show = verbs.add_parser("show", help="every setting, its value and its source")
    show.add_argument("--json", action="store_true", help="print one object")


def main(namespace: argparse.Namespace) -> int:
    loaded = config.load(os.environ, cwd=config.working_directory())
    if namespace.json:
        settings = {origin.key: {"value": origin.value, "source": origin.source} for origin in loaded.origins}
        answer = {"stateDir": loaded.state_dir, "settings": settings, "notices": list(loaded.settings.notices)}
        print(json.dumps(answer))
        return 0
    for notice in loaded.settings.notices:
        complain(notice)
    print(f"state directory: {loaded.state_dir}")
    for origin in loaded.origins:
        value = "(unset)" if origin.value is None else json.dumps(origin.value)
        print(f"{origin.key:<32} {value:<14} {origin.source}")
    return 0
