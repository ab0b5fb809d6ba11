"""A runner: a subreaper that serves one caller, one command at a time.

It is used again only while nothing is left of the command before, so whatever it adopts belongs to the current one.
"""

from __future__ import annotations

import os
import select
import signal
import socket

from nacre.warden import children
from nacre.warden.channel import Channel
from nacre.warden.execution import Execution
from nacre.warden.memory import MemoryWatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.wire import Message

# An unused runner goes away by itself; the caller then asks for a new one.
IDLE_SECONDS = 30.0


def serve(sock: socket.socket) -> None:
    """Run commands for one caller until it goes away, or asks for nothing for a while."""
    children.become_subreaper()
    wakeup_read, wakeup_write = os.pipe()
    os.set_blocking(wakeup_read, False)
    os.set_blocking(wakeup_write, False)
    # The handler that makes SIGCHLD arrive here is inherited from the zygote, and does nothing here.
    signal.set_wakeup_fd(wakeup_write, warn_on_full_buffer=False)
    channel = Channel(sock)
    # Sent once and then referred to: it is most of a request, and rarely changes.
    env: dict[bytes, bytes] = {}
    memory = MemoryWatch()
    idle = select.poll()
    idle.register(sock, select.POLLIN)
    last: Execution | None = None
    while idle.poll(IDLE_SECONDS * 1000):
        messages = channel.receive()
        if not channel.open:
            return
        for message, fds in messages:
            if message["op"] == "run":
                if "env" in message:
                    env = {os.fsencode(name): os.fsencode(value) for name, value in message["env"].items()}
                last = Execution(channel, wakeup_read, env, memory)
                if not _execute(last, message, fds):
                    return
            elif message["op"] == "keep" and last is not None:
                last.keep_late(message, fds)
            else:
                _answer_late(channel, message, fds)
    channel.send({"event": "bye"})


def _execute(execution: Execution, request: Message, fds: list[int]) -> bool:
    # `nacre jobs stop` reaches a job's runner by signal, from any process of the same user.
    signal.signal(signal.SIGTERM, lambda *_: execution.request_stop())
    usable = execution.run() if execution.start(request, fds) else True
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.chdir("/")
    return usable


def _answer_late(channel: Channel, message: Message, fds: list[int]) -> None:
    """A word about a command of which nothing is left any more."""
    for fd in fds:
        os.close(fd)
    if message["op"] == "survivors":
        channel.send({"event": "survivors", "left": False, "survivors": []})
