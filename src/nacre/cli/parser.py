"""The words after a verb: every verb's parser, made from what its module adds."""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import Any, NoReturn

from nacre.cli import VERBS
from nacre.cli.frame import usage_code


class Parser(argparse.ArgumentParser):
    """A parser whose complaints about `nacre run` cannot be taken for the command's exit code."""

    def print_help(self, file: Any = None) -> None:
        # The base class swallows a failed write.
        print(self.format_help(), end="", file=file)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(usage_code(self.prog.split()[1]), f"{self.prog}: error: {message}\n")


def parser_of(verb: str) -> argparse.ArgumentParser:
    """The parser of a verb."""
    module = importlib.import_module(f"nacre.cli.verb_{verb}")
    parser = Parser(
        prog=f"nacre {verb}",
        description=f"{VERBS[verb][0].upper()}{VERBS[verb][1:]}.",
        epilog=getattr(module, "EPILOG", None),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    return parser


def parsed(verb: str, arguments: list[str]) -> argparse.Namespace:
    """What the words say."""
    parser = parser_of(verb)
    # An option may stand between the words of a verb, except where one of them is a verb of its own. `run` has only one
    # word, and the other way of parsing would lay out its help first.
    if verb in ("artifacts", "config", "jobs", "run"):
        return parser.parse_args(arguments)
    return parser.parse_intermixed_args(arguments)
