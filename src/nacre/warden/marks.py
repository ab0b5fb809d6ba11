"""Tells which turn of a session a process comes from, however it has detached itself.

The mark is the soft limit on file locks. Linux ignores this limit, every process inherits it through fork and exec,
and no program changes it: it survives `env -i`, `setsid`, double forks and closed descriptors, where a parent, a
process group, a descriptor or a variable is lost. A session's shell gets a lower one each time it has left something
running, so what it starts from then on differs from what it has left.
"""

from __future__ import annotations

import resource

from nacre.warden.children import read_bytes

_LIMIT_ON_LOCKS = 10
UNLIMITED = resource.RLIM_INFINITY
# The first mark: so large that a limit of this size would never be reached.
_FIRST = 1 << 62
_LINE = b"Max file locks "


def mark_of(pid: int) -> int | None:
    """The mark of a process; None when it is gone."""
    try:
        return resource.prlimit(pid, _LIMIT_ON_LOCKS)[0]
    except PermissionError:
        return _shown_mark(pid)
    except OSError:
        return None


def _shown_mark(pid: int) -> int | None:
    """The same of a process with other rights, which the kernel shows to all."""
    for line in read_bytes(f"/proc/{pid}/limits").splitlines():
        if line.startswith(_LINE):
            value = line[len(_LINE) :].split()[0]
            return int(value) if value.isdigit() else UNLIMITED
    return None


def renew(pid: int) -> int:
    """Give a process a mark that none of its descendants has; returns the mark that it had, which they have.

    Raises:
        OSError: the system does not allow it.
    """
    before, _ = resource.prlimit(pid, _LIMIT_ON_LOCKS)
    after = (before if 0 <= before < _FIRST else _FIRST) - 1
    if after < 0:
        raise PermissionError("the limit on file locks is 0, and cannot be lowered")
    resource.prlimit(pid, _LIMIT_ON_LOCKS, (after, after))
    return before


def put(mark: int) -> int:
    """Give this process, and what it forks, a mark; returns the one that it had."""
    before, hard = resource.getrlimit(_LIMIT_ON_LOCKS)
    resource.setrlimit(_LIMIT_ON_LOCKS, (mark, hard))
    return before
