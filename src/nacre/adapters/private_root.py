"""A place on this machine with a file system of its own, for evaluators that expect a container.

The system is there and read-only; the home directory, /tmp and the directories that a task works in are private,
empty and writable. All its processes end with it. It needs bubblewrap; it is a guard rail, not a virtual machine.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable

from nacre.errors import BackendUnavailableError
from nacre.remote.wire import PrefixDialer


def private_root(directory: str, *, own: Iterable[str], network: bool = True) -> PrefixDialer:
    """The way into a private root whose own directories, as `/app`, are kept below `directory`.

    Raises:
        BackendUnavailableError: there is no bubblewrap.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise BackendUnavailableError(
            "a place of its own on this machine needs bubblewrap, which is not found; on Debian: apt-get install "
            "bubblewrap; or name a place, such as docker:NAME"
        )
    home = os.path.realpath(os.path.expanduser("~"))
    private = sorted({"/tmp", "/var/tmp", home, *own})
    words = [bwrap, "--die-with-parent", "--unshare-pid", "--unshare-ipc"]
    if os.geteuid() != 0:
        words += ["--unshare-user", "--uid", "0", "--gid", "0"]
    if not network:
        words += ["--unshare-net"]
    for entry in sorted(os.scandir("/"), key=lambda entry: entry.name):
        if entry.path in ("/proc", "/dev") or entry.path in private:
            continue
        if entry.is_symlink():
            words += ["--symlink", os.readlink(entry.path), entry.path]
        elif entry.is_dir() or entry.is_file():
            words += ["--ro-bind", entry.path, entry.path]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for path in private:
        kept = os.path.join(directory, path.strip("/").replace("/", "-"))
        os.makedirs(kept, exist_ok=True)
        os.chmod(kept, 0o1777 if path in ("/tmp", "/var/tmp") else 0o755)
        words += ["--bind", kept, path]
    return PrefixDialer([*words, "--setenv", "HOME", home, "--chdir", "/", "--"], name="a private root on this machine")
