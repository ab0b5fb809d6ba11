"""A runner: a subreaper that serves one caller, one command at a time.

It is used again only while nothing is left of the command before, so whatever it adopts belongs to the current one.
"""

from __future__ import annotations

import os
import select
import signal
import socket

from nacre.warden import children, keeping, path_lookup, protocol, stop_request
from nacre.warden.channel import Channel
from nacre.warden.job_runner import JobWatch
from nacre.warden.launch import received_environment
from nacre.warden.memory import MemoryWatch
from nacre.warden.start import Start
from nacre.warden.supervisor import Supervisor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Request, StartJob
    from nacre.warden.placing import Cells
    from nacre.warden.start import Startable


class Runner:
    """Made by the zygote, where memory need not be copied to be written, and forked with its first request.

    Reading a request, its environment above all, touches hundreds of pages; the zygote does it for all its runners.

    It has a method for each kind of request.
    """

    def __init__(self, channel: Channel, env: dict[bytes, bytes]) -> None:
        """Raises OSError when no descriptor can be had."""
        self.channel = channel
        self._env = env
        self.wakeup, self._wakeup_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._memory: MemoryWatch | None = None
        self._start: Start | None = None
        """Its first command."""
        self._last: Supervisor | None = None
        """The command before, which may be made a job although it has ended."""
        self._bodies: list[bytes] = []
        self._cells: Cells | None = None
        """Its sandbox, since the first command that has one."""

    def read_later(self, body: bytes, fds: list[int]) -> None:
        """Take a request that the runner reads: a job is read by the child that becomes its shell, a look may hang."""
        self._bodies.append(body)
        self.channel.keep_fds(fds)

    def ask(self, request: Request, body: bytes, fds: list[int]) -> bool:
        """Take its first request; False when that cannot be started, and the caller was told."""
        if request["op"] == "job" or request["op"] == "look":
            self.read_later(body, fds)
        elif request["op"] == "run" or request["op"] == "spare" or request["op"] == "session":
            self._memory = MemoryWatch()
            self._start = Start(self.channel, request, fds, self._env)
            return self._start.prepare()
        return True

    def discard(self) -> None:
        """Give everything back, in the process that goes on without it."""
        if self._start is not None:
            self._start.close()
        for fd in (self.wakeup, self._wakeup_end, *self.channel.take_fds()):
            os.close(fd)
        self.channel.sock.close()

    def serve(self) -> None:
        """Run commands for one caller until it goes away, or asks for nothing for a while."""
        children.become_subreaper()
        children.continue_without_parent()
        # The handler that makes SIGCHLD arrive here is inherited from the zygote, and does nothing here.
        signal.set_wakeup_fd(self._wakeup_end, warn_on_full_buffer=False)
        usable = self._start is None or self._run(self._start)
        while usable:
            usable = self._serve_one(self._bodies.pop(0)) if self._bodies else self._wait()
        if self._cells is not None:
            self._cells.close(last=True)

    def _wait(self) -> bool:
        """Wait for the next request; False when there will be none."""
        idle = select.poll()
        idle.register(self.channel.reading, select.POLLIN)
        if not idle.poll(protocol.IDLE_SECONDS * 1000):
            self.channel.send(protocol.BYE)
            return False
        self._bodies = self.channel.frames()
        return self.channel.open

    def _serve_one(self, body: bytes) -> bool:
        """Do what a request asks for; False when this runner can take no other."""
        if protocol.starts_job(body):
            return self._start_job(body)
        request, fds = self.channel.decode(body)
        if request["op"] == "run" or request["op"] == "spare" or request["op"] == "session":
            return self._start_command(request, fds)
        if request["op"] == "move":
            # The caller has no use for this runner, and another waits for one.
            self.channel = self.channel.moved_to(socket.socket(fileno=fds[0]))
            self._last = None
        elif request["op"] == "look":
            self.channel.send(path_lookup.answer(request, self.channel.reading))
        elif request["op"] == "keep" and self._last is not None:
            keeping.keep_late(self._last, request, fds)
        else:
            # About a command of which nothing is left any more.
            for fd in fds:
                os.close(fd)
            if request["op"] == "survivors":
                self.channel.send(protocol.survivors([], stays=False))
        return True

    def _start_command(self, request: Startable, fds: list[int]) -> bool:
        self._env = received_environment(request, self._env)
        self._last = None
        if self._memory is None:
            self._memory = MemoryWatch()
        start = Start(self.channel, request, fds, self._env)
        return self._run(start) if start.prepare() else True

    def _start_job(self, body: bytes) -> bool:
        """Start a job and stay small while it only writes; then go on as its supervisor."""
        if protocol.has_sandbox(body):
            return self._start_placed_job(body)
        self._leave_cells()
        watch = stop_request.current = JobWatch(self.channel)
        runs = watch.start(self._env, body, self.channel.take_fds())
        if runs:
            watch.until_more(self.wakeup)
        request: StartJob = protocol.request_in(body)  # type: ignore[assignment]
        self._env = received_environment(request, self._env)
        if not runs:
            stop_request.current = None
            return True
        start = Start.over(self.channel, request, watch.leader, watch.notes_fd)
        self._memory = MemoryWatch(watch.memory_events)
        supervisor = stop_request.current = Supervisor(self.channel, self.wakeup, self._memory, start)
        supervisor.take_over(request, watch)
        return self._supervise(supervisor)

    def _start_placed_job(self, body: bytes) -> bool:
        """Start a job in a sandbox; it is supervised from its start."""
        request: StartJob = protocol.request_in(body)  # type: ignore[assignment]
        self._env = received_environment(request, self._env)
        fds = self.channel.take_fds()
        writers, readers = fds[: len(fds) // 2], fds[len(fds) // 2 :]
        self._memory = MemoryWatch()
        start = stop_request.current = Start(self.channel, request, writers, self._env)
        if not start.prepare() or not start.spawn(self._cells_for(request)):
            stop_request.current = None
            for fd in readers:
                os.close(fd)
            return True
        supervisor = stop_request.current = Supervisor(self.channel, self.wakeup, self._memory, start)
        keeping.keep_from_start(supervisor, request, readers)
        return self._supervise(supervisor)

    def _cells_for(self, request: Startable) -> Cells | None:
        """The sandbox for a command that has one."""
        if "sandbox" not in request:
            # The caller looks at this runner's children for what a command has left.
            self._leave_cells()
            return None
        if self._cells is None:
            # Loaded by the runners that have a sandbox.
            from nacre.warden.placing import Cells

            self._cells = Cells()
        return self._cells

    def _leave_cells(self) -> None:
        if self._cells is not None:
            self._cells.close()

    def _run(self, start: Start) -> bool:
        usable = True
        stop_request.current = start
        assert self._memory is not None
        if start.spawn(self._cells_for(start.request)):
            usable = self._supervise(Supervisor(self.channel, self.wakeup, self._memory, start))
        stop_request.current = None
        os.chdir("/")
        return usable

    def _supervise(self, supervisor: Supervisor) -> bool:
        self._last = stop_request.current = supervisor
        usable = supervisor.run()
        stop_request.current = None
        if "overlay" in supervisor.start.request:
            # What a try has changed is read when its overlay is not mounted any more.
            self._leave_cells()
        self._bodies = supervisor.following + self._bodies
        return usable
