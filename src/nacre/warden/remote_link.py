"""One link of the remote service: frames in and out over two descriptors. Sending never waits."""

from __future__ import annotations

import array
import contextlib
import os
import socket
import time
from collections import deque

from nacre.warden import protocol
from nacre.warden.remote_protocol import SILENT_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Message
    from nacre.warden.remote_call import RemoteCall

# Pieces that one system call writes.
_MOST_PIECES = 64


def received_descriptors(end: socket.socket) -> list[int]:
    """The two descriptors of a link, which the process at its end passes on; fewer if it does not."""
    numbers = array.array("i")
    end.settimeout(SILENT_SECONDS)
    try:
        _data, ancillary, _flags, _address = end.recvmsg(
            1, socket.CMSG_SPACE(2 * numbers.itemsize), socket.MSG_CMSG_CLOEXEC
        )
    except OSError:
        return []
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(payload)
    return list(numbers)


class RemoteLink:
    """A near side: this program's engine, or the process that follows one of its jobs."""

    def __init__(self, reading: int, writing: int, end: socket.socket | None, changed: set[RemoteLink]) -> None:
        """With the socket to the process at the end of the link, which waits until that is closed.

        The link adds itself to `changed` when it has more or less to send, or has ended.
        """
        self.reading = reading
        self.writing = writing
        self.open = True
        self.env: dict[str, str] = {}
        """The environment of the last request."""
        self.heard_at = self.said_at = time.monotonic()
        self.unsent_bytes = 0
        self.calls: set[RemoteCall] = set()
        """The calls that are told on it."""
        self.held: set[RemoteCall] = set()
        """Those of them that are not read before it has sent more."""
        self._changed = changed
        self._end = end
        self._frames = protocol.FrameReader()
        self._unsent: deque[bytes | memoryview] = deque()
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)

    def receive(self) -> list[bytes]:
        """The bodies of the frames that have arrived; [] with `open` False at the end."""
        try:
            data = os.read(self.reading, protocol.READ_BYTES)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self.open = False
            return []
        self.heard_at = time.monotonic()
        return list(self._frames.bodies(data))

    def send(self, message: Message) -> None:
        self.send_frame(protocol.frame(message))

    def send_frame(self, frame: bytes) -> None:
        if not self.open:
            return
        self._unsent.append(frame)
        self.unsent_bytes += len(frame)
        self._changed.add(self)
        if len(self._unsent) == 1:
            self.flush()

    def flush(self) -> None:
        """Send what waits, as far as that is possible now."""
        self._changed.add(self)
        try:
            while self._unsent:
                sent = os.writev(self.writing, [self._unsent[at] for at in range(min(len(self._unsent), _MOST_PIECES))])
                self.said_at = time.monotonic()
                self.unsent_bytes -= sent
                while sent:
                    first = self._unsent[0]
                    if sent < len(first):
                        self._unsent[0] = memoryview(first)[sent:]
                        break
                    sent -= len(first)
                    self._unsent.popleft()
        except BlockingIOError:
            return
        except OSError:
            self.open = False

    def close(self) -> None:
        self.open = False
        for fd in {self.reading, self.writing}:
            with contextlib.suppress(OSError):
                os.close(fd)
        if self._end is not None:
            self._end.close()
