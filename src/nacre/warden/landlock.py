"""Landlock: the kernel keeps this process, and all that it starts, from writing outside some directories. Stdlib only.

Reading stays free: a rule can only add a right to a directory with everything below it, so nothing below a readable
directory can be hidden, and no name in a writable one protected.
"""

from __future__ import annotations

import ctypes
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Landlock

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_VERSION_FLAG = 1
# WRITE_FILE, REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM, REFER,
# TRUNCATE; what devices are asked with ioctl, since ABI 5, beside.
_WRITING = 1 << 1 | 0x1FF0 | 1 << 13 | 1 << 14
_IOCTL = 1 << 15
# The rights that make sense for a file.
_FILE_WRITING = 1 << 1 | 1 << 14 | 1 << 15
_TCP = 0b11
_SCOPES = 0b11
# The first version with the scopes of signals and abstract sockets; ioctl and TCP came before.
_SCOPING_ABI = 6
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm")


def restrict(rules: Landlock) -> None:
    """Restrict this process for good; raises OSError where the kernel cannot."""
    libc = ctypes.CDLL(None, use_errno=True)
    abi = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(_VERSION_FLAG))
    if abi < _SCOPING_ABI:
        raise OSError(f"Landlock has ABI {abi}; {_SCOPING_ABI} is needed")
    handled = (_WRITING | _IOCTL) if rules["confines"] else 0
    attributes = struct.pack("=QQQ", handled, 0 if rules["network"] else _TCP, _SCOPES)
    ruleset = _checked(libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint(0)))
    try:
        for path in (*rules["writable"], *_DEVICES) if rules["confines"] else ():
            _allow(libc, ruleset, path)
        _checked(libc.syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint(0)))
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str) -> None:
    """Leave writing to everything below a path."""
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # there is nothing to write to
    try:
        rights = _WRITING | _IOCTL if os.path.isdir(path) else _FILE_WRITING
        rule = struct.pack("=Qi", rights, fd)
        _checked(libc.syscall(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint(0)))
    finally:
        os.close(fd)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock: {os.strerror(number)}")
    return result
