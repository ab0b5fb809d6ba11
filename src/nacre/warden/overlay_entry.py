"""Becomes a program on an overlay: `python -I -S overlay_entry.py LOWER DIRECTORY CWD SANDBOX PROGRAM NAME ARGUMENT…`.

Inside a mount namespace of its own, LOWER is an overlay whose changes go to DIRECTORY/upper. For a shell everything
else is read-only, and temporary files have a private place; a SANDBOX in JSON takes rights from it after that. For
bubblewrap (the word `cell`), which sees to all of this, only the overlay is mounted. If any of it cannot be had, the
reason is written to DIRECTORY/refused and the program is not started.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from nacre.warden.messages import Sandbox

REFUSED = "refused"
# The mount source that names a try in /proc/PID/mountinfo.
SOURCE = "nacre-"
# In the place of a sandbox: the program makes one.
CELL = "cell"
# The exit code of a try that ran nothing.
NOT_RUN = 125

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_NOSUID, _MS_NODEV, _MS_REC, _MS_PRIVATE = 0x2, 0x4, 0x4000, 0x40000
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_MOUNT_SETATTR, _MOUNT_ATTR_RDONLY = 442, 0x1
_PR_CAPBSET_DROP, _CAP_SYS_ADMIN = 24, 21

_libc = ctypes.CDLL(None, use_errno=True)


class Refusal(Exception):
    """A step that cannot be done here."""


def words_of(layers: list[str], cwd: str, sandbox: Sandbox | None = None) -> list[str]:
    """The words before a program and its arguments that make it run on an overlay.

    Args:
        sandbox: what the program is confined to; one with words of bubblewrap's is made by the program.
    """
    confined = "" if sandbox is None else CELL if "words" in sandbox else json.dumps(sandbox)
    return [sys.executable, "-I", "-S", __file__, *layers, cwd, confined]


def _checked(result: int, step: str) -> None:
    if result != 0:
        raise Refusal(f"{step}: {os.strerror(ctypes.get_errno())}")


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None, step: str) -> None:
    arguments = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    _checked(_libc.mount(*arguments, ctypes.c_ulong(flags), None if data is None else os.fsencode(data)), step)


def _enter_namespaces(lower: str) -> None:
    """Own mounts: as root directly, otherwise by way of an own user namespace in which this user stays the same."""
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0 and _libc.unshare(_CLONE_NEWNS) == 0:
        return
    found = os.stat(lower)
    if (found.st_uid, found.st_gid) != (uid, gid):
        # Only this user and group exist in the namespace; files of others could not be copied to the upper directory.
        raise Refusal(f"an overlay of {lower}: it belongs to another user or group")
    _checked(_libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNS), "a user namespace with own mounts")
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    except OSError as error:
        raise Refusal(f"a user namespace: {error.strerror}") from error


def _mounts_below(lower: str) -> list[str]:
    """Other file systems in the workspace: an overlay would show empty directories in their places."""
    with open("/proc/self/mountinfo", "rb") as file:
        points = [line.split(b" ")[4] for line in file]
    # Blanks and the like are written as \040.
    texts = [os.fsdecode(point.decode("unicode_escape").encode("latin-1")) for point in points]
    return [text for text in texts if text.startswith(f"{lower.rstrip('/')}/")]


class _MountAttributes(ctypes.Structure):
    _fields_ = [
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    ]


def _set_read_only(path: str, *, on: bool) -> None:
    bit = _MOUNT_ATTR_RDONLY
    attributes = _MountAttributes(bit if on else 0, 0 if on else bit, 0, 0)
    result = _libc.syscall(
        ctypes.c_long(_MOUNT_SETATTR),
        ctypes.c_long(_AT_FDCWD),
        os.fsencode(path),
        ctypes.c_long(_AT_RECURSIVE if on else 0),
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )
    _checked(result, "a read-only view of all other files")


def _mount_overlay(lower: str, directory: str) -> None:
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64", "riscv64"):
        raise Refusal(f"an overlay: not known on {sys.platform} {platform.machine()}")
    for below in _mounts_below(lower):
        raise Refusal(f"an overlay of {lower}: another file system is mounted at {below}")
    _enter_namespaces(lower)
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE, None, "private mounts")
    # By descriptors: a path may hold characters that separate options.
    layers = {}
    for option, path in (("lowerdir", lower), ("upperdir", f"{directory}/upper"), ("workdir", f"{directory}/work")):
        layers[option] = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    data = ",".join([*(f"{option}=/proc/self/fd/{fd}" for option, fd in layers.items()), "userxattr"])
    _mount(SOURCE + directory, lower, "overlay", _MS_NODEV, data, f"an overlay of {lower}")


def _confine(sandbox: Sandbox, temporary: str) -> None:
    """Take rights from this process, as Landlock and the filter of system calls do."""
    sys.path.insert(0, os.path.realpath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir)))
    from nacre.warden.confinement import confine

    # The private directory of the session is read-only here, or out of sight.
    sandbox["landlock"]["writable"][-1] = temporary
    confine(sandbox)


def _shut_the_rest(lower: str) -> str:
    """Make everything but the overlay read-only; return the directory for temporary files."""
    _set_read_only("/", on=True)
    _set_read_only(lower, on=False)
    inside = f"{lower.rstrip('/')}/"
    temporary = "/dev/shm" if inside.startswith("/tmp/") or not os.path.isdir("/tmp") else "/tmp"
    _mount("tmpfs", temporary, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=1777", f"a private {temporary}")
    # Without this right, which root has, nothing of it can be undone from inside.
    _libc.prctl(_PR_CAPBSET_DROP, _CAP_SYS_ADMIN, 0, 0, 0)
    return temporary


def _initial_environment() -> dict[bytes, bytes]:
    """The environment that this process was given: the interpreter may have added to its own."""
    with open("/proc/self/environ", "rb") as file:
        pairs = (entry.partition(b"=") for entry in file.read().split(b"\0") if entry)
        return {name: value for name, _, value in pairs}


def main(arguments: list[str]) -> NoReturn:
    lower, directory, cwd, confined, program, *argv = arguments
    environment = _initial_environment()
    try:
        refused = os.open(f"{directory}/{REFUSED}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _mount_overlay(lower, directory)
            if confined != CELL:
                temporary = _shut_the_rest(lower)
                environment[b"TMPDIR"] = os.fsencode(temporary)
            os.chdir(cwd)
            if confined not in ("", CELL):
                _confine(json.loads(confined), temporary)
        except (Refusal, OSError) as error:
            reason = str(error.strerror) if isinstance(error, OSError) else str(error)
            if isinstance(error, OSError) and error.filename:
                reason = f"{error.filename}: {reason}"
            os.write(refused, os.fsencode(reason))
            os._exit(NOT_RUN)
    except OSError as error:
        os.write(2, f"nacre: {directory}: {os.strerror(error.errno or errno.EIO)}\n".encode())
        os._exit(NOT_RUN)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    os.execve(program, argv, environment)


if __name__ == "__main__":
    main(sys.argv[1:])
