"""Waits for the event that a call asked for, while its command runs: in the output, or on this machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from nacre.backend import Backend
from nacre.backends.contained import ContainedBackend
from nacre.backends.direct import DirectBackend
from nacre.command import Command
from nacre.engine.capture import Capture
from nacre.engine.run import Run
from nacre.errors import BackendError
from nacre.output.regex_watch import RegexWatch
from nacre.regex.automaton import RegexWorkError
from nacre.until import Until, port_open
from nacre.warden.launch import quoted
from nacre.warden_client.pool import unsupported_reason

# Ports and files have no way to tell of themselves; this is how often they are asked.
LOOK_SECONDS = 0.05


async def happened(until: Until, capture: Capture, *, cwd: str) -> None:
    """Return when it has happened; never, if it does not.

    Raises:
        RegexWorkError: the expression takes too much work on this output.
        NacreError: the file cannot be looked for.
    """
    if until.regex is not None:
        await _line(until.regex, capture)
    elif until.port is not None:
        while not await port_open(until.port):  # noqa: ASYNC110 - a port does not tell when it opens
            await asyncio.sleep(LOOK_SECONDS)
    elif until.file is not None:
        await file_appears(os.path.join(cwd, until.file))
    elif until.quiet is not None:
        await _silence(until.quiet, capture)


async def file_appears(path: str) -> None:
    """Return when there is a file of that name.

    A process of its own looks for it: on a file system that does not answer, a look cannot be ended, and a thread that
    is stuck in one keeps its program from exiting.

    Raises:
        NacreError: it cannot be looked for.
    """
    reason = unsupported_reason()
    backend: Backend = ContainedBackend() if reason is None else DirectBackend(reason, mark=False)
    # A read that ends by its time limit is a sleep that starts no process.
    pause = f"read -rt {LOOK_SECONDS} -u $wait; (( $? > 128 )) || sleep {LOOK_SECONDS}"
    script = f"exec {{wait}}<> <(:); until [[ -e {quoted(path)} ]]; do {pause}; done; exit 0"
    command = Command(script=script, cwd="/", env=_NO_ENVIRONMENT, timeout=None, grace=0.0)
    run = Run.start(backend, command, _Nothing())
    try:
        ending = await asyncio.shield(run.finished)
    finally:
        run.release()
    if ending.code != 0:
        raise BackendError(f"the process that looks for {path} was ended")


class _Nothing:
    """The sink of a command that writes nothing."""

    def feed(self, stream: int, buffer: bytearray, size: int) -> None:
        return None


_NO_ENVIRONMENT: Mapping[str, str] = {}


async def _line(regex: str, capture: Capture) -> None:
    watch = RegexWatch(regex)
    wrote = asyncio.Event()

    problem: RegexWorkError | None = None

    def feed(data: bytes) -> None:
        # Called while output is read, which goes on whatever is the matter with the expression.
        nonlocal problem
        if problem is None:
            try:
                watch.feed(data)
            except RegexWorkError as error:
                problem = error
        wrote.set()

    capture.watch(feed)
    while not watch.found:
        await wrote.wait()
        wrote.clear()
        if problem is not None:
            raise problem
        if not watch.found:
            # A prompt ends without a newline: once nothing follows for a moment, its end is the end of a line.
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await wrote.wait()
            except TimeoutError:
                if watch.pause():
                    return


async def _silence(seconds: float, capture: Capture) -> None:
    wrote = asyncio.Event()
    capture.watch(lambda _: wrote.set())
    while True:
        wrote.clear()
        try:
            async with asyncio.timeout(seconds):
                await wrote.wait()
        except TimeoutError:
            return
