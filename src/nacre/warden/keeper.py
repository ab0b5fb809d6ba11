"""A job made of what one turn of a session left running, while the session's shell goes on.

The keeper is a process of its own below the session's runner: it has the job's lock, record and output file, and a
death of its own costs one job. The runner stays the subreaper of shell and job; the mark of the turn tells the
processes of the job from all others below it. Their ends are seen through pidfds, because the shell collects its
children itself.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import time

from nacre.warden import children, marks, protocol
from nacre.warden.intake import Intake, discard
from nacre.warden.stop_ladder import StopLadder
from nacre.warden.wakeups import drain_wakeups, milliseconds_until

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

    from nacre.warden.kept_job import KeptJob
    from nacre.warden.messages import Facts

# How long the status of a process that has ended may take to arrive: until its parent has collected it.
STATUS_SECONDS = 1.0
STATUS_ROUND_SECONDS = 0.005
# At the end: for how long what is left in the pipes is read.
LAST_SECONDS = 2.0
# What the runner says: a process that it has collected, and its raw status.
STATUS = struct.Struct("=ii")


class MarkedTree:
    """The processes of one mark, watched through the pidfds of their roots."""

    def __init__(self, mark: int, shell: int, poll: select.poll) -> None:
        self.runner = os.getppid()
        self._mark = mark
        self._shell = shell
        self._poll = poll
        self.roots: dict[int, int] = {}
        """The living processes whose parents are of another mark, each with its pidfd. What is below these need not be
        watched: at the end of a root its children become roots."""

    def look(self) -> None:
        """Watch the roots that are not watched yet."""
        below = self._below()
        for pid in set(below).difference(self.roots):
            parent = _parent_of(pid)
            if parent in below and not children.is_zombie(parent):
                continue
            if (handle := self._open(pid, below)) is not None:
                self.roots[pid] = handle
                self._poll.register(handle, select.POLLIN)

    def ended(self, handle: int) -> None:
        """Forget a root that has ended, and find what it has left behind."""
        for pid, known in list(self.roots.items()):
            if known == handle:
                self._forget(pid)
        self.look()
        if not self.roots:
            # A process that was forked, or got another parent, during the look is there in the next.
            self.look()

    def give_up(self) -> None:
        """Leave what even SIGKILL does not end to the runner."""
        for pid in list(self.roots):
            self._forget(pid)

    def ask_to_end(self) -> None:
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)

    def ask_late(self) -> None:
        """What is forked while the others are asked is killed after the grace."""

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _forget(self, pid: int) -> None:
        handle = self.roots.pop(pid)
        self._poll.unregister(handle)
        os.close(handle)

    def _below(self) -> list[int]:
        """Every process of the mark; where the runner is gone, those that are known and what is below them."""
        tops = [self.runner] if os.getppid() == self.runner else list(self.roots)
        found = {pid for top in tops for pid in children.descendants(top)} | set(self.roots)
        return [pid for pid in found if pid != os.getpid() and marks.mark_of(pid) == self._mark]

    def _open(self, pid: int, below: list[int]) -> int | None:
        """A pidfd of a process of the mark; None when it has ended."""
        try:
            handle = os.pidfd_open(pid)
        except OSError:
            return None
        # Asked again now that the number cannot become another's: the first mark is that of every process there is.
        parent = _parent_of(pid)
        if (
            _has_ended(handle)
            or marks.mark_of(pid) != self._mark
            or parent not in (self.runner, self._shell, *below, *children.cell)
        ):
            os.close(handle)
            return None
        return handle

    def _signal(self, number: int) -> None:
        below = self._below()
        for pid in below:
            handle = self._open(pid, below)
            if handle is None:
                continue
            try:
                signal.pidfd_send_signal(handle, number)
            except (ProcessLookupError, PermissionError):
                pass  # gone meanwhile, or it changed its user: what is left is looked for again
            finally:
                os.close(handle)


class Keeper:
    """Follows the processes of one mark to their end, and writes the job's final status."""

    def __init__(self, mark: int, grace: float, link: socket.socket, *, shell: int) -> None:
        """With the socket on which the runner tells of the processes that it has collected."""
        self._grace = grace
        self._link = link
        self._wakeup, self._wakeup_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(self._wakeup_end, warn_on_full_buffer=False)
        self._poll = select.poll()
        self._poll.register(link, select.POLLIN)
        self._poll.register(self._wakeup, select.POLLIN)
        self._tree = MarkedTree(mark, shell, self._poll)
        self._ladder = StopLadder(self._tree)
        self._intake = Intake(self._poll)
        self._job: KeptJob | None = None
        self._stop_requested: str | None = None
        self._leader = 0
        self._leader_handle = -1
        self._status: int | None = None
        self._told = False
        """Whether the status came from the runner, and not from the kernel."""
        self._status_by: float | None = None
        """Until when the leader's status is waited for."""

    def request_stop(self, why: str) -> None:
        """Stop the job at the next turn of the loop: safe from a signal handler."""
        self._stop_requested = why

    def follow(self, leader: int | None, status: int | None) -> int:
        """Watch the processes of the job from now on; returns the leader, whose status is the job's.

        A call that moves to the background just when its shell has ended names no leader.
        """
        self._tree.look()
        self._leader = leader or min(self._tree.roots, default=0)
        self._status = status
        self._told = status is not None
        try:
            self._leader_handle = os.pidfd_open(self._leader)
        except OSError:
            pass  # it was collected already
        return self._leader

    def keep(self, job: KeptJob | None, fds: list[int], *, aside: int) -> None:
        """Read the pipes from now on: into the job's file, or away; the last `aside` of them always away."""
        self._job = job
        kept = len(fds) - aside
        self._intake.attend(fds[:kept], discard if job is None else job.output.feed)
        self._intake.attend(fds[kept:], discard)

    def close_all_others(self) -> None:
        """Close every descriptor that came from the runner and is not the job's."""
        kept = {0, 1, 2, self._link.fileno(), self._wakeup, self._wakeup_end, self._leader_handle}
        kept |= {*self._intake.fds, *self._tree.roots.values()}
        if self._job is not None:
            kept |= set(self._job.fds)
        for name in os.listdir("/proc/self/fd"):
            if int(name) not in kept:
                try:
                    os.close(int(name))
                except OSError:
                    continue  # the listing's own

    def run(self) -> None:
        """Serve until no process of the job is left, then write its final status."""
        while self._tree.roots or self._awaits_status():
            for fd, _ in self._poll.poll(self._patience()):
                if fd == self._wakeup:
                    drain_wakeups(fd)
                elif fd in self._intake.fds:
                    self._intake.read(fd)
                elif fd == self._link.fileno():
                    self._hear()
                else:
                    self._tree.ended(fd)
            if self._stop_requested is not None and self._ladder.why is None:
                self._ladder.begin(self._stop_requested, self._grace)
            if self._ladder.why is not None and not self._ladder.step():
                self._tree.give_up()
        self._intake.drain(LAST_SECONDS)
        if self._job is not None:
            self._job.finished(self._facts())

    def _patience(self) -> float | None:
        return milliseconds_until(
            None if self._tree.roots else time.monotonic() + STATUS_ROUND_SECONDS,
            None if self._ladder.why is None else self._ladder.next_step(),
        )

    def _awaits_status(self) -> bool:
        """Whether the leader's status is still to come: it is there when the parent has collected the leader."""
        if self._status is not None or self._ladder.why is not None:
            return False
        self._status = children.collected_status(self._leader_handle)
        now = time.monotonic()
        if self._status_by is None:
            self._status_by = now + STATUS_SECONDS
        return self._status is None and now < self._status_by

    def _hear(self) -> None:
        """The statuses of processes that the runner has collected."""
        data = self._link.recv(STATUS.size * 256)
        if not data:
            # The warden ends all that a killed runner was the subreaper of; this process records the end of its job.
            self._poll.unregister(self._link)
            return
        for pid, status in STATUS.iter_unpack(data[: len(data) - len(data) % STATUS.size]):
            if pid == self._leader and self._status is None:
                self._status = status
                self._told = True

    def _facts(self) -> Facts:
        # A status that the runner has told is the job's own. So is one that the warden does not cause.
        with_runner = os.getppid() != self._tree.runner and not self._told and self._status in (None, signal.SIGKILL)
        if self._ladder.why is None and with_runner:
            return protocol.facts(self._leader, None, why="runner killed", forced=False)
        return protocol.facts(self._leader, self._status, why=self._ladder.why, forced=self._ladder.killed)


def _parent_of(pid: int) -> int:
    fields = children.stat_fields(pid)
    return int(fields[1]) if len(fields) > 1 else 0


def _has_ended(handle: int) -> bool:
    """Whether the process has, with all its threads; collected or not."""
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(0))
