"""The way to one runner: a socket, what the runner was told already, and the request that it is forked with."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Mapping
from typing import Protocol

from nacre import forks
from nacre.warden import protocol
from nacre.warden.channel import send_fds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Look, Request

# Plain numbers: the arithmetic of enums is Python, and slow.
NOW = int(socket.MSG_DONTWAIT)
# What goes through a socket in one piece.
MOVED_BYTES = 16 * 1024
# How long a runner may take nothing of a message that its socket does not hold whole.
TELL_SECONDS = 1.0


class Fork(Protocol):
    """Has a runner forked with its first request."""

    def __call__(self, link: Link, words: Request, fds: list[int], env: Mapping[str, str] | None, /) -> None: ...


class Link:
    """The way to one runner, and what it has been told already."""

    __slots__ = ("__weakref__", "_fork", "_ready", "env", "far", "good_until", "sock")

    def __init__(self, sock: socket.socket, far: socket.socket, fork: Fork) -> None:
        """With the far end, and how a runner is forked at it."""
        self.sock = sock
        self.far: socket.socket | None = far
        """The runner's end, until there is one: it is forked with its first request."""
        self.env: Mapping[str, str] | None = None
        """The environment that the runner has; sent again only when it is another one."""
        self.good_until = 0.0
        """While idle: when its runner may be about to go away."""
        self._fork = fork
        self._ready = select.poll()
        self._ready.register(sock, select.POLLIN)
        forks.hold(self)

    def ask(self, request: Request, fds: list[int], env: Mapping[str, str]) -> None:
        """Send a request with its descriptors, and the environment if the runner has another one."""
        if self.far is not None:
            self.env = env
            self.sock.settimeout(0)
            self._fork(self, request, fds, env)
            return
        known, self.env = self.env, env
        self.tell(protocol.addressed(request, fds=len(fds), env=None if known == env else env), fds)

    def hand_over(self, request: FirstRequest) -> bool:
        """Have an idle runner serve another caller; this way to it ends then. False when that cannot be."""
        moved = protocol.frame(protocol.MOVE) + protocol.frame(request.message(self.env))
        if len(moved) > MOVED_BYTES:
            return False
        try:
            send_fds(self.sock, moved, request.fds, NOW)
        except OSError:
            return False
        self.close()
        return True

    def tell(self, message: Request, fds: list[int]) -> None:
        """Send a whole message with descriptors, however long it is.

        Raises:
            OSError: the runner is gone, or takes nothing for a second.
        """
        self.sock.settimeout(TELL_SECONDS)
        try:
            _send(self.sock, message, fds)
        finally:
            self.sock.settimeout(0)

    def wait(self, milliseconds: int) -> bool:
        """Whether the runner says something, or is gone, within that time."""
        return bool(self._ready.poll(milliseconds))

    def heard(self) -> bytes:
        """What it has said; b"" when that is nothing, or it is gone, which the next to ask finds as well."""
        try:
            return self.sock.recv(protocol.RECEIVE_BYTES, NOW)
        except OSError:
            return b""

    def query(self, question: Look) -> None:
        """Send a question that concerns no command."""
        if self.far is not None:
            self._fork(self, question, [], None)
        else:
            self.tell(question, [])

    def fork(self) -> None:
        """Have the runner forked before there is a request."""
        self._fork(self, protocol.FORK, [], None)

    def close_far_end(self) -> None:
        """Close our copy of the runner's end, which the runner has or is sure to get."""
        if self.far is not None:
            self.far.close()
            self.far = None

    def close(self) -> None:
        self.sock.close()
        self.close_far_end()

    def drop(self, *, close: bool) -> None:
        """Leave the runner to the process that it belongs to."""
        forks.close_or_forget(self.sock, close=close)
        if self.far is not None:
            forks.close_or_forget(self.far, close=close)
            self.far = None


class FirstRequest:
    """The first request of a runner that is to be forked for it."""

    __slots__ = ("_env", "_link", "_rest", "_words", "fds")

    def __init__(self, link: Link, words: Request, fds: list[int], env: Mapping[str, str] | None) -> None:
        assert link.far is not None
        self._link = link
        self._words = words
        self._env = env
        self._rest = memoryview(b"")
        """What is still to be sent of it, once it was begun."""
        self.fds = [link.far.fileno(), *fds]

    @property
    def env(self) -> Mapping[str, str] | None:
        return self._env

    @property
    def wanted(self) -> bool:
        """Whether its caller still waits for it."""
        return self._link.far is not None

    @property
    def begun(self) -> bool:
        return bool(self._rest)

    def message(self, known: Mapping[str, str] | None) -> Request:
        """The whole request, with the environment if the receiver knows another one."""
        return protocol.addressed(self._words, fds=len(self.fds), env=None if self._env == known else self._env)

    def send(self, sock: socket.socket, known: Mapping[str, str] | None, flags: int) -> bool:
        """Send it, or what is left of it; False when it cannot go on now."""
        try:
            if not self._rest:
                data = memoryview(protocol.frame(self.message(known)))
                self._rest = data[send_fds(sock, data, self.fds, flags) :]
            while self._rest:
                self._rest = self._rest[sock.send(self._rest, flags) :]
        except BlockingIOError:
            return False
        return True

    def begin_anew(self) -> None:
        """Send all of it again: the receiver is gone."""
        self._rest = memoryview(b"")

    def hold(self) -> None:
        """Keep copies of the descriptors, which are their owner's, until it is sent; raises OSError at a limit."""
        copies: list[int] = []
        try:
            for fd in self.fds[1:]:
                copies.append(os.dup(fd))
        except OSError:
            for fd in copies:
                os.close(fd)
            raise
        self.fds = [self.fds[0], *copies]

    def let_go(self) -> None:
        """Close these copies: the request is sent, or its caller has given up."""
        for fd in self.fds[1:]:
            os.close(fd)
        self._link.close_far_end()


def _send(sock: socket.socket, message: Request, fds: list[int]) -> None:
    data = memoryview(protocol.frame(message))
    sent = send_fds(sock, data, fds)
    while sent < len(data):
        sent += sock.send(data[sent:])
