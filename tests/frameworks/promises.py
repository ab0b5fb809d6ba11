"""What must hold through every adapter, asked in the same words: secrets, guard, timeout and cancel.

An adapter's tests give a way to ask: a scripted model calls the tool once, in the real framework, and what it then
reads comes back. That nothing stays alive is proved by the fixture that every test has.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

Ask = Callable[[dict[str, Any]], Awaitable[str]]
AskSync = Callable[[dict[str, Any]], str]

# Looks like a key, so that its variable is taken out and its value hidden.
SECRET = "sk-proj-abcdefghijklmnop0123456789ABCDEFGH"
# What a denied command would do is nothing: there is no repository.
DENIED = {"command": "git push -f && echo it ran"}
# A second, because a workspace command of a longer limit would become a job before it.
TIMED = {"command": "echo began; setsid -f sleep 600; sleep 600", "timeout": 1}


def with_a_secret(directory: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A call that shows a secret in two ways, if it can."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    file = directory / "leak.txt"
    file.write_text(f"the key is {SECRET}\n", encoding="utf-8")
    return {"command": f"printenv OPENAI_API_KEY || echo no variable; cat {file}"}


def check_secret(text: str) -> None:
    assert SECRET not in text
    assert "no variable\nthe key is [" in text


def check_denied(text: str) -> None:
    assert "denied by nacre's guard (rule no_force_push): git push --force is not allowed" in text
    assert "it ran" not in text


def check_timeout(text: str) -> None:
    assert "began" in text
    assert "timed out after 1 second" in text


async def check_cancel(ask: Ask, directory: Path) -> None:
    """A cancelled run ends the command with all that it started."""
    fifo = directory / "fifo"
    os.mkfifo(fifo)
    begun = asyncio.Event()
    # Open for both, so that opening does not wait: a run that fails before the command must fail the test.
    reading = os.open(fifo, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    asyncio.get_running_loop().add_reader(reading, begun.set)
    try:
        command = f"setsid -f sleep 600; echo begun >{fifo}; sleep 600"
        asking = asyncio.ensure_future(ask({"command": command}))
        waiting = asyncio.create_task(begun.wait())
        await asyncio.wait([asking, waiting], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        assert not asking.done(), f"it ended by itself: {asking}"
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    finally:
        asyncio.get_running_loop().remove_reader(reading)
        os.close(reading)


class Interrupt(BaseException):
    """Like a person's Ctrl-C, without what test runners make of that."""


def check_interrupt(ask: AskSync, request: pytest.FixtureRequest) -> None:
    """An interrupted run ends the command with all that it started."""

    def interrupt(*_: object) -> None:
        raise Interrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    request.addfinalizer(lambda: signal.signal(signal.SIGUSR1, before))
    with pytest.raises(Interrupt):
        ask({"command": f"setsid -f sleep 600; kill -USR1 {os.getpid()}; sleep 600"})
