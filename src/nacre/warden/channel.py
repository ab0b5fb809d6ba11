"""The socket to the caller, as whole messages with the descriptors that came along."""

from __future__ import annotations

import array
import contextlib
import socket

from nacre.warden import protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Buffer = bytes | memoryview

    from nacre.warden.messages import Message, Request

_ANCILLARY_BYTES = socket.CMSG_SPACE(protocol.MAX_FDS * array.array("i").itemsize)
# Plain numbers: the arithmetic of enums is Python, and slow.
_CLOEXEC = int(socket.MSG_CMSG_CLOEXEC)
_PEEK = int(socket.MSG_PEEK | socket.MSG_DONTWAIT)


def receive_fds(sock: socket.socket, size: int) -> tuple[bytes, list[int]]:
    """What has arrived and the descriptors with it, closed on exec; b"" at the end.

    socket.recv_fds would do, but ignores its flags, so the descriptors would leak into every command.
    """
    numbers = array.array("i")
    try:
        data, ancillary, _, _ = sock.recvmsg(size, _ANCILLARY_BYTES, _CLOEXEC)
    except ConnectionResetError:
        return b"", []
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(payload[: len(payload) - len(payload) % numbers.itemsize])
    return data, list(numbers)


def send_fds(sock: socket.socket, data: Buffer, fds: Sequence[int], flags: int = 0) -> int:
    """Send data with descriptors, or as much of it as goes; socket.send_fds would do, but ignores its flags too."""
    return sock.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))], flags)


class Channel:
    """One caller. Sending to one that is gone is no error here: its absence shows in `open`."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.reading = sock.fileno()
        self.open = True
        self._frames = protocol.FrameReader()
        self._fds: list[int] = []

    def receive(self) -> list[tuple[Request, list[int]]]:
        """What has arrived; [] with `open` False at the end."""
        return [self.decode(body) for body in self.frames()]

    def frames(self) -> list[bytes]:
        """The same, not decoded."""
        data, fds = receive_fds(self.sock, protocol.RECEIVE_BYTES)
        self._fds += fds
        if not data:
            self.open = False
            return []
        return list(self._frames.bodies(data))

    def decode(self, body: bytes) -> tuple[Request, list[int]]:
        request = protocol.request_in(body)
        fds: Any = request.get("fds", 0)
        return request, self.take_fds(fds)

    def take_fds(self, count: int | None = None) -> list[int]:
        """The next descriptors that came; all of them without a number."""
        taken = self._fds[:count]
        del self._fds[:count]
        return taken

    def keep_fds(self, fds: list[int]) -> None:
        """Have them taken later, as if they had come over this socket."""
        self._fds += fds

    def moved_to(self, sock: socket.socket) -> Channel:
        """The channel of another caller, with the descriptors that came along; this one ends."""
        self.sock.close()
        channel = Channel(sock)
        channel.keep_fds(self.take_fds())
        return channel

    def close(self) -> None:
        """Hang up; the descriptor stays, because a poll may have it."""
        self.open = False
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)

    def gone(self) -> bool:
        """Whether the caller has hung up; what it may have sent stays to be received."""
        try:
            return self.sock.recv(1, _PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def send(self, message: Message, fds: Sequence[int] = ()) -> None:
        self.send_frame(protocol.frame(message), fds)

    def send_frame(self, data: bytes, fds: Sequence[int] = ()) -> None:
        try:
            if fds:
                data = data[send_fds(self.sock, data, fds) :]
            self.sock.sendall(data)
        except OSError:
            self.open = False


def is_quiet(sock: socket.socket) -> bool:
    """Whether an idle runner is still there: one that went away has said goodbye, or closed its end."""
    try:
        sock.recv(1, _PEEK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
