"""Has another process give a person's terminal back, should this one be killed while it uses the terminal."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys

from nacre.warden import terminal_return


class TerminalWatcher:
    """The process that waits for the end of this one; it lives as long as the terminal is in use."""

    def __init__(self, fd: int) -> None:
        """Start it while the terminal is still as it is to be given back."""
        # Opened anew: other processes that have the terminal open must not get its non-blocking mode.
        opened = os.open(os.ttyname(fd), os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._fd = fd
        self._undo = b""
        try:
            modes = json.dumps(terminal_return.modes_of(fd))
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", terminal_return.__file__, str(opened), modes],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(opened,),
                start_new_session=True,
                cwd="/",
                # No more than an interpreter may need to start: other processes can read it there.
                env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
            )
        finally:
            os.close(opened)
        assert self._process.stdin is not None
        self._said = self._process.stdin

    def begin(self, undo: bytes = b"") -> None:
        """Tell the modes that this program has set just now."""
        self._say(json.dumps(terminal_return.modes_of(self._fd)).encode("ascii"))
        self.keep(undo)

    def keep(self, undo: bytes) -> None:
        """Tell what undoes all that is switched on in the terminal now."""
        if undo != self._undo:
            self._undo = undo
            self._say(undo.hex().encode("ascii"))

    def _say(self, line: bytes) -> None:
        # Ended by a person: then nothing is given back, and everything else goes on.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._said.fileno(), line + b"\n")

    def close(self) -> None:
        """End it: the terminal is given back in order."""
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):
            self._said.close()
