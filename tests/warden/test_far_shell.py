"""The service's ends of a session's shell: texts are evaluated once, reports are found among other bytes."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest

from nacre.warden.far_shell import FarShell


@pytest.fixture
def shell() -> Iterator[FarShell]:
    one = FarShell()
    yield one
    one.close()


def text(number: int, words: str) -> dict[str, object]:
    return {"number": number, "nonce": f"n{number}", "text": words}


def test_a_text_that_comes_twice_wakes_the_shell_once(shell: FarShell) -> None:
    with socket.socket(fileno=os.dup(shell.passed[0])) as end:
        end.settimeout(0)
        shell.obey(text(1, "first"))
        shell.obey(text(1, "first"))
        assert end.recv(8) == b"\n"
        shell.obey(text(2, "second"))
        shell.obey(text(1, "first"))
        assert end.recv(8) == b"\n"
        assert os.pread(shell.passed[1], 64, 0) == b"second"
    shell.close_passed()


def test_a_report_is_what_stands_between_the_nonces_of_its_text(shell: FarShell) -> None:
    with socket.socket(fileno=os.dup(shell.passed[0])) as end:
        shell.obey(text(1, "first"))
        end.send(b"spoof\0n1")
        assert shell.hear()
        assert shell.report is None
        end.send(b"\0000\0same\0\0n1\0")
        assert shell.hear()
        assert shell.report == b"n1\0000\0same\0\0n1\0"
        os.pwrite(shell.passed[1], b"state", len("first"))
        assert b"".join(shell.written()) == b"state"
        assert list(shell.written()) == []
    shell.close_passed()
    assert not shell.hear()
