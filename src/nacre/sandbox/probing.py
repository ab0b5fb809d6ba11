"""What can enforce a sandbox on this machine: looked for once in a program, by trying it."""

from __future__ import annotations

import functools
import os
import platform
import re
import subprocess
import sys
from typing import Literal, NamedTuple

from nacre.sandbox.bubblewrap import ALWAYS
from nacre.sandbox.sandbox_policy import NEEDS, Need
from nacre.sandbox.syscall_filter import MACHINES, Machine

BackendName = Literal["bubblewrap", "landlock", "none"]

# Older ones follow symbolic links out of the sandbox while they make mount points.
SAFE_VERSION = (0, 12)
TRY_SECONDS = 10.0
_ENFORCED: dict[BackendName, frozenset[Need]] = {
    "bubblewrap": frozenset(NEEDS),
    "landlock": frozenset(("files", "processes", "calls", "network")),
    "none": frozenset(),
}
_LANDLOCK_CREATE_RULESET, _VERSION_FLAG = 444, 1
# The first that keeps signals and abstract sockets inside.
SCOPING_ABI = 6


class Found(NamedTuple):
    """The back end that sandboxes are made with here."""

    backend: BackendName
    version: str | None
    program: str | None = None
    """The path of bubblewrap."""
    user_namespace: bool = False
    """True if bubblewrap needs a user namespace to make the others."""
    machine: Machine | None = None
    """The numbers of system calls; None on a processor that the filter does not know."""
    reasons: tuple[str, ...] = ()
    """Why there is no better one."""

    @property
    def enforces(self) -> frozenset[Need]:
        known = _ENFORCED[self.backend]
        return known if self.machine is not None else known - {"calls"}


@functools.cache
def probe(search: str) -> Found:
    """Find the best back end.

    Args:
        search: the directories that bubblewrap is looked for in, as PATH has them.
    """
    if sys.platform != "linux":
        return Found("none", None, reasons=(f"there is no sandbox of nacre's on {sys.platform}",))
    machine = MACHINES.get(platform.machine())
    reasons: list[str] = []
    if machine is None:
        reasons.append(f"system calls are not filtered on {platform.machine()}")
    program = _find(search)
    if program is None:
        reasons.append("bubblewrap (bwrap) is not installed")
    else:
        problem = ""
        for user_namespace in (False, True) if os.geteuid() == 0 else (True,):
            problem = _try(program, user_namespace=user_namespace)
            if not problem:
                return Found("bubblewrap", _version(program), program, user_namespace, machine, tuple(reasons))
        reasons.append(f"{program} cannot make a sandbox here: {problem}")
    abi = landlock_abi()
    if abi < SCOPING_ABI:
        known = f"of ABI {abi}, and {SCOPING_ABI} is needed" if abi else "not available"
        return Found("none", None, machine=machine, reasons=(*reasons, f"Landlock is {known}"))
    if machine is None:
        return Found("none", None, reasons=tuple(reasons))
    return Found("landlock", str(abi), machine=machine, reasons=tuple(reasons))


def is_outdated(version: str | None) -> bool:
    """True if a version of bubblewrap has a known hole that newer ones have not."""
    numbers = tuple(map(int, re.findall(r"\d+", version or "")[:2]))
    return numbers < SAFE_VERSION


def _find(search: str) -> str | None:
    """Bubblewrap in an absolute directory of the search path that is not below where the program works."""
    here = os.path.realpath(os.curdir) if os.path.isdir(os.curdir) else "/"
    for directory in search.split(os.pathsep):
        real = os.path.realpath(directory)
        if not os.path.isabs(directory) or (here != "/" and f"{real}/".startswith(f"{here}/")):
            continue
        path = os.path.join(directory, "bwrap")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def _try(program: str, *, user_namespace: bool) -> str:
    """Make a sandbox that does nothing; why it cannot be made, or nothing."""
    more = ["--unshare-user"] if user_namespace else []
    words = [program, *ALWAYS, *more, "--unshare-net", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    try:
        done = subprocess.run(
            [*words, "--", "/bin/true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TRY_SECONDS,
            check=False,
            env={},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.decode("utf-8", "replace").strip()
    return (said or f"it ended with {done.returncode}") if done.returncode else ""


def _version(program: str) -> str | None:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, env={})
    found = re.search(r"\d+(\.\d+)+", done.stdout)
    return None if found is None else found[0]


def landlock_abi() -> int:
    """The version of Landlock that the kernel has; 0 for none."""
    import ctypes

    syscall = ctypes.CDLL(None, use_errno=True).syscall
    return max(int(syscall(_LANDLOCK_CREATE_RULESET, None, 0, _VERSION_FLAG)), 0)
