"""What the kernel tells of the program on a terminal: whether it sleeps in a read of it, and the terminal's mode.

Only an ancestor may look at another process's system call where Yama restricts that: the runner is one, and on another
machine the remote service.
"""

from __future__ import annotations

import fcntl
import os
import struct
import termios

from nacre.warden import children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# read and readv.
_READS = {"x86_64": (0, 19), "aarch64": (63, 65)}
_GET_NUMBER = 0x80045430  # TIOCGPTN
_PTS_MAJOR = 136
# /dev/tty: the controlling terminal of the process that opens it.
_CONTROLLING = os.makedev(5, 0)
# Threads and processes that are looked at; a program with more is not asking.
_MOST_LOOKS = 64


class Look:
    """What a look has found."""

    __slots__ = ("alone", "canonical", "hidden", "reading")

    def __init__(self, *, reading: bool, canonical: bool, hidden: bool, alone: bool = False) -> None:
        self.reading = reading
        """Whether a process in the foreground sleeps in a read of the terminal."""
        self.canonical = canonical
        """Whether the terminal collects lines; a program that draws a screen has switched that off."""
        self.hidden = hidden
        """Whether what is typed is not shown."""
        self.alone = alone
        """Whether the reader has one thread: then it does nothing else."""

    def packed(self) -> int:
        """As one number, for another process."""
        return self.reading + 2 * self.canonical + 4 * self.hidden + 8 * self.alone


def unpacked(number: int) -> Look:
    """The look that another process has packed."""
    return Look(reading=bool(number & 1), canonical=bool(number & 2), hidden=bool(number & 4), alone=bool(number & 8))


def look(master: int) -> Look:
    """Look at the processes below this one; raises OSError or termios.error when the terminal is gone."""
    mode = termios.tcgetattr(master)[3]
    canonical, hidden = bool(mode & termios.ICANON), not mode & termios.ECHO
    group = os.tcgetpgrp(master)
    device = os.makedev(_PTS_MAJOR, struct.unpack("=I", fcntl.ioctl(master, _GET_NUMBER, bytes(4)))[0])
    unknown = False
    left = _MOST_LOOKS
    for pid in _members(group):
        threads = _threads(pid)
        for thread in threads[:left]:
            reads = _reads_terminal(pid, thread, device)
            if reads:
                return Look(reading=True, canonical=canonical, hidden=hidden, alone=len(threads) == 1)
            unknown = unknown or reads is None
        left -= len(threads)
        if left <= 0:
            break
    # Only the mode of another user's process (sudo) is known: programs hide what is typed while they ask for it.
    return Look(reading=unknown and canonical and hidden, canonical=canonical, hidden=hidden)


def _members(group: int) -> Iterable[int]:
    """The processes of the foreground group, its leader first."""
    below = children.descendants(os.getpid())
    return sorted(
        (pid for pid in below if children.stat_fields(pid)[2:3] == [str(group)]), key=lambda pid: pid != group
    )


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


def _reads_terminal(pid: int, thread: str, device: int) -> bool | None:
    """Whether the thread sleeps in a read of the terminal; None where that cannot be known."""
    reads = _READS.get(os.uname().machine)
    said = children.read_bytes(f"/proc/{pid}/task/{thread}/syscall").split()
    if reads is None or not said:
        return None
    if len(said) < 2 or not said[0].isdigit() or int(said[0]) not in reads:
        return False
    try:
        found = os.stat(f"/proc/{pid}/fd/{int(said[1], 16)}").st_rdev
    except (OSError, ValueError):
        return None
    return found in (device, _CONTROLLING)
