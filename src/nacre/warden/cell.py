"""A sandbox that waits: the namespaces that bubblewrap has made, into which a runner places its shells.

A shell that is placed there is still the runner's own child, so its pid, status, descriptors and end are those of any
shell. Its orphans become children of the first process of the pid namespace, which is below the runner too. The end of
that process ends everything in the cell, whatever it is doing.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import time

from nacre.warden import children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.allowed_hosts import HostRule

# How long bubblewrap may take to make the namespaces; it takes milliseconds.
OPEN_SECONDS = 10.0
# What runs in a cell so that it stays: it ends when the runner's end of its pipe is closed.
HOLDER = "/bin/cat"
_NAMESPACES = (
    ("user", 0x10000000),
    ("mnt", 0x00020000),
    ("pid", 0x20000000),
    ("net", 0x40000000),
    ("ipc", 0x08000000),
)
_MOST_COMPLAINT_BYTES = 4096


class CellError(OSError):
    """Why there is no cell, in bubblewrap's words."""


class Cell:
    """One sandbox with its three processes: bubblewrap, the first process inside, and what holds the cell open."""

    def __init__(
        self, words: list[str], *, before: list[str], hosts: list[HostRule] | None = None, refusals: str = ""
    ) -> None:
        """Make the namespaces; raises OSError when that cannot be done.

        Args:
            words: bubblewrap and its options.
            before: words of a program that prepares the place and then becomes bubblewrap, if it needs one.
            hosts: what can be reached from inside, by a proxy.
            refusals: the file that the proxy notes its refusals in.
        """
        self.words = words
        self.hosts = hosts
        self._ends: list[int] = []
        self.outer = self.first = self._holder = self._proxy = 0
        try:
            self._open([*before, words[0], *words] if before else words)
            if hosts is not None:
                # Loaded by the runners that have one.
                from nacre.warden.host_proxy import start_proxy

                self._proxy = start_proxy(self, hosts, refusals)
        except BaseException:
            self.close()
            raise
        children.cell = (self.outer, self.first, self._holder, *((self._proxy,) if self._proxy else ()))

    def _open(self, words: list[str]) -> None:
        (inside_in, hold), (said, inside_out), (complaints, errors), (info, info_end) = (os.pipe() for _ in range(4))
        theirs = [inside_in, inside_out, errors, info_end]
        self._ends = [hold, said, complaints, info]
        try:
            os.set_inheritable(info_end, True)  # noqa: FBT003 - positional in the library
            self.outer = os.posix_spawn(
                words[0],
                [*words, "--info-fd", str(info_end), "--", HOLDER],
                {},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, inside_in, 0),
                    (os.POSIX_SPAWN_DUP2, inside_out, 1),
                    (os.POSIX_SPAWN_DUP2, errors, 2),
                ],
                setsigmask=(),
            )
        finally:
            for fd in theirs:
                os.close(fd)
        os.write(hold, b"\n")
        # The holder gives the byte back when all mounts are made.
        if not _is_readable(said, OPEN_SECONDS) or not os.read(said, 1):
            raise CellError(_complaint(complaints))
        self.first = int(json.loads(os.read(info, 65536))["child-pid"])
        below = children.children_of(self.first)
        if not below:
            raise CellError("the sandbox has ended")
        self._holder = below[0]
        self._handle = os.pidfd_open(self._holder)
        self._ends.append(self._handle)
        path = f"/proc/{self.first}/task/{self.first}/children"
        self.orphans = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        """The children of the first process, as the kernel prints them."""
        self._ends.append(self.orphans)
        self._flags = 0
        for name, flag in _NAMESPACES:
            if os.stat(f"/proc/self/ns/{name}").st_ino != os.stat(f"/proc/{self._holder}/ns/{name}").st_ino:
                self._flags |= flag
        for fd in (said, complaints, info):
            self._ends.remove(fd)
            os.close(fd)

    @property
    def usable(self) -> bool:
        """True if it is there and holds nothing of an earlier command."""
        try:
            return os.pread(self.orphans, 4096, 0) == b"%d " % self._holder
        except OSError:
            return False

    def enter(self) -> None:
        """Join the namespaces: what this process forks from now on is inside."""
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(self._handle, self._flags) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"the sandbox cannot be entered: {os.strerror(number)}")

    def kill(self) -> None:
        """End everything inside at once."""
        if self.first:
            children.signal_process(self.first, signal.SIGKILL, parents={self.outer, os.getpid()})

    def close(self) -> None:
        """End it with everything inside."""
        children.cell = ()
        if self.outer:
            self.kill()
        for pid in (self.outer, self._proxy):
            try:
                if pid:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass  # collected already
        self.outer = self.first = self._proxy = 0
        for fd in self._ends:
            os.close(fd)
        self._ends = []


def _is_readable(fd: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _complaint(fd: int) -> str:
    """What bubblewrap says about its failure."""
    said = b""
    until = time.monotonic() + 1.0
    while len(said) < _MOST_COMPLAINT_BYTES and _is_readable(fd, max(until - time.monotonic(), 0.0)):
        more = os.read(fd, _MOST_COMPLAINT_BYTES)
        if not more:
            break
        said += more
    return said.decode("utf-8", "replace").strip() or f"it was not ready within {OPEN_SECONDS:g} s"
