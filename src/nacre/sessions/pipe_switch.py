"""Moves a running shell to a new output pipe, so that it can go on beside processes that hold the old one."""

from __future__ import annotations

import contextlib
import os
import tempfile

from nacre.command import SandboxSpec
from nacre.sessions.framing import TurnReport
from nacre.sessions.live_bash import LiveBash
from nacre.sessions.shell_loop import NO_PIPE

# A file system in memory: the user's temporary directory may be on one that does not answer.
_MEMORY = "/dev/shm"


class PipeSwitch:
    """A FIFO in a private directory, which exists until the shell has opened it."""

    def __init__(self, sandbox: SandboxSpec | None = None) -> None:
        """Raises OSError if no FIFO can be made."""
        private = None if sandbox is None else sandbox.message.get("temporary")
        where = private or (_MEMORY if os.access(_MEMORY, os.W_OK | os.X_OK) else None)
        self._directory = tempfile.mkdtemp(prefix="nacre-", dir=where)
        self._fifo = os.path.join(self._directory, "output")
        self.path = self._fifo if private is None else f"/tmp{self._fifo.removeprefix(private)}"
        """The FIFO as the shell sees it."""
        try:
            os.mkfifo(self._fifo, 0o600)
            self._reader = os.open(self._fifo, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            self._remove_name()
            raise

    def complete(self, bash: LiveBash, report: TurnReport) -> bool:
        """Take the shell's report about the switch; False if it could not open the pipe."""
        if report.problem == NO_PIPE:
            self.cancel()
            return False
        self._remove_name()
        bash.output, bash.switched = self._reader, True
        bash.leftovers.became_job(report.last)
        return True

    def cancel(self) -> None:
        self._remove_name()
        os.close(self._reader)

    def _remove_name(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._fifo)
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(self._directory)
