"""A runner: a subreaper that serves one caller, one command at a time.

It is used again only while nothing is left of the command before, so whatever it adopts belongs to the current one.
"""

from __future__ import annotations

import os
import select
import signal
import socket

from nacre.warden import children, path_lookup, protocol
from nacre.warden.channel import Channel
from nacre.warden.job_runner import JobWatch
from nacre.warden.launch import received_environment
from nacre.warden.memory import MemoryWatch
from nacre.warden.supervisor import Execution

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Request, StartJob


class First:
    """A runner before its fork: what it is to begin with, made where memory need not be copied to be written.

    Reading a request, its environment above all, touches hundreds of pages; the zygote does it for all its runners.
    """

    __slots__ = ("channel", "env", "execution", "memory", "unread", "wakeup", "wakeup_end")

    def __init__(self, sock: socket.socket, env: dict[bytes, bytes]) -> None:
        """Raises OSError when no descriptor can be had."""
        self.channel = Channel(sock)
        self.env = env
        self.memory = MemoryWatch()
        self.wakeup, self.wakeup_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.execution: Execution | None = None
        self.unread: bytes | None = None
        """A request that is read by the runner itself."""

    def read_later(self, body: bytes, fds: list[int]) -> None:
        """Take a first request that the runner reads: the child that becomes a job's shell, and a look may hang."""
        self.unread = body
        self.channel.keep_fds(fds)

    def ask(self, request: Request, body: bytes, fds: list[int]) -> bool:
        """Take its first request; False when that cannot be started, and the caller was told."""
        if request["op"] == "job" or request["op"] == "look":
            self.read_later(body, fds)
        elif request["op"] == "run" or request["op"] == "spare" or request["op"] == "session":
            self.execution = Execution(self.channel, self.wakeup, self.memory)
            return self.execution.prepare(request, fds, self.env)
        return True

    def discard(self) -> None:
        """Give everything back, in the process that goes on without it."""
        if self.execution is not None:
            self.execution.discard()
        for fd in (self.wakeup, self.wakeup_end, *self.channel.take_fds()):
            os.close(fd)
        self.channel.sock.close()


def serve(first: First) -> None:
    """Run commands for one caller until it goes away, or asks for nothing for a while."""
    children.become_subreaper()
    channel, wakeup, memory, env = first.channel, first.wakeup, first.memory, first.env
    # The handler that makes SIGCHLD arrive here is inherited from the zygote, and does nothing here.
    signal.set_wakeup_fd(first.wakeup_end, warn_on_full_buffer=False)
    last = first.execution
    bodies = [] if first.unread is None else [first.unread]
    if last is not None:
        if not _execute(last):
            return
        bodies = last.following
    idle = select.poll()
    idle.register(channel.sock, select.POLLIN)
    while True:
        while bodies:
            body = bodies.pop(0)
            if protocol.starts_job(body):
                watch = JobWatch(channel)
                runs = _watch(watch, wakeup, env, body, channel.take_fds())
                message: StartJob = protocol.request_in(body)  # type: ignore[assignment]
                env = received_environment(message, env)
                last = Execution(channel, wakeup, memory)
                if runs and not _take_over(last, message, watch):
                    return
                continue
            request, fds = channel.decode(body)
            if request["op"] == "run" or request["op"] == "spare" or request["op"] == "session":
                env = received_environment(request, env)
                last = Execution(channel, wakeup, memory)
                if last.prepare(request, fds, env) and not _execute(last):
                    return
                bodies = last.following + bodies
            elif request["op"] == "move":
                # The caller has no use for this runner, and another waits for one.
                idle.unregister(channel.sock)
                channel = channel.moved_to(socket.socket(fileno=fds[0]))
                idle.register(channel.sock, select.POLLIN)
                last = None
            elif request["op"] == "look":
                channel.send(path_lookup.answer(request, channel.sock))
            elif request["op"] == "keep" and last is not None:
                last.keep_late(request, fds)
            else:
                _answer_late(channel, request, fds)
        if not idle.poll(protocol.IDLE_SECONDS * 1000):
            channel.send(protocol.BYE)
            return
        bodies = channel.frames()
        if not channel.open:
            return


# What a request to stop is for.
_current: Execution | JobWatch | None = None


def stop(*_: object) -> None:
    """What STOP_SIGNAL does: `nacre jobs stop` reaches a job's runner by it, from any process of the same user.

    The zygote sets this handler and the next, so that a runner need not.
    """
    if _current is not None:
        _current.request_stop("stop")


def terminate(*_: object) -> None:
    """What SIGTERM does, which nacre never sends to a runner: the command ends, and the reason is told."""
    if _current is None:
        os._exit(128 + signal.SIGTERM)
    _current.request_stop("SIGTERM")


def _execute(execution: Execution) -> bool:
    global _current
    _current = execution
    usable = execution.run() if execution.start() else True
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


def _take_over(execution: Execution, request: StartJob, watch: JobWatch) -> bool:
    global _current
    _current = execution
    execution.take_over(request, watch)
    usable = execution.run()
    _current = None
    return usable


def _answer_late(channel: Channel, request: Request, fds: list[int]) -> None:
    """A word about a command of which nothing is left any more."""
    for fd in fds:
        os.close(fd)
    if request["op"] == "survivors":
        channel.send(protocol.survivors([], stays=False))
