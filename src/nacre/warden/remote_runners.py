"""The runners of the remote service, forked by a zygote of its own, and used again when a command has left nothing."""

from __future__ import annotations

import os
import signal
import socket
import time

# Loaded before runners are forked, because they do not have the archive that its source comes from.
from nacre.warden import budget_watch as _budget_watch  # noqa: F401
from nacre.warden import children, protocol, zygote
from nacre.warden.channel import Channel, is_quiet, send_fds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from nacre.warden.messages import Living

# Idle runners that are kept for the next command.
IDLE_RUNNERS = 8


class Runners:
    """The way to the zygote, and idle runners."""

    def __init__(self) -> None:
        self._control, pid = _start_zygote()
        # The intermediate ends as soon as it has forked the zygote.
        os.waitpid(pid, 0)
        self._far_side = protocol.READY.unpack(self._control.recv(protocol.READY.size))
        self._idle: list[tuple[Channel, float]] = []

    def start(self, request: dict[str, Any], env: dict[str, str], fds: list[int]) -> Channel:
        """Have a runner start a command; raises OSError if no runner takes it."""
        while self._idle:
            channel, since = self._idle.pop()
            if time.monotonic() - since < protocol.IDLE_USABLE_SECONDS and is_quiet(channel.sock):
                _send(channel.sock, {**request, "fds": len(fds), "env": env}, fds)
                return channel
            channel.sock.close()
        near, far = socket.socketpair()
        try:
            _send(self._control, {**request, "fds": len(fds) + 1, "env": env}, [far.fileno(), *fds])
        except OSError:
            near.close()
            raise
        finally:
            far.close()
        return Channel(near)

    def stop_leftovers(self, shells: set[int]) -> list[Living]:
        """End every process that is no runner below the zygote: what finished commands have left; name them.

        The shells of sessions stay: they wait for commands.
        """
        for channel, _ in self._idle:
            channel.sock.close()
        self._idle = []
        session = os.getsid(self._far_side[1])
        found: list[Living] = []
        for pid in children.descendants(self._far_side[0]):
            try:
                if pid in shells or os.getsid(pid) == session or children.is_zombie(pid):
                    continue
                found.append({"pid": pid, "argv": children.command_line(pid)})
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        end = time.monotonic() + protocol.KILL_SECONDS
        while any(_is_alive(one["pid"]) for one in found) and time.monotonic() < end:
            os.sched_yield()
        return found

    def give(self, channel: Channel) -> None:
        """Take a runner back of whose command nothing is left."""
        if len(self._idle) < IDLE_RUNNERS and channel.open:
            self._idle.append((channel, time.monotonic()))
        else:
            channel.sock.close()


def _is_alive(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}") and not children.is_zombie(pid)


def _start_zygote() -> tuple[socket.socket, int]:
    near, far = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            control = os.dup2(far.fileno(), 3)
            os.closerange(4, os.sysconf("SC_OPEN_MAX"))
            zygote.main(control, "")
        finally:
            os._exit(1)
    far.close()
    return near, pid


def _send(sock: socket.socket, request: dict[str, Any], fds: list[int]) -> None:
    data = protocol.frame(request)
    sent = send_fds(sock, data, fds)
    sock.sendall(data[sent:])
