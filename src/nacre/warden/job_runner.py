"""A job from its start, under a runner that stays small for as long as only output comes from it.

What a runner touches it no longer shares with the zygote, and it keeps that until the job ends. So the request is
read and the job's files are made by the child that then becomes the shell; the runner gets descriptors and a few
numbers, and copies output. At anything else it reads the request too, and goes on as a Supervisor.
"""

from __future__ import annotations

import marshal
import os
import select
import socket
import time

from nacre.warden import children, guardian, launch, memory, protocol
from nacre.warden.channel import receive_fds
from nacre.warden.kept_job import JobOutput, KeptJob, hidden_forms
from nacre.warden.protocol import READ_BYTES
from nacre.warden.start import become_shell, limit_shell
from nacre.warden.wakeups import drain_wakeups, milliseconds_until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from nacre.warden.channel import Channel
    from nacre.warden.messages import Event, StartJob


_NO_PLAN = bytes(4)


class JobWatch:
    """One job, as far as its runner knows it."""

    __slots__ = (
        "_budgeted",
        "_channel",
        "claim",
        "deadline",
        "last_output",
        "leader",
        "lock",
        "memory_events",
        "notes_fd",
        "output",
        "readers",
        "stop_requested",
        "terminal",
    )

    claim: int
    leader: int
    lock: int
    memory_events: bytes
    notes_fd: int | None
    output: JobOutput
    readers: list[int]
    terminal: socket.socket | None
    deadline: float | None

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.last_output = 0.0
        self.stop_requested: str | None = None

    def request_stop(self, why: str) -> None:
        """Have it stopped: from a signal handler, whose signal also wakes the poll."""
        self.stop_requested = why

    def start(self, env: dict[bytes, bytes], body: bytes, fds: list[int]) -> bool:
        """Start it as the request says; False when that failed, and the caller was told why."""
        # Each stream has both its ends here.
        writers, self.readers = fds[: len(fds) // 2], fds[len(fds) // 2 :]
        pair: tuple[socket.socket, ...] = ()
        runner = os.getpid()
        try:
            near, far = pair = socket.socketpair()
            self.leader = os.fork()
        except OSError as error:
            for one in pair:
                one.close()
            for fd in fds:
                os.close(fd)
            self._channel.send(protocol.failed("process", error))
            return False
        if self.leader == 0:
            children.die_with_parent(runner)
            near.close()
            _become_shell(self._channel, env, body, writers, far)
        far.close()
        for fd in writers:
            os.close(fd)
        return self.receive_plan(near)

    def receive_plan(self, near: socket.socket) -> bool:
        """Take what the child prepared, and tell the caller; False when the child could not become the shell."""
        # The other end closes at the exec, or at the end of a child that could not get there.
        said, handed = receive_fds(near, 65536)
        while more := near.recv(65536):
            said += more
        near.close()
        if not said:
            raise ChildProcessError("the start of a job was killed")
        end = 4 + int.from_bytes(said[:4], "big")
        if failure := said[end:]:
            for fd in (*self.readers, *handed):
                os.close(fd)
            os.waitpid(self.leader, 0)
            self._channel.send_frame(failure)
            return False
        self.begin(said[4:end], handed)
        return True

    def close(self) -> None:
        """Give back the descriptors of a job that no supervisor takes over."""
        for fd in (self.lock, self.claim, self.output.fd):
            os.close(fd)

    def begin(self, plan: bytes, handed: list[int]) -> None:
        """Take what the child prepared (lock, claim, output file, where the shell leaves its notes), and say so."""
        answer, limit, head_bytes, cap_bytes, hidden, self.memory_events, terminal, budgeted = marshal.loads(plan)
        self._budgeted = budgeted
        self.deadline = None if limit is None else time.monotonic() + limit
        self.lock, self.claim, output = handed[:3]
        more = handed[3:]
        self.terminal = socket.socket(fileno=more.pop()) if terminal else None
        self.notes_fd = more[0] if more else None
        self.output = JobOutput(output, head_bytes=head_bytes, cap_bytes=cap_bytes, hidden=hidden)
        self._channel.send_frame(answer)

    def until_more(self, wakeup: int) -> None:
        """Copy output until anything else happens: its end, its limit, a word of the caller, a request to stop."""
        if self.terminal is not None or self._budgeted:
            return
        channel = self._channel
        poll = select.poll()
        for fd in (channel.reading, wakeup, *self.readers):
            poll.register(fd, select.POLLIN)
        while self.stop_requested is None and (self.deadline is None or time.monotonic() < self.deadline):
            for fd, _ in poll.poll(milliseconds_until(self.deadline)):
                if fd in self.readers:
                    if not self._copy(fd):
                        return
                elif fd == wakeup:
                    drain_wakeups(fd)
                    if self._has_ended():
                        return
                elif channel.gone():
                    # The caller lets it run by itself.
                    guardian.wake_parent()
                    channel.open = False
                    poll.unregister(fd)
                else:
                    return

    def _has_ended(self) -> bool:
        """Whether the shell has; its status stays to be collected, orphans that have ended are collected here."""
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            if ended.si_pid == self.leader:
                return True
            os.waitpid(ended.si_pid, 0)
        return False

    def _copy(self, fd: int) -> bool:
        data = os.read(fd, READ_BYTES)
        self.last_output = time.monotonic()
        self.output.feed(data)
        return data != b""


def pack_plan(
    answer: Event,
    *,
    limit: float | None,
    head_bytes: int,
    cap_bytes: int,
    hidden: list[tuple[str, bytes]],
    terminal: bool = False,
    budgeted: bool = False,
) -> bytes:
    """What a runner has to know of its job, and what it says to the caller, so that it need not know how."""
    plan = (protocol.frame(answer), limit, head_bytes, cap_bytes, hidden, memory.events(), terminal, budgeted)
    return marshal.dumps(plan)


def _become_shell(
    channel: Channel, env: dict[bytes, bytes], body: bytes, writers: list[int], far: socket.socket
) -> NoReturn:
    """In the child: make the job's files, hand them to the runner, and become the shell."""
    request: StartJob = protocol.request_in(body)  # type: ignore[assignment]
    step = "cwd"
    try:
        os.chdir(request["cwd"])
        if channel.gone():
            # A hung file system can hold us until the caller has been told that nothing was started.
            raise ConnectionAbortedError
        step = "descriptors"
        prepared = launch.prepare_request(request)
        step = "files"
        _hand_over(request, prepared, far)
        step = "shell"
        if "budget" in request:
            limit_shell(request["budget"], runner=os.getppid())
        env = launch.environment(prepared, launch.received_environment(request, env), request)
        become_shell(prepared, launch.file_actions(prepared, writers, request), env)
    except Exception as error:  # noqa: BLE001 - the outermost frame of a process: say why, then end
        answer: Event = protocol.failed(step, error)
        if step == "files" and isinstance(error, OSError):
            answer = protocol.kept(os.getpid(), error)
        # After the plan, or instead of one: the runner passes it on when nothing is left of this.
        far.sendall((b"" if step == "shell" else _NO_PLAN) + protocol.frame(answer))
    finally:
        os._exit(1)


def _hand_over(request: StartJob, prepared: launch.Launch, far: socket.socket) -> None:
    spec = request["job"]
    job = KeptJob.open(spec)
    job.started(os.getpid(), runner=os.getppid())
    plan = pack_plan(
        protocol.kept(os.getpid()),
        limit=request["timeout"],
        head_bytes=spec["headBytes"],
        cap_bytes=spec["capBytes"],
        hidden=hidden_forms(spec),
        terminal="terminal" in request,
        budgeted="budget" in request,
    )
    more = [] if prepared.notes_fd is None else [prepared.notes_fd]
    if "terminal" in request:
        from nacre.warden.terminal import bind_socket

        more.append(bind_socket(spec["directory"]).detach())
    send_plan(far, plan, [*job.fds, *more])


def send_plan(far: socket.socket, plan: bytes, fds: Sequence[int]) -> None:
    plan = len(plan).to_bytes(4, "big") + plan
    sent = socket.send_fds(far, [plan], fds)
    far.sendall(plan[sent:])
