"""What every verb has around it: its parser, and nacre's own failures as one line on stderr."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from nacre.cli import VERBS
from nacre.errors import DeniedError, NacreError, RequestError
from nacre.warden.privacy import become_unreadable

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


def _parsed(verb: str, arguments: list[str]) -> argparse.Namespace:
    parser = parser_of(verb)
    # An option may stand between the words of a verb, except where one of them is a verb of its own.
    if verb in ("artifacts", "config", "jobs"):
        return parser.parse_args(arguments)
    return parser.parse_intermixed_args(arguments)


def _warm() -> None:
    """Let the warden load beside us; a verb that runs a command needs both."""
    if os.environ.get("NACRE_CONTAINMENT") != "off":
        from nacre.backends.wardens import warden

        warden.warm()


def _load_asyncio() -> None:
    """Load asyncio without ssl, which it takes along if it can: a tenth of our start, and no command speaks TLS."""
    if "asyncio" in sys.modules or "ssl" in sys.modules:
        return
    sys.modules["ssl"] = None  # type: ignore[assignment]
    try:
        importlib.import_module("asyncio")
    finally:
        del sys.modules["ssl"]


def dispatch(verb: str, arguments: list[str]) -> int:
    """Run a verb; its exit code."""
    become_unreadable()

    def work() -> int:
        if verb in ("run", "call", "rpc", "mcp") and not {"-h", "--help"} & set(arguments):
            _warm()
        if verb in ("run", "call"):
            _load_asyncio()
        namespace = _parsed(verb, arguments)
        return int(importlib.import_module(f"nacre.cli.{verb}").main(namespace))

    return guarded(work, usage_code=_usage_code(verb))


def guarded(work: Callable[[], int], *, usage_code: int = USAGE) -> int:
    """Do the work of a command line; what goes wrong is one line on stderr and an exit code."""
    _open_closed_streams()
    try:
        code = work()
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read our output has had enough; there is nobody left to tell.
        _discard_stdout()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except DeniedError as error:
        print(f"nacre: {error}", file=sys.stderr)
        return DENIED
    except RequestError as error:
        print(f"nacre: {error}", file=sys.stderr)
        return usage_code
    except NacreError as error:
        print(f"nacre: {error}", file=sys.stderr)
        return OUR_FAILURE
    except OSError as error:
        print(f"nacre: {error}", file=sys.stderr)
        _discard_stdout()
        return OUR_FAILURE


def _discard_stdout() -> None:
    """Let what cannot be written go nowhere, or the interpreter would try again at its end and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_closed_streams() -> None:
    """Give a standard stream that the caller closed to /dev/null; else the next file opened would take its number."""
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
            if getattr(sys, name) is None:
                setattr(sys, name, os.fdopen(fd, "r" if fd == 0 else "w", encoding="utf-8", closefd=False))
