"""`nacre tui`: the console of a person; `--plain` for screen readers."""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib.util
import signal
import sys
from functools import partial

from nacre import config
from nacre.errors import NacreError

EPILOG = """\
examples:
  nacre tui                    see what agents do here, answer, take over, run commands of your own
  nacre tui --light
  nacre tui --plain            flat text and numbered menus, for screen readers and simple terminals

In the console: F1 shows the keys; !cmd runs a command that the selected agent sees, !!cmd one that none sees.
"""

# What a shell reports for these signals is 128 and their number.
# What Textual switches on, and what undoes it: keyboard protocol, mouse, paste, sizes, wrapping, screen, cursor, focus.
_UNDO = b"\x1b[<u\x1b[?1000;1003;1006;1015;1016;2004;2048;1004l\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[0m"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class MissingPartError(NacreError):
    """A part that is installed by an extra is not there."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plain", action="store_true", help="flat text without redrawing, for screen readers")
    parser.add_argument("--light", action="store_true", help="dark text on a light background")
    parser.add_argument("--cwd", metavar="D", help="where your own commands begin")


def main(namespace: argparse.Namespace) -> int:
    from nacre import feed

    feed.surface = "tui"
    cwd = None if namespace.cwd is None else config.absolute(namespace.cwd)
    if namespace.plain:
        return asyncio.run(_plain(cwd))
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise NacreError("nacre tui needs a terminal on stdin and stdout; `nacre tui --plain` does without one")
    if importlib.util.find_spec("textual") is None:
        raise MissingPartError("nacre tui needs Textual: install nacre-shell[tui]; `nacre tui --plain` does without")
    # What is loaded stays; collections while it is loaded take a sixth of the time to the first screen.
    gc.disable()
    from nacre.tui.application import NacreApp
    from nacre.warden_client.terminal_watcher import TerminalWatcher

    watcher = TerminalWatcher(0)
    try:
        app = NacreApp(cwd=cwd, dark=not namespace.light, shown=partial(watcher.begin, _UNDO))
        asyncio.run(_serve(app))
    finally:
        watcher.close()
    return app.return_code or 0


async def _serve(app: object) -> None:
    from nacre.tui.application import NacreApp

    assert isinstance(app, NacreApp)
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        # The terminal is given back before the program ends.
        loop.add_signal_handler(number, partial(app.exit, return_code=128 + number))
    await app.run_async()


async def _plain(cwd: str | None) -> int:
    from nacre.engine.engine import from_environment
    from nacre.tui.plain_console import PlainConsole

    await PlainConsole(from_environment(), cwd=cwd).run(sys.stdin)
    return 0
