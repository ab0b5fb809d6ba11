"""The socket to the caller, as whole messages with the descriptors that came along."""

from __future__ import annotations

import array
import socket

from nacre.warden import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nacre.warden.wire import Message

# More than any message carries: two streams, each with both ends.
MAX_FDS = 16


def receive_fds(sock: socket.socket, size: int) -> tuple[bytes, list[int]]:
    """What has arrived and the descriptors with it, closed on exec; b"" at the end.

    socket.recv_fds would do, but ignores its flags, so the descriptors would leak into every command.
    """
    numbers = array.array("i")
    try:
        data, ancillary, _, _ = sock.recvmsg(
            size, socket.CMSG_SPACE(MAX_FDS * numbers.itemsize), socket.MSG_CMSG_CLOEXEC
        )
    except ConnectionResetError:
        return b"", []
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(payload[: len(payload) - len(payload) % numbers.itemsize])
    return data, list(numbers)


class Channel:
    """One caller. Sending to one that is gone is no error here: its absence shows in `open`."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.open = True
        self._frames = wire.Frames()
        self._fds: list[int] = []

    def receive(self) -> list[tuple[Message, list[int]]]:
        """What has arrived; [] with `open` False at the end."""
        data, fds = receive_fds(self.sock, 1 << 20)
        self._fds += fds
        if not data:
            self.open = False
            return []
        messages = []
        for message in self._frames.feed(data):
            count = message.get("fds", 0)
            messages.append((message, self._fds[:count]))
            del self._fds[:count]
        return messages

    def gone(self) -> bool:
        """Whether the caller has hung up; what it may have sent stays to be received."""
        try:
            return self.sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def send(self, message: Message, fds: Sequence[int] = ()) -> None:
        data = wire.frame(message)
        try:
            if fds:
                data = data[socket.send_fds(self.sock, [data], fds) :]
            self.sock.sendall(data)
        except OSError:
            self.open = False
