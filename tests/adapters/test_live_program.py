"""A program of a place that is written to and read from while it runs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.adapters.live_program import LiveProgram
from nacre.remote.link_thread import links
from nacre.remote.remote_backend import connect
from nacre.remote.wire import PrefixDialer


@pytest.fixture(autouse=True)
def no_links(no_leaks: None) -> Iterator[None]:
    yield
    links.end()


async def test_it_reads_what_is_written_in_order_and_leaves_no_fifo(tmp_path: Path) -> None:
    async with await connect(PrefixDialer(["env"], name="here")) as place:
        program = LiveProgram(place, {"GREETING": "hi"}, str(tmp_path), None)
        await program.start(["bash", "-c", 'echo "$GREETING"; head -c 200000 | sha256sum; exit 3'])
        data = os.urandom(200_000)
        await program.write(data[:150_000])
        assert not program.ended
        await program.write(data[150_000:])
        written = b"".join([piece async for piece in program.output(1)])
        assert (await program.wait(), program.ended) == (3, True)
        await program.end()
    assert written.decode() == f"hi\n{hashlib.sha256(data).hexdigest()}  -\n"
    assert list(tmp_path.glob(".nacre-*")) == []


async def test_it_is_ended_with_what_it_started(tmp_path: Path) -> None:
    async with await connect(PrefixDialer(["env"], name="here")) as place:
        program = LiveProgram(place, {}, str(tmp_path), None)
        await program.start(["bash", "-c", "setsid -f sleep 600; echo on; sleep 600"])
        assert await anext(program.output(1)) == b"on\n"
        await program.end()
        assert await program.wait() == 143
