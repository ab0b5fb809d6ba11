"""What every verb has around it: its parser, and nacre's own failures as one line on stderr."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import NoReturn

from nacre.cli import VERBS
from nacre.errors import DeniedError, NacreError, RequestError

# Exit codes of nacre itself, as far from a command's own as the shell's conventions allow.
USAGE, OUR_FAILURE, DENIED = 2, 125, 126
# What a shell reports for a program that a signal ended.
INTERRUPTED, BROKEN_PIPE = 128 + 2, 128 + 13


class Parser(argparse.ArgumentParser):
    """A parser whose complaints about `nacre run` cannot be taken for the command's exit code."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(_usage_code(self.prog.split()[1]), f"{self.prog}: error: {message}\n")


def _usage_code(verb: str) -> int:
    return OUR_FAILURE if verb == "run" else USAGE


def parser_of(verb: str) -> argparse.ArgumentParser:
    """The parser of a verb."""
    module = importlib.import_module(f"nacre.cli.{verb}")
    parser = Parser(
        prog=f"nacre {verb}",
        description=f"{VERBS[verb][0].upper()}{VERBS[verb][1:]}.",
        epilog=getattr(module, "EPILOG", None),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    return parser


def dispatch(verb: str, arguments: list[str]) -> int:
    """Run a verb; its exit code."""
    _open_closed_streams()
    try:
        namespace = parser_of(verb).parse_args(arguments)
        code = int(importlib.import_module(f"nacre.cli.{verb}").main(namespace))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read our output has had enough; there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except DeniedError as error:
        print(f"nacre: {error}", file=sys.stderr)
        return DENIED
    except RequestError as error:
        print(f"nacre: {error}", file=sys.stderr)
        return _usage_code(verb)
    except (NacreError, OSError) as error:
        print(f"nacre: {error}", file=sys.stderr)
        return OUR_FAILURE


def _open_closed_streams() -> None:
    """Give a standard stream that the caller closed to /dev/null; else the next file opened would take its number."""
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
            if getattr(sys, name) is None:
                setattr(sys, name, os.fdopen(fd, "r" if fd == 0 else "w", encoding="utf-8", closefd=False))
