"""The filter of system calls (seccomp): a small program that the kernel runs before each call. Pure.

It refuses what no command of an agent needs and what leads around the other walls: new namespaces and mounts, other
processes' memory, io_uring, keyrings, typing into a terminal, and sockets that no network namespace holds.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_AT, _SECOND_AT = 0, 4, 16, 24
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_EPERM, _ENOSYS = 1, 38
# Calls of the x32 interface have this bit.
_X32 = 0x40000000
# CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
_NAMESPACES = 0x00000080 | 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16

# The same numbers everywhere.
_COMMON = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "open_tree_attr": 467,
}
_X86_64 = {
    "ptrace": 101,
    "syslog": 103,
    "vhangup": 153,
    "pivot_root": 155,
    "chroot": 161,
    "acct": 163,
    "settimeofday": 164,
    "mount": 165,
    "umount2": 166,
    "swapon": 167,
    "swapoff": 168,
    "reboot": 169,
    "iopl": 172,
    "ioperm": 173,
    "init_module": 175,
    "delete_module": 176,
    "quotactl": 179,
    "clock_settime": 227,
    "kexec_load": 246,
    "add_key": 248,
    "request_key": 249,
    "keyctl": 250,
    "perf_event_open": 298,
    "open_by_handle_at": 304,
    "setns": 308,
    "process_vm_readv": 310,
    "process_vm_writev": 311,
    "kcmp": 312,
    "finit_module": 313,
    "kexec_file_load": 320,
    "bpf": 321,
    "userfaultfd": 323,
}
_GENERIC = {
    "umount2": 39,
    "mount": 40,
    "pivot_root": 41,
    "chroot": 51,
    "vhangup": 58,
    "quotactl": 60,
    "acct": 89,
    "kexec_load": 104,
    "init_module": 105,
    "delete_module": 106,
    "clock_settime": 112,
    "syslog": 116,
    "ptrace": 117,
    "reboot": 142,
    "settimeofday": 170,
    "add_key": 217,
    "request_key": 218,
    "keyctl": 219,
    "swapon": 224,
    "swapoff": 225,
    "perf_event_open": 241,
    "open_by_handle_at": 265,
    "setns": 268,
    "process_vm_readv": 270,
    "process_vm_writev": 271,
    "kcmp": 272,
    "finit_module": 273,
    "bpf": 280,
    "userfaultfd": 282,
    "kexec_file_load": 294,
}


class Machine(NamedTuple):
    """The numbers of one processor architecture."""

    audit: int
    refused: dict[str, int]
    clone: int
    unshare: int
    ioctl: int
    socket: int
    clone3: int = 435
    has_x32: bool = False


MACHINES = {
    "x86_64": Machine(0xC000003E, _COMMON | _X86_64, 56, 272, 16, 41, has_x32=True),
    "aarch64": Machine(0xC00000B7, _COMMON | _GENERIC, 220, 97, 29, 198),
    "riscv64": Machine(0xC00000F3, _COMMON | _GENERIC, 220, 97, 29, 198),
}


def _step(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, when_true, when_false, value)


def _refuse(error: int = _EPERM) -> bytes:
    return _step(_RETURN, _ERROR | error)


def _refuse_number(number: int, error: int = _EPERM) -> bytes:
    return _step(_JUMP_EQUAL, number, 0, 1) + _refuse(error)


def _with_argument(number: int, at: int, body: bytes) -> bytes:
    """Steps about one argument of one call; what they do not refuse is allowed."""
    steps = _step(_LOAD, at) + body + _step(_RETURN, _ALLOW)
    return _step(_JUMP_EQUAL, number, 0, len(steps) // 8) + steps


def filter_program(machine: Machine, *, families: tuple[int, ...] | None, unix_sockets: bool) -> bytes:
    """The instructions of the filter.

    Args:
        families: the kinds of sockets that may be made beside UNIX ones; None is all.
    """
    steps = _step(_LOAD, _ARCHITECTURE_AT) + _step(_JUMP_EQUAL, machine.audit, 1, 0) + _refuse()
    steps += _step(_LOAD, _NUMBER_AT)
    if machine.has_x32:
        steps += _step(_JUMP_AT_LEAST, _X32, 0, 1) + _refuse()
    for number in sorted(machine.refused.values()):
        steps += _refuse_number(number)
    # Its flags lie in memory, which a filter cannot read; the C library then takes the older call.
    steps += _refuse_number(machine.clone3, _ENOSYS)
    for number in (machine.clone, machine.unshare):
        steps += _with_argument(number, _FIRST_AT, _step(_JUMP_ANY, _NAMESPACES, 0, 1) + _refuse())
    steps += _with_argument(machine.ioctl, _SECOND_AT, _refuse_number(_TIOCSTI) + _refuse_number(_TIOCLINUX))
    steps += _with_argument(machine.socket, _FIRST_AT, _socket_steps(families, unix_sockets=unix_sockets))
    return steps + _step(_RETURN, _ALLOW)


def _socket_steps(families: tuple[int, ...] | None, *, unix_sockets: bool) -> bytes:
    if families is None:
        return b"" if unix_sockets else _refuse_number(AF_UNIX)
    allowed = (*families, AF_UNIX) if unix_sockets else families
    return b"".join(_step(_JUMP_EQUAL, family, 0, 1) + _step(_RETURN, _ALLOW) for family in allowed) + _refuse()
