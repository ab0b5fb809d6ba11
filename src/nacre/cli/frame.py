"""Runs a verb: from its arguments to its exit code. A failure of nacre is one line on stderr."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable

from nacre import feed
from nacre.errors import DeniedError, NacreError, RequestError
from nacre.warden.privacy import become_unreadable

# Exit codes of nacre; 125 and 126 are unlikely to be those of a command.
USAGE, OUR_FAILURE, DENIED = 2, 125, 126
# The exit codes that a shell reports for SIGINT and SIGPIPE.
INTERRUPTED, BROKEN_PIPE = 128 + 2, 128 + 13

# The verbs that run commands.
STARTS_COMMANDS = ("run", "try", "call", "rpc", "mcp")


def usage_code(verb: str) -> int:
    """Return the exit code for wrong arguments; that of `nacre run` must differ from its command's."""
    return OUR_FAILURE if verb == "run" else USAGE


def dispatch(verb: str, arguments: list[str]) -> int:
    """Run a verb; return its exit code."""

    def work() -> int:
        if verb in STARTS_COMMANDS and not {"-h", "--help"} & set(arguments):
            _start_warden()
            feed.surface = verb if verb in ("mcp", "rpc") else "cli"
        become_unreadable()
        if "NACRE_ON" in os.environ and verb in STARTS_COMMANDS and verb != "run":
            from nacre.cli.chosen_place import choose_place

            choose_place()
        module = importlib.import_module(f"nacre.cli.verb_{verb}")
        namespace = module.plain(arguments) if verb == "run" else None
        if namespace is None:
            from nacre.cli.parser import parsed

            namespace = parsed(verb, arguments)
        return int(module.main(namespace))

    return guarded(work, on_request_error=usage_code(verb))


def _start_warden() -> None:
    """Start the warden before the verb's modules are imported: it loads in parallel."""
    if os.environ.get("NACRE_CONTAINMENT") != "off":
        from nacre.warden_client.pool import warden

        warden.warm()


def guarded(work: Callable[[], int], *, on_request_error: int = USAGE) -> int:
    """Run `work` and return its exit code; a failure is one line on stderr and an exit code."""
    _open_closed_streams()
    try:
        try:
            code = work()
        except SystemExit as end:
            # From --help or from a signal; stdout is not flushed yet.
            code = int(end.code or 0)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has closed our stdout.
        _discard_stdout()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except DeniedError as error:
        complain(f"{error}")
        return DENIED
    except RequestError as error:
        complain(f"{error}")
        return on_request_error
    except NacreError as error:
        complain(f"{error}")
        return OUR_FAILURE
    except OSError as error:
        _discard_stdout()
        reason = error.strerror or str(error)
        complain(f"a read or write failed: {reason}" if error.filename is None else f"{error.filename}: {reason}")
        return OUR_FAILURE


def complain(message: str) -> None:
    """Write a problem to stderr."""
    say(f"nacre: {message}")


def explain_waiting(what: str) -> None:
    """Say at a terminal what is read from it: without a word a person thinks that it hangs."""
    if sys.stdin is not None and sys.stdin.isatty():
        complain(f"{what}; Ctrl-D ends it")


def say(line: str) -> None:
    """Write a line to stderr; a failure to write it changes no exit code."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _discard_stdout() -> None:
    """Discard unwritable output, or the interpreter would try to write it at exit and print an error."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_closed_streams() -> None:
    """Open a standard stream that the caller closed as /dev/null; else the next open file would take its number."""
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
            if getattr(sys, name) is None:
                setattr(sys, name, os.fdopen(fd, "r" if fd == 0 else "w", encoding="utf-8", closefd=False))
