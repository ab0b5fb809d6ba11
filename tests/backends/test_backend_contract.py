"""Every backend, the fake included, passes the same contract."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from places import Attended

from nacre.backend import Backend
from nacre.backends.contained import ContainedBackend
from nacre.backends.direct import DirectBackend
from nacre.testing import BEHAVIOURS, CHECKS, ScriptedBackend
from nacre.testing.backend_contract import MISSING_DIRECTORY

BACKENDS: dict[str, Callable[[], Backend]] = {
    "contained": ContainedBackend,
    "contained, attended": lambda: Attended(ContainedBackend()),
    "direct": DirectBackend,
    "direct, attended": lambda: Attended(DirectBackend()),
    "direct without pidfd": lambda: DirectBackend(use_pidfd=False),
    "direct without a mark": lambda: DirectBackend(mark=False),
    "scripted": lambda: ScriptedBackend(
        {behaviour.script: behaviour.play for behaviour in BEHAVIOURS.values()},
        missing_directories=frozenset({MISSING_DIRECTORY}),
    ),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
async def test_backend_keeps_the_contract(backend: str, check: Callable[[Backend], Awaitable[None]]) -> None:
    async with asyncio.timeout(10):
        await check(BACKENDS[backend]())
