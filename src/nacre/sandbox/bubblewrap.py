"""A sandbox as options of bubblewrap. Pure."""

from __future__ import annotations

from nacre.sandbox.sandbox_policy import SandboxPolicy
from nacre.sandbox.surroundings import Surroundings

# Without capabilities nothing of what follows can be undone from inside, by root either. Its own session keeps it from
# the terminal of the program, and it ends with its runner.
ALWAYS = ("--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL", "--new-session", "--die-with-parent")


# What the kernel lets user 0 change without capabilities; bubblewrap itself covers only a part of it.
KERNEL_SETTINGS = ("sys", "sysrq-trigger", "irq", "bus", "fs", "scsi", "acpi", "driver", "mtrr")


def words_of(program: str, policy: SandboxPolicy, found: Surroundings, *, user_namespace: bool) -> list[str]:
    """Bubblewrap and its options for a policy.

    Args:
        user_namespace: True where it has no rights of its own to make the others.
    """
    words = [program, *ALWAYS]
    if user_namespace:
        words.append("--unshare-user")
    if policy.network != "on":
        words.append("--unshare-net")
    words += ["--bind" if policy.access == "full" else "--ro-bind", "/", "/"]
    words += ["--dev", "/dev", "--perms", "1777", "--tmpfs", "/dev/shm", "--proc", "/proc"]
    for name in KERNEL_SETTINGS:
        words += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
    for name in found.kernel_memory:
        words += ["--ro-bind", "/dev/null", f"/proc/{name}"]
    if policy.access != "full":
        words += ["--bind", found.temporary, "/tmp"]
    for path in found.shown:
        words += ["--ro-bind", path, path]
    for path in (*found.writable, *found.granted):
        words += ["--bind", path, path]
    for path in found.pinned:
        # A directory that is a mount point cannot be renamed, and neither can what is below be replaced with it.
        words += ["--bind", path, path]
    for path in found.protected:
        words += ["--ro-bind", path, path]
    for path, kind in found.hidden:
        if kind == "directory":
            words += ["--perms", "0555", "--tmpfs", path, "--remount-ro", path]
        else:
            words += ["--ro-bind", "/dev/null", path]
    return [*words, "--chdir", "/"]
