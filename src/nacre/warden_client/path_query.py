"""Looks at a path whose file system may not answer, with a time limit.

A runner looks: a look at a file system that hangs cannot be ended, and a thread that is stuck in one keeps its program
from exiting. Without a warden a thread does it all the same.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time

from nacre.errors import BackendError, BackendUnavailableError, NoEventLoopError
from nacre.warden import path_lookup, protocol
from nacre.warden_client.pool import unsupported_reason, warden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from nacre.warden.messages import Look, Looked, What
    from nacre.warden_client.runner_link import Link


class UnansweredError(Exception):
    """The file system, or the process that looks at it, did not answer in time."""


async def look(what: What, path: str, seconds: float) -> Any:
    """The project of a directory, or the stamp of a file.

    Raises:
        UnansweredError: there was no answer within that time.
    """
    import asyncio

    try:
        limit = asyncio.timeout(seconds)
    except RuntimeError:
        raise NoEventLoopError from None
    try:
        async with limit:
            return (await _answer(protocol.look(what, path)))["found"]
    except (TimeoutError, OSError, EOFError, BackendUnavailableError) as error:
        raise UnansweredError(f"{path} did not answer in time") from error


async def file_appears(path: str) -> None:
    """Return when there is a file of that name.

    Raises:
        NacreError: it cannot be looked for.
    """
    try:
        await _answer(protocol.look("appears", path))
    except (OSError, EOFError) as error:
        raise BackendError(f"the process that looks for {path} was ended") from error


def read_file(path: str, seconds: float) -> Looked:
    """The content of a regular file, for a caller that cannot await: it blocks for at most that time.

    Raises:
        UnansweredError: there was no answer within that time.
    """
    try:
        query = _Query(protocol.look("content", path))
    except (OSError, BackendUnavailableError) as error:
        raise UnansweredError(f"{path} cannot be looked at: {error}") from error
    end = time.monotonic() + seconds
    readable = select.poll()
    readable.register(query.sock, select.POLLIN)
    try:
        # The request may wait for a turn of an event loop, which this caller blocks.
        warden.send_waiting()
        while (answer := query.answer()) is None:
            if not readable.poll(max(0.0, end - time.monotonic()) * 1000):
                raise UnansweredError(f"{path} did not answer in time")
    except EOFError as error:
        raise UnansweredError(f"{path} did not answer in time") from error
    finally:
        query.close()
    return answer


async def _answer(question: Look) -> Looked:
    import asyncio

    loop = asyncio.get_running_loop()
    query = _Query(question)
    said = asyncio.Event()
    loop.add_reader(query.sock, said.set)
    try:
        while (answer := query.answer()) is None:
            await said.wait()
            said.clear()
        return answer
    finally:
        loop.remove_reader(query.sock)
        query.close()


class _Query:
    """One question, and the socket that its answer comes on."""

    def __init__(self, question: Look) -> None:
        self._frames = protocol.FrameReader()
        self._answered = False
        self._link: Link | None = None
        if unsupported_reason() is not None:
            self.sock = _look_on_thread(question)
            return
        link = self._link = warden.take()
        self.sock = link.sock
        try:
            link.query(question)
        except BaseException:
            self.close()
            raise
        self.sock.settimeout(0)

    def answer(self) -> Looked | None:
        """The answer, if it is there.

        Raises:
            EOFError: the process that looks has ended.
        """
        try:
            data = self.sock.recv(protocol.RECEIVE_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        for event in self._frames.events(data):
            if event["event"] != "looked":
                raise EOFError(f"instead of an answer came {event['event']}")
            self._answered = True
            return event
        if not data:
            raise EOFError("the process that looks has ended")
        return None

    def close(self) -> None:
        if self._link is None:
            self.sock.close()
        elif self._answered:
            warden.give(self._link)
        else:
            # A runner that is stuck ends when the file system answers.
            self._link.close()
            warden.wake()


def _look_on_thread(question: Look) -> socket.socket:
    near, far = socket.socketpair()

    def work() -> None:
        # The caller may have given up before the file system answered.
        with far, contextlib.suppress(OSError):
            far.sendall(protocol.frame(path_lookup.answer(question, far.fileno())))

    near.settimeout(0)
    threading.Thread(target=work, name="nacre-look", daemon=True).start()
    return near
