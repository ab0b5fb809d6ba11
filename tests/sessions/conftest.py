"""Sessions on this machine, and on another place by the same tests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from nacre import place
from nacre.remote.link_thread import links
from nacre.remote.remote_backend import connect
from nacre.remote.wire import PrefixDialer


@pytest.fixture(params=["here", "there"])
def anywhere(request: pytest.FixtureRequest, no_leaks: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A session that names no place is on this machine, or behind a program that gives its standard streams."""
    if request.param == "here":
        yield
        return
    there = asyncio.run(connect(PrefixDialer(["env"], name="there")))
    monkeypatch.setattr(place, "chosen", there)
    yield
    asyncio.run(there.aclose())
    links.end()
