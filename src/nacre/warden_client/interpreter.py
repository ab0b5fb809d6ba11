"""Starts an interpreter of our own that shares nothing with this program but one socket."""

from __future__ import annotations

import os
import subprocess
import sys

# What an interpreter may need to find its own libraries.
_NEEDED = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL")


def start_interpreter(code: str, descriptor: int, *words: str) -> subprocess.Popen[bytes]:
    """Run code whose arguments are the folder of this package, the inherited descriptor and further words.

    Nothing of the caller's is in its environment to be read.

    Raises:
        OSError: it could not be started.
    """
    source = os.path.realpath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code, source, str(descriptor), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[descriptor],
        start_new_session=True,
        cwd="/",
        env={name: os.environ[name] for name in _NEEDED if name in os.environ},
    )
