"""The warden's first process: forks runners on demand for one calling program, and ends with it.

One small heap, frozen before the first fork, so that a runner costs little more than its stack. It never runs a
command itself and holds none of its caller's descriptors. It answers for its runners: one that is stopped goes on, and
the command of one that is killed is ended. So it stays for as long as a runner keeps a job. A runner goes on without
it.
"""

from __future__ import annotations

import functools
import gc
import os
import resource
import signal
import socket
import sys

from nacre.warden import children, guardian, kept_job, ledger, naming, protocol, stop_request
from nacre.warden.channel import Channel
from nacre.warden.launch import received_environment
from nacre.warden.memory import counter
from nacre.warden.privacy import become_unreadable
from nacre.warden.record import STOP_SIGNAL
from nacre.warden.rehearsal import rehearse
from nacre.warden.runner import Runner
from nacre.warden.start_actions import ignored_signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from nacre.warden.messages import Request


def main(control_fd: int, redactor_module: str) -> NoReturn:
    """Serve the caller at the other end of a socket, with the name of the module that redacts jobs' output."""
    kept_job.lend_redactor(redactor_module)
    # The intermediate ends at once, so the caller has no child to wait for.
    if os.fork():
        os._exit(0)
    os.chdir("/")
    # A crash of an agent's command is a result, not a reason to write gigabytes into its directory.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    control = socket.socket(fileno=control_fd)
    become_unreadable()
    # A host may block signals; a runner that never heard of its children's ends would miss them.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    # The kernel hangs up a process group that loses its parent while a member is stopped: a runner would end by that.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    naming.find_arguments()
    # What every runner asks for once is worked out here, in memory that they share.
    ignored_signals()
    counter()
    gc.collect()
    gc.freeze()
    gc.disable()
    # With all of that in memory that the two share.
    guards = guardian.split_off(control_fd)
    naming.rename(b"nacre-warden")
    children.become_subreaper()
    ledger.open_ledger()
    signal.signal(signal.SIGCHLD, _reap_runners)
    signal.signal(signal.SIGTERM, stop_request.terminate)
    signal.signal(STOP_SIGNAL, stop_request.stop)
    global _zygote
    _zygote = os.getpid()
    # Until this is said, nothing that was asked for can have been started.
    control.send(protocol.READY.pack(guards, _zygote))
    channel = Channel(control)
    env: dict[bytes, bytes] = {}
    while True:
        bodies = channel.frames()
        if not channel.open:
            _outlive_caller(channel)
        for body in bodies:
            if protocol.starts_job(body):
                _get_ready_for_jobs()
            if protocol.starts_job(body) and b'"env":' not in body:
                # What is written here between two forks is no longer shared with the runner before, which a job keeps
                # for as long as it runs: so nothing is read of it.
                _fork_job(channel, env, body, channel.take_fds())
                continue
            message, fds = channel.decode(body)
            env = received_environment(message, env)
            _fork_runner(channel, env, message, body, fds)


@functools.cache
def _get_ready_for_jobs() -> None:
    """At the first job, in memory that the runners of all jobs share."""
    kept_job.load_redactor()
    rehearse()


def _fork_job(control: Channel, env: dict[bytes, bytes], body: bytes, fds: list[int]) -> None:
    """Fork the runner of a job, which makes ready by itself what it needs."""
    try:
        child = os.fork()
    except OSError as error:
        with socket.socket(fileno=os.dup(fds[0])) as sock:
            _refuse(sock, error)
    else:
        if child == 0:
            sock = socket.socket(fileno=fds[0])
            try:
                runner = Runner(Channel(sock), env)
            except OSError as error:
                _refuse(sock, error)
                os._exit(1)
            runner.read_later(body, fds[1:])
            _become_runner(control, runner)
    for fd in fds:
        os.close(fd)


def _fork_runner(control: Channel, env: dict[bytes, bytes], message: Request, body: bytes, all_fds: list[int]) -> None:
    """Fork a runner with its first request; a failure is told to the caller, and the warden goes on."""
    fd, *fds = all_fds
    sock = socket.socket(fileno=fd)
    try:
        runner = Runner(Channel(sock), env)
    except OSError as error:
        _refuse(sock, error)
        for fd in fds:
            os.close(fd)
        return
    if runner.ask(message, body, fds):
        try:
            child = os.fork()
        except OSError as error:
            _refuse(sock, error)
        else:
            if child == 0:
                _become_runner(control, runner)
    runner.discard()


_zygote = 0


def _reap_runners(*_: object) -> None:
    """Answer for runners that end or are stopped. A runner inherits this, and looks for its own at its own time."""
    if os.getpid() == _zygote:
        guardian.look()


def _outlive_caller(control: Channel) -> NoReturn:
    """Stay for the jobs of a caller that is gone, and end with the last of them."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    control.sock.close()
    guardian.wake_parent()
    guardian.outlive()
    guardian.wake_parent()
    os._exit(0)


def _refuse(sock: socket.socket, error: OSError) -> None:
    """Tell a caller that asked for a runner why there is none."""
    Channel(sock).send(protocol.failed("process", error))


def _become_runner(control: Channel, runner: Runner) -> NoReturn:
    naming.rename(b"nacre-runner")
    control.sock.close()
    # Of requests that have come since, for other runners.
    for fd in control.take_fds():
        os.close(fd)
    status = 1
    try:
        runner.serve()
        guardian.wake_parent()
        status = 0
    except BaseException:  # noqa: BLE001 - the outermost frame of a process: say why, then end
        import traceback

        sys.stderr.write(traceback.format_exc())
        sys.stderr.flush()
    finally:
        os._exit(status)
