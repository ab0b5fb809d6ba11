"""The stderr of a server: one bounded line per problem, and no write ever blocks.

A client may never read the stderr of its server. When that pipe is full, lines are dropped and counted, and the next
line that fits tells how many are missing.
"""

from __future__ import annotations

import io
import logging
import os
import socket
import stat
import sys

from nacre.wording import counted

LONGEST_LINE = 500


class Complaints(io.TextIOBase):
    """Replaces sys.stderr."""

    def __init__(self, fd: int) -> None:
        super().__init__()
        self._fd = fd
        self._socket: socket.socket | None = None
        self.dropped = 0
        """Writes that found no room."""
        kind = os.fstat(fd).st_mode
        if stat.S_ISSOCK(kind):
            self._socket = socket.socket(fileno=os.dup(fd))
        elif not stat.S_ISREG(kind):
            # A file description of its own, because other processes that share this stderr expect blocking writes.
            self._fd = os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)

    def fileno(self) -> int:
        return 2

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        """Write as much as fits at once; text that does not fit is counted."""
        data = text.encode("utf-8", "backslashreplace")
        if self.dropped:
            data = f"nacre: {counted(self.dropped, 'line')} missing here: stderr was not read\n".encode() + data
        try:
            size = self._socket.send(data, socket.MSG_DONTWAIT) if self._socket else os.write(self._fd, data)
        except OSError:
            # Full, or without a reader: there is no other place to report it.
            size = 0
        self.dropped = 0 if size == len(data) else self.dropped + 1
        return len(text)


def complain(who: str, error: BaseException | str) -> None:
    """Report a problem in one line."""
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    sys.stderr.write(f"{one_line(f'{who}: {text}')}\n")


def one_line(text: str) -> str:
    """Shorten a text of any size to one bounded line."""
    line = " ".join(text[: 4 * LONGEST_LINE].split())
    return line if len(line) <= LONGEST_LINE and len(text) <= 4 * LONGEST_LINE else f"{line[:LONGEST_LINE]}…"


class _Handler(logging.Handler):
    """Writes one line per record; an exception is named by its type and message."""

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            text += f": {type(error).__name__}: {error}"
        complain(f"nacre: {record.name}", text)


def take_stderr() -> None:
    """Send stderr and all log records of this process through `Complaints`; for a process that only serves."""
    try:
        sys.stderr = Complaints(2)
    except OSError:
        # stderr is closed or cannot be opened again, so it has no reader.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    logging.root.handlers[:] = [_Handler()]
