"""A signal that comes before the command was started ends the verb, and the command is not started."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from nacre.cli.interruption import Interruption


def test_a_signal_before_the_loop_begins_ends_the_verb_without_a_start() -> None:
    started = []

    async def work() -> None:
        started.append(True)

    interruption, before = Interruption(), signal.getsignal(signal.SIGTERM)
    interruption.take_signals()
    os.kill(os.getpid(), signal.SIGTERM)
    with pytest.raises(SystemExit) as ending:
        asyncio.run(interruption.guard(work()))
    assert (ending.value.code, started, signal.getsignal(signal.SIGTERM)) == (143, [], before)
