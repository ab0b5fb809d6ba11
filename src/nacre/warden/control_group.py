"""The control group of one command: limits that hold for all its processes together, and exact counts of them.

Version 1, version 2 and a mix of both are found by their mounts. A controller whose group cannot be made is not used,
and the caller is told by `covers`.
"""

from __future__ import annotations

import os

from nacre.warden import children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Limits

# Controllers by what they limit or count; version 2 counts the processor's time without a controller.
MEMORY, PROCESSES, PROCESSOR = "memory", "pids", "cpuacct"
_MOUNTS = "/proc/self/mountinfo"
_OWN = "/proc/self/cgroup"
_PREFIX = "nacre-"


class _Place:
    """Where one controller has the group of a command."""

    __slots__ = ("directory", "unified")

    def __init__(self, directory: str, *, unified: bool) -> None:
        self.directory = directory
        self.unified = unified

    def path(self, file: str) -> str:
        return f"{self.directory}/{file}"


class ControlGroup:
    """The group of the command that a runner serves; it has the same name for the runner and its child."""

    def __init__(self, runner: int) -> None:
        self._name = f"{_PREFIX}{runner}-{children.start_time(runner) or 0}"
        self._places: dict[str, _Place] = {}
        self._found = False

    @property
    def covers(self) -> list[str]:
        """The controllers that hold for this command."""
        self._find()
        return sorted(self._places)

    def make(self, limits: Limits) -> None:
        """Make the group with these limits, as far as this user may."""
        wanted = [
            (MEMORY, limits.get("memory")),
            (PROCESSES, limits.get("processes")),
            (PROCESSOR, limits.get("cpu")),
        ]
        for controller, limit in wanted:
            if limit is None:
                continue
            for parent, unified in _parents(controller):
                place = _Place(f"{parent}/{self._name}", unified=unified)
                try:
                    _sweep(parent)
                    if not os.path.isdir(place.directory):
                        os.mkdir(place.directory)
                    _set_limit(place, controller, int(limit))
                except OSError:
                    # Not ours to use: another parent, or limits of single processes instead.
                    _remove(place.directory)
                    continue
                self._places[controller] = place
                break
        self._found = True

    def enter(self) -> None:
        """Put this process into the group; what it starts is in it too. Raises OSError."""
        for directory in {place.directory for place in self._places.values()}:
            _write(f"{directory}/cgroup.procs", "0")

    def _find(self) -> None:
        """Find what another process has made."""
        if self._found:
            return
        self._found = True
        for controller in (MEMORY, PROCESSES, PROCESSOR):
            for parent, unified in _parents(controller):
                if os.path.isdir(f"{parent}/{self._name}"):
                    self._places[controller] = _Place(f"{parent}/{self._name}", unified=unified)
                    break

    # Counts.

    def memory_kills(self) -> int:
        """How many of its processes the kernel has killed for memory."""
        place = self._places[MEMORY]
        return _count(place.path("memory.events" if place.unified else "memory.oom_control"), b"oom_kill")

    def refused_forks(self) -> int:
        return _count(self._places[PROCESSES].path("pids.events"), b"max")

    def cpu_seconds(self) -> float:
        place = self._places[PROCESSOR]
        if place.unified:
            return _count(place.path("cpu.stat"), b"usage_usec") / 1e6
        text = children.read_bytes(place.path("cpuacct.usage")).strip()
        return int(text) / 1e9 if text.isdigit() else 0.0

    def remove(self) -> None:
        """Remove the group once nothing is left in it."""
        self._find()
        for place in self._places.values():
            _remove(place.directory)
        self._places = {}


def _parents(controller: str) -> list[tuple[str, bool]]:
    """Directories in which a group with this controller may be made, the nearest first, and whether each is unified."""
    mounts = _mounts()
    found: list[tuple[str, bool]] = []
    for line in children.read_bytes(_OWN).decode("utf-8", "surrogateescape").splitlines():
        _, controllers, path = line.split(":", 2)
        unified = not controllers
        if not unified and controller not in controllers.split(","):
            continue
        place = mounts.get("" if unified else controller)
        if place is None:
            continue
        point, root = place
        inside = path[len(root) :] if root != "/" and path.startswith(root) else path
        own = f"{point}/{inside.strip('/')}".rstrip("/")
        if not unified:
            return [(own, False)]
        # A group with processes cannot have groups with controllers below it, so its parent is asked as well.
        for directory in (own, os.path.dirname(own)):
            enabled = children.read_bytes(f"{directory}/cgroup.subtree_control").split()
            if directory.startswith(point) and (controller == PROCESSOR or controller.encode() in enabled):
                found.append((directory, True))
    return found


def _mounts() -> dict[str, tuple[str, str]]:
    """Mount point and root of each version 1 controller by its name; of version 2 by an empty name."""
    found: dict[str, tuple[str, str]] = {}
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.readlines()
    except OSError:
        return found
    for line in lines:
        fields, _, special = line.partition(" - ")
        words = fields.split()
        kind, _, options = (*special.split(" ", 2), "", "", "")[:3]
        if kind == "cgroup2":
            found.setdefault("", (words[4], words[3]))
        elif kind == "cgroup":
            for option in options.strip().split(","):
                found.setdefault(option, (words[4], words[3]))
    return found


def _set_limit(place: _Place, controller: str, limit: int) -> None:
    if controller == MEMORY and place.unified:
        _write(place.path("memory.max"), str(limit))
        _optionally(place.path("memory.swap.max"), "0")
    elif controller == MEMORY:
        _write(place.path("memory.limit_in_bytes"), str(limit))
        _optionally(place.path("memory.memsw.limit_in_bytes"), str(limit))
    elif controller == PROCESSES:
        _write(place.path("pids.max"), str(limit))


def _optionally(path: str, text: str) -> None:
    """Forbid swap where the kernel accounts for it; without that the limit holds for memory alone."""
    try:
        _write(path, text)
    except OSError:
        return


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode("ascii"))
    finally:
        os.close(fd)


def _remove(directory: str) -> None:
    try:
        os.rmdir(directory)
    except OSError:
        return  # not there, or a process that cannot be killed is left in it: the next command removes it


def _sweep(parent: str) -> None:
    """Remove the groups of runners that were killed; a group with processes stays."""
    for name in os.listdir(parent):
        runner, _, start = name.removeprefix(_PREFIX).partition("-")
        if name.startswith(_PREFIX) and runner.isdigit() and str(children.start_time(int(runner)) or 0) != start:
            _remove(f"{parent}/{name}")


def _count(path: str, name: bytes) -> int:
    for line in children.read_bytes(path).splitlines():
        key, _, value = line.partition(b" ")
        if key == name and value.strip().isdigit():
            return int(value)
    return 0
