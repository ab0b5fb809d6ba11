"""Makes a job of a command that runs, or of what it has left: the runner reads its pipes and writes its record."""

from __future__ import annotations

import os

from nacre.warden import children, protocol
from nacre.warden.intake import discard
from nacre.warden.kept_job import KeptJob
from nacre.warden.protocol import DRAIN_SECONDS, READ_BYTES, SILENCE_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.intake import Sink
    from nacre.warden.messages import Keep, StartJob
    from nacre.warden.supervisor import Supervisor


def keep(supervisor: Supervisor, request: Keep, fds: list[int]) -> None:
    """Read the pipes from now on: into a job's file, or away, so that survivors do not die of SIGPIPE.

    The caller's request may come when the command has just ended: then the job has its end at once.
    """
    if request["adopt"] is not None:
        _adopt(supervisor, request["adopt"])
    sink: Sink = discard
    if request["job"] is not None:
        try:
            job = supervisor.job = KeptJob.open(request["job"])
            job.started(supervisor.tree.leader, runner=os.getpid())
        except OSError as error:
            supervisor.job = None
            for fd in fds:
                os.close(fd)
            supervisor.channel.send(protocol.kept(supervisor.tree.leader, error))
            supervisor.stop("stop")
            return
        supervisor.reported = False
        sink = job.output.feed
    kept = len(fds) - request["aside"]
    supervisor.intake.redirect(sink)
    supervisor.intake.attend(fds[:kept], sink)
    supervisor.intake.attend(fds[kept:], discard)
    if supervisor.job is not None and "terminal" in supervisor.start.request and fds:
        _serve_terminal(supervisor, supervisor.job, fds[0], records="records" in (request["job"] or ()))
    supervisor.channel.send(protocol.kept(supervisor.tree.leader))


def keep_from_start(supervisor: Supervisor, request: StartJob, readers: list[int]) -> None:
    """Make a job of a command that was just started: its output goes to the job's file from its first byte on."""
    supervisor.set_limits(request["timeout"], request["grace"], elapsed=0.0)
    supervisor.announce_at = None
    supervisor.attended = "attended" in request
    keep(
        supervisor,
        protocol.keep(fds=0, aside=0, grace=request["grace"], job=request["job"], adopt=None, apart=False),
        readers,
    )


def _serve_terminal(supervisor: Supervisor, job: KeptJob, master: int, *, records: bool) -> None:
    from nacre.warden.terminal import bind_socket

    try:
        supervisor.serve_terminal(master, bind_socket(job.directory), records=records)
    except OSError:
        # Nothing can be typed then: the state directory is full or gone, and the command goes on.
        return


def keep_late(supervisor: Supervisor, request: Keep, fds: list[int]) -> None:
    """Keep a command of which nothing is left: it ended while the request was on its way."""
    if request["adopt"] is not None:
        _adopt(supervisor, request["adopt"])
    facts = supervisor.facts() if supervisor.adopted or supervisor.told is None else supervisor.told
    try:
        if request["job"] is not None:
            job = KeptJob.open(request["job"])
            job.started(supervisor.tree.leader, runner=os.getpid())
            for fd in fds[: len(fds) - request["aside"]]:
                _copy_rest(fd, job)
            job.finished(facts)
    except OSError as error:
        supervisor.channel.send(protocol.kept(supervisor.tree.leader, error))
    else:
        supervisor.channel.send(protocol.kept(supervisor.tree.leader))
    finally:
        for fd in fds:
            os.close(fd)


def _copy_rest(fd: int, job: KeptJob) -> None:
    """Copy what is in a pipe that no process writes to any more."""
    os.set_blocking(fd, False)
    try:
        while data := os.read(fd, READ_BYTES):
            job.output.feed(data)
    except BlockingIOError:
        return


def _adopt(supervisor: Supervisor, survivor: int) -> None:
    """Follow a survivor of the finished shell from now on: its status, and the end of all that is left."""
    supervisor.tree.leader = survivor
    supervisor.adopted = True
    supervisor.status = supervisor.named.get(survivor)
    if children.cell and supervisor.status is None:
        try:
            supervisor.leader_handle = os.pidfd_open(survivor)
        except OSError:
            pass  # it has ended, and its status is known to the sandbox alone
    supervisor.deadline = None
    supervisor.reported = False


def is_draining(supervisor: Supervisor) -> bool:
    """Whether a job has ended and only its pipes may still have output."""
    if supervisor.job is None or supervisor.ladder.why is not None or supervisor.reported:
        return False
    return not supervisor.left if supervisor.adopted else supervisor.status is not None


def drain_until(supervisor: Supervisor) -> float:
    if not supervisor.intake.fds:
        return supervisor.exit_at
    return min(supervisor.intake.last_output + SILENCE_SECONDS, supervisor.exit_at + DRAIN_SECONDS)
