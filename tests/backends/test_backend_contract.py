"""Every backend, the fake included, passes the same contract."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from places import Attended

from nacre.backend import Backend, Listener, Process
from nacre.backends.contained import ContainedBackend
from nacre.backends.direct import DirectBackend
from nacre.command import Command, NewJob
from nacre.errors import BackendError
from nacre.testing import BEHAVIOURS, CHECKS, ScriptedBackend
from nacre.testing.backend_contract import (
    MISSING_DIRECTORY,
    a_terminal_takes_input_and_sizes_or_is_refused_at_the_start,
)

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
    async with asyncio.timeout(30):
        await check(BACKENDS[backend]())


class Pretending(Attended):
    """Gives a command pipes where it was asked for a terminal."""

    def start(self, command: Command, listener: Listener, *, job: NewJob | None = None) -> Process:
        return super().start(replace(command, terminal=None), listener, job=job)


async def test_a_backend_that_gives_pipes_for_a_terminal_breaks_the_contract() -> None:
    with pytest.raises(BackendError, match="no terminal"):
        await a_terminal_takes_input_and_sizes_or_is_refused_at_the_start(Pretending(DirectBackend()))
