"""Backpressure: who does not read is not listened to, until it does."""

from __future__ import annotations

import asyncio
import os

import pytest

from nacre.json_lines import connection as connections
from nacre.json_lines.connection import Connection
from nacre.json_lines.line_reader import TooLong
from nacre.json_lines.outbox import FULL_BYTES


async def turns(loop_turns: int = 20) -> None:
    """Let the loop look at its descriptors so many times."""
    for _ in range(loop_turns):
        await asyncio.sleep(0)


async def test_a_client_that_leaves_too_much_unread_is_heard_again_when_it_has_read() -> None:
    requests, to_server = os.pipe()
    from_server, answers = os.pipe()
    taken: list[bytes | TooLong] = []

    def take(line: bytes | TooLong) -> None:
        taken.append(line)
        connection.send(b"x" * (FULL_BYTES - 1) + b"\n")

    connection = Connection(requests, answers, take=take, name="test")
    connection.open()
    try:
        os.write(to_server, b"first\n")
        await turns()
        assert (taken, connection.room.is_set()) == ([b"first"], True)
        os.write(to_server, b"second\n")
        await turns()
        assert (taken, connection.room.is_set()) == ([b"first", b"second"], False)
        os.write(to_server, b"third\n")
        await turns()
        assert taken == [b"first", b"second"]
        received = 0
        while received < 3 * FULL_BYTES:
            os.set_blocking(from_server, False)
            try:
                received += len(os.read(from_server, 1 << 20))
            except BlockingIOError:
                await asyncio.sleep(0)
        assert (taken, connection.room.is_set()) == ([b"first", b"second", b"third"], True)
        os.close(to_server)
        to_server = -1
        async with asyncio.timeout(5):
            await connection.ended.wait()
    finally:
        await connection.aclose()
        for fd in (requests, from_server, answers, *([to_server] if to_server >= 0 else [])):
            os.close(fd)


async def test_a_client_that_is_gone_ends_the_connection() -> None:
    requests, to_server = os.pipe()
    from_server, answers = os.pipe()
    connection = Connection(requests, answers, take=lambda line: None, name="test")
    connection.open()
    try:
        assert connection.has_reader()
        os.close(from_server)
        assert not connection.has_reader()
        connection.send(b"hello\n")
        assert connection.ended.is_set()
    finally:
        await connection.aclose()
        for fd in (requests, to_server, answers):
            os.close(fd)


async def test_a_client_that_stopped_reading_is_not_waited_for_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(connections, "READER_SECONDS", 0.05)
    requests, to_server = os.pipe()
    from_server, answers = os.pipe()
    connection = Connection(requests, answers, take=lambda line: None, name="test")
    connection.open()
    try:
        connection.send(b"x" * (1 << 20) + b"\n")
        await connection.aclose()
        assert capsys.readouterr().err == "test: the client does not read; it is not told the rest\n"
    finally:
        for fd in (requests, to_server, from_server, answers):
            os.close(fd)
