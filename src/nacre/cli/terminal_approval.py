"""Asks the person at the terminal whether a command may run."""

from __future__ import annotations

import asyncio
import os

from nacre.cli.frame import say
from nacre.guard.approval import ANSWER_SECONDS
from nacre.guard.verdict import Verdict

TERMINAL = "/dev/tty"
LINE_BYTES = 4096


async def ask(command: str, verdict: Verdict) -> bool:
    """Ask on the terminal; only `y` or `yes` approves. The caller cancels it when the time is up."""
    # The terminal itself, because the command may read our standard input.
    fd = os.open(TERMINAL, os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[bytes] = loop.create_future()

    def readable() -> None:
        loop.remove_reader(fd)
        answered.set_result(os.read(fd, LINE_BYTES))

    try:
        # repr() escapes what could disguise the command.
        question = (
            f"nacre: {verdict.message}\nnacre: run {command!r} all the same? [y/N, {ANSWER_SECONDS:g} s at most] "
        )
        os.write(fd, question.encode("utf-8", "backslashreplace"))
        loop.add_reader(fd, readable)
        return (await answered).strip().lower() in (b"y", b"yes")
    except asyncio.CancelledError:
        say("")
        raise
    finally:
        loop.remove_reader(fd)
        os.close(fd)
