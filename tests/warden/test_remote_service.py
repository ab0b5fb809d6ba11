"""The remote service's loop: a turn costs what has happened, not what waits; a slow link holds its calls only."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from nacre.warden import protocol, remote_protocol
from nacre.warden.channel import Channel
from nacre.warden.remote_service import RemoteService

WAITING = 2000


class PipesOfCalls:
    """In the place of runners: keeps the writing ends of each call's pipes, and is the other end of its channel."""

    def __init__(self) -> None:
        self.pipes: list[list[int]] = []
        self._ends: list[socket.socket] = []

    def start(self, request: dict[str, Any], env: dict[str, str], fds: list[int]) -> Channel:
        self.pipes.append([os.dup(fd) for fd in fds])
        near, far = socket.socketpair()
        self._ends.append(far)
        return Channel(near)

    def close(self) -> None:
        for end in self._ends:
            end.close()
        for fds in self.pipes:
            for fd in fds:
                os.close(fd)


class Served:
    """A service with one link, whose near end the test has."""

    def __init__(self, directory: Path) -> None:
        self.runners = PipesOfCalls()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(directory / "s"))
        self._listener.listen()
        self.near, far = socket.socketpair()
        self.near.setblocking(False)
        self.service = RemoteService(self._listener, self.runners, {})  # type: ignore[arg-type]
        self.service.add_link(os.dup(far.fileno()), os.dup(far.fileno()), None)
        far.close()
        self._frames = protocol.FrameReader()

    def open(self, *numbers: int) -> None:
        for number in numbers:
            request = {"outputs": 1}
            self.near.sendall(protocol.frame(remote_protocol.open_call(number, request, env={}, lease=30.0, size=None)))
            self.service.turn()
            self.heard()

    def heard(self) -> list[bytes]:
        """The bodies of what has come."""
        bodies: list[bytes] = []
        with contextlib.suppress(BlockingIOError):
            while data := self.near.recv(1 << 20):
                bodies += self._frames.bodies(data)
        return bodies

    def close(self) -> None:
        self.near.close()
        self.runners.close()
        self._listener.close()
        for call in list(self.service._calls.values()):
            self.service._forget(call)
        for link in list(self.service._links.values()):
            self.service._drop(link)
        self.service._poll.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    one = Served(tmp_path)
    yield one
    one.close()


def lines_of_a_turn(service: RemoteService) -> int:
    """How many lines of Python one turn executes."""
    lines = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        service.turn()
    finally:
        sys.settrace(before)
    return lines


def test_a_turn_costs_the_same_with_two_thousand_waiting_calls(served: Served) -> None:
    def work() -> int:
        os.write(served.runners.pipes[0][0], b"hello")
        lines = lines_of_a_turn(served.service)
        (event,) = served.heard()
        assert remote_protocol.is_output(event)
        return lines

    served.open(1)
    alone = work()
    served.open(*range(2, WAITING + 1))
    assert len(served.service._calls) == WAITING
    assert work() == alone


def test_a_link_that_takes_nothing_holds_its_calls_until_it_does(served: Served) -> None:
    served.open(1, 2)
    piece = b"x" * 65536
    writers = [fds[0] for fds in served.runners.pipes]
    for fd in writers:
        os.set_blocking(fd, False)
    sent = [0, 0]
    (link,) = served.service._links.values()
    # Until the link is behind and both calls are held: their pipes are full then, and stay so.
    while len(link.held) < 2:
        for at, fd in enumerate(writers):
            with contextlib.suppress(BlockingIOError):
                sent[at] += os.write(fd, piece)
        served.service.turn()
    assert link.unsent_bytes > protocol.MOST_UNSENT_BYTES
    got = {1: 0, 2: 0}
    while sum(got.values()) < sum(sent):
        for body in served.heard():
            if remote_protocol.is_output(body):
                call, _, seq = remote_protocol.output_in(body)
                got[call] += len(body) - remote_protocol.OUTPUT_HEADER_BYTES
                served.near.sendall(protocol.frame(remote_protocol.confirm(call, seq)))
        served.service.turn()
    assert got == {1: sent[0], 2: sent[1]}
    assert not link.held
