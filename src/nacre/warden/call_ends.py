"""The descriptors of one call of the remote service: those that it keeps, and those that the runner gets."""

from __future__ import annotations

import os

from nacre.warden.far_shell import FarShell
from nacre.warden.remote_protocol import SIDE
from nacre.warden.terminal import open_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class CallEnds:
    """The ends of a command's pipes or of its terminal, and of a session's shell."""

    def __init__(self, request: dict[str, Any], size: list[int] | None) -> None:
        """Raises OSError or termios.error when they cannot be had."""
        self.streams: dict[int, int] = {}
        """The numbers of the streams, by the descriptor that is read."""
        self._writers: list[int] = []
        self.shell: FarShell | None = None
        self.terminal = -1
        try:
            if size is not None:
                self.terminal, writer = open_terminal(*size)
                self._add(1, self.terminal, writer)
            else:
                for stream in [*range(1, request["outputs"] + 1), *([SIDE] if "side" in request else [])]:
                    self._add(stream, *os.pipe())
            if request.get("op") == "session":
                self.shell = FarShell()
        except BaseException:
            self.close()
            self.close_passed()
            raise

    def _add(self, stream: int, reader: int, writer: int) -> None:
        self.streams[reader] = stream
        self._writers.append(writer)
        os.set_blocking(reader, False)

    @property
    def passed(self) -> list[int]:
        """For the runner."""
        return [*self._writers, *(self.shell.passed if self.shell is not None else ())]

    def close_passed(self) -> None:
        """Close what the runner has, or will not get."""
        for fd in self._writers:
            os.close(fd)
        self._writers = []
        if self.shell is not None:
            self.shell.close_passed()

    def close(self) -> None:
        """Close what the service keeps."""
        for fd in self.streams:
            os.close(fd)
        if self.shell is not None:
            self.shell.close()
