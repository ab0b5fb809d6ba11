"""The service's ends of a session's shell: the socket that wakes it, and the file that its texts come in.

The near side makes the texts and reads the reports, as it does for a shell of its own machine. What needs the machine
is done here: the file is written, the report is held until the output before it is told, and the processes below the
shell's runner are looked at.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time

from nacre.warden import protocol
from nacre.warden.leftovers import is_alone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# Bytes on the socket that are no report are dropped beyond this.
MOST_HELD_BYTES = 1 << 20
# What a shell may write about its state; one byte more tells that there is more.
MOST_WRITTEN_BYTES = 64 * 1024 * 1024 + 1
_PIECE_BYTES = 1 << 20
# Looks, and the time between two, before a process that a script has left counts; `>(tee log)` ends by itself.
LOOKS, LOOK_SECONDS = 5, 0.004
# A state that takes long to be written is told in parts: the near side may not wait for all of it.
TELL_SECONDS = 0.2


class FarShell:
    """One shell that waits for texts; its methods are what the near side asks, and what the poll loop sees."""

    def __init__(self) -> None:
        """Raises OSError when no descriptor can be had."""
        self._near, self._far = socket.socketpair()
        try:
            self._script = os.memfd_create("nacre-script")
        except OSError:
            self._near.close()
            self._far.close()
            raise
        self._near.settimeout(0)
        self.number = 0
        """The number of the last text."""
        self._nonce = b""
        self._held = b""
        self._sent_bytes = self._told_bytes = 0
        self._below: tuple[int, int, list[int]] | None = None
        """The shell, its runner, and what of its sandbox is beside it."""
        self.resting = True
        """True while no script of the caller runs."""
        self.report: bytes | None = None
        """A report that was heard and not told."""
        self.due: dict[int, int] = {}
        """How much of each stream may still be of the time before the report."""
        self._looks = 0
        self.look_at: float | None = None
        """When the processes are looked at again, before the report is told."""
        self.tell_at: float | None = None
        """When what the shell has written of its state is told, although there is no report yet."""

    @property
    def passed(self) -> list[int]:
        """For the runner: the shell's end of the socket, the file, and our end, so that the shell never loses it."""
        return [self._far.fileno(), self._script, self._near.fileno()]

    @property
    def reading(self) -> int:
        return self._near.fileno()

    def close_passed(self) -> None:
        """Close the shell's end, which the runner has, or will not get."""
        self._far.close()

    def obey(self, request: dict[str, Any]) -> None:
        """Do what the near side asks: evaluate a text, watch the processes, exit after the last text."""
        if "text" in request:
            self._take_text(request["number"], request["nonce"], request["text"].encode("latin-1"))
        elif "watch" in request:
            shell, runner, *cell = request["watch"]
            self._below = (shell, runner, cell)
        else:
            with contextlib.suppress(OSError):
                self._near.shutdown(socket.SHUT_WR)

    @property
    def pid(self) -> int:
        """The shell; 0 before it is known."""
        return 0 if self._below is None else self._below[0]

    def _take_text(self, number: int, nonce: str, text: bytes) -> None:
        """Have the shell evaluate a text, whose report begins and ends with the nonce; none is evaluated twice."""
        if number <= self.number:
            return
        self.number = number
        self.tell_at = time.monotonic() + TELL_SECONDS if self.resting else None
        self._nonce, self._held, self.report, self.look_at = nonce.encode("ascii"), b"", None, None
        os.ftruncate(self._script, 0)
        at = 0
        while at < len(text):
            at += os.pwrite(self._script, text[at:], at)
        self._sent_bytes = self._told_bytes = len(text)
        # The offset is shared with the shell.
        os.lseek(self._script, 0, os.SEEK_SET)
        with contextlib.suppress(OSError):
            # Its runner says how a shell ended that is gone.
            self._near.send(b"\n")

    def hear(self) -> bool:
        """Take what the shell says; False at the end of the socket."""
        while True:
            try:
                data = self._near.recv(protocol.RECEIVE_BYTES)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not data:
                return False
            self._take(data)

    def _take(self, data: bytes) -> None:
        held = self._held + data
        edge = self._nonce + b"\0"
        end = held.rfind(b"\0" + edge)
        start = held.find(edge, 0, max(end, 0))
        if not self._nonce or end < 0 or start < 0:
            self._held = held[-MOST_HELD_BYTES:]
            return
        self._held = b""
        self.report, self.tell_at = held[start : end + 1 + len(edge)], None
        self.due = {}
        self._looks, self.look_at = LOOKS, time.monotonic()

    def looked(self) -> bool | None:
        """Whether the shell is alone, for the report; None while that is to be looked at again later."""
        alone = self._below is None or is_alone(self._below[0], self._below[1], cell=self._below[2])
        self._looks -= 1
        if not alone and self._looks and not self.resting:
            self.look_at = time.monotonic() + LOOK_SECONDS
            return None
        self.look_at = None
        return alone

    def written(self) -> Iterator[bytes]:
        """What the shell has written into the file since its text, and was not told yet."""
        most = self._sent_bytes + MOST_WRITTEN_BYTES
        while data := os.pread(self._script, min(_PIECE_BYTES, most - self._told_bytes), self._told_bytes):
            self._told_bytes += len(data)
            yield data

    def close(self) -> None:
        """Close what the service keeps."""
        self._near.close()
        os.close(self._script)
