"""The process tree below this process: its members, and how to end all of them.

Every process that a command starts, however it detaches itself, stays a descendant of its subreaper. Direct children
cannot be confused with strangers, because only their parent frees their pid; deeper ones are signalled through a pidfd
whose parent was checked after it was opened.
"""

from __future__ import annotations

import os
import signal

from nacre.warden.privacy import prctl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from nacre.warden.messages import Living


PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
# More than these files have; a larger buffer would be more pages of memory.
_SMALL_BYTES = 8192
# ioctl PIDFD_GET_INFO, since Linux 6.15: with this bit the status of a collected process is in the last field.
_GET_INFO = 0xC040FF0B
_INFO_EXIT = 1 << 3
_INFO_BYTES, _EXIT_CODE_AT = 64, 60

cell: tuple[int, ...] = ()
"""The processes of the sandbox that this runner places its shells in (see cell.py): none of a command's own. The second
is the parent of the orphans inside."""


def has_own_proc() -> bool:
    """Whether /proc tells of the processes that this process sees.

    After `unshare --pid --fork` without `--mount-proc` it tells the numbers of the outer namespace, which are other
    processes in here: nothing that is read there may be signalled.
    """
    try:
        return os.readlink("/proc/self") == str(os.getpid())
    except OSError:
        return False


def become_subreaper() -> bool:
    """Adopt orphaned descendants from now on; False where the system has no such thing."""
    return prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process, and the program that it becomes, when its parent ends."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        # It ended before.
        os._exit(128 + signal.SIGKILL)


def continue_without_parent() -> None:
    """Have the kernel continue this process if it is stopped when its parent ends: only the parent would have."""
    prctl(PR_SET_PDEATHSIG, signal.SIGCONT)


def read_bytes(path: str) -> bytes:
    """A small file of /proc or /sys; b"" when it cannot be read.

    Without the layers of `open`: every page of memory that a runner touches is a page it does not share.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, _SMALL_BYTES)
    except OSError:
        return b""
    finally:
        os.close(fd)


def stat_fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on (state, ppid, pgrp, session, …); [] when it is gone."""
    return read_bytes(f"/proc/{pid}/stat").rpartition(b")")[2].decode("ascii", "replace").split()


def start_time(pid: int) -> int | None:
    """Clock ticks from boot to the start of the process: with the pid and the boot id, its identity."""
    fields = stat_fields(pid)
    return int(fields[19]) if len(fields) > 19 else None


def boot_id() -> str:
    return read_bytes("/proc/sys/kernel/random/boot_id").decode("ascii").strip()


def command_line(pid: int) -> list[str]:
    raw = read_bytes(f"/proc/{pid}/cmdline")[:4096]
    if not raw and (thread := _living_thread(pid)) is not None:
        raw = read_bytes(f"/proc/{pid}/task/{thread}/cmdline")[:4096]
    return [part.decode("utf-8", "replace") for part in raw.split(b"\0") if part]


def _living_thread(pid: int) -> str | None:
    """A thread other than the first that is alive: a process lives on when its first thread has ended."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return None
    for thread in threads:
        if thread != str(pid):
            fields = read_bytes(f"/proc/{pid}/task/{thread}/stat").rpartition(b")")[2].split()
            if fields and fields[0] not in (b"Z", b"X"):
                return thread
    return None


def children_of(pid: int) -> list[int] | None:
    """Its direct children, zombies too; None where the kernel keeps no such file."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found += [int(child) for child in file.read().split()]
        except FileNotFoundError:
            if os.path.exists(f"/proc/{pid}/task/{thread}"):
                return None
        except OSError:
            continue
    return found


