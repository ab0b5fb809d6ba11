"""What a directly started command left behind, as far as it can be found without a subreaper.

Three ways, none complete alone: its session, its descendants while their parents live, and a mark in the environment.
"""

from __future__ import annotations

import os
import subprocess

from nacre.backend import Survivor
from nacre.warden import children


def strays(leader: int, mark: str | None) -> tuple[Survivor, ...]:
    """Living processes that belong to the command, the leader itself not counted."""
    if not children.has_own_proc():
        # Where there is a /proc, it is another pid namespace's, and `ps` reads the same.
        return _strays_by_ps(leader) if not os.path.isdir("/proc/1") else ()
    below = set(children.descendants(leader))
    found = []
    needle = mark.encode() if mark else None
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) in (leader, os.getpid()):
            continue
        pid = int(name)
        fields = children.stat_fields(pid)
        if len(fields) < 4 or (fields[0] in "ZX" and children.is_zombie(pid)):
            continue
        if int(fields[3]) == leader or pid in below or (needle and _environment_holds(pid, needle)):
            found.append(Survivor(pid, tuple(children.command_line(pid)), fields[0]))
    return tuple(sorted(found, key=lambda survivor: survivor.pid))


def _environment_holds(pid: int, needle: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return needle in file.read().split(b"\0")
    except OSError:
        return False  # another user's process


def _strays_by_ps(leader: int) -> tuple[Survivor, ...]:
    """Systems without /proc: by session and parent, from ps."""
    listing = subprocess.run(
        ["ps", "-axo", "pid=,ppid=,sess=,state=,command="], capture_output=True, text=True, check=False
    ).stdout
    rows = [line.split(None, 4) for line in listing.splitlines()]
    parents = {int(row[0]): int(row[1]) for row in rows if len(row) == 5}
    found = []
    for row in rows:
        if len(row) < 5 or int(row[0]) == leader or row[3].startswith("Z"):
            continue
        pid = int(row[0])
        ancestor = pid
        while ancestor in parents and ancestor not in (0, 1, leader):
            ancestor = parents[ancestor]
        if ancestor == leader:
            found.append(Survivor(pid, (row[4],), row[3][:1]))
    return tuple(found)
