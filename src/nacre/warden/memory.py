"""Whether the kernel killed something for want of memory, from the counters of this process's control group.

Version 2 counts in `memory.events`, version 1 in `memory.oom_control`; where neither can be read, nothing is claimed.
"""

from __future__ import annotations

_MOUNTS = ("/sys/fs/cgroup/memory", "/sys/fs/cgroup")
_COUNTERS = ("memory.oom_control", "memory.events")


def oom_kills() -> int:
    """How many processes of this control group the kernel has killed for memory so far; 0 when it does not say."""
    for mount, counter in zip(_MOUNTS, _COUNTERS, strict=True):
        try:
            with open(f"{mount}{_group(counter)}/{counter}", encoding="ascii") as file:
                for line in file:
                    name, _, value = line.partition(" ")
                    if name == "oom_kill":
                        return int(value)
        except (OSError, ValueError):
            continue
    return 0


def _group(counter: str) -> str:
    """The path of this process's group in the hierarchy that has the counter."""
    with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            if ("memory" in controllers.split(",")) if counter == "memory.oom_control" else not controllers:
                return "" if path == "/" else path
    return ""


class MemoryWatch:
    """Remembers the counter, so that a later look tells what came since."""

    def __init__(self) -> None:
        self._seen = oom_kills()

    def killed_since(self) -> bool:
        """Whether the kernel has killed for memory since the last look."""
        before, self._seen = self._seen, oom_kills()
        return self._seen > before
