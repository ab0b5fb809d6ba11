"""What every verb has around it: its parser, and nacre's own failures as one line on stderr."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from nacre.cli import VERBS
from nacre.errors import DeniedError, NacreError, RequestError

# Exit codes of nacre itself, as far from a command's own as the shell's conventions allow.
USAGE, OUR_FAILURE, DENIED = 2, 125, 126


def dispatch(verb: str, arguments: list[str]) -> int:
    """Run a verb; its exit code."""
    module = importlib.import_module(f"nacre.cli.{verb}")
    parser = argparse.ArgumentParser(
        prog=f"nacre {verb}",
        description=f"{VERBS[verb][0].upper()}{VERBS[verb][1:]}.",
        epilog=getattr(module, "EPILOG", None),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    namespace = parser.parse_args(arguments)
    try:
        code = int(module.main(namespace))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read our output has had enough; there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130
    except DeniedError as error:
        print(f"nacre: {error}", file=sys.stderr)
        return DENIED
    except RequestError as error:
        print(f"nacre: {error}", file=sys.stderr)
        return OUR_FAILURE if verb == "run" else USAGE
    except NacreError as error:
        print(f"nacre: {error}", file=sys.stderr)
        return OUR_FAILURE
