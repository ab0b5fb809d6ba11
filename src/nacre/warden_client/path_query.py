"""Looks at a path on a file system that may not answer, with a time limit.

A process of its own looks: a look at a file system that hangs cannot be ended, and a thread that is stuck in one keeps
its program from exiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Any, Literal

from nacre.backends.hub import unwatch, watch
from nacre.errors import BackendUnavailableError
from nacre.warden import path_lookup, protocol
from nacre.warden_client.pool import unsupported_reason, warden
from nacre.warden_client.runner_link import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Look

What = Literal["project", "stamp"]


class UnansweredError(Exception):
    """The file system, or the process that looks at it, did not answer in time."""


async def look(what: What, path: str, seconds: float) -> Any:
    """The project of a directory, or the stamp of a file.

    Raises:
        UnansweredError: there was no answer within that time.
    """
    try:
        async with asyncio.timeout(seconds):
            if unsupported_reason() is not None:
                return await _look_on_thread(protocol.look(what, path))
            return await _look_afar(protocol.look(what, path))
    except (TimeoutError, OSError, EOFError, BackendUnavailableError) as error:
        raise UnansweredError(f"{path} did not answer in time") from error


async def _look_afar(question: Look) -> Any:
    link = warden.take()
    try:
        link.query(question)
        found = await _answer(link)
    except BaseException:
        # A runner that is stuck ends when the file system answers.
        link.close()
        warden.wake()
        raise
    warden.give(link)
    return found


async def _answer(link: Link) -> Any:
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[Any] = loop.create_future()
    frames = protocol.FrameReader()

    def hear() -> None:
        if answered.done():
            return
        try:
            data = link.sock.recv(protocol.RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        for message in frames.events(data):
            if message["event"] == "looked":
                answered.set_result(message["found"])
                return
            data = b""
        if not data:
            answered.set_exception(EOFError("its runner is gone"))

    link.sock.settimeout(0)
    watch(loop, link.sock.fileno(), hear)
    try:
        return await answered
    finally:
        unwatch(loop, link.sock.fileno())


async def _look_on_thread(question: Look) -> Any:
    """The same where there is no warden."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[Any] = loop.create_future()

    def tell(found: Any) -> None:
        if not answered.done():
            answered.set_result(found)

    def work() -> None:
        found = path_lookup.answer(question)["found"]
        # The loop may have ended before the file system answered.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(tell, found)

    threading.Thread(target=work, name="nacre-look", daemon=True).start()
    return await answered
