"""Whether the kernel killed something for want of memory, from the counters of this process's control group.

Version 2 counts in `memory.events`, version 1 in `memory.oom_control`; where neither can be read, nothing is claimed.
"""

from __future__ import annotations

import functools

from nacre.warden.children import read_bytes


def events() -> bytes:
    """The counters as they are now, not read yet: most runners never have to."""
    return read_bytes(counter())


def _oom_kills(events: bytes) -> int:
    """How many processes of this control group the kernel has killed for memory so far; 0 when it does not say."""
    for line in events.splitlines():
        name, _, value = line.partition(b" ")
        if name == b"oom_kill" and value.isdigit():
            return int(value)
    return 0


@functools.cache
def counter() -> str:
    """The file with the counter: a process stays in its group, so it is looked up once."""
    unified = ""
    for line in read_bytes("/proc/self/cgroup").decode("utf-8", "surrogateescape").splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return f"/sys/fs/cgroup/memory{path.rstrip('/')}/memory.oom_control"
        if not controllers:
            unified = f"/sys/fs/cgroup{path.rstrip('/')}/memory.events"
    return unified


class MemoryWatch:
    """Remembers the counter, so that a later look tells what came since."""

    def __init__(self, seen: bytes | None = None) -> None:
        """From now on, or since the counters were these."""
        self._seen = events() if seen is None else seen

    def killed_since(self) -> bool:
        """Whether the kernel has killed for memory since the last look."""
        before, self._seen = self._seen, events()
        return _oom_kills(self._seen) > _oom_kills(before)
