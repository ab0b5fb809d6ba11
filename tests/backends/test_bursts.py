"""Many commands at once: each has its own surroundings and result, whoever's runner it gets."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Iterator

import pytest

import nacre
from nacre.settings import ExecutionSettings, Settings
from nacre.warden import children, protocol
from nacre.warden_client.pool import Warden, warden
from nacre.warden_client.runner_link import FirstRequest, Link

CONTAINED = Settings(execution=ExecutionSettings(containment="required", spares=0))


async def test_a_runner_whose_command_has_ended_serves_the_next_that_waits() -> None:
    results = await asyncio.gather(*(nacre.run(f"echo {n} $PPID", settings=CONTAINED) for n in range(60)))
    said = [result.text.split() for result in results]
    assert [words[0] for words in said] == [str(n) for n in range(60)]
    # The shell's parent is its runner.
    assert len({words[1] for words in said}) < 60


async def test_each_has_its_own_environment_directory_and_limit() -> None:
    async def one(n: int) -> str:
        result = await nacre.run(
            "echo $MINE; pwd", env={"MINE": str(n)}, cwd="/" if n % 2 else "/usr", timeout=10 + n, settings=CONTAINED
        )
        assert result.timeout == 10 + n
        return result.text

    answers = await asyncio.gather(*(one(n) for n in range(40)))
    assert answers == [f"{n}\n{'/' if n % 2 else '/usr'}\n" for n in range(40)]


async def test_long_requests_come_through_a_crowd() -> None:
    """Longer than what goes through a socket in one piece."""
    words = "w" * 90_000
    results = await asyncio.gather(*(nacre.run(f": {words}; echo {n}", settings=CONTAINED) for n in range(12)))
    assert [result.text for result in results] == [f"{n}\n" for n in range(12)]


async def test_who_gives_up_waiting_takes_nothing_along() -> None:
    tasks = [asyncio.create_task(nacre.run("echo hi", settings=CONTAINED)) for _ in range(40)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    for one in done[1::2]:
        assert isinstance(one, nacre.ShellResult)
        assert one.text == "hi\n"
    for one in done[::2]:
        assert isinstance(one, asyncio.CancelledError | nacre.ShellResult)


async def test_a_warden_that_is_killed_in_the_middle_is_replaced_for_those_who_wait() -> None:
    await nacre.run("true", settings=CONTAINED)
    tasks = [asyncio.create_task(nacre.run("echo hi", settings=CONTAINED)) for _ in range(40)]
    await asyncio.sleep(0)
    (guardian,) = children.children_of(os.getpid()) or []
    (zygote,) = children.children_of(guardian) or []
    os.kill(zygote, signal.SIGKILL)
    done = await asyncio.gather(*tasks, return_exceptions=True)
    said = [one for one in done if isinstance(one, nacre.ShellResult)]
    # What the warden had taken and not started is lost, and said to be; nobody is left waiting.
    assert all(one.text == "hi\n" for one in said if isinstance(one.outcome, nacre.Exited))
    assert len(said) == 40 or all(isinstance(one, nacre.ShellResult | nacre.NacreError) for one in done), done
    assert (await nacre.run("echo again", settings=CONTAINED)).text == "again\n"


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    near, far = socket.socketpair()
    yield near, far
    near.close()
    far.close()


def test_a_request_that_does_not_fit_goes_on_where_it_stopped(ends: tuple[socket.socket, socket.socket]) -> None:
    near, far = ends
    near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    link = Link(*socket.socketpair(), warden.fork)
    request = FirstRequest(link, {"op": "run", "script": "x" * 300_000}, [], {"A": "b"})
    frames = protocol.FrameReader()
    messages: list[dict[str, object]] = []
    while not request.send(near, None, socket.MSG_DONTWAIT):
        assert request.begun
        data, fds, _, _ = socket.recv_fds(far, 65536, 4)
        for fd in fds:
            os.close(fd)
        messages += map(protocol.request_in, frames.bodies(data))
    while not messages:
        messages += map(protocol.request_in, frames.bodies(far.recv(65536)))
    assert messages == [{"op": "run", "script": "x" * 300_000, "fds": 1, "env": {"A": "b"}}]
    link.close()


def test_a_request_whose_receiver_goes_away_is_sent_whole_to_the_next(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    near, far = ends
    link = Link(*socket.socketpair(), warden.fork)
    request = FirstRequest(link, {"op": "run", "script": "x" * 1_000_000}, [], {"A": "b"})
    assert not request.send(near, None, socket.MSG_DONTWAIT)
    far.close()
    with pytest.raises(OSError):
        request.send(near, None, socket.MSG_DONTWAIT)
    request.begin_anew()
    assert request.wanted
    assert not request.begun
    other, receiver = socket.socketpair()
    frames = protocol.FrameReader()
    messages: list[dict[str, object]] = []
    while not messages:
        request.send(other, None, socket.MSG_DONTWAIT)
        data, fds, _, _ = socket.recv_fds(receiver, 1 << 20, 4)
        for fd in fds:
            os.close(fd)
        messages = list(map(protocol.request_in, frames.bodies(data)))
    assert messages == [{"op": "run", "script": "x" * 1_000_000, "fds": 1, "env": {"A": "b"}}]
    for one in (other, receiver):
        one.close()
    link.close()


def test_without_a_loop_a_request_waits_until_it_is_sent() -> None:
    one = Warden()
    link = one.take()
    link.fork()
    assert link.far is None
    link.close()
    one.close()
