"""`nacre minimize`: shortens an output as a model would see it. Nothing is kept."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from nacre import config
from nacre.cli.frame import explain_waiting, say
from nacre.minimize.minimiser import minimise
from nacre.minimize.user_filters import filters_of, matchers_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--command", required=True, help="the command whose output is on standard input")
    parser.add_argument("--exit", type=int, default=0, metavar="N", help="its exit code (0)")


def main(namespace: argparse.Namespace) -> int:
    minimizer = config.load(os.environ, cwd=config.working_directory()).settings.minimizer
    families, problems = filters_of(Path(config.filters_folder(os.environ)), minimizer.only, minimizer.except_)
    for problem in problems:
        say(problem)
    explain_waiting("reading the output from this terminal")
    raw = sys.stdin.buffer.read()
    text = raw.decode("utf-8", "replace")
    found = minimise(namespace.command, namespace.exit, text, families, matchers_of(minimizer.matcher_files))
    if found is None:
        say("nothing hidden: too little to save, or content that must stay whole")
        sys.stdout.buffer.write(raw)
        return 0
    saved = 100 * (1 - found.shown_bytes / found.raw_bytes)
    say(f"{found.filter}: {found.raw_bytes} bytes, {found.shown_bytes} shown, {saved:.1f} % saved")
    sys.stdout.buffer.write(found.text.encode("utf-8", "replace") + b"\n")
    return 0
