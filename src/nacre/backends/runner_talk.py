"""What is said between a command's process and its runner: events come in, requests and questions go out."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping
from typing import Any

from nacre.backend import Ending, Survivor
from nacre.backends.pipes import stop_listening
from nacre.warden import protocol
from nacre.warden.record import SIGNALLED
from nacre.warden_client.runner_link import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Event, KeptEvent, Request, Survivors

# How long the far side may take to answer a question.
ANSWER_SECONDS = 1.0


class RunnerTalk:
    """The way to one runner, from the start of a command until it is released or lost."""

    def __init__(self, link: Link) -> None:
        self.frames = protocol.FrameReader()
        self.link = link
        self._loop = asyncio.get_running_loop()
        self._sock: socket.socket | None = link.sock
        self._answer: asyncio.Future[Survivors | KeptEvent] | None = None

    @property
    def open(self) -> bool:
        return self._sock is not None

    def listen(self, handle: Callable[[Event], None], lost: Callable[[str], None]) -> None:
        """Hear events on the event loop, and the loss of the runner with its reason."""
        assert self._sock is not None
        self._sock.settimeout(0)
        # The loop holds the two, not this object: their owner has it, and would be in a cycle.
        self._loop.add_reader(self._sock.fileno(), self._heard, handle, lost)

    def _heard(self, handle: Callable[[Event], None], lost: Callable[[str], None]) -> None:
        assert self._sock is not None
        try:
            data = self._sock.recv(protocol.RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            reason = "its runner was killed"
            self.give_up(reason)
            lost(reason)
            return
        for event in self.frames.events(data):
            handle(event)

    def give_up(self, reason: str) -> None:
        """Close the way to a runner that is gone."""
        sock = self._sock
        self.leave()
        if sock is not None:
            sock.close()
        if self._answer is not None and not self._answer.done():
            self._answer.set_result({**protocol.survivors([], stays=False), "error": reason})

    def say(self, message: Request) -> None:
        if self._sock is None:
            return
        try:
            self._sock.send(protocol.frame(message))
        except OSError:
            return  # the far side is gone: the reader sees the end of the socket and says so

    async def ask(self, message: Request, fds: list[int] | None = None) -> Survivors | KeptEvent:
        """Ask a question, with descriptors for the far side; the answer.

        Raises:
            OSError: the descriptors could not be sent.
            TimeoutError: no answer came in time.
        """
        self._answer = self._loop.create_future()
        try:
            if fds is None:
                self.say(message)
            else:
                self.link.tell(message, fds)
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._answer
        finally:
            self._answer = None

    def answered(self, event: Survivors | KeptEvent) -> bool:
        """Give the answer to a caller that waits for one; False if none does."""
        if self._answer is None or self._answer.done():
            return False
        self._answer.set_result(event)
        return True

    def leave(self) -> bool:
        """Hear no more; the way to the runner is the caller's again. False if it was left or lost before."""
        sock, self._sock = self._sock, None
        if sock is not None:
            stop_listening(self._loop, sock)
        return sock is not None


def ending_of(event: Mapping[str, Any]) -> Ending:
    """How a command ended, by the runner's event `exited`."""
    why = event["why"]
    signalled = None if why is None else SIGNALLED.get(why)
    return Ending(
        pid=event["pid"],
        code=event.get("code") if signalled is None else None,
        signal=event.get("signal") if signalled is None else None,
        why="timeout" if why == "timeout" else None if why is None or signalled is not None else "stop",
        forced=event["forced"],
        stages=tuple(event.get("stages", ())),
        refused=tuple(event.get("refused", ())),
        budget=event.get("budget"),
        out_of_memory=event.get("outOfMemory", False),
        left=event["left"],
        unkillable=tuple(survivor_of(entry) for entry in event.get("unkillable", ())),
        lost=signalled,
    )


def survivor_of(entry: Mapping[str, Any]) -> Survivor:
    return Survivor(entry["pid"], tuple(entry["argv"]), entry.get("state", ""))
