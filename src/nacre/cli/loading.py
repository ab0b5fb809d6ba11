"""How a verb gets going soon: half of a short command's time is loading."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

# Loaded by asyncio and subprocess, which use them when something has gone wrong or not at all: a quarter of their time.
_SELDOM_USED = ("asyncio.sslproto", "asyncio.staggered", "inspect", "linecache", "locale", "textwrap")


def begin() -> None:
    """As a program of its own: let the collector rest, as nothing that is being loaded is garbage."""
    gc.disable()


def finish() -> None:
    """What was loaded stays: from now on the collector looks at the rest, and takes nothing apart at the end."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def leave(code: int) -> NoReturn:
    """End at once. All is written; to take the interpreter apart would take longer than many a command."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code)


def prepare(verb: str) -> None:
    """Load what the verb is about to need, in the best order."""
    if verb in ("run", "call"):
        for name in _SELDOM_USED:
            _load_when_used(name)
    if verb in ("run", "call", "rpc", "mcp") and os.environ.get("NACRE_CONTAINMENT") != "off":
        from nacre.warden_client.pool import warden

        # It loads beside us; a verb that runs a command needs both.
        warden.warm()
    if verb in ("run", "call"):
        _load_asyncio()


def _load_asyncio() -> None:
    """Load asyncio without ssl, which it takes along if it can: a tenth of our start, and no command speaks TLS."""
    if "asyncio" in sys.modules or "ssl" in sys.modules:
        return
    sys.modules["ssl"] = None  # type: ignore[assignment]
    try:
        importlib.import_module("asyncio")
    finally:
        del sys.modules["ssl"]


def _load_when_used(name: str) -> None:
    """Put a module in its place that becomes the real one when something of it is first asked for.

    The standard library's LazyLoader does not do: already the next `import` of the module asks it for something.
    """
    if name in sys.modules:
        return
    module = ModuleType(name)

    def get(attribute: str) -> object:
        del module.__getattr__, sys.modules[name]
        vars(module).update(vars(importlib.import_module(name)))
        return getattr(module, attribute)

    module.__getattr__ = get  # type: ignore[method-assign]
    sys.modules[name] = module
