"""A runner: a subreaper that serves one caller, one command at a time.

It is used again only while nothing is left of the command before, so whatever it adopts belongs to the current one.
"""

from __future__ import annotations

import os
import select
import signal
import socket

from nacre.warden import children, wire
from nacre.warden.channel import Channel
from nacre.warden.execution import Execution
from nacre.warden.launch import received_environment
from nacre.warden.memory import MemoryWatch
from nacre.warden.watch import JobWatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.wire import Message

# An unused runner goes away by itself; the caller then asks for a new one.
IDLE_SECONDS = 30.0


def serve(sock: socket.socket) -> None:
    """Run commands for one caller until it goes away, or asks for nothing for a while."""
    children.become_subreaper()
    wakeup_read, wakeup_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
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
        bodies = channel.frames()
        if not channel.open:
            return
        while bodies:
            body = bodies.pop(0)
            if wire.starts_job(body):
                watch = JobWatch(channel)
                runs = _watch(watch, wakeup_read, env, body, channel.take_fds())
                message = wire.decode(body)
                env = received_environment(message, env)
                last = Execution(channel, wakeup_read, env, memory)
                if runs and not _take_over(last, message, watch):
                    return
                continue
            message, fds = channel.decode(body)
            if message["op"] == "run":
                env = received_environment(message, env)
                last = Execution(channel, wakeup_read, env, memory)
                if not _execute(last, message, fds):
                    return
                if last.following is not None:
                    bodies.insert(0, last.following)
            elif message["op"] == "keep" and last is not None:
                last.keep_late(message, fds)
            else:
                _answer_late(channel, message, fds)
    channel.send({"event": "bye"})


# What a request to stop is for.
_current: Execution | JobWatch | None = None


def terminate(*_: object) -> None:
    """What SIGTERM does: `nacre jobs stop` reaches a job's runner by it, from any process of the same user.

    The zygote sets this handler, so that a runner need not.
    """
    if _current is None:
        os._exit(128 + signal.SIGTERM)
    _current.request_stop()


def _execute(execution: Execution, request: Message, fds: list[int]) -> bool:
    global _current
    _current = execution
    usable = execution.run() if execution.start(request, fds) else True
    _current = None
    os.chdir("/")
    return usable


def _watch(watch: JobWatch, wakeup: int, env: dict[bytes, bytes], body: bytes, fds: list[int]) -> bool:
    """Start a job and stay small while it only writes; False when it could not be started."""
    global _current
    _current = watch
    if watch.start(env, body, fds):
        watch.until_more(wakeup)
        return True
    _current = None
    return False


def _take_over(execution: Execution, request: Message, watch: JobWatch) -> bool:
    global _current
    _current = execution
    execution.take_over(request, watch)
    usable = execution.run()
    _current = None
    return usable


def _answer_late(channel: Channel, message: Message, fds: list[int]) -> None:
    """A word about a command of which nothing is left any more."""
    for fd in fds:
        os.close(fd)
    if message["op"] == "survivors":
        channel.send({"event": "survivors", "left": False, "survivors": []})
