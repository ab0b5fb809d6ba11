"""The argument parser of each verb, made from the arguments that its module adds."""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import Any, NoReturn

from nacre.cli import VERBS
from nacre.cli.frame import usage_code

_TYPES = {"float": "a number", "int": "a whole number"}


class Parser(argparse.ArgumentParser):
    """A parser whose exit code for `nacre run` differs from the command's."""

    def print_help(self, file: Any = None) -> None:
        # The base class ignores a failed write.
        print(self.format_help(), end="", file=file)

    def error(self, message: str) -> NoReturn:
        # The base class names types of Python.
        for theirs, plain in _TYPES.items():
            message = message.replace(f"invalid {theirs} value:", f"must be {plain}, got")
        self.print_usage(sys.stderr)
        self.exit(usage_code(self.prog.split()[1]), f"{self.prog}: error: {message}\n")


def parser_of(verb: str) -> argparse.ArgumentParser:
    """Return the parser of a verb."""
    module = importlib.import_module(f"nacre.cli.verb_{verb}")
    parser = Parser(
        prog=f"nacre {verb}",
        description=f"{VERBS[verb][0].upper()}{VERBS[verb][1:]}.",
        epilog=getattr(module, "EPILOG", None),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    return parser


def add_tools(parser: argparse.ArgumentParser) -> None:
    """Add the option for the names that the interceptor may suggest."""
    parser.add_argument(
        "--tools", default="", metavar="A,B", help="names of the model's other tools, for the interceptor"
    )


def subcommand(verbs: Any, name: str, text: str) -> argparse.ArgumentParser:
    """Add a subcommand with `--json` to what `add_subparsers` returned."""
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.add_argument("--json", action="store_true", help="print objects instead of text")
    return parser


def parsed(verb: str, arguments: list[str]) -> argparse.Namespace:
    """Parse the arguments of a verb."""
    parser = parser_of(verb)
    # Options may stand between positional arguments, except in verbs with subcommands. `run` has one argument only, and
    # intermixed parsing would format its help first.
    if verb in ("artifacts", "cluster", "config", "filters", "jobs", "run"):
        return parser.parse_args(arguments)
    return parser.parse_intermixed_args(arguments)
