"""What a server says on stderr: one bounded line for each thing that went wrong, and never a wait for its reader.

A client may give its server a stderr that it does not read; when that pipe is full, a line is dropped and counted, and
the next line that can be written says how many are missing.
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
    """Takes the place of sys.stderr."""

    def __init__(self, fd: int) -> None:
        super().__init__()
        self._fd = fd
        self._socket: socket.socket | None = None
        self.dropped = 0
        """How many writes found no room."""
        kind = os.fstat(fd).st_mode
        if stat.S_ISSOCK(kind):
            self._socket = socket.socket(fileno=os.dup(fd))
        elif not stat.S_ISREG(kind):
            # A description of its own: others who share this stderr go on to wait when they write.
            self._fd = os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)

    def fileno(self) -> int:
        return 2

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        """Write what there is room for at once; what there is none for is counted."""
        data = text.encode("utf-8", "backslashreplace")
        if self.dropped:
            data = f"nacre: {counted(self.dropped, 'line')} missing here: stderr was not read\n".encode() + data
        try:
            size = self._socket.send(data, socket.MSG_DONTWAIT) if self._socket else os.write(self._fd, data)
        except OSError:
            # Full, or its reader is gone: there is no other place to tell it.
            size = 0
        self.dropped = 0 if size == len(data) else self.dropped + 1
        return len(text)


def complain(who: str, error: BaseException | str) -> None:
    """Say in one line what went wrong."""
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    sys.stderr.write(f"{one_line(f'{who}: {text}')}\n")


def one_line(text: str) -> str:
    """A text of any size on one line of a bounded size."""
    line = " ".join(text[: 4 * LONGEST_LINE].split())
    return line if len(line) <= LONGEST_LINE and len(text) <= 4 * LONGEST_LINE else f"{line[:LONGEST_LINE]}…"


class _Handler(logging.Handler):
    """One line a record, whatever it holds; where a failure came from is told by its type and message."""

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            text += f": {type(error).__name__}: {error}"
        complain(f"nacre: {record.name}", text)


def take_stderr() -> None:
    """Let everything that this process says from now on go this way; for a program that only serves."""
    try:
        sys.stderr = Complaints(2)
    except OSError:
        # There is none, or it cannot be opened again; what is written there has no reader.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    logging.root.handlers[:] = [_Handler()]
