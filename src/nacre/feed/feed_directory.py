"""Where viewers announce themselves: a socket of each in a directory that belongs to the user alone.

The directory exists only while there are viewers, so that a call learns in one system call that there is none.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import stat
import struct
import time
from collections.abc import Iterator

from nacre.errors import NacreError

# The address of a socket holds 107 bytes; a longer path is reached by way of a descriptor of its directory.
ADDRESS_BYTES = 100
# A directory that another process removes as empty is made again; twice in a row is already rare.
ATTEMPTS = 20
# A viewer makes its socket ready under a hidden name; one that is older was left by a viewer that was killed.
READY_SECONDS = 60.0

_numbers = itertools.count(1)


# The end of the name of a viewer whose person can type.
PERSON = "-person"


def announce(directory: str, *, person: bool = False) -> tuple[socket.socket, str]:
    """Make the socket of a viewer; returns it and its path.

    Args:
        person: whether the viewer shows terminals to a person, who can type.

    Raises:
        NacreError: the directory cannot be used.
    """
    try:
        for _ in range(ATTEMPTS):
            with contextlib.suppress(FileNotFoundError):
                return _announce(directory, person=person)
    except OSError as error:
        raise NacreError(f"the feed cannot be followed: {directory}: {error.strerror}") from error
    raise NacreError(f"the feed cannot be followed: {directory} is removed again and again")


def _announce(directory: str, *, person: bool) -> tuple[socket.socket, str]:
    os.makedirs(os.path.dirname(directory), mode=0o700, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.mkdir(directory, 0o700)
    if not is_private(directory):
        raise NacreError(f"the feed cannot be followed: {directory} is not a directory of this user alone")
    name = f"{os.getpid()}-{next(_numbers)}{PERSON if person else ''}"
    hidden, path = os.path.join(directory, f".{name}"), os.path.join(directory, name)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(0.0)
        with _address(hidden) as address:
            sock.bind(address)
        os.chmod(hidden, 0o600)
        sock.listen(128)
        # A socket that is found can be connected to: one that cannot was left by a viewer that is gone.
        os.rename(hidden, path)
    except BaseException:
        sock.close()
        raise
    return sock, path


def withdraw(path: str) -> None:
    """Remove the socket of a viewer, and the directory with the last one."""
    for remove, name in ((os.unlink, path), (os.rmdir, os.path.dirname(path))):
        # Another viewer is there, or a process has removed it already.
        with contextlib.suppress(OSError):
            remove(name)


def is_private(directory: str) -> bool:
    """True if the directory is one, and only this user can reach what is in it."""
    try:
        found = os.lstat(directory)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def viewers(directory: str) -> list[str]:
    """Return the names of the sockets; those of viewers that were killed early are removed."""
    if not is_private(directory):
        return []
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    found = []
    for name in names:
        if not name.startswith("."):
            found.append(name)
            continue
        path = os.path.join(directory, name)
        with contextlib.suppress(OSError):
            if time.time() - os.lstat(path).st_mtime > READY_SECONDS:
                os.unlink(path)
    if not names:
        with contextlib.suppress(OSError):
            os.rmdir(directory)
    return found


def connect(directory: str, name: str) -> socket.socket | None:
    """Connect to a viewer, without waiting; None if it does not answer. The socket of one that is gone is removed."""
    path = os.path.join(directory, name)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(0.0)
        with _address(path) as address:
            sock.connect(address)
        if peer_of(sock)[1] == os.geteuid():
            return sock
    except ConnectionRefusedError:
        withdraw(path)
    except OSError:
        pass  # its queue is full, or it has just left: it is tried again by the next look
    sock.close()
    return None


def peer_of(sock: socket.socket) -> tuple[int, int]:
    """Return the pid and the user of the process at the other end."""
    pid, uid, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return pid, uid


@contextlib.contextmanager
def _address(path: str) -> Iterator[str]:
    if len(os.fsencode(path)) <= ADDRESS_BYTES:
        yield path
        return
    fd = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{fd}/{os.path.basename(path)}"
    finally:
        os.close(fd)
