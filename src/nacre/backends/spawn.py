"""Starts a shell as a child of this process, in its own session, with nothing of the host's but its directory.

Two ways, because the standard library has no single one: posix_spawn resets signals and costs least, but cannot change
the directory and must be told of each descriptor to close; Popen needs none of that, and costs a tenth of a shell's
start more.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Mapping

from nacre.command import Command
from nacre.warden import launch

# Popen restores these by itself.
_RESTORED = {signal.SIGPIPE, signal.SIGXFSZ}
_CATCHABLE = tuple(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
# With more descriptors than this it takes longer to look for those to close than Popen takes to close them all.
_FEW_DESCRIPTORS = 100


def spawn(command: Command, prepared: launch.Launch, writers: list[int]) -> int:
    """Start it with its output on the writers; the pid of a child that the caller must collect."""
    if _is_here(command.cwd) and (_are_few(writers) or _blocks_signals()):
        return _posix_spawn(command, prepared, writers)
    return _popen(command, prepared, writers)


def _is_here(directory: str) -> bool:
    try:
        return os.getcwd() == directory
    except OSError:
        return False


def _are_few(fds: list[int]) -> bool:
    # The lowest free number is taken first, so below a new one there is hardly a gap.
    return fds[0] <= _FEW_DESCRIPTORS


def _blocks_signals() -> bool:
    """Whether this thread does; Popen would hand that on."""
    return bool(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


# The last environment as exec wants it: most calls have the same one, and encoding it takes as long as a fork.
_encoded: tuple[Mapping[str, str], dict[bytes, bytes]] = ({}, {})


def _posix_spawn(command: Command, prepared: launch.Launch, writers: list[int]) -> int:
    global _encoded
    known, encoded = _encoded
    if known != command.env:
        encoded = {os.fsencode(name): os.fsencode(value) for name, value in command.env.items()}
        _encoded = (command.env, encoded)
    env = {**encoded, **{os.fsencode(name): os.fsencode(value) for name, value in prepared.variables.items()}}
    actions: list[tuple[int, int] | tuple[int, int, int] | tuple[int, int, str, int, int]] = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writers[0], 1),
        (os.POSIX_SPAWN_DUP2, writers[-1], 2),
    ]
    actions += [(os.POSIX_SPAWN_CLOSE, fd) for fd in _inheritable()]
    # A duplicate onto itself only clears close-on-exec.
    actions += [(os.POSIX_SPAWN_DUP2, fd, fd) for fd in prepared.inherited]
    return os.posix_spawn(
        prepared.path, prepared.argv, env, file_actions=actions, setsid=True, setsigmask=(), setsigdef=_CATCHABLE
    )


def _inheritable() -> list[int]:
    """Descriptors of the host that a program started from here would get."""
    found = []
    for name in os.listdir("/dev/fd"):
        fd = int(name)
        try:
            if fd > 2 and not fcntl.fcntl(fd, fcntl.F_GETFD) & fcntl.FD_CLOEXEC:
                found.append(fd)
        except OSError:
            continue  # the descriptor of the listing itself
    return found


def _popen(command: Command, prepared: launch.Launch, writers: list[int]) -> int:
    argv, path = prepared.argv, prepared.path
    ignored = _ignored_by_host()
    if ignored and (env_tool := shutil.which("env")):
        # What the host ignores, bash could never trap again, and Popen restores only what Python itself ignores.
        # A shell that cannot be started would be the other program's complaint, and look like the command's output.
        _check_program(path)
        argv = [env_tool, "--default-signal=" + ",".join(ignored), path, *prepared.argv[1:]]
        path = env_tool
    child = subprocess.Popen(
        argv,
        executable=path,
        stdin=subprocess.DEVNULL,
        stdout=writers[0],
        stderr=writers[-1],
        cwd=command.cwd,
        env={**command.env, **prepared.variables},
        pass_fds=prepared.inherited,
        start_new_session=True,
    )
    # The child is collected by its pid; Popen must neither wait for it nor warn that it was not waited for.
    child.returncode = 0
    return child.pid


def _check_program(path: str) -> None:
    """Raise what exec would, as far as that can be told beforehand."""
    if stat.S_ISDIR(os.stat(path).st_mode) or not os.access(path, os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    with open(path, "rb") as file:
        if file.read(2) not in (b"\x7fE", b"#!"):
            raise OSError(errno.ENOEXEC, os.strerror(errno.ENOEXEC), path)


def _ignored_by_host() -> list[str]:
    """Numbers of the signals that the host program ignores, beyond those that Popen restores by itself."""
    return [
        str(int(number))
        for number in _CATCHABLE
        if number not in _RESTORED and signal.getsignal(number) == signal.SIG_IGN
    ]
