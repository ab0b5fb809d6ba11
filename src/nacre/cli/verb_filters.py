"""`nacre filters`: lists the filters in force, runs their examples, and says what is done to a command's output."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from nacre import config
from nacre.cli.frame import say
from nacre.minimize.families import Family, family_of
from nacre.minimize.selection import select
from nacre.minimize.user_filters import UserFilters, failed_examples, filters_of

EPILOG = """\
Your own filters are TOML files in ~/.config/nacre/filters (under $XDG_CONFIG_HOME). A filter of yours overrides the one
of the same name. Its examples are run at load; a filter with one that fails is left aside.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|test|explain")
    verbs.add_parser("list", help="each filter in force with its commands")
    test = verbs.add_parser("test", help="run the examples of the filters in force, or of one file")
    test.add_argument("file", nargs="?", help="a TOML file that need not be installed")
    explain = verbs.add_parser("explain", help="say which filters a command's output gets, and what they hide")
    explain.add_argument("command", help="the command; its output may be given on standard input")


def main(namespace: argparse.Namespace) -> int:
    families, problems = _filters()
    for problem in problems:
        say(problem)
    if namespace.verb == "list":
        for family in families:
            print(f"{family.name:<10} {', '.join(' '.join(words) for words in family.commands) or '(by its output)'}")
        return 1 if problems else 0
    if namespace.verb == "test":
        return _test(families, namespace.file) or (1 if problems and namespace.file is None else 0)
    return _explain(namespace.command, families)


def _filters() -> UserFilters:
    minimizer = config.load(os.environ, cwd=config.working_directory()).settings.minimizer
    return filters_of(Path(config.filters_folder(os.environ)), minimizer.only, minimizer.except_)


def _test(families: tuple[Family, ...], file: str | None) -> int:
    tested = families
    if file is not None:
        own = family_of(Path(file).read_text(encoding="utf-8"), file)
        tested, families = (own,), (own, *(family for family in families if family.name != own.name))
    failed = 0
    for family in tested:
        faults = failed_examples(family, families)
        failed += len(faults)
        for fault in faults:
            print(f"{family.name}: {fault}")
    print(f"{sum(len(family.examples) for family in tested)} examples, {failed} failed")
    return 1 if failed else 0


_SCOPES = {
    "none": "a machine format: never touched",
    "lossless": "content, or a source that is not known: only redraws and runs of blank lines go",
    "generic": "no filter knows it: redraws settle, repeats fold, rare rows and errors stay",
}


def _explain(command: str, families: tuple[Family, ...]) -> int:
    text = "" if sys.stdin.isatty() else sys.stdin.read()
    found = select(command, text, families)
    if not found.families:
        print(_SCOPES[found.scope])
    for family in found.families:
        print(f"{family.name}: stages {', '.join(family.stages)}")
        for noise in family.noise:
            when = {"any": "", "zero": " on success", "nonzero": " on failure"}[noise.exit]
            print(f"  hides {noise.kind}{when}")
    return 0
