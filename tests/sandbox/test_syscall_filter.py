"""The filter decides as it should, run by a reading of the kernel's rules for its instructions."""

from __future__ import annotations

import struct

import pytest

from nacre.sandbox.syscall_filter import AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, MACHINES, Machine, filter_program

ALLOWED, EPERM, ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026
NEW_USER = 0x10000000


def decide(program: bytes, number: int, *arguments: int, audit: int) -> int:
    """Run a filter over one call, as the kernel does."""
    call = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, audit, 0, *(arguments + (0,) * 6)[:6])
    steps = list(struct.iter_unpack("=HBBI", program))
    at = value = 0
    while True:
        code, when_true, when_false, operand = steps[at]
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("=I", call, operand)
        elif code == 0x06:
            return int(operand)
        else:
            holds = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[code]
            at += when_true if holds else when_false


@pytest.fixture(params=MACHINES.values(), ids=MACHINES)
def machine(request: pytest.FixtureRequest) -> Machine:
    found: Machine = request.param
    return found


FAMILIES = (AF_INET, AF_INET6, AF_NETLINK)


def test_every_refused_call_is(machine: Machine) -> None:
    program = filter_program(machine, families=FAMILIES, unix_sockets=False)
    for name, number in machine.refused.items():
        assert decide(program, number, audit=machine.audit) == EPERM, name
    assert decide(program, machine.clone3, audit=machine.audit) == ENOSYS


def test_new_namespaces_are_refused_and_threads_are_not(machine: Machine) -> None:
    program = filter_program(machine, families=FAMILIES, unix_sockets=False)
    for number in (machine.clone, machine.unshare):
        for flag in (NEW_USER, 0x20000, 0x20000000, 0x40000000):
            assert decide(program, number, flag | 17, audit=machine.audit) == EPERM
        assert decide(program, number, 0x3D0F00, audit=machine.audit) == ALLOWED


def test_typing_into_a_terminal_is_refused_and_its_size_is_not(machine: Machine) -> None:
    program = filter_program(machine, families=FAMILIES, unix_sockets=True)
    assert decide(program, machine.ioctl, 0, 0x5412, audit=machine.audit) == EPERM
    assert decide(program, machine.ioctl, 0, 0x541C, audit=machine.audit) == EPERM
    assert decide(program, machine.ioctl, 0, 0x5413, audit=machine.audit) == ALLOWED


@pytest.mark.parametrize("unix_sockets", [True, False])
def test_sockets(machine: Machine, unix_sockets: bool) -> None:
    narrow = filter_program(machine, families=FAMILIES, unix_sockets=unix_sockets)
    wide = filter_program(machine, families=None, unix_sockets=unix_sockets)
    none = filter_program(machine, families=(AF_NETLINK,), unix_sockets=unix_sockets)
    decisions = {
        family: [decide(program, machine.socket, family, audit=machine.audit) for program in (narrow, wide, none)]
        for family in (AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, 17, 40)
    }
    unix = ALLOWED if unix_sockets else EPERM
    assert decisions == {
        AF_UNIX: [unix, unix, unix],
        AF_INET: [ALLOWED, ALLOWED, EPERM],
        AF_INET6: [ALLOWED, ALLOWED, EPERM],
        AF_NETLINK: [ALLOWED] * 3,
        17: [EPERM, ALLOWED, EPERM],
        40: [EPERM, ALLOWED, EPERM],
    }


def test_calls_of_another_architecture_are_refused(machine: Machine) -> None:
    program = filter_program(machine, families=None, unix_sockets=True)
    assert decide(program, 1, audit=0x40000003) == EPERM
    assert decide(program, 1, audit=machine.audit) == ALLOWED
    if machine.has_x32:
        assert decide(program, 0x40000001, audit=machine.audit) == EPERM
