"""Takes rights from this process for good, before it becomes a shell: capabilities, system calls, and file rights."""

from __future__ import annotations

import ctypes
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Sandbox

_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _PR_CAP_AMBIENT = 24, 38, 22, 47
_AMBIENT_CLEAR_ALL, _MODE_FILTER = 4, 2
_CAPABILITY_VERSION = 0x20080522
_MOST_CAPABILITIES = 64
_INSTRUCTION_BYTES = 8


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _Rights(ctypes.Structure):
    _fields_ = [("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32)]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def confine(sandbox: Sandbox) -> None:
    """Give up what the sandbox does not allow; raises OSError when any of it cannot be given up."""
    libc = ctypes.CDLL(None, use_errno=True)
    if "landlock" in sandbox:
        from nacre.warden import landlock

        _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        landlock.restrict(sandbox["landlock"])
    drop_capabilities(libc)
    _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    if sandbox["filter"]:
        _filter_calls(libc, sandbox["filter"].encode("latin-1"))


def drop_capabilities(libc: ctypes.CDLL) -> None:
    """Give up every capability, also those that a program could get by exec."""
    libc.prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(_MOST_CAPABILITIES):
        # Refused to a user that has none to lose, and for numbers that the kernel does not know.
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = _Header(_CAPABILITY_VERSION, 0)
    _checked(libc.capset(ctypes.byref(header), (_Rights * 2)()), "capabilities")


def _filter_calls(libc: ctypes.CDLL, instructions: bytes) -> None:
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    program = _Program(len(instructions) // _INSTRUCTION_BYTES, ctypes.addressof(buffer))
    result = libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), ctypes.byref(program), 0, 0)
    _checked(result, "a filter of system calls")


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
