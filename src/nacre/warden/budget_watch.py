"""What one command may spend: limits that its shell starts with, and a watch over what all its processes have used.

A control group counts exactly. Without one, the runner adds up what the kernel tells of each process, and the limits of
single processes (rlimits) hold what can grow between two looks.
"""

from __future__ import annotations

import os
import resource
import signal

from nacre.warden import children
from nacre.warden.control_group import MEMORY, PROCESSES, PROCESSOR, ControlGroup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from nacre.warden.messages import Limits

# How often the processes are looked at.
LOOK_SECONDS = 0.05
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
# A process is stopped by the watch, which counts them all; its own limit is for a watch that comes late.
_LATE_SECONDS = 2
# What a shell that forgot its signal reports of one.
_SIGNAL_BASE = 128


def limit_shell(limits: Limits, *, runner: int, lives_on: bool) -> None:
    """In the child that becomes the shell: enter the control group, and set the limits that it does not hold.

    Args:
        lives_on: whether the shell runs more than one command, so that its own time is no command's.

    Raises:
        OSError: a group was made and cannot be entered.
    """
    group = ControlGroup(runner)
    group.make(limits)
    group.enter()
    covered = group.covers
    if "file" in limits:
        _set(resource.RLIMIT_FSIZE, limits["file"])
    if "cpu" in limits and not lives_on:
        _set(resource.RLIMIT_CPU, int(limits["cpu"]) + _LATE_SECONDS)
    if "memory" in limits and MEMORY not in covered:
        _set(resource.RLIMIT_DATA, limits["memory"])
    if "processes" in limits and PROCESSES not in covered:
        # It counts all processes of the user, so those that there are already come on top.
        _set(resource.RLIMIT_NPROC, limits["processes"] + _processes_of_user())


def _set(kind: int, limit: int) -> None:
    _, most = resource.getrlimit(kind)
    value = limit if most == resource.RLIM_INFINITY else min(limit, most)
    resource.setrlimit(kind, (value, value))


def _processes_of_user() -> int:
    user, count = os.getuid(), 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if os.stat(f"/proc/{name}").st_uid == user:
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue
    return count


class BudgetWatch:
    """Compares what a command has used with its limits; a session's shell since the beginning of a turn."""

    def __init__(self, limits: Limits, tree: Callable[[], list[int]]) -> None:
        self.limits = limits
        self.hit: str | None = None
        """The limit that was reached first."""
        self._tree = tree
        """The processes of the command."""
        self._group = ControlGroup(os.getpid())
        self._covers = self._group.covers
        # The group is a new one, and the shell has only begun.
        self._killed = self._refused = 0
        self._spent = 0.0 if PROCESSOR in self._covers else _collected_seconds()

    def begin(self) -> None:
        """Count from now on: the shell has run other commands before."""
        self._spent = self._cpu_seconds() if "cpu" in self.limits else 0.0
        self._killed = self._group.memory_kills() if MEMORY in self._covers else 0
        self._refused = self._group.refused_forks() if PROCESSES in self._covers else 0

    def look(self, output_bytes: int = 0) -> str | None:
        """The limit that has been reached, if any; the first one stays."""
        if self.hit is None:
            self.hit = self._reached(output_bytes)
        return self.hit

    def _reached(self, output_bytes: int) -> str | None:
        limits = self.limits
        if "output" in limits and output_bytes > limits["output"]:
            return "output"
        if MEMORY in self._covers and self._group.memory_kills() > self._killed:
            return "memory"
        if PROCESSES in self._covers and self._group.refused_forks() > self._refused:
            return "processes"
        if "cpu" in limits and self._cpu_seconds() - self._spent >= limits["cpu"]:
            return "cpu"
        if "memory" in limits and MEMORY not in self._covers and self._memory_bytes() > limits["memory"]:
            return "memory"
        if "processes" in limits and PROCESSES not in self._covers and self._processes() > limits["processes"]:
            return "processes"
        return None

    def ended_by(self, number: int | None, code: int | None) -> str | None:
        """The limit of a single process that an end tells of, or one that was reached since the last look."""
        death = number if number is not None else (code or 0) - _SIGNAL_BASE
        if self.hit is None and death == signal.SIGXFSZ and "file" in self.limits:
            self.hit = "file"
        elif self.hit is None and death == signal.SIGXCPU and "cpu" in self.limits:
            self.hit = "cpu"
        return self.look()

    def close(self) -> None:
        self._group.remove()

    # What a command has used, where no control group counts it.

    def _cpu_seconds(self) -> float:
        if PROCESSOR in self._covers:
            return self._group.cpu_seconds()
        # What has ended was collected by this process, or by a parent that is below it.
        ticks = 0
        for pid in self._tree():
            fields = children.stat_fields(pid)
            ticks += sum(int(field) for field in fields[11:15])
        return _collected_seconds() + ticks / _TICKS

    def _memory_bytes(self) -> int:
        """Memory that belongs to single processes; what they share would be counted several times."""
        pages = 0
        for pid in self._tree():
            fields = children.read_bytes(f"/proc/{pid}/statm").split()
            pages += int(fields[1]) - int(fields[2]) if len(fields) > 2 else 0
        return pages * _PAGE

    def _processes(self) -> int:
        return sum(children.state(pid) not in "ZX" for pid in self._tree())


def _collected_seconds() -> float:
    """The processor time of all children that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
