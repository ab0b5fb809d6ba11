"""Runs programs and accesses files as another user; only root can do that.

Files are accessed on a thread that takes the identity of the user and then ends: in Linux the identity for file access
belongs to the thread, so other threads are not affected.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import platform
import pwd
import shutil
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from nacre.errors import InvalidRequestError

T = TypeVar("T")

# A program that root runs must not be found through a PATH that another user controls.
SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# The C library changes all threads, so the system call is made by its number.
_SETGROUPS = {"x86_64": 116, "aarch64": 159}


@dataclass(frozen=True, slots=True)
class User:
    """A user other than the one the program runs as."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str

    @property
    def variables(self) -> dict[str, str]:
        """The variables that a login sets."""
        return {"HOME": self.home, "USER": self.name, "LOGNAME": self.name}

    @property
    def prefix(self) -> list[str]:
        """The words before a program that run it as this user."""
        setpriv = shutil.which("setpriv", path=SYSTEM_PATH)
        if setpriv is None:
            raise InvalidRequestError(
                f"to run as {self.name!r} setpriv is needed, and not found; install util-linux", field="user"
            )
        groups = f"--groups={','.join(map(str, self.groups))}" if self.groups else "--clear-groups"
        return [setpriv, f"--reuid={self.uid}", f"--regid={self.gid}", groups, "--"]


def user_named(name: str | None) -> User | None:
    """Return the user with that name or number; None if this program runs as that user.

    Raises:
        InvalidRequestError: there is no such user, or this program may not act as that user.
    """
    if name is None:
        return None
    try:
        entry = pwd.getpwuid(int(name)) if name.isdecimal() else pwd.getpwnam(name)
    except KeyError:
        raise InvalidRequestError(f"there is no user {name!r} on this machine", field="user") from None
    if entry.pw_uid == os.geteuid():
        return None
    if os.geteuid() != 0:
        raise InvalidRequestError(
            f"only root can act as {name!r}; this program runs as user {os.geteuid()}", field="user"
        )
    groups = tuple(os.getgrouplist(entry.pw_name, entry.pw_gid))
    return User(entry.pw_name, entry.pw_uid, entry.pw_gid, groups, entry.pw_dir)


async def access_files(user: User | None, work: Callable[[], T]) -> T:
    """Run `work`, which accesses files, as that user and outside the event loop."""
    if user is None:
        return await asyncio.to_thread(work)

    def perform() -> T:
        _become(user)
        return work()

    # A thread of its own, because its identity is not restored.
    with ThreadPoolExecutor(1) as pool:
        return await asyncio.get_running_loop().run_in_executor(pool, perform)


def may_execute(user: User | None, path: str) -> bool:
    """True if the permissions of the file let the user execute it."""
    status = os.stat(path)
    uid = os.geteuid() if user is None else user.uid
    groups = {os.getegid(), *os.getgroups()} if user is None else {user.gid, *user.groups}
    if stat.S_ISDIR(status.st_mode):
        return False
    if uid == 0:
        return bool(status.st_mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH))
    if uid == status.st_uid:
        return bool(status.st_mode & stat.S_IXUSR)
    return bool(status.st_mode & (stat.S_IXGRP if status.st_gid in groups else stat.S_IXOTH))


def _become(user: User) -> None:
    """Give this thread the file access of the user."""
    libc = ctypes.CDLL(None, use_errno=True)
    groups = (ctypes.c_uint32 * len(user.groups))(*user.groups)
    if platform.machine() not in _SETGROUPS:
        raise OSError(f"the groups of a thread cannot be set on {platform.machine()}")
    if libc.syscall(_SETGROUPS[platform.machine()], len(groups), groups) != 0:
        raise OSError(ctypes.get_errno(), f"the groups of {user.name} could not be taken on")
    libc.setfsgid(user.gid)
    # Last, because the thread loses the file access of root with it.
    libc.setfsuid(user.uid)
    if libc.setfsuid(-1) != user.uid:
        raise OSError(f"the identity of {user.name} could not be taken on")