def _scan_below(root: int) -> list[int]:
    """The same from a full listing, for kernels without the children files."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = stat_fields(int(name))
            if len(fields) > 1:
                parents.setdefault(int(fields[1]), []).append(int(name))
    return _walk(root, lambda pid: parents.get(pid, []))


def _walk(root: int, below: Callable[[int], list[int]]) -> list[int]:
    found: list[int] = []
    pending = [root]
    seen = {root}
    while pending:
        for child in below(pending.pop()):
            if child not in seen:
                seen.add(child)
                found.append(child)
                pending.append(child)
    return found


def direct_children() -> list[int]:
    """The children of this process, zombies too; none of their pids is freed before this process reaps it."""
    me = os.getpid()
    found = children_of(me)
    if found is None:
        return [pid for pid in _scan_below(me) if stat_fields(pid)[1:2] == [str(me)]]
    return found


def descendants(root: int) -> list[int]:
    """Every process below root, zombies too."""
    first = children_of(root)
    found = _scan_below(root) if first is None else _walk(root, lambda pid: children_of(pid) or [])
    return [pid for pid in found if pid not in cell] if cell else found


def heads() -> list[int]:
    """The children of this process, and the orphans in its sandbox."""
    found = children_of(os.getpid()) or []
    for pid in cell[1:2]:
        found += children_of(pid) or []
    return [pid for pid in found if pid not in cell]


def session_and_below(leader: int) -> list[int]:
    """The processes of the session that a process leads, and all below them; the leader last."""
    members = [
        int(name) for name in os.listdir("/proc") if name.isdigit() and stat_fields(int(name))[3:4] == [str(leader)]
    ]
    found = {pid for member in members for pid in [member, *descendants(member)]} - {leader}
    return [*found, leader]


def state(pid: int) -> str:
    """The one-letter state of a process (R, S, D, T, Z…); X when it is gone."""
    fields = stat_fields(pid)
    return fields[0] if fields else "X"


def is_zombie(pid: int) -> bool:
    """Whether a process has ended, with all its threads."""
    return state(pid) in "ZX" and _living_thread(pid) is None


def survivors(root: int) -> list[Living]:
    """Living processes below root, the oldest first, as facts to show."""
    # Not by pid: numbers begin anew at the system's limit.
    by_age = sorted(descendants(root), key=lambda pid: start_time(pid) or 0)
    return [{"pid": pid, "argv": command_line(pid)} for pid in by_age if not is_zombie(pid)]


def signal_process(pid: int, number: int, *, parents: set[int]) -> None:
    """Signal a process only while its parent is one of ours, so that a reused pid is never hit."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return
    try:
        fields = stat_fields(pid)
        if len(fields) > 1 and (int(fields[1]) in parents or int(fields[1]) in cell):
            signal.pidfd_send_signal(handle, number)
    except (ProcessLookupError, PermissionError):
        pass  # gone meanwhile, or it changed its user: the caller looks again and reports what is left
    finally:
        os.close(handle)


def signal_tree(root: int, *numbers: int) -> None:
    """Send the signals to every process below root."""
    below = descendants(root)
    parents = {root, *below}
    for number in numbers:
        for pid in below:
            signal_process(pid, number, parents=parents)


def reap() -> tuple[dict[int, int], bool]:
    """Collect every child that has ended: their raw statuses, and whether any child is left."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended, False
        if pid == 0:
            return ended, not cell or any(not is_zombie(pid) for pid in descendants(os.getpid()))
        ended[pid] = status


def collected_status(handle: int) -> int | None:
    """The raw status of a process that its parent has collected; None before that, and where the kernel cannot tell.

    Args:
        handle: its pidfd.
    """
    # Loaded for the few commands that leave something running.
    import fcntl
    import struct

    info = bytearray(_INFO_BYTES)
    struct.pack_into("=Q", info, 0, _INFO_EXIT)
    try:
        fcntl.ioctl(handle, _GET_INFO, info)
    except OSError:
        return None
    if not int(struct.unpack_from("=Q", info)[0]) & _INFO_EXIT:
        return None
    return int(struct.unpack_from("=i", info, _EXIT_CODE_AT)[0])
